"""`docker compose` for a machine without it, as far as Harbor 0.24 calls it: a plugin of the docker command.

    docker compose --project-name NAME -f FILE… down | up | exec | cp

Harbor drives its containers through Compose, which Debian 12 has as version 1 only; that refuses Harbor's files. This
program does with the docker command what Compose does with the engine's API for one service, and no more: a network
and a container on `up`, `stop` (10 s to end by itself, as Compose gives it), removal and the network on `down`. It
reads no YAML, asks for no list of containers, networks or volumes, and does not poll until the container is up, so it
should take no longer than Compose. STAND_IN_STOP_SECONDS is the grace on `down`.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

VALUED = ("-w", "-e", "-u")


def main(words: list[str]) -> int:
    """What the command came to, as its exit code."""
    project, files, at = "", [], 1  # docker names the plugin first
    while words[at].startswith("-"):
        option, value = words[at], words[at + 1]
        if option == "--project-name":
            project = value
        elif option == "-f":
            files.append(Path(value))
        at += 2
    command, rest = words[at], words[at + 1 :]
    container, network = f"{project}-main-1", f"{project}_default"
    if command == "up":
        return _up(container, network, _service(files))
    if command == "down":
        return _down(container, network)
    if command == "exec":
        os.execvp("docker", ["docker", "exec", *_exec_words(rest, container)])
    if command == "cp":
        os.execvp("docker", ["docker", "cp", *(_place(word, container) for word in rest)])
    print(f"the stand-in for Compose has no {command}", file=sys.stderr)
    return 2


def docker(*words: str) -> int:
    return os.spawnvp(os.P_WAIT, "docker", ["docker", *words])


def _service(files: list[Path]) -> dict[str, object]:
    found: dict[str, object] = {}
    for path in files:
        if path.suffix == ".json":
            found |= json.loads(path.read_bytes())["services"]["main"]
    return found


def _up(container: str, network: str, service: dict[str, Any]) -> int:
    options = ["--name", container, "--network", network]
    for volume in service.get("volumes", ()):
        text = f"type={volume['type']},source={volume['source']},target={volume['target']}"
        options += ["--mount", text + (",readonly" if volume.get("read_only") else "")]
    for name, value in service.get("environment", {}).items():
        options += ["-e", f"{name}={value}"]
    if "cpus" in service:
        options += ["--cpus", str(service["cpus"])]
    if "mem_limit" in service:
        options += ["--memory", service["mem_limit"]]
    command = ("sh", "-c", "sleep infinity")  # of Harbor's docker-compose-prebuilt.yaml
    image = os.environ["PREBUILT_IMAGE_NAME"]
    return docker("network", "create", network) or docker("run", "--detach", *options, image, *command)


def _down(container: str, network: str) -> int:
    grace = os.environ.get("STAND_IN_STOP_SECONDS", "10")
    if docker("stop", f"--time={grace}", container):
        return 0  # nothing there: Harbor calls it before `up` as well
    return docker("rm", "--volumes", container) or docker("network", "rm", network)


def _exec_words(words: list[str], container: str) -> list[str]:
    """Options, the container in place of the service, and the command; `-i` where Compose would pass standard input."""
    out, at = [], 0
    while words[at].startswith("-"):
        taken = 2 if words[at] in VALUED else 1
        out += [] if words[at] == "-T" else words[at : at + taken]
        at += taken
    return [*out, container, *words[at + 1 :]]


def _place(word: str, container: str) -> str:
    return f"{container}:{word.removeprefix('main:')}" if word.startswith("main:") else word


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
