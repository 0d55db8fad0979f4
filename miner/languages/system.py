"""Debian packages that a repository's tests or builds need beside those of the base, as a layer of their own."""

from __future__ import annotations

import re
from collections.abc import Iterable

from miner.layers.layer import APT_CERTIFICATES, APT_CLEANED, FACTS_PATH, Layer

_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]{1,99}(?:\|[a-z0-9][a-z0-9+.-]{1,99})?")
_FACTS = (
    "import json, sys; "
    "print(json.dumps({'packages': sorted(line.strip() for line in sys.stdin if line.strip()[-1:] not in ('', '='))}))"
)  # fmt: skip


_THERE = frozenset({"python3-dev"})
"""Packages that are never installed: each interpreter comes with its own headers."""


def layer(parent: str, packages: Iterable[str]) -> Layer:
    """The packages, as the base's Debian has them; what it doesn't know, or can't install, is left out and said so.

    Of `one|other` it is the first that Debian has.
    """
    names = sorted({name for name in packages if _NAME.fullmatch(name)} - _THERE)
    return Layer(
        kind="system",
        parent=parent,
        needs_root=True,
        commands=(
            f"packages='{' '.join(names)}'",
            *(_installation() if names else ()),
            f'for one in {_names("packages")}; do {_VERSION} || true; done | python3 -c "{_FACTS}" > {FACTS_PATH}',
        ),
    )


_VERSION = "dpkg-query -W -f='${Package}=${Version}\\n' $one 2>/dev/null"


def _names(variable: str) -> str:
    """Every package that a shell's variable names."""
    return f"$(echo ${variable} | tr '|' ' ')"


def _installation() -> tuple[str, ...]:
    install = "apt-get $options -qq install -y --no-install-recommends"
    first = f"for name in {_names('one')}; do apt-cache show $name >/dev/null 2>&1 && echo $name && break; done"
    resolve = f'name="$({first} || true)"; known="$known $name"; [ "$name" ] || echo "Debian has no $one"'
    return (
        f'options="-o Acquire::Retries=1 -o Acquire::http::Timeout=20 $({APT_CERTIFICATES})"',
        "apt-get $options -qq update",
        f"known=''; for one in $packages; do {resolve}; done",
        'if [ ! "$(echo $known)" ]; then echo "none of them can be had"; exit 1; fi',
        f'{install} $known || for one in $known; do {install} $one || echo "$one can not be installed"; done',
        APT_CLEANED,
    )
