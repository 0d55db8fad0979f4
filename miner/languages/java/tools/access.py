"""Write what Maven needs to reach its repositories from a build: proxy settings, and a trust store of the certificates.

    access.py SETTINGS STORE

Both come from the variables that builds have (https_proxy, SSL_CERT_FILE); STORE is not written where no bundle is
named. A trust store has the form (JKS) of the JDK's sun.security.provider.JavaKeyStore. Standard library.
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


def main(settings: Path, trust: Path) -> None:
    addresses = {scheme: os.environ.get(f"{scheme}_proxy") for scheme in ("http", "https")}
    proxies = "".join(proxy(scheme, address) for scheme, address in addresses.items() if address)
    settings.write_text(f"<settings><proxies>{proxies}</proxies></settings>")
    bundle = os.environ.get("SSL_CERT_FILE")
    if bundle:
        trust.write_bytes(store(Path(bundle).read_text(encoding="utf-8", errors="replace")))


main(Path(sys.argv[1]), Path(sys.argv[2]))
