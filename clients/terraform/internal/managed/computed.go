package managed

import (
	"fmt"

	data "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
)

// computed returns the attributes of a resource as those of its data source, so that each is declared once.
func computed(attributes map[string]schema.Attribute) map[string]data.Attribute {
	shown := map[string]data.Attribute{}
	for name, attribute := range attributes {
		text := attribute.GetMarkdownDescription()
		switch attribute := attribute.(type) {
		case schema.StringAttribute:
			shown[name] = data.StringAttribute{Computed: true, MarkdownDescription: text, CustomType: attribute.CustomType}
		case schema.BoolAttribute:
			shown[name] = data.BoolAttribute{Computed: true, MarkdownDescription: text}
		case schema.Int64Attribute:
			shown[name] = data.Int64Attribute{Computed: true, MarkdownDescription: text}
		case schema.SetAttribute:
			shown[name] = data.SetAttribute{Computed: true, MarkdownDescription: text, ElementType: attribute.ElementType}
		case schema.SingleNestedAttribute:
			shown[name] = data.SingleNestedAttribute{Computed: true, MarkdownDescription: text, Attributes: computed(attribute.Attributes)}
		default:
			panic(fmt.Sprintf("%s has the type %T, which no data source has yet", name, attribute))
		}
	}
	return shown
}
