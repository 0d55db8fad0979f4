"""Write what Maven needs to reach its repositories from a build: proxy settings, and a trust store of the certificates.

    access.py SETTINGS STORE [CACHE]

CACHE is a folder of libraries in the layout of a repository, in which Maven looks before any other. Proxies and
certificates come from the variables that builds have (https_proxy, SSL_CERT_FILE); STORE is not written where no
bundle is named. A trust store has the form (JKS) of the JDK's sun.security.provider.JavaKeyStore. Standard library.
"""

from __future__ import annotations

import hashlib
import os
import re
import ssl
import struct
import sys
import urllib.parse
from pathlib import Path
from xml.sax.saxutils import escape

PASSWORD = "changeit"  # noqa: S105 - of a file without secrets
CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack(">H", len(data)) + data


def store(bundle: str) -> bytes:
    certificates = dict.fromkeys(map(ssl.PEM_cert_to_DER_cert, CERTIFICATE.findall(bundle)))
    data = struct.pack(">III", 0xFEEDFEED, 2, len(certificates))
    for number, der in enumerate(certificates):
        data += struct.pack(">I", 2) + text(str(number)) + struct.pack(">Q", 0)
        data += text("X.509") + struct.pack(">I", len(der)) + der
    return data + hashlib.sha1(PASSWORD.encode("utf-16-be") + b"Mighty Aphrodite" + data).digest()  # noqa: S324


def proxy(scheme: str, address: str) -> str:
    parts = urllib.parse.urlsplit(address)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 80)
    fields = {"id": scheme, "protocol": scheme, "host": parts.hostname or "", "port": str(port)}
    for name, value in (("username", parts.username), ("password", parts.password)):
        fields |= {name: urllib.parse.unquote(value)} if value else {}
    fields["nonProxyHosts"] = "|".join(re.split(r"[,\s]+", os.environ.get("no_proxy", "")))
    return "<proxy>" + "".join(f"<{name}>{escape(value)}</{name}>" for name, value in fields.items()) + "</proxy>"


def cached(folder: str) -> str:
    """The profile with a repository of a folder: of releases, whose checksums were looked at when they came."""
    fields = f"<id>cached</id><url>{escape(Path(folder).as_uri())}</url>"
    fields += (
        "<releases><checksumPolicy>ignore</checksumPolicy></releases><snapshots><enabled>false</enabled></snapshots>"
    )
    places = f"<repositories><repository>{fields}</repository></repositories>"
    places += f"<pluginRepositories><pluginRepository>{fields}</pluginRepository></pluginRepositories>"
    profile = f"<profiles><profile><id>cached</id>{places}</profile></profiles>"
    return f"{profile}<activeProfiles><activeProfile>cached</activeProfile></activeProfiles>"


def main(settings: Path, trust: Path, *caches: str) -> None:
    addresses = {scheme: os.environ.get(f"{scheme}_proxy") for scheme in ("http", "https")}
    proxies = "".join(proxy(scheme, address) for scheme, address in addresses.items() if address)
    settings.write_text(f"<settings><proxies>{proxies}</proxies>{''.join(map(cached, caches))}</settings>")
    bundle = os.environ.get("SSL_CERT_FILE")
    if bundle:
        trust.write_bytes(store(Path(bundle).read_text(encoding="utf-8", errors="replace")))


main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
