package keys

import (
	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/boolplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"sealward.dev/terraform/internal/managed"
)

var attributes = schema.Schema{
	MarkdownDescription: "A key of a service: generated in the token, or the public half of a key that is elsewhere. " +
		"With `rotation_days`, the resource is the key and its successors: `id` stays, and `current_id` is the key in use. " +
		"The name of such a key must be unique among the keys of its service. A deletion schedules the destruction of all of them.",
	Attributes: map[string]schema.Attribute{
		"id":         managed.ID("key"),
		"current_id": shown("The ID of the key in use. It differs from `id` after a rotation."),
		"service_id": schema.StringAttribute{Required: true, MarkdownDescription: "The service to which the key belongs.", PlanModifiers: managed.Fixed},
		"name": schema.StringAttribute{
			Optional: true, Computed: true, PlanModifiers: managed.Kept,
			MarkdownDescription: "The name. Without it, Sealward chooses one.", Validators: []validator.String{stringvalidator.LengthBetween(1, 100)},
		},
		"use":       chosen("`enc` for envelopes, `sig` for signatures, or `data` for encryption without envelopes. The default depends on the algorithm."),
		"algorithm": chosen("The algorithm, such as `RSA-3072`, `P-256`, `Ed25519` or `AES-256`. The default of a generated key is `RSA-3072`."),
		"public_key": schema.StringAttribute{
			Optional: true, PlanModifiers: []planmodifier.String{replacedIfOther()},
			MarkdownDescription: "The public key, as PEM, as a certificate in PEM, or as a JWK. Without it, the token generates the key.",
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1), publicOnly{}},
		},
		"status": withConflict(managed.Status("`active`, `retired` or `disabled`. A key that rotates has no argument `status`.", "active", "retired", disabled), "rotation_days"),
		"rotation_days": schema.Int64Attribute{
			Optional: true, MarkdownDescription: "The number of days after which Sealward replaces the generated key with a successor. Requires `name`.",
			Validators: []validator.Int64{int64validator.Between(1, 3650), int64validator.ConflictsWith(path.MatchRoot("public_key")), int64validator.AlsoRequires(path.MatchRoot("name"))},
		},
		"partner_kid": chosen("The key ID that a partner uses for the key. The default is the `kid` of a JWK."),
		"expires_at": schema.StringAttribute{
			Optional: true, CustomType: timetypes.RFC3339Type{},
			MarkdownDescription: "The time after which the key no longer protects, encrypts or signs, as in RFC 3339.",
		},
		"origin": shown("`generated`, `imported` or `adopted`."),
		"has_private": schema.BoolAttribute{
			Computed: true, MarkdownDescription: "Whether the private half is in the token.",
			PlanModifiers: []planmodifier.Bool{boolplanmodifier.UseStateForUnknown()},
		},
		"version": schema.Int64Attribute{
			Computed: true, MarkdownDescription: "The number of the key among the keys of its service and name, or null for the use `enc`.",
			PlanModifiers: []planmodifier.Int64{int64planmodifier.UseStateForUnknown()},
		},
		"jwk":                 shown("The public key as a JWK, or null for a secret key."),
		"thumbprint":          shown("The thumbprint of the public key, as in RFC 7638."),
		"created_at":          managed.CreatedAt(),
		"deletion_protection": managed.DeletionProtection("key"),
	},
}

func shown(text string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: text, PlanModifiers: managed.Kept}
}

func chosen(text string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, Computed: true, MarkdownDescription: text, PlanModifiers: managed.Chosen}
}

func withConflict(attribute schema.StringAttribute, other string) schema.StringAttribute {
	attribute.Validators = append(attribute.Validators, stringvalidator.ConflictsWith(path.MatchRoot(other)))
	return attribute
}
