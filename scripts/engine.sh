#!/usr/bin/env bash
# Make sure of a container engine: use the one that answers (DOCKER_HOST, Docker, Podman); else, as root on Debian,
# install docker.io and start dockerd; else stop with what to do.
# Usage: scripts/engine.sh PYTHON    (a Python that has goldseam, whose own way to find an engine is the one to ask)
set -euo pipefail
here="$(cd "$(dirname "$0")/.." && pwd)"
. "$here/scripts/common.sh"

python="${1:-$here/.venv/bin/python}"
log="${GOLDSEAM_DOCKERD_LOG:-/var/log/goldseam-dockerd.log}"
pid_file="${GOLDSEAM_DOCKERD_PID:-/run/goldseam-dockerd.pid}"
wait_seconds=60

answers() { # prints one line about the engine; quiet and false when none answers
    "$python" -W ignore - 2>/dev/null <<'PYTHON'
import os
from harness.core.errors import GoldseamError
from harness.sandbox.engine import connect

try:
    info = connect().version()
except GoldseamError:
    raise SystemExit(1)
where = os.environ.get("DOCKER_HOST", "the usual socket")
print(f"version {info.get('Version', '?')} answers at {where}")
PYTHON
}

if ! "$python" -c 'import harness.sandbox.engine' 2>/dev/null; then
    stop "$python does not have goldseam" "run: make setup"
fi
if found="$(answers)"; then
    say "$found"
    exit 0
fi

[ -z "${DOCKER_HOST:-}" ] || stop "no engine answers at DOCKER_HOST=$DOCKER_HOST" \
    "start the engine there, or unset DOCKER_HOST to use this machine's own"
if ! is_root; then
    if [ -S /var/run/docker.sock ]; then
        stop "an engine is there, but $(id -un) may not use it" \
            "sudo usermod -aG docker $(id -un)    (then log in again)"
    fi
    stop "no container engine answers, and only root can install one" \
        "Debian: sudo apt-get install -y --no-install-recommends docker.io && sudo systemctl start docker" \
        "Podman: systemctl --user start podman.socket" \
        "or name an engine elsewhere: export DOCKER_HOST=…"
fi
if ! command -v dockerd >/dev/null 2>&1; then
    is_debian || stop "no container engine answers, and this is no Debian to install one on" \
        "install Docker or Podman and start it, then run make setup again"
    apt_install docker.io ca-certificates
    if [ ! -d /sys/fs/cgroup/memory ] && [ ! -f /sys/fs/cgroup/cgroup.controllers ]; then
        apt_install cgroupfs-mount && cgroupfs-mount
    fi
    if found="$(answers)"; then # the package may have started it
        say "$found"
        exit 0
    fi
fi

started=""
if [ -d /run/systemd/system ] && systemctl list-unit-files docker.service >/dev/null 2>&1; then
    say "starting docker.service"
    systemctl start docker || stop "docker.service did not start" "journalctl -u docker"
else
    stale=/var/run/docker.pid # of a dockerd that was killed: its number may be another process's by now, and dockerd would refuse
    if [ -s "$stale" ] && [ "$(cat "/proc/$(cat "$stale")/comm" 2>/dev/null)" != dockerd ]; then
        rm -f "$stale"
    fi
    say "starting dockerd (log: $log, pid: $pid_file)"
    nohup setsid dockerd >"$log" 2>&1 </dev/null &
    started=$!
    printf '%s\n' "$started" >"$pid_file"
fi
deadline=$((SECONDS + wait_seconds))
until found="$(answers)"; do
    if [ -n "$started" ] && ! kill -0 "$started" 2>/dev/null; then
        stop "dockerd ended; the end of $log:" "$(tail -n 5 "$log")"
    fi
    [ "$SECONDS" -lt "$deadline" ] || stop "dockerd did not answer within $wait_seconds s" "see $log"
    sleep 0.5
done
say "$found"
