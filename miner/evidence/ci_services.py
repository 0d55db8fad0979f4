"""The services that CI files declare beside their jobs, each service's form read as its documentation has it. Pure.

Sources: GitHub Actions `jobs.<id>.services` and what steps start there, GitLab CI `services`, CircleCI `docker` images
after the first, Azure Pipelines `resources.containers`, Travis CI `services` (names of what its machines have, without
an image).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from miner.evidence.yamlfile import mapping, sequence, strings

_IMAGE = re.compile(r"[a-z0-9][a-z0-9._:/-]*(?::[\w][\w.-]*)?(?:@sha256:[0-9a-f]{64})?$", re.IGNORECASE)
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$")
_PORT = re.compile(r"(?:(?:\d+(?:\.\d+){3}|\[[\da-f:]+\]):)?(?:(\d{1,5}):)?(\d{1,5})(?:/tcp)?$")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_LEAST_SECONDS, _MOST_SECONDS = 120.0, 300.0
_LONGEST = 2000
_OTHER_ENTRYPOINT = "it sets another entrypoint"
_LARGEST_PORT = 65535
_DATABASE = re.compile(r"create\s+database\s+(?:if\s+not\s+exists\s+)?[`\"']?([A-Za-z]\w{0,62})", re.IGNORECASE)
_OF_MACHINE: Mapping[str, tuple[str, Mapping[str, str], str]] = {
    "postgresql": ("postgres", {"POSTGRES_HOST_AUTH_METHOD": "trust"}, "POSTGRES_DB"),
    "mysql": ("mysql", {"MYSQL_ALLOW_EMPTY_PASSWORD": "yes"}, "MYSQL_DATABASE"),
    "mariadb": ("mariadb", {"MARIADB_ALLOW_EMPTY_ROOT_PASSWORD": "yes"}, "MARIADB_DATABASE"),
    "redis": ("redis", {}, ""),
    "redis-server": ("redis", {}, ""),
    "mongodb": ("mongo", {}, "MONGO_INITDB_DATABASE"),
    "mongod": ("mongo", {}, "MONGO_INITDB_DATABASE"),
    "memcached": ("memcached", {}, ""),
    "rabbitmq": ("rabbitmq", {}, ""),
    "rabbitmq-server": ("rabbitmq", {}, ""),
    "couchdb": ("couchdb", {}, ""),
    "cassandra": ("cassandra", {}, ""),
    "rethinkdb": ("rethinkdb", {}, ""),
}
"""Image, variables under which it lets in whoever a machine's own does, and the variable that names a database."""
_INPUTS: Mapping[str, Mapping[str, str]] = {
    "postgres": {"user": "POSTGRES_USER", "username": "POSTGRES_USER", "password": "POSTGRES_PASSWORD"},
    "mysql": {"root-password": "MYSQL_ROOT_PASSWORD", "user": "MYSQL_USER", "password": "MYSQL_PASSWORD"},
    "mariadb": {"root-password": "MARIADB_ROOT_PASSWORD", "user": "MARIADB_USER", "password": "MARIADB_PASSWORD"},
    "mongo": {"username": "MONGO_INITDB_ROOT_USERNAME", "password": "MONGO_INITDB_ROOT_PASSWORD"},
}
"""By image: inputs of actions that start it, without its name before them, and the variable that says the same."""
_PORTS = {"postgres": "5432", "mysql": "3306", "mariadb": "3306", "redis": "6379", "mongo": "27017"}
"""By image: where it listens, unless an action says otherwise."""
_NAMED = re.compile(r"(?P<word>postgres|mysql|mariadb|redis|mongo|memcached|rabbitmq|couchdb|cassandra|rethinkdb)")
_STARTED = re.compile(
    r"\b(?:systemctl|service)\s+(?:re)?start\s+(?P<a>[\w-]+)|\bservice\s+(?P<b>[\w-]+)\s+(?:re)?start\b"
)
_VALUE_FOLLOWS = re.compile(
    r"(-\w*[pehvuwm]|--(publish|env|name|hostname|network|net|volume|mount|tmpfs|network-alias|user|workdir|memory"
    r"|platform|restart|shm-size|ulimit|entrypoint|health-\w+(-\w+)?))$"
)
"""Options of `docker run` that a value follows, where none is written with them."""
_PUBLISH = re.compile(r"(-\w*p|--publish)(=|$)")


