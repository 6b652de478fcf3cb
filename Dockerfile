# The service on a glibc base, because the PKCS#11 modules of HSM vendors are built against glibc.
#
#   docker build -t sealward .                  for production: bring the vendor's module
#   docker build -t sealward:dev --target dev . with SoftHSM2, for trying out only

FROM rust:1.95-slim-bookworm AS build
RUN apt-get update \
 && apt-get install --yes --no-install-recommends cmake g++ make perl \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY Cargo.toml Cargo.lock ./
COPY hsm hsm
COPY migrations migrations
COPY src src
COPY tests tests
RUN cargo build --release --locked --bin sealward

FROM debian:bookworm-slim AS base
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin sealward
COPY --from=build /build/target/release/sealward /usr/local/bin/sealward
ENV SEALWARD_CONFIG=/etc/sealward/sealward.toml
EXPOSE 8080
STOPSIGNAL SIGTERM

FROM base AS dev
RUN apt-get update \
 && apt-get install --yes --no-install-recommends bsdutils softhsm2 util-linux \
 && rm -rf /var/lib/apt/lists/*
COPY softhsm /usr/local/share/sealward/softhsm
RUN install -d -o sealward -g sealward -m 700 /var/lib/sealward
USER 10001
ENV SOFTHSM2_CONF=/var/lib/sealward/token/softhsm2.conf
ENTRYPOINT ["/bin/sh", "-c", "/usr/local/share/sealward/softhsm/make-token /var/lib/sealward/token sealward && exec sealward serve"]

FROM base AS production
USER 10001
ENTRYPOINT ["sealward"]
CMD ["serve"]
