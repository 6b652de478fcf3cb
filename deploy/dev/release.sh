# shellcheck shell=bash
# ./dev release: builds the files of a release in target/release-VERSION, and publishes nothing.

release_usage='usage: ./dev release VERSION [--unchecked] [--debootstrap]'

release() {
    local version='' unchecked='' bases='' options=() argument target making
    for argument; do
        case $argument in
            --unchecked) unchecked=yes ;;
            --debootstrap) bases=yes ;;
            -*) die "$release_usage" ;;
            *)
                version=$argument
                continue
                ;;
        esac
        options+=("$argument")
    done
    [ -n "$version" ] || die "$release_usage"
    require_cargo
    require_packages "$packages_for_image"
    require_packages "$packages_for_clients"
    [ "$EUID" -eq 0 ] || die "buildah builds the image as root: sudo ./dev release $version"
    check_sources "$version" "$unchecked"
    if [ -n "$unchecked" ]; then
        warn "--unchecked: ./dev check and ./dev test did not run; do not publish these files"
    else
        check
        run_tests
    fi

    target=$root/target/release-$version
    making=$target.making
    rm -rf --one-file-system "$making" "$target"
    mkdir -p "$making/files"
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
    export SOURCE_DATE_EPOCH
    release_image "$making" "$version" "$bases"
    release_packages "$making" "$version"
    release_clients "$making"
    release_statements "$making" "$version" "${options[@]}"
    (cd "$making/files" && sha256sum -- * >SHA256SUMS)
    mv "$making/files" "$target"
    rm -rf --one-file-system "$making"
    stage checksums "target/release-$version/SHA256SUMS"
    next_steps "$version"
}

# The version is the same everywhere, and the files contain only what is committed.
check_sources() {
    local version=$1 unchecked=$2 file found
    [ -z "$(git status --porcelain)" ] || die "the working tree has changes: commit them first"
    ! git rev-parse --quiet --verify "refs/tags/v$version" >/dev/null || die "the tag v$version exists"
    for file in Cargo.toml deploy/helm/sealward/Chart.yaml; do
        found=$(sed -nE 's/^(version|appVersion)(:| =) "?([^"]*)"?$/\3/p' "$file" | sort -u)
        [ "$found" = "$version" ] || die "$file has the version ${found:-none}, not $version"
    done
    grep -q "^## $version (" CHANGELOG.md || die "CHANGELOG.md has no section for $version"
    [ -n "$unchecked" ] || ! grep -q "^## $version (not released)" CHANGELOG.md ||
        die "CHANGELOG.md: replace \"not released\" by the date of the release"
    stage sources "version $version, commit $(git rev-parse --short HEAD)"
}

# release_image FOLDER VERSION BASES: the images, and the program from the production image. The base
# images are pulled, or made with debootstrap.
release_image() {
    local work=$1 version=$2 bases=$3 files=$1/files container
    . tests/outside/image/engine.sh
    clone_sources "$work/sources"
    if [ -n "$bases" ]; then
        run make_bases "$work" "${SEALWARD_TEST_PROGRAM:-}" || die "cannot make the base images"
        stage bases "made with debootstrap"
    else
        image_pull=(--pull)
    fi
    run build_images "$work/sources" || die "cannot build the images; see $work/build.log"
    save_image sealward:latest "sealward:$version" "$files/sealward-$version-image.tar.gz"
    save_image sealward:dev sealward:dev "$files/sealward-$version-trial-image.tar.gz"
    container=$(podman_here create sealward:latest)
    podman_here cp "$container:/usr/local/bin/sealward" "$work/sealward"
    podman_here cp "$container:/var/lib/dpkg/status" "$work/status"
    podman_here rm "$container" >/dev/null 2>&1
    release_age_plugin "$work" || die "cannot build the plugin for age; see $work/build.log"
    describe_bases "$bases" >"$work/bases"
    # dpkg-query of this machine reads the database of the image.
    mkdir -p "$work/dpkg"
    mv "$work/status" "$work/dpkg/"
    dpkg-query --admindir="$work/dpkg" --show --showformat '${Package}\t${Version}\t${Architecture}\n' >"$work/packages"
    stop_containers
    stage images "sealward-$version-image.tar.gz, sealward-$version-trial-image.tar.gz"
}

# describe_bases BASES: the base images as resource descriptors of in-toto, one in a line. Only a pulled image has
# an address.
describe_bases() {
    local bases=$1 argument name digest uri
    for argument in RUST DEBIAN; do
        name=$(sed -n "s/^ARG $argument=//p" Dockerfile)
        digest=$(podman_here image inspect --format '{{.Digest}}' "$name")
        uri=pkg:docker/${name/:/@}
        [ -z "$bases" ] || uri=
        jq -cn --arg name "$name" --arg digest "${digest#sha256:}" --arg uri "$uri" \
            '{name: $name, digest: {sha256: $digest}} + if $uri == "" then {} else {uri: $uri} end'
    done
    # With --debootstrap, the program can be given: it is then a material, and cargo of the image compiles nothing.
    if [ -n "$bases" ] && [ -n "${SEALWARD_TEST_PROGRAM-}" ]; then
        jq -cn --arg digest "$(sha256sum <"$SEALWARD_TEST_PROGRAM" | head -c 64)" \
            '{name: "SEALWARD_TEST_PROGRAM", digest: {sha256: $digest}}'
    fi
}

