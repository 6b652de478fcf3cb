# shellcheck shell=bash
# The provider, and what the scenarios do with OpenTofu.

staticcheck=v0.8.2

# Lints and builds the provider, and makes it the only provider that OpenTofu finds.
check_provider() {
    local unformatted
    cd "$root/clients/terraform"
    unformatted=$(gofmt -l .)
    [ -z "$unformatted" ] || fails "gofmt would change $unformatted"
    go vet ./...
    go run "honnef.co/go/tools/cmd/staticcheck@$staticcheck" ./...
    go test ./...
    go mod tidy -diff
    ./install "$work/plugins"
    cat >"$work/tofurc" <<HCL
provider_installation {
  filesystem_mirror {
    path = "$work/plugins"
  }
}
HCL
}

# configure NAME...: begins a configuration with these files of configurations/.
configure() {
    cp "${@/#/$sources/configurations/}" .
    tofu init -no-color
}

applies() { tofu apply -no-color -auto-approve -input=false "$@" | tee apply.log; }

# The plan must be empty.
plans_nothing() { tofu plan -no-color -input=false -detailed-exitcode "$@" || fails "the plan is not empty"; }

# plans TEXT: the plan must contain a change with the text.
plans() {
    local status=0
    tofu plan -no-color -input=false -detailed-exitcode >plan.log || status=$?
    [ "$status" = 2 ] || fails "the plan has status $status:" "$(<plan.log)"
    grep -F "$1" plan.log || fails "the plan lacks $1:" "$(<plan.log)"
}

# Deletes all resources. A service goes last, when its keys are destroyed.
destroys_all() {
    tofu destroy -no-color -auto-approve || {
        wait_until no_key_waits
        tofu destroy -no-color -auto-approve
    }
    [ -z "$(tofu state list)" ] || fails "the state is not empty"
}

no_key_waits() { [ "$(api GET '/admin/keys?status=pending_destruction' | jq '.items | length')" = 0 ]; }

# in_one_line TEXT COMMAND...: the command must fail with one error, a line that contains the text.
in_one_line() {
    local output
    output=$(refuses_in_one_line 'Error: ' "${@:2}")
    grep 'Error: ' <<<"$output" | grep -F -- "$1" || fails "no error with the text $1:" "$output"
}
