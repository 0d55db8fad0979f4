import os
import socket
import sys
import tomllib
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.config.settings import ImageSettings
from harness.core import process
from harness.core.errors import InfrastructureError, InputError
from harness.sandbox import engine, owners
from miner.evidence.tree import Evidence, Recipe
from miner.images import store
from miner.languages.python.detect import detect
from miner.languages.python.images import exclude_newer, steps
from miner.languages.python.images.pythons import Interpreter
from miner.layers import build, dockerfile, secrets
from miner.layers.base import DEFAULT_BASE
from miner.layers.build import StepFailedError
from miner.layers.layer import Input, Layer, write_tool
from miner.layers.runner import Ran, read_result
from tests.tiny import MemoryTree
from tests.trees import Files


def layer(**changes):
    return Layer(**{"kind": "deps", "parent": "sha256:1", "commands": ("true",), **changes})


def test_equal_layers_have_equal_keys_and_any_change_gives_another():
    keys = {
        layer(**change).key for change in ({}, {"parent": "sha256:2"}, {"commands": ("false",)}, {"env": {"A": "1"}})
    }
    assert (len(keys), layer().key in keys) == (4, True)


def test_a_dockerfile_mounts_what_the_build_only_borrows():
    text = layer(env={"TZ": "UTC"}, workdir="/testbed").dockerfile()
    assert "--mount=type=secret,id=build-env" in text
    assert text.endswith('ENV TZ="UTC"\nWORKDIR /testbed\n')
    assert "syntax=" not in text


def test_a_command_of_several_lines_is_one_instruction_that_is_read_again():
    tool = write_tool("/tmp/x", "a\nb\n")
    text = dockerfile.render("debian", [layer(commands=(f"{tool}\ncat /tmp/x", "true"))], {})
    (section,) = dockerfile.read(text).sections
    assert section.body.endswith("'a'     'b' > /tmp/x;     cat /tmp/x;     true")


def test_a_tool_is_written_with_every_character_as_it_is(tmp_path):
    source = "print('a \"quoted\" $HOME `x` \\n % word')\n\nprint(2)\n"
    target = tmp_path / "tool.py"
    process.run(["sh", "-eu", "-c", write_tool(str(target), source)])
    assert target.read_text() == source


def test_only_what_builds_need_is_taken_from_the_environment(tmp_path):
    bundle = tmp_path / "ca.pem"
    bundle.touch()
    given = {
        "PIP_INDEX_URL": "https://me:secret@index.example/simple",
        "UV_INDEX_MINE_PASSWORD": "hunter22",
        "https_proxy": "http://proxy.example:3128",
        "GITHUB_TOKEN": "t",
        "UV_CACHE_DIR": "/cache",
        "PIP_FIND_LINKS": "/wheels",
        "SSL_CERT_FILE": str(bundle),
    }
    found = secrets.collect(given)
    assert set(found.variables) == {"PIP_INDEX_URL", "UV_INDEX_MINE_PASSWORD", "https_proxy"}
    assert found.ca_bundle == bundle


def test_an_index_set_for_pip_serves_uv_too():
    found = secrets.collect({"PIP_INDEX_URL": "https://index.example/simple"})
    assert found.exported()["UV_DEFAULT_INDEX"] == "https://index.example/simple"


def test_credentials_are_masked_wherever_they_stand():
    found = secrets.collect({"PIP_INDEX_URL": "https://me:secret@index.example/", "UV_INDEX_A_PASSWORD": "hunter22"})
    assert found.mask("at https://me:secret@x/ with secret and hunter22 or ftp://you:pw@y") == (
        "at https://****@x/ with **** and **** or ftp://****@y"
    )


def test_a_certificate_file_that_is_not_there_is_an_input_error():
    with pytest.raises(InputError, match="SSL_CERT_FILE"):
        secrets.collect({"SSL_CERT_FILE": "/no/such/file"})


def test_a_lock_names_neither_the_project_nor_a_path():
    text = (
        "# a comment\n-e .\npytest==1 \\\n    --hash=sha256:a\nmine @ file:///testbed \\\n    --hash=sha256:b\nsix==2\n"
    )
    assert steps.clean_lock(text) == "pytest==1 \\\n    --hash=sha256:a\nsix==2\n"


def test_folders_of_the_tree_that_a_lock_asks_for_are_known_by_where_they_are():
    text = "-e file:///testbed/libs/a\n../b\n./libs/c\nd @ file:///testbed/libs/d\n-e .\n"
    text += "../../../etc\nsix==1 \\\n    --hash=x\n"
    paths = {f"libs/{name}/setup.py" for name in "abcd"} | {"setup.py", "libs/core/setup.py"}
    assert steps.local_folders(text, "libs/core", paths) == ("libs/a", "libs/b", "libs/c", "libs/d")
    assert steps.local_folders("-e ./libs/c[x]\n", "", paths) == ("libs/c",)
    assert steps.local_folders("-e ./libs/gone\n-e file:///etc\n", "", paths) == ()


