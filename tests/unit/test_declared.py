"""Declared runners: what goldseam.toml may say, what the driver's frames mean, which files a patch may not bring."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest

from harness.config.settings import load_settings
from harness.core.errors import InputError
from harness.core.instance import Declared, TestSpec, TestStatus, is_matched
from harness.judging.places import Place, place_of_test
from harness.languages import framework, language_of
from harness.languages.base import TestReport
from harness.languages.screening import screen
from harness.patches.patch import parse
from miner.languages.declared.language import DeclaredCode
from tests import tiny

TABLE = '[declared."acme/sums"]\ntest = "prove {file}"\nresults = "out/*.xml"\nformat = "junit"\n'
SPEC = TestSpec(
    framework="declared-junit",
    declared=Declared(
        test="run {file}", results="out/*.xml", tests=("*_spec.rb", "spec/**/*.rb"), protected=("Rakefile", "build/*")
    ),
)
RUN = {"t": "run", "file": "", "code": 0, "text": "what it printed"}
FINISH = {"t": "finish", "code": 0}


def settings(tmp_path, text):
    file = tmp_path / "goldseam.toml"
    file.write_text(text)
    return load_settings(file, env={})


def case(name, inner="", **more):
    attributes = "".join(f' {key}="{value}"' for key, value in more.items())
    return f'<testcase classname="Sum" name="{name}"{attributes}>{inner}</testcase>'


def left(*cases, path="out/a.xml"):
    data = f"<testsuite>{''.join(cases)}</testsuite>".encode()
    return {"t": "results", "path": path, "data": base64.b64encode(data).decode(), "first": True}


def read(*frames) -> TestReport:
    return framework("declared-junit").read((*frames, FINISH))


def test_what_holds_for_a_repository(tmp_path):
    found = settings(tmp_path, TABLE + TABLE.replace("acme/sums", "acme/*").replace("prove", "other"))

    assert found.declared_for("acme/sums").test == "prove {file}"
    assert found.declared_for("acme/else").test == "other {file}"
    assert found.declared_for("umbrella/sums") is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (TABLE + 'packges = ["ruby"]\n', r":5: declared\.acme/sums\.packges: unknown key; did you mean packages\?"),
        (TABLE.replace("junit", "junit5"), r"declared\.acme/sums\.format: expected 'junit', 'tap'"),
        (TABLE.replace("results = ", "result = "), r"declared\.acme/sums\.results: is missing"),
        (TABLE.replace("out/", "../out/"), "expected a path below the root of the tree"),
        (TABLE.replace("{file}", "{file} {files}"), "found both"),
        (TABLE + 'packages = ["ruby; rm"]\n', "expected names of Debian packages"),
        (TABLE + "install = 'make'\n", r"declared\.acme/sums\.install: expected a list, found 'make'"),
    ],
)
def test_a_declaration_that_does_not_fit_is_refused(tmp_path, text, why):
    with pytest.raises(InputError, match=why):
        settings(tmp_path, text)


def test_placeholders_are_arguments_of_the_shell():
    each, whole = Declared(test="ruby #{file} ${file} {file}", results="r"), Declared(test="rspec {files}", results="r")
    assert (each.command, each.is_each) == ('ruby #{file} ${file} "$1"', True)
    assert (whole.command, whole.is_each, whole.takes_files) == ('rspec "$@"', False, True)


def test_patterns_of_files():
    assert is_matched("test/a/spec_x.rb", ("spec_*.rb",))
    assert is_matched("test/x.rb", ("test/**/*.rb",))
    assert is_matched("tool", ("/tool",))
    assert not is_matched("lib/x.rb", ("test/*", "spec_*.rb"))
    assert not is_matched("lib/tool", ("/tool",))


def test_results_of_a_run():
    report = read(RUN, left(case("adds"), case("breaks", "<failure>no</failure>", file="/testbed/spec/a.rb")))

    assert report.statuses == {"Sum::adds": TestStatus.PASSED, "spec/a.rb::Sum::breaks": TestStatus.FAILED}
    assert report.texts == {"spec/a.rb::Sum::breaks": "no"}
    assert report.finished


def test_a_run_of_one_file_names_its_tests_by_it():
    assert list(read({**RUN, "file": "spec/a.rb"}, left(case("adds", file="/else/b.rb"))).statuses) == [
        "spec/a.rb::Sum::adds"
    ]


def test_of_several_results_of_one_test_the_worst_counts():
    skipped, failed = case("adds", "<skipped/>"), case("adds", "<failure/>")
    assert read(RUN, left(case("adds"), failed, case("adds"))).statuses == {"Sum::adds": TestStatus.FAILED}
    assert read(RUN, left(skipped, case("adds"))).statuses == {"Sum::adds": TestStatus.SKIPPED}


@pytest.mark.parametrize(
    ("frames", "why"),
    [
        ([{**RUN, "code": 1}, left(case("adds"))], "exit code 1, and its results tell of no failure"),
        ([{**RUN, "code": 1}], "exit code 1 and left no results"),
        ([RUN], "exit code 0 and left no results"),
        ([RUN, {"t": "results", "path": "out/a.xml", "data": "PGE=", "first": True}], "out/a.xml: it is not valid XML"),
        ([RUN, left(case("adds")), {"t": "lost", "path": "out/b.xml", "why": "it is behind a link"}], "behind a link"),
        ([{"t": "unbuilt", "command": "make", "code": 2, "text": "no"}], "`make` ended with exit code 2"),
    ],
)
def test_a_run_that_tells_nothing_loses_its_tests_and_says_why(frames, why):
    report = read(*frames)
    assert report.statuses == {}
    assert why in report.collect_errors["."]
    assert not report.violations


def test_a_lost_file_loses_no_other():
    report = read({**RUN, "file": "a.rb", "code": 1}, {**RUN, "file": "b.rb"}, left(case("adds")))
    assert list(report.collect_errors) == ["a.rb"]
    assert list(report.statuses) == ["b.rb::Sum::adds"]


@pytest.mark.parametrize(
    "frame",
    [
        {"t": "report", "id": "a", "status": "passed"},
        {"t": "run", "file": 3, "code": 0, "text": ""},
        {"t": "results", "path": "a", "data": "%%", "first": True},
        {"t": "results", "path": "a", "data": "", "first": False},
    ],
)
def test_frames_of_no_driver_are_a_violation(frame):
    assert framework("declared-junit").read((RUN, frame, FINISH)).violations


def test_what_a_patch_may_not_bring():
    def reasons(path):
        return [part.reason for part in screen(parse(tiny.diff(path, None, "x\n").encode()), (), SPEC).dropped]

    assert reasons("spec/deep/helper.rb") == reasons("lib/sum_spec.rb") == ["test_code"]
    assert reasons("out/a.xml") == ["results_file"]
    assert reasons("build/sums") == reasons("Rakefile") == ["declared_protected"]
    assert reasons("lib/sum.rb") == []


def test_a_declared_task_is_judged_declared_and_that_is_weaker_than_inside():
    assert place_of_test(tiny.task(spec=SPEC), "a") is Place.DECLARED
    assert not Place.DECLARED.reaches(Place.INSIDE)
    assert Place.DECLARED.reaches(Place.OWN_RUNNER)


def test_a_task_keeps_its_declaration(tmp_path):
    task = tiny.task(spec=SPEC)
    read_again = tiny.dataset(tmp_path, task).task(task.instance_id)

    assert read_again.instance.test == SPEC
    assert read_again.instance.test.key() == SPEC.key()
    other = replace(SPEC, declared=replace(SPEC.declared, test="true"))
    assert tiny.task(spec=other).digest() != task.digest()


def test_no_grader_of_another_tool_reads_its_results():
    with pytest.raises(InputError, match="read by goldseam's host"):
        language_of(SPEC.framework).graded(SPEC)


def test_a_task_without_its_declaration_is_refused():
    with pytest.raises(InputError, match=r"needs `test\.declared`"):
        language_of("declared-tap").program(TestSpec(framework="declared-tap"), {})


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("x.c:3:5: error: implicit declaration of function ‘cJSON_Has’ [-Werror]", "cJSON_Has"),
        ("undefined reference to `cJSON_Has'", "cJSON_Has"),
        ("error: ‘struct item’ has no member named ‘size’", "size"),
        ("error: ‘LIMIT’ undeclared (first use in this function)", "LIMIT"),
        ("uninitialized constant Rack::Headers (NameError)", "Headers"),
        ("undefined method `sum' for nil:NilClass (NoMethodError)", "sum"),
        ('Error: Class "Composer\\Semver\\Bound" not found', "Bound"),
        ("Error: Call to undefined method Composer\\Semver\\Intervals::get()", "get"),
        ("Segmentation fault", ""),
    ],
)
def test_which_name_is_missing(text, name):
    report = TestReport(collect_errors={".": text})
    assert DeclaredCode().missing_names(report) == {".": name}
