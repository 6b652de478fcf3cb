// Package identities has the resource and the data source sealward_identity.
package identities

import (
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"sealward.dev/go/admin"
	"sealward.dev/terraform/internal/managed"
	"sealward.dev/terraform/internal/value"
)

// Kind is the kind of workload identities.
var Kind = managed.Kind[identity, admin.Identity]{
	Name: "identity", Noun: "workload identity", Schema: attributes, IDPrefix: "idn_",
	Read:   read,
	Create: create, Update: update, Delete: remove,
	Find: find,
	ETag: func(found *admin.Identity) string { return found.ETag },
}

// NewResource returns the resource.
var NewResource = managed.NewResource[identity](Kind)

// NewDataSource returns the data source.
var NewDataSource = managed.NewDataSource[identity, admin.Identity, *identity](Kind, "name")

type identity struct {
	ID                types.String      `tfsdk:"id"`
	Name              types.String      `tfsdk:"name"`
	ServiceID         types.String      `tfsdk:"service_id"`
	PolicyNumber      types.String      `tfsdk:"policy_number"`
	AllowedOperations types.Set         `tfsdk:"allowed_operations"`
	Match             *match            `tfsdk:"match"`
	Status            types.String      `tfsdk:"status"`
	CreatedAt         timetypes.RFC3339 `tfsdk:"created_at"`
}

type match struct {
	Issuer            types.String         `tfsdk:"issuer"`
	Subject           types.String         `tfsdk:"subject"`
	Claims            jsontypes.Normalized `tfsdk:"claims"`
	SpiffeID          types.String         `tfsdk:"spiffe_id"`
	CertificateSHA256 types.String         `tfsdk:"certificate_sha256"`
}

func (m *match) api() (*admin.IdentityMatch, error) {
	if m == nil {
		return nil, nil
	}
	wanted := &admin.IdentityMatch{
		Issuer: value.GivenText(m.Issuer), Subject: value.GivenText(m.Subject), SpiffeID: value.GivenText(m.SpiffeID),
		CertificateSHA256: value.GivenText(m.CertificateSHA256),
	}
	if !m.Claims.IsNull() {
		var claims map[string]any
		if err := json.Unmarshal([]byte(m.Claims.ValueString()), &claims); err != nil || claims == nil {
			return nil, errClaims
		}
		wanted.Claims = admin.Set(claims)
	}
	return wanted, nil
}

// Identifier returns the ID.
func (m *identity) Identifier() string { return m.ID.ValueString() }

// Fill takes the values of the API.
func (m *identity) Fill(found *admin.Identity) (problems diag.Diagnostics) {
	m.ID = types.StringValue(found.ID)
	m.Name = types.StringValue(found.Name)
	m.ServiceID = types.StringValue(found.ServiceID)
	m.PolicyNumber = types.StringPointerValue(found.PolicyNumber)
	m.AllowedOperations = value.Set(found.AllowedOperations)
	claims := jsontypes.NewNormalizedNull()
	if given, isSet := found.Match.Claims.Value(); isSet {
		text, err := json.Marshal(given)
		if err != nil {
			problems.AddError("The claims of the workload identity are not JSON", "")
		}
		claims = jsontypes.NewNormalizedValue(string(text))
	}
	m.Match = &match{
		Issuer: value.OptionalText(found.Match.Issuer), Subject: value.OptionalText(found.Match.Subject), Claims: claims,
		SpiffeID: value.OptionalText(found.Match.SpiffeID), CertificateSHA256: value.OptionalText(found.Match.CertificateSHA256),
	}
	m.Status = types.StringValue(found.Status)
	m.CreatedAt = value.TimeText(m.CreatedAt, &found.CreatedAt)
	return problems
}
