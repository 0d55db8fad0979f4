"""Semgrep and eslint beside verdicts: the image with both, real rules, real configurations."""

from __future__ import annotations

import pytest

from harness.config.settings import load_settings
from harness.runs import evaluate
from harness.runs.run_folder import RunFolder
from harness.sandbox.docker import DockerSandbox
from harness.sandbox.executors.local import LocalExecutor
from harness.sandbox.images import tools
from harness.signals import static
from miner.images import signal_tools
from miner.images.cli_choices import Extra
from tests import tiny
from tests.silent import Silent

pytestmark = pytest.mark.engine

RULES = """\
rules:
  - id: no-shell-strings
    languages: [python]
    severity: ERROR
    message: a shell reads this
    pattern: run_in_shell(...)
    metadata:
      cwe: ["CWE-78: OS Command Injection", "CWE-77: Command Injection"]
      confidence: HIGH
"""
ESLINTRC = """\
{
  // comments are allowed here
  "root": true,
  "extends": ["eslint:recommended", "airbnb"],
  "env": {"browser": true},
  "rules": {"eqeqeq": "error", "react/prop-types": "error"}
}
"""
OLD_JS = "export function same(a, b) {\n  return a == b;\n}\n"
OLD_PY = "def start(name):\n    run_in_shell(name)\n"
PATCHES = {
    "plain": tiny.GOLD,
    "shell": tiny.fix("run_in_shell('true')  # nosemgrep", "return a + b"),
    "moves": tiny.GOLD + tiny.diff("src/calc/old.py", OLD_PY, "# one line more\n" + OLD_PY),
    "script": tiny.GOLD
    + tiny.diff(
        "web/app.js",
        OLD_JS,
        "// one line more\n" + OLD_JS + "/* eslint-disable */\nexport const two = document.x == 2 ? missing : 2;\n",
    ),
    "coded": tiny.GOLD + tiny.diff("coded/a.js", OLD_JS, OLD_JS + "debugger;\n"),
    "broken": tiny.GOLD + tiny.diff("web/bad.js", None, "function (\n"),
    "typed": tiny.GOLD + tiny.diff("web/typed.ts", None, "export const one: number = 1;\n"),
    "loosens": tiny.GOLD
    + tiny.diff("web/.eslintrc.json", ESLINTRC, '{"root": true, "rules": {}}\n')
    + tiny.diff("web/app.js", OLD_JS, OLD_JS + "export const two = 1 == 2;\n"),
    "bare": tiny.GOLD + tiny.diff("bare/a.js", None, "debugger;\n"),
}


@pytest.fixture(scope="module")
def image():
    return signal_tools.ensure(load_settings().images, lambda _text: None, extras=tuple(Extra))


@pytest.fixture(scope="module")
def signals(tmp_path_factory, image):
    folder = tmp_path_factory.mktemp("optional")
    (folder / "rules.yaml").write_text(RULES)
    more = {
        "web/.eslintrc.json": ESLINTRC,
        "web/app.js": OLD_JS,
        "coded/eslint.config.mjs": "throw new Error('this must not run');\n",
        "coded/a.js": OLD_JS,
        "src/calc/old.py": OLD_PY,
    }
    task = tiny.task(tiny.build_image(folder, {**tiny.FILES, **more}))
    asked = [tiny.prediction(patch, model=name) for name, patch in PATCHES.items()]
    with DockerSandbox() as sandbox:
        evaluate.run(
            tiny.dataset(folder / "dataset", task),
            asked,
            folder / "run",
            sandbox=sandbox,
            executor=LocalExecutor(jobs=2),
            settings=evaluate.Settings(signals=True, control=0),
            observer=Silent(),
            tools=lambda: image.image_id,
            rules=static.read_rules(folder / "rules.yaml"),
        )
    found = RunFolder(path=folder / "run")
    return {one.model_name_or_path: found.read(one).signals for one in asked}


def by_rule(part):
    return dict(part.new_by_rule)


def test_a_local_rule_finds_what_the_patch_brings_by_its_number(signals):
    (found,) = signals["shell"].security.new
    assert (found.tool, found.rule, found.cwe, found.severity, found.confidence) == (
        "semgrep",
        "no-shell-strings",
        78,
        "high",
        "high",
    )
    assert signals["shell"].semgrep.measured
    assert signals["shell"].security.new_by_cwe == {"78": 1}


def test_what_a_rule_found_before_is_not_new_when_it_moves(signals):
    assert signals["moves"].semgrep.measured
    assert (signals["moves"].security.new, signals["moves"].security.gone) == ((), ())


def test_declared_rules_of_the_repository_are_followed(signals):
    found = signals["script"].eslint
    assert (found.measured, found.config) == (True, "repository")
    assert by_rule(found) == {"eqeqeq": 1, "no-undef": 1}
    assert {one.path for one in found.new} == {"web/app.js"}


def test_what_is_left_out_of_a_configuration_is_told(signals):
    notes = " ".join(signals["script"].eslint.notes)
    assert "extends airbnb is left out" in notes
    assert "rule react/prop-types is left out" in notes


def test_a_configuration_that_is_code_is_not_run(signals):
    found = signals["coded"].eslint
    assert (found.measured, found.config) == (True, "recommended")
    assert by_rule(found) == {"no-debugger": 1}
    assert "is code" in found.notes[0]


def test_a_syntax_error_is_a_finding(signals):
    assert by_rule(signals["broken"].eslint) == {"invalid-syntax": 1}


def test_types_that_cannot_be_parsed_are_not_measured(signals):
    assert not signals["typed"].eslint.measured
    assert "web/typed.ts" in signals["typed"].eslint.why_not


def test_a_patch_cannot_loosen_the_rules(signals):
    assert by_rule(signals["loosens"].eslint) == {"eqeqeq": 1}


@pytest.mark.parametrize(("name", "why"), [("bare", "no eslint configuration"), ("plain", "no JavaScript")])
def test_without_a_configuration_or_a_script_eslint_says_so(signals, name, why):
    assert not signals[name].eslint.measured
    assert why in signals[name].eslint.why_not


def test_the_versions_of_all_tools_are_told(signals, image):
    assert set(signals["plain"].tools) == {*tools.TOOLS, "semgrep", "semgrep_rules", "eslint", "image"}
    assert {"semgrep", "eslint", *tools.TOOLS} <= set(image.facts)