# release_age_plugin FOLDER: the plugin for age and its licences, from the stage that builds the program.
release_age_plugin() {
    local work=$1 container
    build_image "$work/sources" --target age-plugin --tag sealward:age-plugin || return 1
    # An image that debootstrap made has no command.
    container=$(podman_here create sealward:age-plugin true) || return 1
    mkdir "$work/age-plugin"
    podman_here cp "$container:/build/target/release/age-plugin-sealward" "$work/age-plugin/"
    podman_here cp "$container:/build/NOTICES" "$work/age-plugin/"
    podman_here rm "$container" >/dev/null 2>&1
}

# save_image IMAGE NAME FILE: an archive from which docker load creates NAME. podman save would write
# localhost/NAME.
save_image() {
    local options
    mapfile -t options < <(storage)
    buildah "${options[@]}" push --quiet --format v2s2 "$1" "docker-archive:$3.tar:$2"
    gzip -n <"$3.tar" >"$3"
    rm "$3.tar"
}

# release_packages FOLDER VERSION: everything that contains or describes the program.
release_packages() {
    local work=$1 version=$2 files=$1/files name
    name=sealward-$version-linux-$(uname -m)
    git archive --format=tar --prefix="sealward-$version/" HEAD | gzip -n >"$files/sealward-$version-source.tar.gz"
    deploy/debian/build "$work/sealward" "$files" "$version" >/dev/null
    mkdir -p "$work/$name"/{man,completions}
    cp "$work/sealward" LICENSE CHANGELOG.md "$work/$name/"
    deploy/notices >"$work/$name/NOTICES"
    cp -r deploy/systemd "$work/$name/"
    "$work/sealward" man-pages "$work/$name/man"
    for shell in bash fish zsh; do "$work/sealward" completions "$shell" >"$work/$name/completions/sealward.$shell"; done
    archive "$work" "$name" >"$files/$name.tar.gz"
    name=age-plugin-$name
    mv "$work/age-plugin" "$work/$name"
    cp LICENSE docs/age.md "$work/$name/"
    archive "$work" "$name" >"$files/$name.tar.gz"
    stage packages "archives and Debian package"
    deploy/sbom >"$files/sealward-$version.cdx.json"
    deploy/sbom --image "$work/packages" >"$files/sealward-$version-image.cdx.json"
    stage sbom "sealward-$version.cdx.json, sealward-$version-image.cdx.json"
}

# archive FOLDER NAME: a file or folder in this folder. Equal content gives equal archives.
archive() {
    tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -c "$2" | gzip -n
}

# release_clients FOLDER: the packages of the client libraries. A folder for a registry, of Go or Maven, becomes an archive.
release_clients() {
    local work=$1 files=$1/files package language name
    for package in clients/*/package; do
        language=$(basename "$(dirname "$package")")
        run "$package" "$work/clients/$language" || die "cannot package the client for $language"
        if [ -z "$(find "$work/clients/$language" -mindepth 1 -type d)" ]; then
            cp "$work/clients/$language"/* "$files/"
        else
            name=sealward-client-$language
            archive "$work/clients/$language" . >"$files/$name.tar.gz"
        fi
    done
    stage clients "packages of $(find clients -mindepth 2 -maxdepth 2 -name package | wc -l) languages"
}

# release_statements FOLDER VERSION OPTION...: which advisories do not affect the release, and where its files come from.
release_statements() {
    local work=$1 version=$2 files=$1/files
    deploy/vex >"$work/vex"
    [ ! -s "$work/vex" ] || cp "$work/vex" "$files/sealward-$version.openvex.json"
    deploy/provenance "$files" "$work/sealward" "$work/bases" "${@:3}" >"$work/provenance"
    cp "$work/provenance" "$files/sealward-$version.provenance.json"
    stage provenance "sealward-$version.provenance.json"
}

next_steps() {
    info
    find "target/release-$1" -type f -printf "%f\t%s bytes\n" | sort
    cat <<TEXT

What a maintainer does next:

  1. Try the files: ./dev verify deb; ./dev verify image; ./dev verify kubernetes
  2. Sign the checksums: gpg --armor --detach-sign target/release-$1/SHA256SUMS
  3. Tag the commit: git tag --sign v$1 --message "Sealward $1"
  4. Verify the files as their users do: ./dev verify release target/release-$1
  5. Publish the tag, the files with SHA256SUMS and SHA256SUMS.asc, and the section of CHANGELOG.md.
     Push the image and the chart to the registry.
  6. Set the next version in Cargo.toml and Chart.yaml, and begin its section in CHANGELOG.md.
TEXT
}
