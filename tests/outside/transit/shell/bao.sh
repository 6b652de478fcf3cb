# shellcheck shell=bash
# The command line of OpenBao: an application, and an administrator who creates and rotates a key.

bao status
bao token lookup
[ "$(bao read -field=type transit/keys/ec)" = ecdsa-p256 ]
bao list -format=json transit/keys | jq --exit-status 'index("data") != null' >/dev/null

as_administrator write transit/keys/cli type=aes256-gcm96 exportable=false
text=$(bao write -field=ciphertext transit/encrypt/cli plaintext="$(base64 <<<card)")
[[ $text == vault:v1:* ]]
as_administrator write -force transit/keys/cli/rotate
[ "$(bao read -field=latest_version transit/keys/cli)" = 2 ]
[ "$(bao write -field=plaintext transit/decrypt/cli ciphertext="$text" | base64 -d)" = card ]
text=$(bao write -field=ciphertext transit/rewrap/cli ciphertext="$text")
[[ $text == vault:v2:* ]]
[ "$(bao write -field=plaintext transit/decrypt/cli ciphertext="$text" | base64 -d)" = card ]

signature=$(bao write -field=signature transit/sign/rsa/sha2-384 input="$(base64 <<<contract)" signature_algorithm=pkcs1v15)
[ "$(bao write -field=valid transit/verify/rsa/sha2-384 input="$(base64 <<<contract)" signature="$signature" \
    signature_algorithm=pkcs1v15)" = true ]

refuses 'permission denied' bao write -force transit/keys/cli/rotate
refuses 'encryption key not found' bao write transit/encrypt/missing plaintext=
refuses '' bao read secret/shop
