"""The server name in the first message of a TLS client, which says in the clear for whom a connection is meant.

Source: RFC 8446, 4.1.2 (ClientHello) and 5.1 (records); RFC 6066, 3 (server_name).
"""

from __future__ import annotations

_RECORD_HEAD = 5
_HANDSHAKE, _CLIENT_HELLO = 22, 1
_VERSION_AND_RANDOM = 34
_SERVER_NAME, _HOST_NAME = 0, 0
_LARGEST = 1 << 16


def server_name(first_bytes: bytes) -> str | None:
    """The name of the server that a client's first bytes ask for: empty where it names none, None before all are here.

    Raises:
        ValueError: these are not the first bytes of a TLS client.

    """
    hello = b""
    while first_bytes:
        if first_bytes[0] != _HANDSHAKE or first_bytes[1:2] not in (b"", b"\x03"):
            raise ValueError("not a TLS handshake")
        size = int.from_bytes(first_bytes[3:_RECORD_HEAD], "big")
        if len(first_bytes) < _RECORD_HEAD or len(first_bytes) < _RECORD_HEAD + size:
            break
        hello += first_bytes[_RECORD_HEAD : _RECORD_HEAD + size]
        first_bytes = first_bytes[_RECORD_HEAD + size :]
        if hello[:1] not in (b"", bytes([_CLIENT_HELLO])) or len(hello) > _LARGEST:
            raise ValueError("no ClientHello")
        if len(hello) >= 4 and len(hello) >= 4 + int.from_bytes(hello[1:4], "big"):  # noqa: PLR2004 - type and length
            return _name(_Fields(hello[4 : 4 + int.from_bytes(hello[1:4], "big")]))
    return None


def _name(hello: _Fields) -> str:
    hello.take(_VERSION_AND_RANDOM)
    for size in (1, 2, 1):  # the session, ciphers, compressions
        hello.vector(size)
    extensions = _Fields(hello.vector(2) if hello.left else b"")
    names: list[str] = []
    while extensions.left:
        kind, data = extensions.number(2), _Fields(extensions.vector(2))
        if kind == _SERVER_NAME:
            entries = _Fields(data.vector(2))
            while entries.left:
                if entries.number(1) != _HOST_NAME:
                    raise ValueError("a server name of an unknown kind")
                names.append(entries.vector(2).decode("ascii"))
    if len(names) > 1:
        raise ValueError("several server names")
    return names[0] if names else ""


class _Fields:
    """TLS's encoding of a structure, taken from its front."""

    def __init__(self, data: bytes) -> None:
        self.left = data

    def take(self, size: int) -> bytes:
        if len(self.left) < size:
            raise ValueError("a cut ClientHello")
        part, self.left = self.left[:size], self.left[size:]
        return part

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def vector(self, size: int) -> bytes:
        return self.take(self.number(size))
