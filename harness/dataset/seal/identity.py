"""Whose keys seal a dataset, and whose open it: age's recipients and identities (https://age-encryption.org/v1).

A passphrase is a key of its own: age allows no passphrase beside other recipients, so a fresh identity stands among the
recipients, and the file `passphrase.age` holds it under the passphrase (docs/adr/0004).
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyrage  # type: ignore[import-untyped]

from harness.core import process
from harness.core.errors import InfrastructureError, InputError

PASSPHRASE_FILE = "passphrase.age"  # noqa: S105 - a file's name
VARIABLE = "GOLDSEAM_IDENTITY"
GIVE_ONE = f"give a key with --identity FILE, env:VARIABLE or command:PROGRAM, or set {VARIABLE}"
_SECRET = re.compile(r"AGE-SECRET-KEY-1[0-9A-Z]+")
_SSH_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----", re.DOTALL)
_SSH = ("ssh-", "ecdsa-", "sk-")
_LARGEST_LIST = 64 * 1024
_BY_PASSPHRASE = "passphrase"  # noqa: S105 - a comment's text
"""Stands behind the recipient that `passphrase.age` holds the identity of."""
SOURCES = "a file, env:VARIABLE, or command:PROGRAM ARGUMENTS"
_SECONDS = 120.0
"""A password manager may ask a person first."""


class WrongKeyError(InputError):
    """None of the given keys opens this file."""


class DamagedError(InputError):
    """The file is not as it was sealed: a byte was changed, or its end is missing."""


@dataclass(frozen=True, kw_only=True)
class Keys:
    """Keys that open sealed files, for as long as a command runs. Never printed, never written."""

    identities: tuple[Any, ...] = field(repr=False)

    def open(self, data: bytes, *, where: str) -> bytes:
        """Decrypt an age file.

        Args:
            data: the file.
            where: its name in messages.

        Raises:
            WrongKeyError: no key fits.
            DamagedError: it is no age file, or was changed or cut.

        """
        if not data.startswith(b"age-encryption.org/v1\n"):
            raise DamagedError(f"{where} is damaged: it does not start as an age file", hint=RESTORE)
        try:
            return bytes(pyrage.decrypt(data, list(self.identities)))
        except pyrage.DecryptError as error:
            if "matching keys" in str(error):
                raise WrongKeyError(f"the key given does not open {where}", hint=GIVE_ONE) from None
            raise DamagedError(
                f"{where} is damaged: it is not as it was sealed (changed, or cut short)", hint=RESTORE
            ) from None


RESTORE = "restore it from a backup or from git; `goldseam holdout log DATASET --verify` names every such file"


def load_keys(source: str, dataset: Path) -> Keys:
    """The keys that a source holds: age identities, OpenSSH private keys, or the dataset's passphrase.

    Args:
        source: a file, `env:VAR` or `command:CMD`.
        dataset: whose passphrase it may be.

    Raises:
        InputError: there is nothing there, or what is there is no key and not the passphrase.
        InfrastructureError: this machine would take minutes to try the passphrase.

    """
    text = read_secret(source, label="the identity")
    identities = [*_age_identities(text), *_ssh_identities(text)]
    if not identities:
        identities = [_by_passphrase(text, dataset)]
    return Keys(identities=tuple(identities))


def _age_identities(text: str) -> list[Any]:
    identities = []
    for line in text.splitlines():
        if match := _SECRET.fullmatch(line.strip()):
            try:
                identities.append(pyrage.x25519.Identity.from_str(match.group()))
            except pyrage.IdentityError:
                raise InputError(
                    "the identity is broken: a line that looks like an age identity is none", hint=GIVE_ONE
                ) from None
    return identities


def _ssh_identities(text: str) -> list[Any]:
    identities = []
    for match in _SSH_KEY.finditer(text):
        try:
            identities.append(pyrage.ssh.Identity.from_buffer(match.group().encode() + b"\n"))
        except pyrage.IdentityError as error:
            if "decrypted first" in str(error):
                raise InputError(
                    "the identity is an SSH key protected by a passphrase",
                    hint="keep it in a password manager and give it with --identity command:PROGRAM",
                ) from None
            raise InputError("the identity is an SSH key of a kind that age does not know", hint=GIVE_ONE) from None
    return identities


def _by_passphrase(text: str, dataset: Path) -> Any:
    path = dataset / PASSPHRASE_FILE
    if not path.is_file():
        raise InputError(
            "the identity holds no key: expected AGE-SECRET-KEY-1… or an OpenSSH private key"
            " (the dataset has no passphrase)",
            hint=GIVE_ONE,
        )
    try:
        secret = pyrage.passphrase.decrypt(path.read_bytes(), text.rstrip("\r\n"))
    except pyrage.DecryptError as error:
        if "Decryption failed" in str(error) or "matching keys" in str(error):
            raise WrongKeyError("the identity holds no key, and is not the passphrase of this dataset") from None
        if "Excessive work" in str(error):
            raise InfrastructureError(
                f"{path} can't be opened here: this machine is far slower, or busier, than the one that sealed it",
                hint="try it again when less else runs, or give a key in place of the passphrase",
            ) from None
        raise DamagedError(f"{path} is damaged: it is not as it was written", hint=RESTORE) from None
    identities = _age_identities(secret.decode("ascii", "replace"))
    if not identities:
        raise DamagedError(f"{path} is damaged: it holds no identity", hint=RESTORE)
    return identities[0]


@dataclass(frozen=True, kw_only=True)
class PassphraseKey:
    """A fresh identity under a passphrase."""

    recipient: str
    """Its public half, to stand among the recipients."""
    file: bytes
    """`passphrase.age`."""
    keys: Keys = field(repr=False)


def passphrase_key(passphrase: str) -> PassphraseKey:
    """Make an identity and put it under a passphrase; takes about a second, as it is meant to.

    Raises:
        InputError: the passphrase is empty.

    """
    if not passphrase.strip():
        raise InputError("the passphrase is empty")
    identity = pyrage.x25519.Identity.generate()
    return PassphraseKey(
        recipient=f"{identity.to_public()} {_BY_PASSPHRASE}",
        file=pyrage.passphrase.encrypt(f"{identity}\n".encode(), passphrase),
        keys=Keys(identities=(identity,)),
    )


def read_recipients(keys: Iterable[str]) -> tuple[str, ...]:
    """Recipients as `--to` takes them: an age or SSH public key, or a file with one a line (`#` starts a comment).

    Raises:
        InputError: one is no public key that age can seal to, or is a private one.

    """
    recipients: list[str] = []
    for key in keys:
        if _is_public(key):
            recipients.append(_checked(key))
        else:
            recipients += [_checked(line) for line in _lines(key)]
    return tuple(dict.fromkeys(recipients))


def _is_public(text: str) -> bool:
    return text.strip().startswith(("age1", *_SSH))


def _lines(name: str) -> list[str]:
    if _SECRET.search(name):
        raise InputError("--to was given a private key; it takes the public one (age1…)")
    path = Path(name).expanduser()
    try:
        text = path.read_bytes()[:_LARGEST_LIST].decode("utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError(
            f"--to {name[:60]!r} is neither a public key nor a file of them",
            hint="expected age1… (made by age-keygen), ssh-ed25519 …, ssh-rsa …, or a file such as id_ed25519.pub",
        ) from None
    lines = [line.strip() for line in text.splitlines()]
    kept_lines = [line for line in lines if line and not line.startswith("#")]
    if not kept_lines:
        raise InputError(f"--to {name}: the file holds no recipient")
    return kept_lines


def _checked(text: str) -> str:
    text = " ".join(text.split())
    _recipient(text)
    return text


def _recipient(text: str) -> Any:
    if _SECRET.search(text) or "PRIVATE KEY" in text:
        raise InputError("--to was given a private key; it takes the public one")
    kind = pyrage.ssh.Recipient if text.startswith(_SSH) else pyrage.x25519.Recipient
    try:
        return kind.from_str(text if text.startswith(_SSH) else text.partition(" ")[0])
    except pyrage.RecipientError:
        raise InputError(
            f"{short(text)} is not a recipient that age can seal to",
            hint="expected age1…, ssh-ed25519 … or ssh-rsa …",
        ) from None


def has_passphrase(recipients: Iterable[str]) -> bool:
    """True where one of the recipients is there for a passphrase."""
    return any(text.startswith("age1") and text.split()[1:] == [_BY_PASSPHRASE] for text in recipients)


def short(recipient: str) -> str:
    """A recipient in a form that people recognise."""
    words = recipient.split()
    if not words:
        return "an empty text"
    of_ssh = words[0].startswith(_SSH) and len(words) > 1
    key, comment = (words[1], words[2:]) if of_ssh else (words[0], words[1:])
    start = f"{words[0]} " if of_ssh else key[:12]
    shortened = f"{start}…{key[-8:]}" if len(key) > 20 else f"{start if of_ssh else key}"  # noqa: PLR2004 - room on a line
    return f"{shortened} ({' '.join(comment)[:60]})" if comment else shortened


def encrypt(data: bytes, recipients: Sequence[str], *, also: Sequence[Any] = ()) -> bytes:
    """Seal bytes to recipients; `also` are recipients as the library knows them.

    Raises:
        InputError: one is no recipient.

    """
    return bytes(pyrage.encrypt(data, [*(_recipient(text) for text in recipients), *also]))


def recipients_digest(recipients: Iterable[str]) -> str:
    """Sixteen hex digits for a set of recipients, whatever their order and comments."""
    plain = sorted({" ".join(text.split()[: 2 if text.startswith(_SSH) else 1]) for text in recipients})
    return hashlib.sha256("\n".join(plain).encode()).hexdigest()[:16]


def read_secret(source: str, *, label: str) -> str:
    """The text that a source holds. It is never part of a message.

    Args:
        source: a path, `env:VAR`, or `command:CMD`, split as a shell would but run without one.
        label: the secret's name in messages, such as `the identity`.

    Raises:
        InputError: there is nothing there, or the program says no.

    """
    kind, colon, place = source.partition(":")
    if colon and kind == "env":
        value = os.environ.get(place)
        if not value:
            raise InputError(f"{label}: the environment variable {place!r} is not set", hint=f"give {SOURCES}")
        return value
    if colon and kind == "command":
        return _printed(place, label=label)
    return _file(Path(source).expanduser(), label=label)


def _printed(command: str, *, label: str) -> str:
    try:
        argv = shlex.split(command)
    except ValueError as error:
        raise InputError(f"{label}: the command cannot be read: {error}") from error
    if not argv:
        raise InputError(f"{label}: no command after `command:`", hint=f"give {SOURCES}")
    try:
        completed = process.run(argv, timeout=_SECONDS, check=False)
    except InfrastructureError as error:
        raise InputError(f"{label}: {argv[0]} gave none", hint="run the command by hand to see what it says") from error
    if completed.returncode != 0 or not completed.stdout.strip():
        ended = f"ended with {completed.returncode}" if completed.returncode else "printed nothing"
        raise InputError(f"{label}: {argv[0]} {ended}", hint="run the command by hand to see what it says")
    return completed.stdout.decode("utf-8", "replace")


def _file(path: Path, *, label: str) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise InputError(f"{label}: there is no file {path}", hint=f"give {SOURCES}") from None
    except OSError as error:
        raise InputError(f"{label}: {path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{label}: {path} is not text", hint="an age identity or a PEM key is text") from error