@dataclass(frozen=True, kw_only=True)
class DeclaredService:
    """A service as a CI file has it."""

    name: str
    image: str
    """A tag or a digest; empty where none can be told."""
    hosts: tuple[str, ...] = ()
    """Further names that the job knows it by."""
    env: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    """`LISTEN:INNER`."""
    health: str = ""
    folders: tuple[str, ...] = ()
    """What is in memory there, too."""
    start_seconds: float = _LEAST_SECONDS
    unusable: str = ""
    """Why it can't be run; empty where it can."""


def github(job: Mapping[str, Any], expressions: Mapping[str, str]) -> tuple[DeclaredService, ...]:
    """The services of a job of a GitHub workflow; `expressions` has what its expressions mean, see `contexts`."""
    services = []
    for key, raw in mapping(job.get("services")).items():
        service = {"image": raw} if isinstance(raw, str) else mapping(raw)
        image, options = (resolved(service.get(name), expressions) for name in ("image", "options"))
        ports = [resolved(port, expressions) for port in sequence(service.get("ports"))]
        env = _literal(service.get("env"), expressions)
        services.append(_service(key, image, _options(options), env=env, ports=ports))
    return (*services, *_of_steps(job, expressions))


def _of_steps(job: Mapping[str, Any], expressions: Mapping[str, str]) -> Iterator[DeclaredService]:
    """What steps of a GitHub job start: by an action that has the name of a service, `docker run`, `systemctl`."""
    for step in map(mapping, sequence(job.get("steps"))):
        action, script = step.get("uses"), step.get("run")
        name = action.partition("@")[0].rpartition("/")[2].lower() if isinstance(action, str) else ""
        if match := _NAMED.search(name):
            inputs = {key: resolved(value, expressions) for key, value in mapping(step.get("with")).items()}
            yield _of_action(match["word"], {key: text for key, text in inputs.items() if _is_literal(text)})
        for line in re.sub(r"\\\n", " ", script).splitlines() if isinstance(script, str) else ():
            started = (match["a"] or match["b"] for match in _STARTED.finditer(line))
            yield from (_of_machine(word) for word in started if word in _OF_MACHINE)
            if "docker run" in line:
                yield from _run(resolved(line.partition("docker run")[2], expressions))


def _of_action(word: str, inputs: Mapping[str, str]) -> DeclaredService:
    name = next(name for name in _OF_MACHINE if name.startswith(word))
    image = _OF_MACHINE[name][0]
    plain = {re.sub(rf"^{word}\w*-", "", re.sub(r"[ _]", "-", key.lower())): text for key, text in inputs.items()}
    env = {variable: plain[key] for key, variable in _INPUTS.get(image, {}).items() if key in plain}
    port = plain.get("host-port", plain.get("port"))
    return _of_machine(
        name,
        version=plain.get("version", ""),
        database=plain.get("db", plain.get("database", "")),
        env=env,
        ports=(f"{port}:{plain.get('container-port', _PORTS[image])}",) if port and image in _PORTS else (),
    )


def _run(arguments: str) -> Iterator[DeclaredService]:
    """The service of a `docker run` in the background, which is never run as it stands there."""
    try:
        words = shlex.split(re.split(r"&&|\|\||[;|>]", arguments)[0])
    except ValueError:
        return
    place = 0
    while place < len(words) and words[place].startswith("-"):
        place += 2 if _VALUE_FOLLOWS.match(words[place]) else 1
    told = words[:place]
    if place >= len(words) or not any(re.match(r"-\w*d\w*$|--detach$", word) for word in told):
        return
    options = _options(shlex.join(told))
    pairs = zip(told, (*told[1:], ""), strict=True)
    ports = [word.partition("=")[2] or following for word, following in pairs if _PUBLISH.match(word)]
    mounted = any(re.match(r"(-v|--volume|--mount)(=|$)", word) and "tmpfs" not in word for word in told)
    name = options.hosts[0] if options.hosts else _path(words[place]).rpartition("/")[2]
    unusable = options.unusable or ("it mounts folders of its machine" if mounted else "")
    options = replace(options, hosts=options.hosts[1:], unusable=unusable)
    yield _service(name, words[place], options, command=tuple(words[place + 1 :]), ports=ports)


