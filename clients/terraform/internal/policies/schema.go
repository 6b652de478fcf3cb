package policies

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"sealward.dev/terraform/internal/managed"
	"sealward.dev/terraform/internal/value"
)

// operations are those of a policy.
var operations = []string{"protect", "unprotect", "rewrap"}

var attributes = schema.Schema{
	MarkdownDescription: "A policy: how payloads are protected, and which services may protect and open them. " +
		"A deleted policy still decides who may open its envelopes.",
	Attributes: map[string]schema.Attribute{
		"id": managed.ID("policy"),
		"policy_number": schema.StringAttribute{
			Optional: true, Computed: true, PlanModifiers: managed.Chosen,
			MarkdownDescription: "The number by which applications name the policy: 1 to 64 letters, digits, `.`, `_` and `-`. " +
				"Without it, Sealward chooses the next number.",
			Validators: []validator.String{stringvalidator.LengthBetween(1, 64)},
		},
		"name":        managed.Name("The name."),
		"description": managed.Description(),
		"destination_service_id": schema.StringAttribute{
			Required: true, MarkdownDescription: "The service whose key opens the envelopes.",
		},
		"key_ownership": choice("`service_managed` if the private key is in the token of Sealward, or `destination_managed`.", "service_managed", "destination_managed"),
		"alg":           algorithm("The algorithm that encrypts the content key.", "RSA-OAEP-256"),
		"enc":           algorithm("The algorithm that encrypts the content.", "A256GCM"),
		"status":        managed.Status("`active` or `inactive`.", "active", "inactive"),
		"failure_mode":  choice("What happens to payloads while the policy is inactive: `error`, `passthrough` or `drop`.", "error", "passthrough", "drop"),
		"allowed_service_ids": schema.SetAttribute{
			Required: true, ElementType: types.StringType,
			MarkdownDescription: "The IDs of the services that may use the policy, or `[\"*\"]` for any service.",
			Validators:          []validator.Set{setvalidator.SizeBetween(1, 1000)},
		},
		"allowed_operations": schema.SetAttribute{
			Optional: true, Computed: true, ElementType: types.StringType,
			Default:             setdefault.StaticValue(value.Set(operations)),
			MarkdownDescription: "The allowed operations: `protect`, `unprotect` and `rewrap`. The default is all three.",
			Validators: []validator.Set{
				setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(stringvalidator.OneOf(operations...)),
			},
		},
		"context_required": flag("Whether a payload is protected only with a context."),
		"require_binding":  flag("Whether envelopes that do not name their policy are refused."),
		"headers": schema.SingleNestedAttribute{
			Optional: true, MarkdownDescription: "Headers of the envelopes of a `destination_managed` policy.",
			Attributes: map[string]schema.Attribute{
				"typ": schema.StringAttribute{Optional: true, MarkdownDescription: "The header `typ`."},
				"iat": flag("Whether envelopes have the header `iat`, the time of their creation."),
				"cty": schema.StringAttribute{Optional: true, MarkdownDescription: "The header `cty`: `json`, or none."},
			},
		},
		"created_at":          managed.CreatedAt(),
		"deletion_protection": managed.DeletionProtection("policy"),
	},
}

// choice is an attribute with a closed set of values, of which the first is the default.
func choice(text string, values ...string) schema.StringAttribute {
	made := algorithm(text, values[0])
	made.Validators = []validator.String{stringvalidator.OneOf(values...)}
	return made
}

func algorithm(text, standard string) schema.StringAttribute {
	return schema.StringAttribute{
		Optional: true, Computed: true, Default: stringdefault.StaticString(standard),
		MarkdownDescription: text + " The default is `" + standard + "`.",
	}
}

func flag(text string) schema.BoolAttribute {
	return schema.BoolAttribute{
		Optional: true, Computed: true, Default: booldefault.StaticBool(false),
		MarkdownDescription: text + " The default is `false`.",
	}
}
