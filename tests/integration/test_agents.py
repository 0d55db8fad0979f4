"""Agents with scripted models in a real container: what their work comes to, and what becomes of odd behaviour."""

from __future__ import annotations

import contextlib

import pytest

from harness.core.errors import InputError
from harness.sandbox import engine
from harness.solve.agents import mini
from harness.solve.agents.loop import LoopAgent
from harness.solve.base import Fault, LimitReachedError, ModelError
from tests import pypi_tools, tiny
from tests.scripted import Scripted, call, job, raw_call, say
from tests.workspace_checks import SECONDS, applied, reset

pytestmark = pytest.mark.engine

FIX = call("edit_file", path=tiny.CALC, old="a - b", new="a + b")
FINISH = call("finish")


@pytest.fixture
def work(shared, instance):
    """A job in a workspace as good as new."""
    reset(shared)
    return job(instance, lambda: contextlib.nullcontext(shared), header="the-canary")


def fixed(attempt, folder):
    return applied((attempt.patch or "").encode(), folder)[tiny.CALC] == ("file", tiny.FIXED.encode())


def test_a_loop_that_edits_and_finishes_has_its_diff_as_patch(work, tmp_path):
    model = Scripted(call("search", pattern="return a"), FIX, call("run_tests"), FINISH)
    attempt = LoopAgent().attempt(work, model)
    assert fixed(attempt, tmp_path)
    assert (attempt.no_patch, attempt.stopped, len(attempt.replies)) == (None, None, 4)
    assert f"{tiny.CALC}:2:    return a - b" in model.requests[1].messages[-1].content
    assert "1 passed" in model.requests[3].messages[-1].content
    assert model.requests[0].messages[0].content.startswith("the-canary")
    assert "Adding subtracts." in model.requests[0].messages[1].content


TOOLS = {
    "a part of a file": (call("read_file", path="pyproject.toml", first=5, last=6), "5\t[project]\n6\tname"),
    "a file that is not there": (call("read_file", path="no.py"), "error: no such file"),
    "a path out of the tree": (call("read_file", path="../etc/passwd"), "error: no such file"),
    "an edit of what is not there": (call("edit_file", path=tiny.CALC, old="x = 1", new=""), "it occurs 0 times"),
    "an edit of what is there twice": (call("edit_file", path=tiny.CALC, old="a", new="b"), "exactly once"),
    "a new file": (call("create_file", path="a/b.py", content="x = 1\n"), "done"),
    "half a surrogate pair": (call("edit_file", path=tiny.CALC, old="a - b", new="\ud800"), "error"),
    "a command": (call("run_command", command="echo $((6 * 7)); exit 3"), "42\n\n[exit code 3]"),
    "one test": (call("run_tests", paths="tests/test_calc.py::test_zero"), "1 passed"),
    "an option in place of a pattern": (call("search", pattern="--help"), "[exit code 1]"),
    "broken JSON": (raw_call("read_file", '{"path": "src'), "not valid JSON"),
    "JSON without end": (raw_call("read_file", '{"path": ' + "[" * 200_000), "not valid JSON"),
    "JSON of another form": (raw_call("read_file", "[1]"), "as one JSON object"),
    "a missing argument": (raw_call("read_file", "{}"), "`path` is missing"),
    "an argument of another type": (call("read_file", path=7), "must be of type string"),
    "an argument that there is not": (call("read_file", path="a", encoding="x"), "the arguments of read_file are"),
    "a tool that there is not": (call("browse", url="x"), "there is no tool 'browse'"),
}


@pytest.fixture(scope="module")
def odd(shared, instance):
    """What a model that does all of that, one after the other, is told, by what it did."""
    reset(shared)
    model = Scripted(*(one for one, _ in TOOLS.values()), FINISH)
    LoopAgent().attempt(job(instance, lambda: contextlib.nullcontext(shared)), model)
    return dict(zip(TOOLS, (request.messages[-1].content for request in model.requests[1:]), strict=True))


@pytest.mark.parametrize(("which", "expected"), [(name, expected) for name, (_, expected) in TOOLS.items()], ids=TOOLS)
def test_each_tool_tells_what_came_of_it(which, expected, odd):
    assert expected in odd[which]


def test_a_model_that_only_talks_is_nudged_once_and_has_no_patch(work):
    model = Scripted(say("Sorry, I can't."))
    attempt = LoopAgent().attempt(work, model)
    assert (attempt.patch, attempt.no_patch, attempt.detail, len(attempt.replies)) == (
        None,
        "no_change",
        "Sorry, I can't.",
        2,
    )


def test_a_model_that_repeats_itself_is_told_and_then_ended(work):
    model = Scripted(call("run_command", command="echo x"))
    attempt = LoopAgent().attempt(work, model)
    told = [request.messages[-1].content for request in model.requests[1:]]
    assert (attempt.stopped, len(attempt.replies)) == ("task_repeats", 6)
    assert ["same call" in text for text in told] == [False, False, True, True, True]


