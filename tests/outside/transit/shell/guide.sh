# shellcheck shell=bash disable=SC1091,SC2154
# The examples of docs/transit.md, as a reader runs them.

. "$sources/../document.sh"
guide=$sources/../../../docs/transit.md

# example HEADING LAST: runs the blocks of a section in a folder of their own. The last line of the output is known.
example() {
    mkdir "$1"
    (cd "$1" && bash -euo pipefail <(blocks "$guide" "$1") >output)
    [ "$(tail -n 1 "$1/output")" = "$2" ] || fails "$1 printed:" "$(cat "$1/output")"
}

example sops 'password: s3cret'
example cosign ''
example Auto-unseal false
example hvac 'a card'
example OpenTofu true
awk '/^```java$/ { open = 1; next } /^```$/ { open = 0 } open' "$guide" >Shop.java
[ "$(java -cp "$java/libraries/*" Shop.java)" = 'a card' ]
