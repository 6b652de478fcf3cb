package identities

import (
	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"sealward.dev/terraform/internal/managed"
)

var attributes = schema.Schema{
	MarkdownDescription: "A workload identity: a program that calls Sealward with a token of its platform or a certificate instead of an API key.",
	Attributes: map[string]schema.Attribute{
		"id":   managed.ID("workload identity"),
		"name": managed.Name("The name."),
		"service_id": schema.StringAttribute{
			Required: true, MarkdownDescription: "The service as which the workload calls.", PlanModifiers: managed.Fixed,
		},
		"policy_number":      managed.DefaultPolicy(),
		"allowed_operations": managed.AllowedOperations(),
		"match": schema.SingleNestedAttribute{
			Required: true, MarkdownDescription: "The credentials of the workload: tokens of an `issuer` with a `subject` or `claims`, a `spiffe_id`, or a certificate.",
			Attributes: map[string]schema.Attribute{
				"issuer": schema.StringAttribute{
					Optional: true, MarkdownDescription: "The issuer of the token, which the settings of Sealward name.",
					Validators: []validator.String{stringvalidator.LengthAtLeast(1), stringvalidator.ExactlyOneOf(
						path.MatchRelative().AtParent().AtName("spiffe_id"), path.MatchRelative().AtParent().AtName("certificate_sha256"))},
				},
				"subject": schema.StringAttribute{Optional: true, MarkdownDescription: "The subject of the token.", Validators: managed.NotEmpty},
				"claims": schema.StringAttribute{
					Optional: true, CustomType: jsontypes.NormalizedType{},
					MarkdownDescription: "The claims of the token and their values, as a JSON object: use `jsonencode`. A name that begins with `/` is a JSON Pointer.",
				},
				"spiffe_id": schema.StringAttribute{Optional: true, MarkdownDescription: "The SPIFFE ID of the certificate.", Validators: managed.NotEmpty},
				"certificate_sha256": schema.StringAttribute{
					Optional: true, MarkdownDescription: "The SHA-256 digest of the certificate, in hexadecimal.", Validators: managed.NotEmpty,
				},
			},
		},
		"status":     managed.Status("`active` or `disabled`.", "active", "disabled"),
		"created_at": managed.CreatedAt(),
	},
}