def test_turns_are_limited_and_what_was_done_until_then_counts(work, tmp_path):
    attempt = LoopAgent(max_turns=2).attempt(work, Scripted(FIX, call("run_command", command="true"), FINISH))
    assert attempt.stopped == "task_turns"
    assert fixed(attempt, tmp_path)


def test_a_limit_ends_it_with_what_was_done_until_then(work, tmp_path):
    attempt = LoopAgent().attempt(work, Scripted(FIX, LimitReachedError("task_cost", "enough")))
    assert attempt.stopped == "task_cost"
    assert fixed(attempt, tmp_path)


def test_a_model_that_cannot_be_asked_says_nothing_about_the_task(work):
    with pytest.raises(ModelError):
        LoopAgent().attempt(work, Scripted(FIX, ModelError("down", fault=Fault.SERVER)))


def test_old_results_are_left_out_where_the_conversation_gets_long(work):
    model = Scripted(*(call("run_command", command=f"seq 3000 # {number}") for number in range(9)), FINISH)
    attempt = LoopAgent(context_bytes=40_000).attempt(work, model)
    last = model.requests[-1].messages
    assert ["left out to save room" in one.content for one in last if one.role == "tool"] == [True] * 5 + [False] * 4
    assert not any("left out to save room" in one.content for one in attempt.messages)


def test_a_conversation_that_does_not_fit_is_shortened_and_then_ended(work):
    overflow = ModelError("too long", fault=Fault.CONTEXT_OVERFLOW)
    lines = [call("run_command", command=f"seq 3000 # {number}") for number in range(9)]
    attempt = LoopAgent().attempt(work, model := Scripted(*lines, overflow))
    assert attempt.stopped == "task_context"
    assert len(model.requests[-1].messages[3].content) < 100 < len(model.requests[9].messages[3].content)


def test_an_agent_that_takes_its_container_down_has_no_patch_for_that_reason(workspaces, instance):
    with workspaces.open(instance) as opened:

        class Killer(Scripted):
            def ask(self, request):
                engine.connect().kill(opened._session.name)
                return super().ask(request)

        opened.run(("true",), seconds=SECONDS)
        attempt = LoopAgent().attempt(job(instance, lambda: contextlib.nullcontext(opened)), Killer(FIX))
    assert (attempt.patch, attempt.no_patch) == (None, "workspace_lost")


@pytest.fixture(scope="module")
def installed():
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(mini.PYTHON_VARIABLE, str(pypi_tools.environment(pypi_tools.MINI_SWE_AGENT).python))
        mini.find.cache_clear()
        yield mini.find()
    mini.find.cache_clear()


def bash(command, number=1):
    return call("bash", number=number, command=command)


SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && cat patch.txt"


def test_mini_swe_agent_works_in_our_container_with_our_model_and_submits_its_patch(installed, work, tmp_path):
    model = Scripted(
        bash("pwd; cat src/calc/__init__.py; touch reproduce.py"),
        bash("sed -i 's/a - b/a + b/' src/calc/__init__.py"),
        bash(f"git diff -- {tiny.CALC} > patch.txt"),
        bash(SUBMIT),
    )
    attempt = mini.MiniAgent(installed).attempt(work, model)
    assert fixed(attempt, tmp_path)
    assert (attempt.patch.count("diff --git"), attempt.stopped, attempt.tolerance) == (1, None, ())
    assert model.requests[1].messages[-1].content.startswith("<returncode>0</returncode>\n<output>\n/testbed\n")
    assert [tool.name for tool in model.requests[0].tools] == ["bash"]
    assert model.requests[0].messages[0].content.startswith("the-canary")
    assert "Adding subtracts." in model.requests[0].messages[1].content


def test_mini_swe_agent_that_never_submits_has_what_changed(installed, work, tmp_path):
    model = Scripted(bash("sed -i 's/a - b/a + b/' src/calc/__init__.py"), say("done?"))
    attempt = mini.MiniAgent(installed, max_turns=3).attempt(work, model)
    assert fixed(attempt, tmp_path)
    assert (attempt.stopped, attempt.tolerance) == ("task_turns", ("workspace_diff",))


def test_a_limit_ends_mini_swe_agent(installed, work):
    attempt = mini.MiniAgent(installed).attempt(work, Scripted(bash("true"), LimitReachedError("task_cost", "enough")))
    assert (attempt.stopped, attempt.no_patch, len(attempt.replies)) == ("task_cost", "limit", 1)


def test_a_fault_of_the_endpoint_is_no_fault_of_mini_swe_agent(installed, work):
    with pytest.raises(ModelError, match="down"):
        mini.MiniAgent(installed).attempt(work, Scripted(ModelError("down", fault=Fault.SERVER)))


def test_without_mini_swe_agent_it_says_how_to_get_it(monkeypatch):
    monkeypatch.delenv(mini.PYTHON_VARIABLE, raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    mini.find.cache_clear()
    with pytest.raises(InputError) as failed:
        mini.find()
    assert "uv tool install mini-swe-agent" in failed.value.hint
