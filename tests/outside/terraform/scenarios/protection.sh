# shellcheck shell=bash
# Keys and policies with deletion_protection stay. PEM and JWK of one key are the same key.

openssl ecparam -genkey -name prime256v1 -noout -out partner.pem
openssl pkey -in partner.pem -pubout -out public.pem
configure provider.tf partner.tf
TF_VAR_public_key=$(<public.pem)
export TF_VAR_public_key
applies
plans_nothing
id=$(api GET '/admin/keys?name=partner' | jq -r '.items[0].id')

TF_VAR_public_key=$(api GET "/admin/keys/$id" | jq -c .publicKey)
applies
plans_nothing
[ "$(api GET '/admin/keys?name=partner' | jq -r '.items | length')" = 1 ]
tofu state rm -no-color sealward_key.partner
tofu import -no-color -input=false sealward_key.partner partner
applies
plans_nothing
[ "$(api GET '/admin/keys?name=partner' | jq -r '.items[0].id')" = "$id" ]

# A private key is neither stored nor shown.
in_one_line 'contains a private or a symmetric key' tofu apply -no-color -auto-approve -var "public_key=$(<partner.pem)"
refuses 'Error: ' tofu plan -no-color -var "public_key=$(<partner.pem)"
lacks "$(sed -n 2p partner.pem)" terraform.tfstate

# Another key would replace it, which the protection forbids.
openssl ecparam -genkey -name prime256v1 -noout | openssl pkey -pubout -out other.pem
in_one_line 'deletion_protection is true' tofu apply -no-color -auto-approve -var "public_key=$(<other.pem)"
in_one_line 'deletion_protection is true' tofu destroy -no-color -auto-approve
[ "$(api GET "/admin/keys/$id" | jq -r .status)" = active ]
plans_nothing
