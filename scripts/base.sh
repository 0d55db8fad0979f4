#!/usr/bin/env bash
# Make sure of the base image that tasks start from: there, pulled, or else built from Debian packages.
# Usage: scripts/base.sh GOLDSEAM
set -euo pipefail
here="$(cd "$(dirname "$0")/.." && pwd)"
. "$here/scripts/common.sh"

goldseam="${1:-$here/.venv/bin/goldseam}"

code=0
"$goldseam" images base || code=$?
# 4 is goldseam's code for infrastructure; anything else is no matter of a missing image. A base that was chosen by name
# is not replaced by another.
if [ "$code" -ne 4 ] || [ -n "${GOLDSEAM_IMAGES_BASE:-}" ]; then
    exit "$code"
fi
say "no base image can be pulled; building one from Debian packages"
if ! command -v mmdebstrap >/dev/null 2>&1 && ! command -v debootstrap >/dev/null 2>&1; then
    is_root && is_debian || stop "neither mmdebstrap nor debootstrap is installed" \
        "sudo apt-get install -y --no-install-recommends mmdebstrap" \
        "or name an image that can be pulled: export GOLDSEAM_IMAGES_BASE=…"
    apt_install mmdebstrap
fi
exec "$goldseam" images base --from-debian
