// Package jwks has the data source sealward_jwks.
package jwks

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"sealward.dev/terraform/internal/session"
)

// NewDataSource returns the data source.
func NewDataSource() datasource.DataSource { return &dataSource{} }

type dataSource struct{ session *session.Session }

type model struct {
	ServiceID types.String `tfsdk:"service_id"`
	Keys      types.List   `tfsdk:"keys"`
	JSON      types.String `tfsdk:"json"`
}

func (d *dataSource) Metadata(_ context.Context, request datasource.MetadataRequest, response *datasource.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_jwks"
}

func (d *dataSource) Schema(_ context.Context, _ datasource.SchemaRequest, response *datasource.SchemaResponse) {
	response.Schema = schema.Schema{
		MarkdownDescription: "The public keys that a service publishes as a JWK Set. The service needs `publish_keys`.",
		Attributes: map[string]schema.Attribute{
			"service_id": schema.StringAttribute{Required: true, MarkdownDescription: "The ID of the service."},
			"keys":       schema.ListAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: "Each key as a JWK."},
			"json":       schema.StringAttribute{Computed: true, MarkdownDescription: "The JWK Set."},
		},
	}
}

func (d *dataSource) Configure(_ context.Context, request datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	d.session, _ = request.ProviderData.(*session.Session)
}

func (d *dataSource) Read(ctx context.Context, request datasource.ReadRequest, response *datasource.ReadResponse) {
	var found model
	response.Diagnostics.Append(request.Config.Get(ctx, &found)...)
	if response.Diagnostics.HasError() {
		return
	}
	published, err := d.session.Runtime.JWKS(ctx, found.ServiceID.ValueString())
	if err != nil {
		session.Report(&response.Diagnostics, "read the JWK Set", err)
		return
	}
	whole, err := json.Marshal(published)
	if err != nil {
		session.Report(&response.Diagnostics, "read the JWK Set", err)
		return
	}
	keys := make([]string, len(published.Keys))
	for index, key := range published.Keys {
		keys[index] = string(key)
	}
	list, problems := types.ListValueFrom(ctx, types.StringType, keys)
	response.Diagnostics.Append(problems...)
	found.Keys, found.JSON = list, types.StringValue(string(whole))
	response.Diagnostics.Append(response.State.Set(ctx, found)...)
}
