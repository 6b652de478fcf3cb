package apikeys

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"sealward.dev/terraform/internal/session"
)

// NewSecret returns the ephemeral resource.
func NewSecret() ephemeral.EphemeralResource { return &secretResource{} }

type secretResource struct{ session *session.Session }

type secretModel struct {
	ID     types.String `tfsdk:"id"`
	Secret types.String `tfsdk:"secret"`
}

func (r *secretResource) Metadata(_ context.Context, request ephemeral.MetadataRequest, response *ephemeral.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_" + Kind.Name
}

func (r *secretResource) Schema(_ context.Context, _ ephemeral.SchemaRequest, response *ephemeral.SchemaResponse) {
	response.Schema = schema.Schema{
		MarkdownDescription: "The secret of an API key, in the one `apply` that creates the key. Sealward shows a secret once and keeps only its digest, " +
			"so `secret` is null in every other plan and apply. Give it to a write-only argument whose version is the ID of the key, " +
			"or to a provisioner of a resource that the ID replaces. If that fails, replace the key: `tofu apply -replace=ADDRESS`.",
		Attributes: map[string]schema.Attribute{
			"id": schema.StringAttribute{Required: true, MarkdownDescription: "The ID of a resource `sealward_api_key` of the same configuration."},
			"secret": schema.StringAttribute{
				Computed: true, Sensitive: true, MarkdownDescription: "The secret, or null if this run did not create the key.",
			},
		},
	}
}

func (r *secretResource) Configure(_ context.Context, request ephemeral.ConfigureRequest, _ *ephemeral.ConfigureResponse) {
	r.session, _ = request.ProviderData.(*session.Session)
}

func (r *secretResource) Open(ctx context.Context, request ephemeral.OpenRequest, response *ephemeral.OpenResponse) {
	var opened secretModel
	response.Diagnostics.Append(request.Config.Get(ctx, &opened)...)
	if response.Diagnostics.HasError() {
		return
	}
	opened.Secret = types.StringNull()
	if secret, isNew := r.session.Secret(opened.ID.ValueString()); isNew {
		opened.Secret = types.StringValue(secret.Reveal())
	}
	response.Diagnostics.Append(response.Result.Set(ctx, opened)...)
}
