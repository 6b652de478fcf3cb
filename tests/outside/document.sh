# shellcheck shell=bash

# blocks FILE HEADING: prints the `sh by-hand` blocks below a heading of a document.
blocks() {
    awk -v heading="## $2" '
        /^## / { inside = $0 == heading }
        /^```/ { open = inside && $0 == "```sh by-hand"; next }
        open
    ' "$1"
}
