"""Semgrep's reports, eslint's configurations and semgrep's rules, read without the tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.config.settings import load_settings
from harness.core.errors import InputError
from harness.core.instance import Budgets, TestSpec
from harness.patches.patch import parse
from harness.signals import analyst, delta, eslint_config, optional_tools, static
from harness.signals.delta import BanditFinding, BanditSides, EslintSides, RuffFinding, SemgrepSides, UnreadSides
from harness.signals.observed import Observations, Source, request
from harness.signals.sources import Sources
from tests import tiny

REPORT = {
    "version": "1.182.0",
    "results": [
        {
            "check_id": "shell",
            "path": "/tmp/files/f0/a.py",
            "start": {"line": 2, "col": 5, "offset": 20},
            "end": {"line": 2, "col": 20, "offset": 35},
            "extra": {
                "message": "a shell reads this",
                "severity": "WARNING",
                "metadata": {"cwe": ["CWE-78: OS Command Injection"], "confidence": "LOW"},
            },
        }
    ],
    "errors": [
        {
            "code": 3,
            "level": "warn",
            "type": ["PartialParsing", [{"path": "/tmp/files/f1/b.py"}]],
            "message": "Syntax error",
            "path": "/tmp/files/f1/b.py",
        }
    ],
}
COPIES = {
    f"/tmp/files/f{number}/{name}.py": analyst.Copy(
        path=Path(f"/tmp/files/f{number}/{name}.py"), python="3.11", lines=["def f():", "    run(x)"]
    )
    for number, name in enumerate("ab")
}


def finding(line, tool_rule="shell", cwe=78):
    return BanditFinding(
        rule=tool_rule, cwe=cwe, path="a.py", line=line, severity="high", confidence="high", message="m", text="run(x)"
    )


def js(line, path="a.js", rule="eqeqeq"):
    return RuffFinding(rule=rule, path=path, line=line, message="m", text="a == b")


def test_a_report_of_semgrep_is_read():
    (found,) = optional_tools.semgrep_findings(REPORT, COPIES).entries["/tmp/files/f0/a.py"]
    assert (found["cwe"], found["severity"], found["confidence"], found["text"]) == (78, "medium", "low", "run(x)")


def test_a_file_that_semgrep_could_not_parse_whole_is_named():
    assert optional_tools.semgrep_findings(REPORT, COPIES).unread == {"/tmp/files/f1/b.py": "PartialParsing"}


@pytest.mark.parametrize(
    ("told", "number"),
    [
        ("CWE-78: Improper Neutralization", 78),
        (["CWE-89: SQL Injection", "CWE-20"], 89),
        ("cwe-22", 22),
        (327, 327),
        ("none", None),
        ([], None),
        (None, None),
        ({"id": 1}, None),
    ],
)
def test_a_number_is_read_from_what_a_rule_says(told, number):
    assert optional_tools.cwe(told) == number


def test_findings_of_both_tools_are_counted_together():
    found = delta.security(BanditSides(after=(finding(1, "B602"),)), SemgrepSides(after=(finding(1),)))
    assert [one.tool for one in found.new] == ["bandit", "semgrep"]
    assert found.new_by_cwe == {"78": 2}


def test_a_finding_of_semgrep_that_moved_is_neither_new_nor_gone():
    found = delta.security(BanditSides(), SemgrepSides(before=(finding(1),), after=(finding(9),)))
    assert (found.new, found.gone) == ((), ())


def test_what_semgrep_finds_is_told_where_bandit_failed():
    found = delta.security(BanditSides(error="it broke"), SemgrepSides(after=(finding(1),)))
    assert found.measured
    assert "bandit failed" in found.why_not


def test_a_failure_of_semgrep_leaves_what_bandit_found():
    sides = SemgrepSides(error="it ended with 7")
    assert delta.security(BanditSides(after=(finding(1),)), sides).new_by_cwe == {"78": 1}
    assert delta.semgrep(sides).why_not == "semgrep failed: it ended with 7"


def test_new_and_gone_of_eslint_are_told_by_rule():
    found = delta.eslint(
        EslintSides(before=(js(1), js(2, rule="no-var")), after=(js(7), js(8)), config="repository", notes=("n",))
    )
    assert (found.new_by_rule, found.gone_by_rule) == ({"eqeqeq": 1}, {"no-var": 1})
    assert (found.config, found.notes) == ("repository", ("n",))


def test_a_file_that_eslint_could_not_read_is_left_out():
    unread = UnreadSides(after=(delta.Unread(path="a.ts", why="unexpected token"),))
    found = delta.eslint(EslintSides(before=(js(1, path="a.ts"),), unread=unread))
    assert (found.measured, found.gone) == (False, ())
    assert "a.ts" in found.why_not


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".eslintrc.json", '{"rules": {"eqeqeq": "error"}, /* // */ "env": {"browser": true, "node": false}} // end'),
        ("package.json", '{"name": "x", "eslintConfig": {"rules": {"eqeqeq": "error"}, "env": {"browser": true}}}'),
    ],
)
def test_a_declared_configuration_is_read(name, text):
    plan = eslint_config.plan("web/a.js", {name: text.encode()})
    assert plan.kind == "repository"
    assert plan.layers == [{"extends": [], "rules": {"eqeqeq": "error"}, "env": ["browser"]}]


def test_an_address_in_a_string_is_no_comment():
    assert eslint_config.read(".eslintrc.json", b'{"$schema": "https://x/y"}') == {"$schema": "https://x/y"}


def test_inner_configurations_come_after_outer_ones_up_to_a_root():
    configs = {
        ".eslintrc.json": b'{"rules": {"a": 1}}',
        "web/.eslintrc.json": b'{"root": true, "rules": {"b": 1}}',
        "web/app/.eslintrc.json": b'{"rules": {"c": 1}}',
    }
    plan = eslint_config.plan("web/app/x.js", configs)
    assert [layer["rules"] for layer in plan.layers] == [{"b": 1}, {"c": 1}]


def test_overrides_keep_their_files_under_the_folder_of_the_configuration():
    text = b'{"overrides": [{"files": ["*.test.js", "old/**"], "excludedFiles": "x.js", "rules": {"a": 0}}]}'
    layer = eslint_config.plan("web/x.js", {"web/.eslintrc.json": text}).layers[1]
    assert layer["files"] == ["web/**/*.test.js", "web/old/**"]
    assert layer["ignores"] == ["web/**/x.js"]


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("extends", '["eslint:recommended", "airbnb"]', "extends airbnb is left out"),
        ("plugins", '["react"]', "plugin react is left out"),
        ("parser", '"@babel/eslint-parser"', "parser @babel/eslint-parser is left out"),
        ("ignorePatterns", '["dist"]', "ignorePatterns is left out"),
    ],
)
def test_what_is_not_followed_is_noted(key, value, told):
    plan = eslint_config.plan("a.js", {".eslintrc.json": f'{{"{key}": {value}}}'.encode()})
    assert plan.notes == [f".eslintrc.json: {told}"]


@pytest.mark.parametrize("name", eslint_config.CODE)
def test_code_stands_for_the_recommended_rules(name):
    plan = eslint_config.plan("a.js", {name: b"anything", ".eslintrc.json": b"{}"})
    assert plan.kind == "recommended"
    assert name in plan.notes[0]


def test_a_package_without_a_configuration_is_none():
    assert eslint_config.plan("a.js", {"package.json": b'{"name": "x"}'}).kind == ""


@pytest.mark.parametrize("data", [b"\xff\xfe{", b"{", b"[]", b'"x"'])
def test_a_broken_configuration_is_named(data):
    with pytest.raises(ValueError, match=r"\.eslintrc\.json can't be read"):
        eslint_config.plan("a.js", {".eslintrc.json": data})


def test_only_changed_scripts_ask_for_configurations():
    spec, budgets = TestSpec(), Budgets()
    script = parse(tiny.diff("web/a.js", "a\n", "b\n").encode())
    assert "web/.eslintrc.json" in request(script, spec, budgets)["configs"]
    assert request(parse(tiny.GOLD.encode()), spec, budgets)["configs"] == []


def test_a_configuration_is_told_apart_from_a_changed_file():
    frame = {"t": "source", "old": "package.json", "new": None, "before": "e30=", "after": None, "why": "configuration"}
    found = Observations.read([frame])
    assert (found.configs, found.sources) == ((("package.json", b"{}"),), ())


def test_configurations_come_back_as_they_were_packed():
    given = Sources(
        python="3.11",
        files=(Source(path="a.js", before=None, after=b"x\n"),),
        configs=((".eslintrc.json", b'{"a": "\xc3\xa9"}'),),
    )
    assert Sources.unpacked(given.packed()) == given


def test_rules_of_a_folder_are_read_by_name(tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / ".hidden").mkdir()
    for name in ("a.yaml", "more/b.yml", ".hidden/c.yaml", "readme.md"):
        (tmp_path / name).write_text("rules: []\n")
    assert [name for name, _ in static.read_rules(tmp_path).files] == ["a.yaml", "more/b.yml"]


def test_other_rules_have_another_digest(tmp_path):
    (tmp_path / "a.yaml").write_text("rules: []\n")
    first = static.read_rules(tmp_path).digest
    (tmp_path / "a.yaml").write_text("rules: [1]\n")
    assert static.read_rules(tmp_path).digest != first


@pytest.mark.parametrize("data", [None, b"\xff\xfe", b" " * (static.LARGEST + 1)])
def test_rules_that_cannot_be_had_are_refused(tmp_path, data):
    if data is not None:
        (tmp_path / "a.yaml").write_bytes(data)
    with pytest.raises(InputError):
        static.read_rules(tmp_path / "a.yaml")


def test_a_folder_without_rules_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no \.yaml"):
        static.read_rules(tmp_path)


def test_the_rules_are_named_by_a_setting_or_a_variable(tmp_path):
    file = tmp_path / "goldseam.toml"
    file.write_text('[signals]\nsemgrep_rules = "one"\n')
    assert load_settings(file, env={}).signals.semgrep_rules == Path("one")
    env = {"GOLDSEAM_SIGNALS_SEMGREP_RULES": "two"}
    assert load_settings(file, env=env).signals.semgrep_rules == Path("two")