def tool_dates(options: tuple[str, ...], *names: str) -> set[str]:
    """The days as of which distributions are taken that can't be of the commit's."""
    found = dict(option.split()[1].split("=") for option in options if option.startswith("--exclude-newer-package"))
    return {found[name][:10] for name in names if name in found}


def at(*day: int) -> datetime:
    return datetime(*day, tzinfo=UTC)


def test_everything_else_is_of_the_commits_day():
    for options in (exclude_newer.of_the_day, exclude_newer.for_dependencies, exclude_newer.for_editable):
        assert options(at(2024, 1, 2), "3.11") == ("--exclude-newer 2024-01-02T00:00:00Z",)


def test_setuptools_of_old_commits_is_of_their_day_where_setup_py_is_called():
    assert exclude_newer.of_the_day(at(2018, 3, 4), "3.6") == ("--exclude-newer 2018-03-04T00:00:00Z",)


def test_setuptools_that_builds_dependencies_is_the_first_that_uv_can_call():
    assert tool_dates(exclude_newer.for_dependencies(at(2018, 3, 4), "3.6"), "setuptools", "wheel") == {"2019-02-06"}
    assert tool_dates(exclude_newer.for_dependencies(at(2019, 3, 4), "3.6"), "setuptools", "wheel") == set()


def test_backends_that_install_the_project_as_today_know_editable_installs():
    names = ("setuptools", "wheel", "flit-core", "poetry-core")
    assert tool_dates(exclude_newer.for_editable(at(2020, 3, 4), "3.8"), *names) == {"2022-12-01"}
    assert [exclude_newer.has_editable_tools(at(*day)) for day in ((2022, 11, 30), (2022, 12, 1))] == [False, True]


def test_tools_of_a_commit_older_than_its_interpreter_know_the_interpreter():
    options = (exclude_newer.of_the_day, exclude_newer.for_dependencies, exclude_newer.for_editable)
    assert [tool_dates(one(at(2018, 3, 4), "3.8"), "setuptools") for one in options] == [
        {"2020-04-11"},
        {"2020-04-11"},
        {"2022-12-01"},
    ]
    assert tool_dates(exclude_newer.for_editable(at(2021, 3, 4), "3.12"), "setuptools") == {"2024-03-30"}
    assert tool_dates(exclude_newer.for_tests(at(2012, 9, 20), "3.8"), "pytest") == {"2020-04-11"}
    assert tool_dates(exclude_newer.for_tests(at(2020, 1, 1), "3.8"), "pytest") == set()


def test_what_uv_cannot_read_of_old_distributions_is_told_to_it():
    (told,) = tomllib.loads(exclude_newer.unreadable(at(2019, 7, 1)))["dependency-metadata"]
    assert told["name"] == "pandas"
    assert "pytz" in told["requires-dist"]
    assert exclude_newer.unreadable(at(2019, 8, 1)) == ""


def test_tools_that_find_versions_are_not_built_as_the_projects_own():
    variables = tomllib.loads(steps.OWN_VERSIONS)["extra-build-variables"]
    assert set(variables) == {"pbr", "setuptools-scm"}
    for name, value in (pair for tool in variables.values() for pair in tool.items()):
        assert value == ""
        assert f"export {name}=1.5" in steps.versions("1.5")


def test_a_distribution_that_was_uploaded_again_is_taken_as_of_then():
    assert exclude_newer.for_tests(at(2021, 1, 1), "3.9") == (
        "--exclude-newer-package atomicwrites=2022-07-09T00:00:00Z",
    )
    assert exclude_newer.for_tests(at(2023, 1, 1), "3.9") == ()


def test_pytest_of_old_commits_is_one_that_the_runner_can_call():
    assert tool_dates(exclude_newer.for_tests(at(2012, 9, 20), "3.6"), "pytest", "pluggy") == {"2019-06-20"}


def test_pytest_itself_is_installed_as_the_project_and_not_from_the_index():
    tree = MemoryTree({"pyproject.toml": '[project]\nname = "pytest"\n'})
    recipe = detect(tree).recipes[0]
    ground = build.BuiltLayer(tag="", image_id="", kind="base", reused=True, seconds=0.0, size=0, facts={})
    interpreter = Interpreter(minor="3.11", path="/usr/bin/python3", layer=ground, recipe=None)

    assert "pytest" not in steps.requirement_lines(recipe, "3.11")
    assert "--no-emit-package pytest" in steps.resolve_command(recipe, interpreter, at(2024, 1, 1))


def test_setuptools_is_there_until_python_3_11():
    recipe = Recipe(project=None, evidence=Evidence(rung="pytest"))
    assert "setuptools" in steps.requirement_lines(recipe, "3.11")
    assert "setuptools" not in steps.requirement_lines(recipe, "3.12")


