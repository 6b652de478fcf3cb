// Package apikeys has the resource, the data source and the ephemeral resource sealward_api_key.
package apikeys

import (
	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"sealward.dev/go/admin"
	"sealward.dev/terraform/internal/managed"
	"sealward.dev/terraform/internal/value"
)

// Kind is the kind of API keys.
var Kind = managed.Kind[apiKey, admin.APIKey]{
	Name: "api_key", Noun: "API key", Schema: attributes, IDPrefix: "ak_",
	Read:   read,
	Create: create, Update: update, Delete: remove,
	Find: find,
	ETag: func(found *admin.APIKey) string { return found.ETag },
}

// NewResource returns the resource.
var NewResource = managed.NewResource[apiKey](Kind)

// NewDataSource returns the data source.
var NewDataSource = managed.NewDataSource[apiKey, admin.APIKey, *apiKey](Kind, "name")

// apiKey has no secret: a state would keep it.
type apiKey struct {
	ID                types.String      `tfsdk:"id"`
	Name              types.String      `tfsdk:"name"`
	Type              types.String      `tfsdk:"type"`
	ServiceID         types.String      `tfsdk:"service_id"`
	PolicyNumber      types.String      `tfsdk:"policy_number"`
	AllowedOperations types.Set         `tfsdk:"allowed_operations"`
	AllowedCIDRs      types.Set         `tfsdk:"allowed_cidrs"`
	CertificateSHA256 types.String      `tfsdk:"certificate_sha256"`
	Roles             types.Set         `tfsdk:"roles"`
	Person            types.String      `tfsdk:"person"`
	ExpiresAt         timetypes.RFC3339 `tfsdk:"expires_at"`
	Hint              types.String      `tfsdk:"hint"`
	CreatedAt         timetypes.RFC3339 `tfsdk:"created_at"`
}

// Identifier returns the ID.
func (m *apiKey) Identifier() string { return m.ID.ValueString() }

// Fill takes the values of the API.
func (m *apiKey) Fill(found *admin.APIKey) diag.Diagnostics {
	m.ID = types.StringValue(found.ID)
	m.Name = types.StringValue(found.Name)
	m.Type = types.StringValue(found.Type)
	m.ServiceID = types.StringPointerValue(found.ServiceID)
	m.PolicyNumber = types.StringPointerValue(found.PolicyNumber)
	m.AllowedOperations = value.Set(found.AllowedOperations)
	m.AllowedCIDRs = value.Set(found.AllowedCIDRs)
	m.CertificateSHA256 = types.StringPointerValue(found.CertificateSHA256)
	m.Roles = value.Set(found.Roles)
	m.Person = types.StringPointerValue(found.Person)
	m.ExpiresAt = value.TimeText(m.ExpiresAt, found.ExpiresAt)
	m.Hint = types.StringValue(found.Hint)
	m.CreatedAt = value.TimeText(m.CreatedAt, &found.CreatedAt)
	return nil
}