def gitlab(declared: Any, variables: Mapping[str, str]) -> tuple[DeclaredService, ...]:
    """The services of a GitLab job, which get the job's variables, too."""
    services = []
    for raw in sequence(declared):
        service = {"name": raw} if isinstance(raw, str) else mapping(raw)
        image = service.get("name")
        path = _path(image) if isinstance(image, str) else ""
        hosts = [path.replace("/", "__"), path.replace("/", "-")]
        aliases = [host for text in strings(service.get("alias")) for host in re.split(r"[\s,]+", text)]
        names = [*aliases, *hosts]
        options = _Options(hosts=tuple(names[1:]), unusable=_OTHER_ENTRYPOINT if service.get("entrypoint") else "")
        env = {**variables, **_literal(service.get("variables"), {})}
        services.append(_service(names[0], image, options, env=env, command=tuple(strings(service.get("command")))))
    return tuple(services)


def circle(images: Iterable[Any]) -> tuple[DeclaredService, ...]:
    """The images of a CircleCI job after its first, which share its localhost."""
    services = []
    for raw in list(images)[1:]:
        fields = mapping(raw)
        image = fields.get("image")
        name = fields.get("name") or (_path(image).rpartition("/")[2] if isinstance(image, str) else "")
        env = fields.get("environment")
        pairs = dict(text.split("=", 1) for text in strings(env) if "=" in text) if isinstance(env, list) else env
        command = fields.get("command")
        words = tuple(shlex.split(command)) if isinstance(command, str) and command.count('"') % 2 == 0 else ()
        options = _Options(unusable=_OTHER_ENTRYPOINT if fields.get("entrypoint") else "")
        command = words or tuple(strings(command))
        services.append(_service(name, image, options, env=_literal(pairs, {}), command=command))
    return tuple(services)


def azure(document: Any) -> tuple[DeclaredService, ...]:
    """The containers of an Azure pipeline that some job has as a service."""
    top = mapping(document)
    containers = {
        str(fields.get("container")): fields
        for raw in sequence(mapping(top.get("resources")).get("containers"))
        if (fields := mapping(raw)).get("container")
    }
    jobs = [top, *(mapping(job) for job in sequence(top.get("jobs")))]
    jobs += [mapping(job) for stage in sequence(top.get("stages")) for job in sequence(mapping(stage).get("jobs"))]
    texts_by_host = {
        host: text for job in jobs for host, text in mapping(job.get("services")).items() if isinstance(text, str)
    }
    services = []
    for host, name in texts_by_host.items():
        fields = containers.get(name, {})
        options = replace(_options(fields.get("options")), folders=())
        env, ports = _literal(fields.get("env"), {}), sequence(fields.get("ports"))
        services.append(_service(host, fields.get("image"), options, env=env, ports=ports))
    return tuple(services)


def travis(document: Any) -> tuple[DeclaredService, ...]:
    """What a Travis job finds on its machine, as the official images of the same; databases that it makes are made."""
    top = mapping(document)
    addons = mapping(top.get("addons"))
    scripts = [text for key in ("before_install", "install", "before_script") for text in strings(top.get(key))]
    services = []
    for word in dict.fromkeys(
        [*strings(top.get("services")), *(key for key in ("postgresql", "mariadb") if key in addons)]
    ):
        tool = "psql" if word == "postgresql" else "mysql"
        database = next((match[1] for text in scripts if tool in text and (match := _DATABASE.search(text))), "")
        services.append(_of_machine(word, version=addons.get(word), database=database))
    return tuple(services)


