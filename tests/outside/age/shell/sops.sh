# shellcheck shell=bash disable=SC2154
# SOPS: a file of settings, a .env and a Secret of Kubernetes, rotation, and what is refused.

export SOPS_AGE_KEY_FILE=$PWD/identity.txt

cat >settings.yaml <<'YAML'
user: shop
password: s3cret
YAML
cat >app.env <<'ENV'
DATABASE_URL=postgres://shop:s3cret@db/shop
# a comment
EMPTY=
ENV
cat >secret.yaml <<'YAML'
apiVersion: v1
kind: Secret
metadata:
    name: shop
stringData:
    password: s3cret
type: Opaque
YAML

# Whoever encrypts has no credential, and the service records nothing.
seal() { (unset SEALWARD_API_KEY && sops encrypt --age "$recipient" "$@"); }
seal settings.yaml >settings.sealed.yaml
seal app.env >app.sealed.env
seal --encrypted-regex '^(data|stringData)$' secret.yaml >secret.sealed.yaml
opened 0
for file in settings.sealed.yaml app.sealed.env secret.sealed.yaml; do lacks s3cret "$file"; done
grep -q '^kind: Secret$' secret.sealed.yaml

diff <(sops decrypt settings.sealed.yaml) settings.yaml
diff <(sops decrypt app.sealed.env) app.env
diff <(sops decrypt secret.sealed.yaml) secret.yaml
opened 3
# shellcheck disable=SC2016 # the shell of sops expands it
[ "$(sops exec-env app.sealed.env 'echo $DATABASE_URL')" = postgres://shop:s3cret@db/shop ]
sops set settings.sealed.yaml '["password"]' '"n3w"'
[ "$(sops decrypt --extract '["password"]' settings.sealed.yaml)" = n3w ]

# After a rotation, old files open, and new ones have the new key.
rotate >rotated.json
diff <(sops decrypt secret.sealed.yaml) secret.yaml
new=$(age-plugin-sealward recipient --url "$SEALWARD_URL" --policy "$policy")
[ "$new" != "$recipient" ]
cat >.sops.yaml <<YAML
creation_rules:
  - path_regex: \.yaml$
    age: $new
YAML
sops updatekeys --yes secret.sealed.yaml
grep -qF "$new" secret.sealed.yaml
lacks "$recipient" secret.sealed.yaml
diff <(sops decrypt secret.sealed.yaml) secret.yaml
sops rotate --in-place secret.sealed.yaml
diff <(sops decrypt secret.sealed.yaml) secret.yaml

# A refused opening neither makes nor changes a file, and later the file still opens.
echo kept >kept
cp secret.sealed.yaml before.yaml
refusals sops decrypt --output absent secret.sealed.yaml
refusals sops decrypt --output kept secret.sealed.yaml
refusals sops decrypt --in-place secret.sealed.yaml
refusals sops set secret.sealed.yaml '["stringData"]["password"]' '"lost"'
far() { SOPS_AGE_KEY_FILE=$PWD/far.txt sops decrypt secret.sealed.yaml; }
unreachable far
diff opened-far secret.yaml
[ ! -e absent ]
[ "$(<kept)" = kept ]
cmp before.yaml secret.sealed.yaml
diff <(sops decrypt secret.sealed.yaml) secret.yaml

# The identity of another policy does not open it.
(make_destination "OTHER-$policy")
age-plugin-sealward identity --url "$SEALWARD_URL" --policy "OTHER-$policy" >other.txt
SOPS_AGE_KEY_FILE=$PWD/other.txt says 'any of the recipients' sops decrypt secret.sealed.yaml
