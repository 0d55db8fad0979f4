"""Signing lines of the ledger: ed25519, with a key that the dataset does not hold."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from harness.core.errors import InputError
from harness.dataset.seal.identity import SOURCES, read_secret

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

VARIABLE = "GOLDSEAM_LEDGER_KEY"
_PREFIX = "ssh-ed25519"
_LABEL = f"the ledger's key ({VARIABLE})"


class Signer:
    """Signs hashes; holds the private key while a command runs."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.key = _encoded(private.public_key())
        """The public key: 32 bytes, base64."""

    def sign(self, digest: str) -> str:
        """The signature over a line's hash, base64."""
        return base64.b64encode(self._private.sign(digest.encode())).decode()


def signer() -> Signer | None:
    """The signer that GOLDSEAM_LEDGER_KEY names, or None where it names none.

    Raises:
        InputError: it cannot be read, or is no unencrypted ed25519 key.

    """
    source = os.environ.get(VARIABLE)
    if not source:
        return None
    return _signer(read_secret(source, label=_LABEL))


def _signer(text: str) -> Signer:
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - takes time, and few sign
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415
        load_pem_private_key,
        load_ssh_private_key,
    )

    load = load_ssh_private_key if "OPENSSH PRIVATE KEY" in text else load_pem_private_key
    hint = f"make one with `ssh-keygen -t ed25519 -N '' -f ledger.key`; give {SOURCES}"
    try:
        private = load(text.encode(), password=None)
    except TypeError:
        raise InputError(
            f"{_LABEL} is protected by a passphrase",
            hint="keep it in a password manager and give it with command:PROGRAM",
        ) from None
    except (ValueError, UnsupportedAlgorithm):
        raise InputError(f"{_LABEL} is not a private key in PEM or OpenSSH form", hint=hint) from None
    if not isinstance(private, Ed25519PrivateKey):
        raise InputError(f"{_LABEL} is not an ed25519 key", hint=hint)
    return Signer(private)


def holds(key: str, signature: str, digest: str) -> bool:
    """True where this is the key's signature over the hash."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    try:
        public = Ed25519PublicKey.from_public_bytes(base64.b64decode(key, validate=True))
        public.verify(base64.b64decode(signature, validate=True), digest.encode())
    except (InvalidSignature, ValueError, binascii.Error):
        return False
    return True


def listed_keys(lines: Iterable[str]) -> frozenset[str]:
    """The public keys of dataset.yaml as lines of the ledger name them.

    Each is `ssh-ed25519 AAAA… comment`, as OpenSSH writes a .pub file, or the 32 bytes in base64.

    Raises:
        InputError: one is neither.

    """
    return frozenset(_public(line) for line in lines)


def _public(line: str) -> str:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_ssh_public_key  # noqa: PLC0415

    try:
        if line.strip().startswith(_PREFIX):
            public = load_ssh_public_key(line.strip().encode())
        else:
            public = Ed25519PublicKey.from_public_bytes(base64.b64decode(line.strip(), validate=True))
    except (ValueError, binascii.Error):
        public = None
    if not isinstance(public, Ed25519PublicKey):
        raise InputError(
            f"ledger_keys of dataset.yaml: {line[:40]!r} is not an ed25519 public key",
            hint="write the line of the .pub file, as ssh-keygen makes it",
        )
    return _encoded(public)


def _encoded(public: Ed25519PublicKey) -> str:
    return base64.b64encode(public.public_bytes_raw()).decode()
