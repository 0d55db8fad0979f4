"""What travels between the driver and the nodes: letters that only the two of them can read.

Ray keeps arguments and results of more than 100 kB in the object stores of the nodes concerned, which are shared
memory, and moves them to a disk when that is full. A job holds hidden tests, so both are encrypted with a key of this
run alone (AES-GCM, NIST SP 800-38D). The key goes with each task as a small argument, which is in no object store.
"""

from __future__ import annotations

import os
import pickle
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

if TYPE_CHECKING:
    from collections.abc import Callable

_NONCE_BYTES = 12


def new_key() -> bytes:
    """A key for one run."""
    return AESGCM.generate_key(bit_length=256)


def seal(value: Any, key: bytes) -> bytes:
    """A value as a letter."""
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, pickle.dumps(value), None)


def open_letter(letter: bytes, key: bytes) -> Any:
    """The value in a letter that `seal` made with this key.

    Raises:
        cryptography.exceptions.InvalidTag: it was made with another key, or changed.

    """
    return pickle.loads(AESGCM(key).decrypt(letter[:_NONCE_BYTES], letter[_NONCE_BYTES:], None))  # noqa: S301 - our own


def outcome_of(call: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """What a call returned or raised: errors travel as values, since Ray logs the text of those raised."""
    try:
        return call(), None
    except Exception as error:  # noqa: BLE001 - raised again where the letter is read
        try:
            pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
        except Exception:  # noqa: BLE001 - anything may refuse to travel
            return None, RuntimeError(f"{type(error).__name__}: {error}")
        return None, error.with_traceback(None)
