// Package keys has the resource and the data source sealward_key.
package keys

import (
	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"sealward.dev/terraform/internal/managed"
	"sealward.dev/terraform/internal/value"
)

// Kind is the kind of keys.
var Kind = managed.Kind[resourceModel, lineage]{
	Name: "key", Noun: "key", Schema: attributes, IDPrefix: "key_",
	Read:   read,
	Create: create, Update: update, Delete: remove,
	Find: find,
	ETag: func(found *lineage) string { return found.current.ETag },
}

// NewResource returns the resource.
var NewResource = managed.NewResource[resourceModel](Kind)

// NewDataSource returns the data source.
var NewDataSource = managed.NewDataSource[key, lineage, *key](Kind, "name", "public_key", "deletion_protection")

type key struct {
	ID           types.String      `tfsdk:"id"`
	CurrentID    types.String      `tfsdk:"current_id"`
	ServiceID    types.String      `tfsdk:"service_id"`
	Name         types.String      `tfsdk:"name"`
	Use          types.String      `tfsdk:"use"`
	Algorithm    types.String      `tfsdk:"algorithm"`
	Origin       types.String      `tfsdk:"origin"`
	HasPrivate   types.Bool        `tfsdk:"has_private"`
	Status       types.String      `tfsdk:"status"`
	Version      types.Int64       `tfsdk:"version"`
	JWK          types.String      `tfsdk:"jwk"`
	Thumbprint   types.String      `tfsdk:"thumbprint"`
	PartnerKid   types.String      `tfsdk:"partner_kid"`
	RotationDays types.Int64       `tfsdk:"rotation_days"`
	ExpiresAt    timetypes.RFC3339 `tfsdk:"expires_at"`
	CreatedAt    timetypes.RFC3339 `tfsdk:"created_at"`
}

// resourceModel is a key with what the provider alone knows.
type resourceModel struct {
	key
	PublicKey          types.String `tfsdk:"public_key"`
	DeletionProtection types.Bool   `tfsdk:"deletion_protection"`
}

// Identifier returns the ID.
func (m *key) Identifier() string { return m.ID.ValueString() }

// Fill takes the values of the API: the identity of the first key, and the state of the current one.
func (m *key) Fill(found *lineage) diag.Diagnostics {
	m.ID = types.StringValue(found.first.ID)
	m.CreatedAt = value.TimeText(m.CreatedAt, &found.first.CreatedAt)
	m.PartnerKid = types.StringPointerValue(found.first.PartnerKid)
	current := found.current
	m.CurrentID = types.StringValue(current.ID)
	m.ServiceID = types.StringValue(current.ServiceID)
	m.Name = types.StringValue(current.Name)
	m.Use = types.StringValue(current.Use)
	m.Algorithm = types.StringValue(current.Algorithm)
	m.Origin = types.StringValue(current.Origin)
	m.HasPrivate = types.BoolValue(current.HasPrivate)
	m.Status = types.StringValue(current.Status)
	m.Version = value.Number(current.Version)
	m.JWK = types.StringNull()
	if text := string(current.PublicKey); text != "null" {
		m.JWK = value.Filled(text)
	}
	m.Thumbprint = types.StringPointerValue(current.Thumbprint)
	m.RotationDays = value.Number(current.RotationDays)
	m.ExpiresAt = value.TimeText(m.ExpiresAt, current.ExpiresAt)
	return nil
}

// Fill takes the values of the API, and protects an imported key.
func (m *resourceModel) Fill(found *lineage) diag.Diagnostics {
	m.DeletionProtection = managed.Protection(m.DeletionProtection)
	return m.key.Fill(found)
}
