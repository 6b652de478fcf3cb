package managed

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"sealward.dev/terraform/internal/session"
)

// NewDataSource returns the constructor of the data sources of a kind. They find a resource by its ID, or by the value of
// another attribute. Attributes of the resource that the API does not have are left out.
func NewDataSource[M, R any, P Model[M, R], RM any](kind Kind[RM, R], by string, leftOut ...string) func() datasource.DataSource {
	return func() datasource.DataSource { return &dataSource[M, R, P, RM]{kind: kind, by: by, leftOut: leftOut} }
}

type dataSource[M, R any, P Model[M, R], RM any] struct {
	kind    Kind[RM, R]
	by      string
	leftOut []string
	session *session.Session
}

func (d *dataSource[M, R, P, RM]) Metadata(_ context.Context, request datasource.MetadataRequest, response *datasource.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_" + d.kind.Name
}

func (d *dataSource[M, R, P, RM]) Schema(_ context.Context, _ datasource.SchemaRequest, response *datasource.SchemaResponse) {
	attributes := computed(d.kind.Schema.Attributes)
	for _, name := range d.leftOut {
		delete(attributes, name)
	}
	attributes["id"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: fmt.Sprintf("The ID. Either `id` or `%s` is required.", d.by),
		Validators:          []validator.String{stringvalidator.ExactlyOneOf(path.MatchRoot("id"), path.MatchRoot(d.by))},
	}
	attributes[d.by] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: attributes[d.by].GetMarkdownDescription() + fmt.Sprintf(" Either `id` or `%s` is required.", d.by),
	}
	response.Schema = schema.Schema{
		MarkdownDescription: "Reads one " + d.kind.Noun + ", which others can manage.",
		Attributes:          attributes,
	}
}

func (d *dataSource[M, R, P, RM]) Configure(_ context.Context, request datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	d.session, _ = request.ProviderData.(*session.Session)
}

func (d *dataSource[M, R, P, RM]) Read(ctx context.Context, request datasource.ReadRequest, response *datasource.ReadResponse) {
	var model M
	var id, name types.String
	response.Diagnostics.Append(request.Config.Get(ctx, &model)...)
	response.Diagnostics.Append(request.Config.GetAttribute(ctx, path.Root("id"), &id)...)
	response.Diagnostics.Append(request.Config.GetAttribute(ctx, path.Root(d.by), &name)...)
	if response.Diagnostics.HasError() {
		return
	}
	found, err := d.find(ctx, id, name)
	if err != nil {
		session.Report(&response.Diagnostics, "read the "+d.kind.Noun, err)
		return
	}
	response.Diagnostics.Append(P(&model).Fill(found)...)
	// The API takes other texts in the place of some IDs.
	if read := P(&model).Identifier(); !id.IsNull() && read != id.ValueString() {
		session.Report(&response.Diagnostics, "read the "+d.kind.Noun, fmt.Errorf("its ID is %s, not %s", read, id.ValueString()))
		return
	}
	response.Diagnostics.Append(response.State.Set(ctx, &model)...)
}

func (d *dataSource[M, R, P, RM]) find(ctx context.Context, id, name types.String) (*R, error) {
	wanted := id.ValueString()
	if id.IsNull() {
		var err error
		if wanted, err = d.kind.identify(ctx, d.session, name.ValueString()); err != nil {
			return nil, err
		}
	}
	found, err := d.kind.Read(ctx, d.session, wanted)
	if err == nil && found == nil {
		err = fmt.Errorf("no %s has the ID %s", d.kind.Noun, wanted)
	}
	return found, err
}
