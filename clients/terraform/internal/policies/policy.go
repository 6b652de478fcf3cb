// Package policies has the resource and the data source sealward_policy.
package policies

import (
	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"sealward.dev/go"
	"sealward.dev/go/admin"
	"sealward.dev/terraform/internal/managed"
	"sealward.dev/terraform/internal/value"
)

// Kind is the kind of policies.
var Kind = managed.Kind[resourceModel, admin.Policy]{
	Name: "policy", Noun: "policy", Schema: attributes, IDPrefix: "pol_",
	Read:   read,
	Create: create, Update: update, Delete: remove,
	Find: find,
	ETag: func(found *admin.Policy) string { return found.ETag },
}

// NewResource returns the resource.
var NewResource = managed.NewResource[resourceModel](Kind)

// NewDataSource returns the data source.
var NewDataSource = managed.NewDataSource[policy, admin.Policy, *policy](Kind, "policy_number", "deletion_protection")

type policy struct {
	ID                   types.String      `tfsdk:"id"`
	PolicyNumber         types.String      `tfsdk:"policy_number"`
	Name                 types.String      `tfsdk:"name"`
	Description          types.String      `tfsdk:"description"`
	DestinationServiceID types.String      `tfsdk:"destination_service_id"`
	KeyOwnership         types.String      `tfsdk:"key_ownership"`
	Alg                  types.String      `tfsdk:"alg"`
	Enc                  types.String      `tfsdk:"enc"`
	Status               types.String      `tfsdk:"status"`
	FailureMode          types.String      `tfsdk:"failure_mode"`
	AllowedServiceIDs    types.Set         `tfsdk:"allowed_service_ids"`
	AllowedOperations    types.Set         `tfsdk:"allowed_operations"`
	ContextRequired      types.Bool        `tfsdk:"context_required"`
	RequireBinding       types.Bool        `tfsdk:"require_binding"`
	Headers              *headers          `tfsdk:"headers"`
	CreatedAt            timetypes.RFC3339 `tfsdk:"created_at"`
}

// resourceModel is a policy with what the provider alone knows.
type resourceModel struct {
	policy
	DeletionProtection types.Bool `tfsdk:"deletion_protection"`
}

type headers struct {
	Typ types.String `tfsdk:"typ"`
	Iat types.Bool   `tfsdk:"iat"`
	Cty types.String `tfsdk:"cty"`
}

func (h *headers) api() *sealward.EnvelopeHeaders {
	if h == nil {
		return nil
	}
	return &sealward.EnvelopeHeaders{Typ: h.Typ.ValueStringPointer(), Iat: h.Iat.ValueBool(), Cty: h.Cty.ValueStringPointer()}
}

// Identifier returns the ID.
func (m *policy) Identifier() string { return m.ID.ValueString() }

// Fill takes the values of the API.
func (m *policy) Fill(found *admin.Policy) diag.Diagnostics {
	m.ID = types.StringValue(found.ID)
	m.PolicyNumber = types.StringValue(found.PolicyNumber)
	m.Name = types.StringValue(found.Name)
	m.Description = types.StringPointerValue(found.Description)
	m.DestinationServiceID = types.StringValue(found.DestinationServiceID)
	m.KeyOwnership = types.StringValue(found.KeyOwnership)
	m.Alg = types.StringValue(found.Alg)
	m.Enc = types.StringValue(found.Enc)
	m.Status = types.StringValue(found.Status)
	m.FailureMode = types.StringValue(found.FailureMode)
	m.AllowedServiceIDs = value.Set(found.AllowedServiceIDs)
	m.AllowedOperations = value.Set(found.AllowedOperations)
	m.ContextRequired = types.BoolValue(found.ContextRequired)
	m.RequireBinding = types.BoolValue(found.RequireBinding)
	m.Headers = nil
	if shown := found.Headers; shown != nil {
		m.Headers = &headers{
			Typ: types.StringPointerValue(shown.Typ), Iat: types.BoolValue(shown.Iat), Cty: types.StringPointerValue(shown.Cty),
		}
	}
	m.CreatedAt = value.TimeText(m.CreatedAt, &found.CreatedAt)
	return nil
}

// Fill takes the values of the API, and protects an imported policy.
func (m *resourceModel) Fill(found *admin.Policy) diag.Diagnostics {
	m.DeletionProtection = managed.Protection(m.DeletionProtection)
	return m.policy.Fill(found)
}
