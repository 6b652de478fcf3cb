package services

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"sealward.dev/terraform/internal/managed"
)

var attributes = schema.Schema{
	MarkdownDescription: "A service: an application that calls Sealward, or the destination of envelopes. " +
		"Its deletion fails while a policy, an API key, an identity or a key that is not destroyed refers to it.",
	Attributes: map[string]schema.Attribute{
		"id":          managed.ID("service"),
		"name":        managed.Name("The name, which no other service has."),
		"description": managed.Description(),
		"status":      managed.Status("`active`, or `frozen` to refuse all runtime calls that the service makes or is the destination of.", "active", "frozen"),
		"tier": schema.StringAttribute{
			Optional: true, Computed: true, Default: stringdefault.StaticString("standard"),
			MarkdownDescription: "`standard`, `professional` or `enterprise`. The tier sets the rate limit. The default is `standard`.",
			Validators:          []validator.String{stringvalidator.OneOf("standard", "professional", enterprise)},
		},
		"rate_limit": schema.SingleNestedAttribute{
			Optional: true, MarkdownDescription: "The rate limit. It is required for the tier `enterprise`, and no other tier has it.",
			Attributes: map[string]schema.Attribute{
				"requests_per_second": schema.Int64Attribute{
					Required: true, MarkdownDescription: "The number of requests per second.",
					Validators: []validator.Int64{int64validator.AtLeast(1)},
				},
				"burst": schema.Int64Attribute{
					Required: true, MarkdownDescription: "The number of requests at once.",
					Validators: []validator.Int64{int64validator.AtLeast(1)},
				},
			},
		},
		"publish_keys": schema.BoolAttribute{
			Optional: true, Computed: true, Default: booldefault.StaticBool(false),
			MarkdownDescription: "Whether the public keys are published as a JWK Set without authentication. The default is `false`.",
		},
		"created_at": managed.CreatedAt(),
	},
}
