# shellcheck shell=bash disable=SC2154
# age and rage: files of all sizes, rotation, other recipients, and what is refused.

program=${client%%-*}
case $program in
    age) foreign='no identity matched any of the recipients' ;;
    rage) foreign='No matching keys found' ;;
esac
seal() { "$program" --encrypt --recipient "$recipient" "$@"; }
open() { "$program" --decrypt --identity identity.txt "$@"; }

# Whoever encrypts has no address and no credential, and the service records nothing.
: >empty
printf 'password: s3cret\n' >small
head -c 5000000 /dev/urandom >large
for file in empty small large; do
    (unset SEALWARD_API_KEY && seal --output "$file.age" "$file")
done
opened 0
for file in empty small large; do
    # age 1.1 makes no target for an empty file.
    open "$file.age" >"$file.opened"
    cmp "$file" "$file.opened"
done
opened 3
lacks s3cret small.age
grep -aqE "^-> sealward $policy key_[0-9a-z]{26}$" small.age

seal --armor small >small.txt
head -n 1 small.txt | grep -q 'BEGIN AGE ENCRYPTED FILE'
diff <(open small.txt) small

# Another recipient beside that of the policy: each opens the file alone.
"$program-keygen" -o own.txt 2>/dev/null
seal --recipient "$(sed -n 's/^# public key: //p' own.txt)" small >both.age
diff <(open both.age) small
diff <(SEALWARD_API_KEY='' "$program" --decrypt --identity own.txt both.age) small
SEALWARD_API_KEY='' says "$foreign" "$program" --decrypt --identity own.txt small.age
opened 5

# After a rotation, files with either key open, and the identity is the same.
rotate >rotated.json
diff <(open small.age) small
age-plugin-sealward recipient --url "$SEALWARD_URL" --policy "$policy" >new.txt
[ "$(<new.txt)" != "$recipient" ]
"$program" --encrypt --recipients-file new.txt small >new.age
grep -aq "^-> sealward $policy $(jq -r .id rotated.json)$" new.age
diff <(open new.age) small
seal small >old.age
diff <(open old.age) small
# An identity encrypts with the newest key.
"$program" --encrypt --identity identity.txt small >by-identity.age
grep -aq "^-> sealward $policy $(jq -r .id rotated.json)$" by-identity.age
diff <(open by-identity.age) small

# The identity of another policy does not open it.
(make_destination "OTHER-$policy")
age-plugin-sealward identity --url "$SEALWARD_URL" --policy "OTHER-$policy" >other.txt
says "$foreign" "$program" --decrypt --identity other.txt small.age

# A refused opening neither makes nor changes the target, and later the file still opens.
echo kept >kept
refusals open --output absent small.age
refusals open --output kept small.age
sed 's/^-> sealward .*/-> sealward/' small.age >damaged.age
says 'the file is damaged' open --output absent damaged.age
unreachable "$program" --decrypt --identity far.txt small.age
diff opened-far small
[ ! -e absent ]
[ "$(<kept)" = kept ]
diff <(open small.age) small

# What has no recipient says why.
identity_of() { age-plugin-sealward identity --url "$SEALWARD_URL" --policy "$1"; }
says 'POLICY_NOT_FOUND' identity_of NONE
change_policy '{"contextRequired": true}'
says 'the policy requires a context' identity_of "$policy"
says 'the policy requires a context' "$program" --encrypt --identity identity.txt --output absent small
[ ! -e absent ]
diff <(open small.age) small
