package managed

import (
	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Kept is for attributes that the API sets once.
var Kept = []planmodifier.String{stringplanmodifier.UseStateForUnknown()}

// Fixed is for attributes of a resource that nothing changes: another value needs another resource.
var Fixed = []planmodifier.String{stringplanmodifier.RequiresReplace()}

// Chosen is for attributes that the API chooses if the configuration does not, and that nothing changes.
var Chosen = []planmodifier.String{stringplanmodifier.UseStateForUnknown(), stringplanmodifier.RequiresReplaceIfConfigured()}

// ID is the attribute id.
func ID(noun string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: "The ID of the " + noun + ".", PlanModifiers: Kept}
}

// Name is the attribute name.
func Name(text string) schema.StringAttribute {
	return schema.StringAttribute{Required: true, MarkdownDescription: text, Validators: []validator.String{stringvalidator.LengthBetween(1, 100)}}
}

// Description is the attribute description.
func Description() schema.StringAttribute {
	return schema.StringAttribute{
		Optional: true, MarkdownDescription: "The description.", Validators: NotEmpty,
	}
}

// NotEmpty refuses an empty text, such as a variable without a value. Only a missing argument restricts nothing.
var NotEmpty = []validator.String{stringvalidator.LengthAtLeast(1)}

// DefaultPolicy is the attribute policy_number of a credential.
func DefaultPolicy() schema.StringAttribute {
	return schema.StringAttribute{Optional: true, MarkdownDescription: "The policy for requests that name none.", Validators: NotEmpty}
}

// AllowedOperations is the attribute allowed_operations of a credential.
func AllowedOperations() schema.SetAttribute {
	return Texts("The allowed operations. Without this argument, all are allowed.")
}

// Texts is an attribute with at least one text, which can be missing.
func Texts(text string) schema.SetAttribute {
	return schema.SetAttribute{
		Optional: true, ElementType: types.StringType, MarkdownDescription: text,
		Validators: []validator.Set{setvalidator.SizeAtLeast(1)},
	}
}

// CreatedAt is the attribute created_at.
func CreatedAt() schema.StringAttribute {
	return schema.StringAttribute{
		Computed: true, MarkdownDescription: "The time of the creation.",
		CustomType: timetypes.RFC3339Type{}, PlanModifiers: Kept,
	}
}

// Status is the attribute status. The provider leaves it alone unless the configuration states it, so that it does not
// undo a freeze or an emergency.
func Status(text string, values ...string) schema.StringAttribute {
	return schema.StringAttribute{
		Optional: true, Computed: true, PlanModifiers: Kept,
		MarkdownDescription: text + " Without this argument, the provider neither sets nor corrects the status.",
		Validators:          []validator.String{stringvalidator.OneOf(values...)},
	}
}

// DeletionProtection is the attribute deletion_protection.
func DeletionProtection(noun string) schema.BoolAttribute {
	return schema.BoolAttribute{
		Optional: true, Computed: true, Default: booldefault.StaticBool(true),
		MarkdownDescription: "Whether the provider refuses to delete the " + noun + ", also to replace it. The default is `true`. " +
			"Set `false` and apply before you destroy it.",
	}
}
