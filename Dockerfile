# goldseam as an image that works through the host's engine; docs/howto/install.md says how to run it.
# Any base of the Debian family from bookworm on will do: what it lacks of Python 3.11 and git comes from its packages.
ARG BASE=python:3.11-slim-bookworm

FROM ${BASE} AS python
# Not the kind of the base, which would make it a base too.
LABEL dev.goldseam.kind=program
# Certificates (PEM) of your own authorities, which the image then trusts too; proxies come by the usual build arguments.
ARG CA_CERTIFICATES
RUN set -eu; export DEBIAN_FRONTEND=noninteractive; packages="ca-certificates git"; \
    if ! python3 -c "import sys; sys.exit(sys.version_info < (3, 11))"; then packages="$packages python3"; fi; \
    apt-get update -qq; \
    apt-get install -y -qq --no-install-recommends $packages > /dev/null; \
    rm -rf /var/lib/apt/lists/*; \
    if [ -n "${CA_CERTIFICATES:-}" ]; then \
        printf '%s\n' "$CA_CERTIFICATES" > /usr/local/share/ca-certificates/build.crt; \
        update-ca-certificates > /dev/null; \
    fi
ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt REQUESTS_CA_BUNDLE=/etc/ssl/certs/ca-certificates.crt

FROM python AS builder
ARG UV_DEFAULT_INDEX
ENV UV_LINK_MODE=copy UV_NO_CACHE=1 UV_PYTHON_DOWNLOADS=never PIP_CERT=/etc/ssl/certs/ca-certificates.crt
WORKDIR /src
COPY . .
# The locked versions, each held to its hash, from whichever index is named.
RUN set -eu; uv="$(PIP_INDEX_URL="${UV_DEFAULT_INDEX:-https://pypi.org/simple}" scripts/uv.sh | tail -n 1)"; \
    "$uv" export --quiet --frozen --no-dev --no-emit-project -o /tmp/requirements.txt; \
    "$uv" build --quiet --wheel -o /tmp/dist; \
    "$uv" venv --quiet --python python3 /opt/goldseam; \
    "$uv" pip install --quiet --python /opt/goldseam --compile-bytecode -r /tmp/requirements.txt; \
    "$uv" pip install --quiet --python /opt/goldseam --compile-bytecode --no-deps /tmp/dist/*.whl

FROM python
COPY --from=builder /opt/goldseam /opt/goldseam
# The engine mounts from the folder of caches and temporary files, so that has to be one of the host's, at the same path.
# Mounted repositories belong to the user of the host, not to root.
ENV PATH=/opt/goldseam/bin:$PATH XDG_CACHE_HOME=/var/cache TMPDIR=/var/cache/goldseam
RUN mkdir -p /var/cache/goldseam && git config --system --add safe.directory '*'
WORKDIR /work
ENTRYPOINT ["goldseam"]
