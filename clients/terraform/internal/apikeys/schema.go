package apikeys

import (
	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"sealward.dev/terraform/internal/managed"
)

var attributes = schema.Schema{
	MarkdownDescription: "An API key of a service or of an administrator. The ephemeral resource `sealward_api_key` returns its secret, " +
		"which is never in the state. A deletion revokes the key.",
	Attributes: map[string]schema.Attribute{
		"id":   managed.ID("API key"),
		"name": managed.Name("The name."),
		"type": schema.StringAttribute{
			Required: true, PlanModifiers: managed.Fixed,
			MarkdownDescription: "`live` for production, `test` for other environments, or `admin` for the management API.",
			Validators:          []validator.String{stringvalidator.OneOf("live", "test", "admin")},
		},
		"service_id": schema.StringAttribute{
			Optional: true, MarkdownDescription: "The service that calls with the key. An `admin` key has none.", PlanModifiers: managed.Fixed,
			Validators: managed.NotEmpty,
		},
		"policy_number":      managed.DefaultPolicy(),
		"allowed_operations": managed.AllowedOperations(),
		"allowed_cidrs":      managed.Texts("The networks from which the key may be used, such as `10.0.0.0/8`. Without this argument, any network."),
		"certificate_sha256": schema.StringAttribute{
			Optional: true, MarkdownDescription: "The SHA-256 digest of the client certificate that requests with the key need, in hexadecimal.",
			Validators: managed.NotEmpty,
		},
		"roles": schema.SetAttribute{
			Optional: true, Computed: true, ElementType: types.StringType,
			PlanModifiers:       []planmodifier.Set{setplanmodifier.UseStateForUnknown()},
			MarkdownDescription: "The roles of an `admin` key: `owner`, `custodian`, `policy-admin` or `auditor`. The default is `owner`.",
			Validators:          []validator.Set{setvalidator.SizeAtLeast(1)},
		},
		"person": schema.StringAttribute{
			Optional: true, MarkdownDescription: "The person who uses an `admin` key.", PlanModifiers: managed.Fixed,
			Validators: managed.NotEmpty,
		},
		"expires_at": schema.StringAttribute{
			Optional: true, CustomType: timetypes.RFC3339Type{}, MarkdownDescription: "The time at which the key expires, as in RFC 3339.",
		},
		"hint": schema.StringAttribute{
			Computed: true, PlanModifiers: managed.Kept, MarkdownDescription: "The first and the last characters of the secret.",
		},
		"created_at": managed.CreatedAt(),
	},
}