def test_a_result_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "facts.json").symlink_to("/etc/passwd")
    with pytest.raises(InfrastructureError, match="can't be read"):
        read_result(tmp_path / "facts.json")


def test_a_result_that_is_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "facts.json")
    with pytest.raises(InfrastructureError, match="not a regular file"):
        read_result(tmp_path / "facts.json")


def image(name, parent=None, kind="task"):
    return store.StoredImage(id=name, kind=kind, tags=(), parent=parent, layer_bytes=1)


@pytest.mark.parametrize(
    ("repo", "has_package", "is_left"),
    [("a/some-project", True, False), ("a/project", True, True), ("a/some-project", False, True)],
)
def test_a_tree_is_a_package_in_a_trial_where_a_clone_of_it_would_be(tmp_path, repo, has_package, is_left):
    tar = Input(name="source.tar", path=tmp_path / "source.tar", sha256="0")
    tree = Files({"setup.py": "", **({"__init__.py": ""} if has_package else {})})
    request = SimpleNamespace(tree=tree, repo=repo, base_commit="0", when=at(2024, 1, 1), version_hint=None)
    recipe = Recipe(project="setup.py", evidence=Evidence(rung="setup.py"))
    commands = steps.source("parent", tar, request, recipe, "3.11").commands
    assert ("rm /opt/goldseam/src/__init__.py" not in commands) is is_left


def test_an_image_goes_before_the_one_it_is_built_on_and_needed_ones_stay_with_their_parents():
    stored = (
        image("base", kind="base"),
        image("deps1", "base", "deps"),
        image("deps2", "base", "deps"),
        image("task1", "deps1"),
        image("task2", "deps2"),
        image("goldseam", kind="program"),
    )
    assert [one.id for one in store.unneeded(stored, {"task1"})] == ["task2", "deps2"]


def test_this_process_is_alive_and_one_with_another_start_time_is_dead():
    host, pid, started = owners.owner().split(":")
    assert not owners.is_dead(owners.owner())
    assert owners.is_dead(f"{host}:{pid}:{int(started) + 1}")


def test_a_process_of_another_host_is_never_called_dead():
    assert not owners.is_dead("elsewhere:1:1")
    assert not owners.is_dead("")


def test_a_process_of_another_pid_namespace_is_never_called_dead():
    """As a container with the host's network has the host's name, and other processes."""
    code = "import sys\nfrom harness.sandbox import owners\nprint(owners.owner(), *map(owners.is_dead, sys.argv[1:]))"
    labels = [owners.owner(), f"{owners.host()}:4194999:1"]
    apart = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", code, *labels]
    inside, *dead = process.run(apart).stdout.decode().split()
    assert dead == ["False", "False"]
    assert inside.startswith(f"{socket.gethostname()}@")
    assert not owners.is_dead(inside)


def test_no_engine_is_an_infrastructure_error_that_names_the_doctor(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such/engine.sock")
    monkeypatch.setattr(engine, "_local", type(engine._local)())
    with pytest.raises(InfrastructureError) as caught:
        engine.connect()
    assert "goldseam doctor" in (caught.value.hint or "")


def test_the_pinned_base_is_a_digest():
    assert DEFAULT_BASE.startswith("debian:bookworm-slim@sha256:")


class Flaky:
    """A workshop whose steps end as they are told, in order; the index always answers."""

    def __init__(self, *tails: str) -> None:
        self.tails = list(tails)
        self.settings = ImageSettings()

    def progress(self, text: str) -> None:
        pass

    @contextmanager
    def run(self, image: str, script: str, *, kind: str, **_: object):
        tail = "" if kind == "probe" else self.tails.pop(0)
        code = 2 if tail else 0
        yield Ran(
            container="", out=Path(), exit_code=code, seconds=1.0, tail=tail, timed_out=False, out_of_memory=False
        )


LOST = "error sending request for url\n  cause: operation timed out"


def test_a_step_that_lost_the_network_is_done_once_more_and_then_it_is_the_repositorys_fault():
    workshop = Flaky(LOST, LOST)
    with pytest.raises(StepFailedError):
        build._build(workshop, layer())
    assert workshop.tails == []


def test_a_step_that_failed_by_itself_is_not_done_again():
    workshop = Flaky("SyntaxError", LOST)
    with pytest.raises(StepFailedError):
        build._build(workshop, layer())
    assert workshop.tails == [LOST]


def test_what_a_project_is_built_with_is_declared_in_the_copy_that_is_resolved(tmp_path):
    (script,) = steps._declared(Recipe(project="setup.py", evidence=Evidence(rung="a"), built_with=(("", "numpy"),)))
    process.run(["sh", "-euc", f"cd {tmp_path}; {script}; {script}"])
    told = tomllib.loads((tmp_path / "pyproject.toml").read_text())
    assert told["build-system"]["requires"] == ["setuptools", "wheel", "numpy"]
    assert steps._declared(Recipe(project="setup.py", evidence=Evidence(rung="a"), built_with=(("x", "numpy"),))) == ()
