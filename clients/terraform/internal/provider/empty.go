package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

// notEmpty refuses an empty text, such as a variable without a value. Only a missing argument has a default.
type notEmpty struct{}

func (notEmpty) Description(context.Context) string { return "The text must not be empty." }

func (n notEmpty) MarkdownDescription(ctx context.Context) string { return n.Description(ctx) }

func (notEmpty) ValidateString(_ context.Context, request validator.StringRequest, response *validator.StringResponse) {
	if text := request.ConfigValue; !text.IsNull() && !text.IsUnknown() && text.ValueString() == "" {
		response.Diagnostics.AddError(fmt.Sprintf("Cannot configure the provider: %s is empty; remove it to use its default", request.Path), "")
	}
}
