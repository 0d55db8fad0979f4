# Shared by the set-up scripts; sourced, never run.

say() { printf '%s: %s\n' "$(basename "$0" .sh)" "$*"; }

stop() { # stop MESSAGE [LINE…]: explain on standard error and end with 4, goldseam's code for infrastructure
    { say "$1"; shift; for line in "$@"; do printf '    %s\n' "$line"; done; } >&2
    exit 4
}

is_root() { [ "$(id -u)" -eq 0 ]; }

is_debian() {
    command -v apt-get >/dev/null 2>&1 && [ -r /etc/os-release ] &&
        (. /etc/os-release && case " ${ID:-} ${ID_LIKE:-} " in *" debian "*) true ;; *) false ;; esac)
}

apt_install() { # apt_install PACKAGE…: as root on Debian; the package lists are fetched only where they are needed
    say "installing $* with apt-get"
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1 && return
    apt-get update -qq || stop "apt-get update failed" "check /etc/apt/sources.list and the network"
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null ||
        stop "apt-get could not install $*" "run it by hand to see why: apt-get install $*"
}