def _of_machine(
    word: str,
    *,
    version: Any = None,
    database: str = "",
    env: Mapping[str, str] | None = None,
    ports: tuple[str, ...] = (),
) -> DeclaredService:
    """A service that the machine of a job has, as the official image of the same."""
    image, own, variable = _OF_MACHINE.get(word, ("", {}, ""))
    tag = f":{version}" if isinstance(version, str) and re.fullmatch(r"\d+(\.\d+)*", version) else ""
    more = {variable: database} if variable and database else {}
    options = _Options(hosts=(image,) if image else ())
    return _service(word, image + tag if image else None, options, env={**own, **more, **(env or {})}, ports=ports)


def contexts(workflow: Mapping[str, Any], job: Mapping[str, Any]) -> dict[str, str]:
    """What GitHub's expressions mean in a job: `matrix.x`, of each key the first value, and literal `env.X`."""
    matrix = {f"matrix.{key}": value for key, value in _first_of_matrix(job).items()}
    variables = {**mapping(workflow.get("env")), **mapping(job.get("env"))}
    texts = {name: resolved(value, matrix) for name, value in variables.items()}
    return {**matrix, **{f"env.{name}": text for name, text in texts.items() if _is_literal(text)}}


def _is_literal(value: Any) -> bool:
    return isinstance(value, str) and "$" not in value and len(value) <= _LONGEST


def _first_of_matrix(job: Mapping[str, Any]) -> dict[str, str]:
    matrix = mapping(mapping(job.get("strategy")).get("matrix"))
    first_values = {
        key: strings(values)[0] for key, values in matrix.items() if isinstance(values, list) and strings(values)
    }
    for entry in sequence(matrix.get("include")):
        for key, value in mapping(entry).items():
            if isinstance(value, str):
                first_values.setdefault(key, value)
    return first_values


def resolved(value: Any, expressions: Mapping[str, str], services: Iterable[DeclaredService] = ()) -> Any:
    """A text with values of `expressions` in the place of GitHub's expressions; others stay as they are."""
    if not isinstance(value, str) or "${{" not in value:
        return value
    ports = {
        (service.name, port.partition(":")[2]): port.partition(":")[0] for service in services for port in service.ports
    }

    def value_of(match: re.Match[str]) -> str:
        if match["known"]:
            return expressions.get(match["known"], match[0])
        return ports.get((match["service"], match["port"]), match[0])

    return _EXPRESSION.sub(value_of, value)


def with_packages(script: str, expressions: Mapping[str, str]) -> str:
    """A script whose lines install what `expressions` or variables name, where that is a whole word and no version."""

    def value_of(match: re.Match[str]) -> str:
        value = expressions.get(match["known"] or f"env.{match['variable']}", "")
        return value if value[:1].isalpha() or value.startswith("./") else match[0]

    lines = script.splitlines(keepends=True)
    return "".join(_WORD_OF_ITS_OWN.sub(value_of, line) if " install " in line else line for line in lines)


_EXPRESSION = re.compile(
    r"\$\{\{\s*(?:(?P<known>(?:matrix|env)\.[\w-]+)|job\.services\.(?P<service>[\w-]+)\.ports\[[\"']?(?P<port>\d+)[\"']?\])\s*\}\}"
)
_WORD_OF_ITS_OWN = re.compile(rf"(?<!\S)(?:{_EXPRESSION.pattern}|\$\{{?(?P<variable>\w+)\}}?)(?!\S)")


@dataclass(frozen=True, kw_only=True)
class _Options:
    """What of Docker's options for a service is of use."""

    health: str = ""
    seconds: float = _LEAST_SECONDS
    env: Mapping[str, str] = field(default_factory=dict)
    hosts: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    unusable: str = ""


