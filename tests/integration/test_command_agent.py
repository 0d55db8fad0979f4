"""Programs as agents: in a container whose one way out is the model, and on a checkout of this machine."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import socket
import sys
import textwrap
import threading

import pytest

from harness.core.errors import InputError, InterruptedRunError
from harness.sandbox import engine
from harness.solve.agents.command import CommandAgent, CommandSettings, Where
from harness.solve.base import Fault, LimitReachedError, ModelError
from harness.solve.workspace.workspace import Workspaces
from tests import tiny
from tests.scripted import Scripted, job, say
from tests.workspace_checks import applied

pytestmark = pytest.mark.engine

AGENT = '''
"""Asks the model what add should return, and writes it down."""
import json, os, sys, urllib.request

def ask(text):
    body = {"model": sys.argv[2], "messages": [{"role": "user", "content": text}]}
    asked = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps(body).encode(),
        {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(asked) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]

with open(sys.argv[1]) as file:
    said = ask(file.read())
with open("src/calc/__init__.py", "w") as file:
    file.write("def add(a, b):\\n    return " + said + "\\n")
for turn in range(int(sys.argv[3])):
    ask("again %d" % turn)
print("wrote it")
'''
PROBE = '''
"""Tries every way out that it can think of, and tells which of them led anywhere."""
import json, os, socket, sys, urllib.request

def reaches(kind, where):
    try:
        with socket.socket(kind) as it:
            it.settimeout(2)
            it.connect(where)
        return True
    except OSError:
        return False

def resolves(name):
    try:
        return bool(socket.getaddrinfo(name, 80))
    except OSError:
        return False

def through_proxy(url, data=None):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": os.environ["OPENAI_BASE_URL"][:-3]}))
    try:
        return opener.open(urllib.request.Request(url, data), timeout=5).status
    except urllib.error.HTTPError as error:
        return error.code

spec = json.loads(sys.argv[1])
found = {
    "reached": [where for where in spec["tcp"] if reaches(socket.AF_INET, tuple(where))]
    + [where for where in spec["tcp6"] if reaches(socket.AF_INET6, tuple(where))]
    + [where for where in spec["unix"] if reaches(socket.AF_UNIX, where)],
    "resolved": [name for name in spec["names"] if resolves(name)],
    "interfaces": os.listdir("/sys/class/net"),
    "proxied": {url: through_proxy(url, b"x") for url in spec["urls"]},
    "environment": dict(os.environ),
    "mounts": open("/proc/mounts").read(),
}
with open("found.json", "w") as file:
    json.dump(found, file)
'''


@pytest.fixture
def work(workspaces, instance):
    return job(instance, lambda: workspaces.open(instance), header="the-canary")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("agent")
    (made / "agent.py").write_text(textwrap.dedent(AGENT))
    (made / "probe.py").write_text(textwrap.dedent(PROBE))
    made.chmod(0o755)
    return made


def in_container(folder, words, **settings):
    command = f"python /opt/agent/{words}"
    return CommandAgent(CommandSettings(command=command, mount=folder, **settings))


def asking(where, folder, then):
    """The program that asks and writes, and what the shell does after that."""
    python, place = ("python", "/opt/agent") if where is Where.CONTAINER else (sys.executable, folder)
    command = f"sh -c '{python} {place}/agent.py {{statement_file}} {{model}} {then}'"
    return CommandSettings(command=command, where=where, mount=folder if where is Where.CONTAINER else None)


def fixed(attempt, folder):
    return applied((attempt.patch or "").encode(), folder)[tiny.CALC] == ("file", tiny.FIXED.encode())


def test_a_program_in_the_container_asks_our_model_and_its_patch_is_what_it_changed(
    work, folder, tmp_path, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-the-real-one")
    model = Scripted(say("a + b"))
    attempt = in_container(folder, "agent.py {statement_file} {model} 2").attempt(work, model)
    assert fixed(attempt, tmp_path)
    assert (attempt.no_patch, attempt.stopped, len(attempt.replies), attempt.facts["exit_code"]) == (None, None, 3, 0)
    assert model.requests[0].messages[0].content == "the-canary\n\nAdding subtracts.\n"
    assert "wrote it" in attempt.messages[-1].content


def test_a_program_on_this_machine_does_the_same_on_a_checkout_without_our_keys(work, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-the-real-one")
    monkeypatch.setenv("SOME_TOKEN", "ghp_secret")
    script = folder / "agent.py"
    tell = folder / "tell.sh"
    tell.write_text(
        f'{sys.executable} {script} "$@"; env > env.txt; git log --oneline --all | wc -l >> env.txt; rm -rf .git\n'
    )
    command = f"sh {tell} {{statement_file}} {{model}} 0"
    attempt = CommandAgent(CommandSettings(command=command, where=Where.HOST)).attempt(work, Scripted(say("a + b")))
    assert fixed(attempt, tmp_path)
    told = applied(attempt.patch.encode(), tmp_path / "again")["env.txt"][1].decode()
    assert "sk-the-real-one" not in told
    assert "ghp_secret" not in told
    assert told.endswith("\n1\n")


@pytest.mark.parametrize("where", Where)
def test_a_limit_ends_the_program_with_what_it_did_until_then(where, work, folder, tmp_path):
    model = Scripted(say("a + b"), LimitReachedError("task_tokens", "enough"))
    attempt = CommandAgent(asking(where, folder, "100; sleep 600")).attempt(work, model)
    assert fixed(attempt, tmp_path)
    assert (attempt.stopped, len(attempt.replies)) == ("task_tokens", 1)


def test_an_endpoint_that_fails_is_no_fault_of_the_program(work, folder):
    with pytest.raises(ModelError, match="down"):
        in_container(folder, "agent.py {statement_file} {model} 0").attempt(
            work, Scripted(ModelError("down", fault=Fault.AUTH))
        )


@pytest.mark.parametrize("where", Where)
def test_a_program_does_not_outlive_the_one_who_ends_the_work(where, instance, folder):
    with Workspaces() as own:

        class Cancelling(Scripted):
            def ask(self, request):
                own.cancel()
                return super().ask(request)

        agent = CommandAgent(asking(where, folder, "0; sleep 600"))
        with pytest.raises(InterruptedRunError):
            agent.attempt(job(instance, lambda: own.open(instance)), Cancelling(say("a + b")))


def test_a_program_that_takes_too_long_is_ended(work):
    attempt = CommandAgent(CommandSettings(command="sleep 600", seconds=1)).attempt(work, Scripted(say("")))
    assert (attempt.patch, attempt.no_patch, attempt.stopped) == (None, "limit", "task_time")


def test_a_program_that_changes_nothing_has_no_patch_and_says_how_it_ended(work):
    attempt = CommandAgent(CommandSettings(command="no-such-agent")).attempt(work, Scripted(say("")))
    assert (attempt.patch, attempt.no_patch) == (None, "no_change")
    assert "ended with 127" in attempt.detail
    assert "no-such-agent" in attempt.detail


@pytest.fixture
def doors():
    """Servers on every address of this machine that a container on a network could reach."""
    with socket.create_server(("", 0)) as four, contextlib.ExitStack() as held:
        six = held.enter_context(socket.create_server(("::", 0), family=socket.AF_INET6)) if socket.has_ipv6 else None
        addresses = ["127.0.0.1", *gateways()]
        port = four.getsockname()[1]
        reachable = []
        for address in addresses:  # what nobody could reach would prove nothing
            with contextlib.suppress(OSError), socket.create_connection((address, port), timeout=2):
                reachable.append([address, port])
        assert not reachable[-1][0].startswith("127.")
        yield reachable, [["::1", six.getsockname()[1]]] if six else []


def gateways():
    networks = engine.connect().networks()
    configs = [config for network in networks for config in (network["IPAM"]["Config"] or ())]
    # of a bridge that it has just made, Docker 20.10 tells the subnet alone
    return [config.get("Gateway") or str(next(ipaddress.ip_network(config["Subnet"]).hosts())) for config in configs]


def test_nothing_but_the_model_and_hosts_that_were_named_can_be_reached(work, folder, tmp_path, doors, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-the-real-one")
    four, six = doors
    outside = [["1.1.1.1", 53], ["169.254.169.254", 80], ["8.8.8.8", 443]]
    named = "{}:{}".format(*four[0])
    spec = {
        "tcp": [*four, *outside],
        "tcp6": [*six, ["2606:4700:4700::1111", 443], ["fe80::1", 80]],
        "unix": [
            "/var/run/docker.sock",
            "/run/docker.sock",
            "/run/containerd/containerd.sock",
            "/run/goldseam/other.sock",
        ],
        "names": ["example.org", "host.docker.internal", "metadata.google.internal", socket.gethostname()],
        "urls": [f"http://{four[-1][0]}:{four[-1][1]}/", "http://169.254.169.254/", "http://example.org/"],
    }
    agent = in_container(folder, f"probe.py '{json.dumps(spec)}'", allow=(named,))
    attempt = agent.attempt(work, Scripted(say("")))
    assert attempt.patch, attempt.detail
    found = json.loads(applied(attempt.patch.encode(), tmp_path)["found.json"][1])
    assert (found["reached"], found["resolved"], found["interfaces"]) == ([], [], ["lo"])
    assert set(found["proxied"].values()) == {403}
    assert attempt.facts["refused"] == [f"POST {url}" for url in spec["urls"]]
    assert "sk-the-real-one" not in json.dumps(found)
    assert found["environment"]["HTTPS_PROXY"] == "http://127.0.0.1:8111"
    assert "/run/goldseam" in found["mounts"]
    assert not [line for line in found["mounts"].splitlines() if "/run/goldseam " in line and " ro," not in line]


def test_a_host_that_was_named_is_reached_from_inside(work, folder):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        heard = []

        def serve():
            near, _ = server.accept()
            with near:
                heard.append(near.recv(1000))
                near.sendall(b"HTTP/1.0 200 OK\r\n\r\nhello")

        thread = threading.Thread(target=serve)
        thread.start()
        script = f"import urllib.request; open('got', 'wb').write(urllib.request.urlopen('http://models.test:{port}').read())"
        with pytest.MonkeyPatch.context() as patched:
            real = socket.getaddrinfo
            patched.setattr(socket, "getaddrinfo", lambda host, *words, **more: real("127.0.0.1", *words, **more))
            agent = CommandAgent(CommandSettings(command=f'python -c "{script}"', allow=(f"models.test:{port}",)))
            attempt = agent.attempt(work, Scripted(say("")))
        thread.join()
    assert "+hello" in attempt.patch
    assert b"Host: models.test" in heard[0]


WRONG = {
    "an empty command": CommandSettings(command=" "),
    "an open quote": CommandSettings(command="agent 'x"),
    "an unknown placeholder": CommandSettings(command="agent {task}"),
    "a host without a port": CommandSettings(command="agent", allow=("example.org",)),
    "a mount on this machine": CommandSettings(command="agent", where=Where.HOST, allow=("example.org:443",)),
}


@pytest.mark.parametrize("settings", WRONG.values(), ids=WRONG)
def test_settings_that_make_no_sense_are_told_before_anything_runs(settings):
    with pytest.raises(InputError):
        CommandAgent(settings)
