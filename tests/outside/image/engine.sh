# shellcheck shell=bash
# buildah and podman with images and containers in $work, without a registry. The caller sets $work.

# podman accepts at most 50 characters for the second path.
storage() { printf '%s\n' --root "$work/store" --runroot "/tmp/sealward-$(sha256sum <<<"$work" | head -c 12)"; }

# overlay needs a file system below it that supports it; vfs works everywhere and needs more space.
export STORAGE_DRIVER=${STORAGE_DRIVER:-overlay}

# Without a registry, only images of this folder exist.
image_pull=(--pull-never)

podman_here() {
    local options
    mapfile -t options < <(storage)
    podman "${options[@]}" --runtime runc --cgroup-manager cgroupfs --events-backend file "$@"
}

# clone_sources FOLDER: the last commit.
clone_sources() { git clone --quiet --no-hardlinks --depth 1 "file://$PWD" "$1"; }

# make_bases FOLDER [PROGRAM]: the base images with the names that the Dockerfile expects.
make_bases() {
    local argument name
    tests/outside/image/bases bookworm "$1" "${2:-}" || return 1
    for argument in RUST DEBIAN; do
        name=$(sed -n "s/^ARG $argument=//p" Dockerfile)
        podman_here import --quiet "$1/${argument,,}.tar" "$name" >/dev/null || return 1
        rm "$1/${argument,,}.tar"
    done
}

# build_image SOURCES OPTION...: the times in the image are that of the commit. OCI images have no health
# check, so the format is that of Docker.
build_image() {
    local sources=$1 options epoch
    shift
    mapfile -t options < <(storage)
    epoch=$(git -C "$sources" log -1 --format=%ct)
    buildah "${options[@]}" build --quiet --isolation chroot "${image_pull[@]}" --format docker --layers \
        --timestamp "$epoch" --build-arg "SOURCE_DATE_EPOCH=$epoch" \
        --build-arg "VERSION=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$sources/Cargo.toml")" \
        --build-arg "REVISION=$(git -C "$sources" rev-parse HEAD)" "$@" "$sources" >>"$work/build.log" 2>&1 || {
        tail -n 30 "$work/build.log" >&2
        return 1
    }
}

# build_images SOURCES: sealward:latest and sealward:dev.
build_images() {
    build_image "$1" --target production --tag sealward:latest &&
        build_image "$1" --target dev --tag sealward:dev
}

# Removes all containers, and what their runtime keeps outside $work.
stop_containers() {
    local options
    mapfile -t options < <(storage)
    podman_here rm --all --force --time 1 >/dev/null 2>&1 || true
    # An interrupted build leaves its mounts.
    awk -v store="$work/store/" 'index($2, store) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r umount || true
    rm -rf --one-file-system "${options[3]}"
}
