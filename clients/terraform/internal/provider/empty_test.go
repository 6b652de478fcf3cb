package provider

import (
	"context"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func TestEmptyTextsAreRefused(t *testing.T) {
	ctx := context.Background()
	var described provider.SchemaResponse
	New().Schema(ctx, provider.SchemaRequest{}, &described)
	for _, name := range []string{"url", "api_key", "api_key_file", "ca_file"} {
		attribute, isText := described.Schema.Attributes[name].(schema.StringAttribute)
		if !isText || !slices.Contains(attribute.Validators, validator.String(notEmpty{})) {
			t.Errorf("%s can be empty", name)
		}
	}
	for text, refused := range map[types.String]bool{
		types.StringValue(""): true, types.StringValue("x"): false, types.StringNull(): false, types.StringUnknown(): false,
	} {
		var response validator.StringResponse
		notEmpty{}.ValidateString(ctx, validator.StringRequest{Path: path.Root("url"), ConfigValue: text}, &response)
		if response.Diagnostics.HasError() != refused {
			t.Errorf("%s: %v", text, response.Diagnostics)
		}
	}
}
