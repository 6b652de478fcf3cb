# shellcheck shell=bash
# The reference in clients/terraform/docs is that of the provider. Its generator needs no network.

tfplugindocs=v0.25.0

configure provider.tf
tofu providers schema -json | jq '.provider_schemas |= {sealward: .["sealward.dev/sealward/sealward"]}' >schema.json
mkdir provider
cp -r "$root/clients/terraform/examples" provider
go run "github.com/hashicorp/terraform-plugin-docs/cmd/tfplugindocs@$tfplugindocs" generate --provider-dir "$PWD/provider" \
    --provider-name sealward --rendered-provider-name Sealward --providers-schema "$PWD/schema.json"
if [ -n "$WRITE" ]; then
    rm -rf "$root/clients/terraform/docs"
    cp -r provider/docs "$root/clients/terraform/docs"
fi
diff -r provider/docs "$root/clients/terraform/docs"
# The examples are formatted.
tofu fmt -check -recursive "$root/clients/terraform/examples" "$sources/configurations"
