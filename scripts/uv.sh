#!/usr/bin/env bash
# Make sure of uv and print its path: the one on PATH, else a private one in .venv-uv.
set -euo pipefail
here="$(cd "$(dirname "$0")/.." && pwd)"
. "$here/scripts/common.sh"

UV_VERSION=0.13.9
python="${PYTHON:-python3}"
private="$here/.venv-uv"

if command -v uv 2>/dev/null && uv --version >/dev/null 2>&1; then
    exit 0
fi
if ! "$private/bin/uv" --version >/dev/null 2>&1; then
    command -v "$python" >/dev/null 2>&1 || stop "no $python on PATH" "install Python 3.11 or later, or name one: make setup PYTHON=/path/to/python3"
    say "no uv on PATH; installing uv $UV_VERSION into .venv-uv" >&2
    rm -rf "$private"
    if ! "$python" -m venv "$private" >/dev/null 2>&1; then # Debian's own python3 comes without ensurepip
        rm -rf "$private"
        is_root && is_debian || stop "$python can't make virtual environments" "sudo apt-get install python3-venv"
        apt_install python3-venv >&2
        "$python" -m venv "$private"
    fi
    "$private/bin/python" -m pip install --quiet --disable-pip-version-check "uv==$UV_VERSION" >&2 ||
        stop "uv $UV_VERSION could not be installed" "is the package index in reach? PIP_INDEX_URL names another"
fi
printf '%s\n' "$private/bin/uv"
