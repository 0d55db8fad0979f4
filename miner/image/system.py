"""Debian packages that a repository's tests or builds need beside those of the base, as a layer of their own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from miner.image.layer import FACTS_PATH, Layer

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]{1,99}")
_FACTS = (
    "import json, sys; "
    "print(json.dumps({'packages': sorted(line.strip() for line in sys.stdin if line.strip()[-1:] not in ('', '='))}))"
)  # fmt: skip


HEADERS = "python3-dev"
"""Stands for Python's own headers and library: the base has Debian's; those of an interpreter that was copied into the
image are not where it looks for them, at the place that it was built for."""


def layer(parent: str, packages: Iterable[str], *, python: str) -> Layer:
    """The packages, as the base's Debian has them; what it doesn't know, or can't install, is left out and said so.

    `python` is the path of the interpreter, which finds its headers from then on where `packages` has HEADERS.
    """
    names = sorted({name for name in packages if _NAME.fullmatch(name)} - {HEADERS})
    return Layer(
        kind="system",
        parent=parent,
        needs_root=True,
        commands=(
            f"packages='{' '.join(names)}'",
            *(_headers(python) if HEADERS in packages else ()),
            *(_installation() if names else ()),
            f'for one in $packages; do {_VERSION} || true; done | python3 -c "{_FACTS}" > {FACTS_PATH}',
        ),
    )


_VERSION = "dpkg-query -W -f='${Package}=${Version}\\n' $one 2>/dev/null"


def _headers(python: str) -> tuple[str, ...]:
    home = f'"$({python} -I -c "import sys; print(sys.base_prefix)")"'
    include, library = (
        f'"$({python} -I -c "import sysconfig; print(sysconfig.get_config_var(\'{name}\'))")"'
        for name in ("INCLUDEPY", "LIBDIR")
    )
    link = 'if [ ! -e "$sought" ]; then mkdir -p "$(dirname "$sought")"; ln -s "$there" "$sought"; fi'
    return (
        f"home={home}",
        f"sought={include}",
        'there="$home/include/$(basename "$sought")"',
        link,
        f"sought={library}",
        'there="$home/lib"',
        link,
    )


def _installation() -> tuple[str, ...]:
    certificates = 'if [ -n "${SSL_CERT_FILE:-}" ]; then echo "-o Acquire::https::CAInfo=$SSL_CERT_FILE"; fi'
    install = "apt-get $options -qq install -y --no-install-recommends"
    shown, unknown = "apt-cache show $one >/dev/null 2>&1", 'echo "Debian has no $one"'
    return (
        f'options="-o Acquire::Retries=1 -o Acquire::http::Timeout=20 $({certificates})"',
        "apt-get $options -qq update",
        f"known=''; for one in $packages; do if {shown}; then known=\"$known $one\"; else {unknown}; fi; done",
        'if [ ! "$known" ]; then echo "none of them can be had"; exit 1; fi',
        f'{install} $known || for one in $known; do {install} $one || echo "$one can not be installed"; done',
        "rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin",
    )
