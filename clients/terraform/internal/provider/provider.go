// Package provider is the provider of Sealward: its configuration, and the list of what it has.
package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"sealward.dev/go"
	"sealward.dev/terraform/internal/apikeys"
	"sealward.dev/terraform/internal/identities"
	"sealward.dev/terraform/internal/jwks"
	"sealward.dev/terraform/internal/keys"
	"sealward.dev/terraform/internal/policies"
	"sealward.dev/terraform/internal/services"
)

// New returns the provider.
func New() provider.Provider { return &sealwardProvider{} }

type sealwardProvider struct{}

func (*sealwardProvider) Metadata(_ context.Context, _ provider.MetadataRequest, response *provider.MetadataResponse) {
	response.TypeName, response.Version = "sealward", sealward.Version
}

func (*sealwardProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{
		services.NewResource, policies.NewResource, keys.NewResource, apikeys.NewResource, identities.NewResource,
	}
}

func (*sealwardProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		services.NewDataSource, policies.NewDataSource, keys.NewDataSource, apikeys.NewDataSource, identities.NewDataSource,
		jwks.NewDataSource,
	}
}

func (*sealwardProvider) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{apikeys.NewSecret}
}
