"""Images of services for tests, made from Debian's packages on the base that is there, and kept by the engine."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING, Any

from harness.config.settings import load_settings
from harness.core.errors import InfrastructureError
from harness.sandbox import engine, owners
from harness.sandbox.containers import end_of
from miner.layers import base, secrets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_INSTALL = """\
set -e
options="-o Acquire::Retries=2 $([ -z "${SSL_CERT_FILE:-}" ] || echo "-o Acquire::https::CAInfo=$SSL_CERT_FILE")"
export DEBIAN_FRONTEND=noninteractive
apt-get $options -qq update && apt-get $options -qq install -y --no-install-recommends "$@" >/dev/null
rm -rf /var/lib/apt/lists/*
programs="/bin/sh /bin/cat /bin/grep /bin/sleep /bin/touch /bin/false /bin/chown /bin/chmod"
programs="$programs /usr/bin/id /usr/bin/setpriv $(eval echo $PROGRAMS)"
libraries="$(ldd $programs 2>/dev/null | grep -o '/[^ :]*[.]so[^ :]*' | sort -u)"
mkdir -p /slim/run/lock && install -d -m 1777 /slim/tmp /slim/var/tmp
tar -chf - /etc/passwd /etc/group $programs $libraries $(eval echo $FOLDERS) | tar -xf - -C /slim
install -d -o $OWNER $OWNED
[ -z "$ENTRY" ] || { printf '%s' "$ENTRY" > /slim/entry.sh && chmod 755 /slim/entry.sh; }
tar -C /slim -cf /slim.tar .
"""
_BIN = "/usr/lib/postgresql/*/bin"
_POSTGRES = """\
#!/bin/sh
# as the official image does it: root makes the folder the server's, and becomes its user
set -e
data=/var/lib/postgresql/data
bin=$(echo /usr/lib/postgresql/*/bin)
if [ "$(id -u)" = 0 ]; then
  chown postgres "$data" /run/postgresql && chmod 700 "$data"
  exec setpriv --reuid postgres --regid postgres --init-groups "$0"
fi
printf %s "$POSTGRES_PASSWORD" > /tmp/word
"$bin/initdb" -D "$data" -U "${POSTGRES_USER:-postgres}" --pwfile=/tmp/word --auth-host=md5 --no-sync >/dev/null
[ -z "$POSTGRES_DB" ] || echo "CREATE DATABASE $POSTGRES_DB" | "$bin/postgres" --single -D "$data" postgres >/dev/null
exec "$bin/postgres" -D "$data" -c listen_addresses='*' -c fsync=off -k /run/postgresql
"""


def redis() -> str:
    """The tag of an image with a redis that runs as its own user, as Debian has it."""
    return _image(
        "goldseam-test/redis:slim",
        packages=("redis-server",),
        given={
            "PROGRAMS": "/usr/bin/redis-server /usr/bin/redis-cli",
            "OWNER": "redis",
            "OWNED": "/slim/data /slim/run/redis /slim/var/lib/redis",
        },
        changes=(
            "VOLUME /data",
            "EXPOSE 6379",
            "USER redis",
            "WORKDIR /data",
            'CMD ["redis-server", "--bind", "0.0.0.0", "--protected-mode", "no"]',
        ),
    )


def postgres() -> str:
    """The tag of an image with a PostgreSQL that takes the official image's variables."""
    return _image(
        "goldseam-test/postgres:slim",
        packages=("postgresql",),
        given={
            "PROGRAMS": " ".join(f"{_BIN}/{name}" for name in ("postgres", "initdb", "psql")),
            "FOLDERS": "/usr/lib/postgresql/*/lib /usr/share/postgresql /usr/share/zoneinfo",
            "OWNER": "postgres",
            "OWNED": "/slim/run/postgresql",
            "ENTRY": _POSTGRES,
        },
        changes=("VOLUME /var/lib/postgresql/data", "EXPOSE 5432", 'ENTRYPOINT ["/entry.sh"]'),
    )


def _image(tag: str, *, packages: Sequence[str], changes: Sequence[str], given: Mapping[str, str]) -> str:
    """An image of what some programs need, which is pushed in no time; it has nothing of ours, not a label."""
    if engine.image_id(tag):
        return tag
    settings = load_settings().images
    try:
        parent = base.resolve(settings)
    except InfrastructureError:
        parent = base.from_debian()  # no registry here
    ours = secrets.collect()
    client: Any = engine.connect()
    binds = {str(ours.ca_bundle): {"bind": secrets.CA_PATH, "mode": "ro"}} if ours.ca_bundle else {}
    made = client.create_container(
        parent,
        ["sh", "-c", _INSTALL, "sh", *packages],
        entrypoint=[""],
        user="0:0",
        environment={**_exported(ours.exported()), **given},
        labels={engine.LABEL_OWNER: owners.owner()},
        host_config=client.create_host_config(network_mode="host", binds=binds, tmpfs={"/run/goldseam": ""}),
    )["Id"]
    try:
        client.start(made)
        ended = end_of(made, ended_by_us=False)
        assert ended.exit_code == 0, client.logs(made).decode()
        repository, _, name = tag.rpartition(":")
        chunks, _ = client.get_archive(made, "/slim.tar")
        with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as archive:
            inner = archive.extractfile("slim.tar")
            assert inner is not None
            client.import_image_from_data(inner.read(), repository=repository, tag=name, changes=list(changes))
    finally:
        engine.remove_container(made)
    return tag


def _exported(variables: Mapping[str, str]) -> dict[str, str]:
    """What apt takes of them."""
    return {name: value for name, value in variables.items() if name.lower().endswith("_proxy") or "CERT" in name}
