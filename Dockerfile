# The image of the service. It contains glibc, because the PKCS#11 modules of HSM vendors need it.
#
#   docker build --tag sealward .                   for production; add the vendor's module
#   docker build --tag sealward:dev --target dev .  with SoftHSM2, for trials only
#
# The service runs as user 10001 and writes no files: run it with a read-only root. The base images
# are pinned to releases. To pin a reviewed digest: --build-arg DEBIAN=debian@sha256:…

ARG RUST=rust:1.95.0-slim-bookworm
ARG DEBIAN=debian:12.11-slim

FROM ${RUST} AS build
WORKDIR /build
# mimalloc contains its build time. Debug information would be half of the program.
ENV SOURCE_DATE_EPOCH=0 CARGO_PROFILE_RELEASE_DEBUG=none CARGO_PROFILE_RELEASE_STRIP=debuginfo
COPY Cargo.toml Cargo.lock ./
COPY clients/age clients/age
COPY clients/rust clients/rust
COPY hsm hsm
COPY migrations migrations
COPY src src
COPY tests/doubles/faulty-token tests/doubles/faulty-token
COPY tests/testkit/Cargo.toml tests/testkit/
RUN cargo build --release --locked --bin sealward
COPY deploy/notices deploy/notices
RUN deploy/notices >NOTICES

# The plugin for age, which no image contains. ./dev release copies it from here.
FROM build AS age-plugin
RUN cargo build --release --locked --package age-plugin-sealward \
 && deploy/notices age-plugin-sealward >NOTICES

FROM ${DEBIAN} AS base
# The time of the commit, for reproducible images.
ARG SOURCE_DATE_EPOCH
# The pinned release and its security updates determine the package versions.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/cache/ldconfig/aux-cache /var/log/apt /var/log/*.log \
 && groupadd --system --gid 10001 sealward \
 && useradd --system --uid 10001 --gid 10001 --no-create-home --shell /usr/sbin/nologin sealward
COPY LICENSE /usr/share/doc/sealward/LICENSE
COPY --from=build /build/NOTICES /usr/share/doc/sealward/NOTICES
COPY --from=build /build/target/release/sealward /usr/local/bin/sealward
ARG VERSION=0.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Sealward" \
      org.opencontainers.image.description="A cryptographic protection service in front of a PKCS#11 token" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
ENV SEALWARD_CONFIG=/etc/sealward/sealward.toml
EXPOSE 8443
STOPSIGNAL SIGTERM
# With http.tls.client_ca, the health check needs http.probe_listen.
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s CMD ["sealward", "health"]

FROM base AS dev
ARG SOURCE_DATE_EPOCH
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends bsdutils openssl softhsm2 util-linux \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/cache/ldconfig/aux-cache /var/log/apt /var/log/*.log \
 && install -d -o 10001 -g 10001 -m 700 /var/lib/sealward/owner /var/lib/sealward/secrets \
    /var/lib/sealward/token
COPY softhsm /usr/local/share/sealward/softhsm
COPY deploy /usr/local/share/sealward/deploy
USER 10001:10001
ENV SOFTHSM2_CONF=/var/lib/sealward/token/softhsm2.conf
ENTRYPOINT ["/usr/local/share/sealward/deploy/container/start"]
CMD ["serve"]

FROM base AS production
USER 10001:10001
ENTRYPOINT ["sealward"]
CMD ["serve"]
