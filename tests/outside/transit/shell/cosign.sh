# shellcheck shell=bash
# cosign: signs and verifies a file with a key of each kind, in the server and, but for Ed25519, with the public key alone.

cosign signing-config create --out config.json
echo release >release
echo forgery >forgery
for key in ec rsa; do
    cosign sign-blob --yes --signing-config config.json --key "hashivault://$key" --bundle "$key.json" release
    cosign verify-blob --private-infrastructure --key "hashivault://$key" --bundle "$key.json" release
    cosign public-key --key "hashivault://$key" >"$key.pem"
    cosign verify-blob --private-infrastructure --key "$key.pem" --bundle "$key.json" release
    refuses '' cosign verify-blob --private-infrastructure --key "hashivault://$key" --bundle "$key.json" forgery
done

# cosign verifies no bundle with Ed25519, and with the public key alone it expects Ed25519ph, which Vault does not make.
detached=(--new-bundle-format=false --key hashivault://ed)
cosign sign-blob --yes "${detached[@]}" --use-signing-config=false --tlog-upload=false --output-signature ed.sig release
cosign verify-blob "${detached[@]}" --insecure-ignore-tlog --signature ed.sig release
refuses '' cosign verify-blob "${detached[@]}" --insecure-ignore-tlog --signature ed.sig forgery

refuses 'permission denied' env VAULT_TOKEN=wrong cosign public-key --key hashivault://ec
