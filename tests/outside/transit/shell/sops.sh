# shellcheck shell=bash
# sops: encrypts, decrypts and rotates a file with the keys of two names.

key() { echo "$VAULT_ADDR/v1/transit/keys/$1"; }

printf 'user: shop\npassword: s3cret\n' >plain.yaml
sops encrypt --hc-vault-transit "$(key data)" plain.yaml >sealed.yaml
lacks s3cret sealed.yaml
diff <(sops decrypt sealed.yaml) plain.yaml
sops rotate --in-place --add-hc-vault-transit "$(key unseal)" sealed.yaml
sops rotate --in-place --rm-hc-vault-transit "$(key data)" sealed.yaml
[ "$(sops decrypt --extract '["password"]' sealed.yaml)" = s3cret ]

refuses 'encryption key not found' sops encrypt --hc-vault-transit "$(key missing)" plain.yaml
VAULT_TOKEN=wrong refuses 'permission denied' sops decrypt sealed.yaml