def _options(value: Any) -> _Options:
    """Docker's options, from a command line that is never run."""
    if not isinstance(value, str) or len(value) > _LONGEST:
        return _Options()
    try:
        words = shlex.split(value)
    except ValueError:
        return _Options()
    options_by_name: dict[str, list[str]] = {}
    for place, word in enumerate(words):
        if word.startswith("-"):
            name, sign, text = word.partition("=")
            following = words[place + 1] if place + 1 < len(words) else ""
            options_by_name.setdefault(name, []).append(text if sign else following)
    interval, start = (
        _seconds(options_by_name.get(f"--health-{name}", [""])[-1]) for name in ("interval", "start-period")
    )
    retries = options_by_name.get("--health-retries", ["3"])[-1]
    seconds = start + interval * int(retries) if retries.isdigit() else 0.0
    mounts = [part for text in options_by_name.get("--mount", ()) for part in text.split(",") if "type=tmpfs" in text]
    folders = [text.partition(":")[0] for text in options_by_name.get("--tmpfs", ())]
    folders += [part.partition("=")[2] for part in mounts if re.match(r"(?:destination|dst|target)=", part)]
    pairs = [text for name in ("-e", "--env") for text in options_by_name.get(name, ()) if "=" in text]
    hosts = [
        text for name in ("--name", "--hostname", "-h", "--network-alias") for text in options_by_name.get(name, ())
    ]
    return _Options(
        health=options_by_name.get("--health-cmd", [""])[-1],
        seconds=min(_MOST_SECONDS, max(_LEAST_SECONDS, seconds)),
        env=_literal(dict(text.split("=", 1) for text in pairs), {}),
        hosts=tuple(hosts),
        folders=tuple(folders),
        unusable=_OTHER_ENTRYPOINT if "--entrypoint" in options_by_name else "",
    )


def _seconds(text: str) -> float:
    return sum(float(number) * _UNITS[unit] for number, unit in _DURATION.findall(text))


def _service(
    name: Any,
    image: Any,
    options: _Options,
    *,
    env: Mapping[str, str] | None = None,
    command: tuple[str, ...] = (),
    ports: Iterable[Any] = (),
) -> DeclaredService:
    """A service with what of it has the right form."""
    unusable, health = options.unusable, options.health
    text = image if isinstance(image, str) else ""
    if not unusable and not _IMAGE.match(text):
        unusable = "its image can't be read from the file" if text else "no image is known for it"
    if not unusable and re.search(r"(?:^|/)docker(?::|$)|dind", text):
        unusable = "it is a container engine itself"
    names = [str(host) for host in (name, *options.hosts) if _HOST.match(str(host))]
    return DeclaredService(
        name=names[0] if names else "service",
        image="" if unusable else text,
        hosts=tuple(dict.fromkeys(host for host in names[1:] if host != names[0])),
        env={**(env or {}), **options.env},
        command=command,
        ports=tuple(dict.fromkeys(port for entry in ports if (port := _port(entry)))),
        health="" if "${{" in health or health == "none" else health[:_LONGEST],
        folders=tuple(folder for folder in options.folders if re.match(r"/[^:,\s]+$", folder)),
        start_seconds=options.seconds,
        unusable=unusable,
    )


def _port(value: Any) -> str:
    """`LISTEN:INNER` of a published TCP port; empty where it is none."""
    match = _PORT.match(value) if isinstance(value, str) else None
    if match is None:
        return ""
    listen, inner = int(match[1] or match[2]), int(match[2])
    return f"{listen}:{inner}" if 0 < listen <= _LARGEST_PORT and 0 < inner <= _LARGEST_PORT else ""


def _literal(value: Any, expressions: Mapping[str, str]) -> dict[str, str]:
    """A service's own variables: literal ones, as every reader of the repository knows them."""
    texts = {name: resolved(text, expressions) for name, text in mapping(value).items()}
    return {
        name: text for name, text in texts.items() if re.fullmatch(r"[A-Za-z_]\w{0,80}", name) and _is_literal(text)
    }


def _path(image: str) -> str:
    """An image's name without tag and digest."""
    path = image.partition("@")[0]
    head, colon, _ = path.rpartition(":")
    return head if colon and "/" not in path[len(head) :] else path
