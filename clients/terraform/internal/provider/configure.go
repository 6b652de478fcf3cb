package provider

import (
	"cmp"
	"context"
	"os"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"sealward.dev/go"
	"sealward.dev/terraform/internal/session"
)

type configuration struct {
	URL             types.String         `tfsdk:"url"`
	APIKey          types.String         `tfsdk:"api_key"`
	APIKeyFile      types.String         `tfsdk:"api_key_file"`
	CAFile          types.String         `tfsdk:"ca_file"`
	WaitForApproval timetypes.GoDuration `tfsdk:"wait_for_approval"`
}

func (*sealwardProvider) Schema(_ context.Context, _ provider.SchemaRequest, response *provider.SchemaResponse) {
	response.Schema = schema.Schema{
		MarkdownDescription: "Manages the services, policies, keys, API keys and workload identities of Sealward.",
		Attributes: map[string]schema.Attribute{
			"url": schema.StringAttribute{
				Optional: true, MarkdownDescription: "The address of the service. The default is the environment variable `SEALWARD_URL`.",
				Validators: []validator.String{notEmpty{}},
			},
			"api_key": schema.StringAttribute{
				Optional: true, Sensitive: true,
				MarkdownDescription: "An admin key. The default is `SEALWARD_ADMIN_KEY`, then `SEALWARD_API_KEY`.",
				Validators:          []validator.String{notEmpty{}, stringvalidator.ConflictsWith(path.MatchRoot("api_key_file"))},
			},
			"api_key_file": schema.StringAttribute{
				Optional: true, MarkdownDescription: "A file with an admin key. The default is `SEALWARD_API_KEY_FILE`. `SEALWARD_TOKEN_FILE` names a file with the access token of an administrator.",
				Validators: []validator.String{notEmpty{}},
			},
			"ca_file": schema.StringAttribute{
				Optional: true, MarkdownDescription: "A file with the certificates, in PEM, of the authorities that the provider trusts instead of those of the system. The default is `SEALWARD_CA_FILE`.",
				Validators: []validator.String{notEmpty{}},
			},
			"wait_for_approval": schema.StringAttribute{
				Optional: true, CustomType: timetypes.GoDurationType{},
				MarkdownDescription: "How long the provider waits for the approval of a change that needs it, such as `30m`. Without it, such a change is an error that names the pending change.",
			},
		},
	}
}

func (*sealwardProvider) Configure(ctx context.Context, request provider.ConfigureRequest, response *provider.ConfigureResponse) {
	var stated configuration
	response.Diagnostics.Append(request.Config.Get(ctx, &stated)...)
	if response.Diagnostics.HasError() {
		return
	}
	if stated.URL.IsUnknown() || stated.APIKey.IsUnknown() || stated.APIKeyFile.IsUnknown() || stated.CAFile.IsUnknown() || stated.WaitForApproval.IsUnknown() {
		response.Diagnostics.AddError("Cannot configure the provider: an argument has a value that is known only after an apply", "")
		return
	}
	client, err := stated.client()
	if err != nil {
		session.Report(&response.Diagnostics, "configure the provider", err)
		return
	}
	var wait time.Duration
	if !stated.WaitForApproval.IsNull() {
		stated, problems := stated.WaitForApproval.ValueGoDuration()
		response.Diagnostics.Append(problems...)
		wait = stated
	}
	configured := session.New(client, wait)
	response.ResourceData, response.DataSourceData, response.EphemeralResourceData = configured, configured, configured
}

func (c configuration) client() (*sealward.Client, error) {
	credentials, err := c.credentials()
	if err != nil {
		return nil, err
	}
	return sealward.New(sealward.Options{
		URL:         cmp.Or(c.URL.ValueString(), os.Getenv("SEALWARD_URL")),
		Credentials: credentials,
		CAFile:      cmp.Or(c.CAFile.ValueString(), os.Getenv("SEALWARD_CA_FILE")),
	})
}

// credentials returns those of the configuration, of the admin key in the environment, or what every client takes.
func (c configuration) credentials() (sealward.Credentials, error) {
	switch {
	case !c.APIKey.IsNull():
		return sealward.APIKey(c.APIKey.ValueString()), nil
	case !c.APIKeyFile.IsNull():
		return sealward.APIKeyFile(c.APIKeyFile.ValueString()), nil
	}
	if key := os.Getenv("SEALWARD_ADMIN_KEY"); key != "" {
		return sealward.APIKey(key), nil
	}
	return sealward.CredentialsFromEnvironment()
}
