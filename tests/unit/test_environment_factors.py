"""tox's factors: a matrix's environments, the one that is taken, and what its lines say."""

from __future__ import annotations

import pytest

from miner.languages.python.evidence import factors, tox
from tests.trees import Files

MATRIX = """
    py{38,39}-dj32-{sqlite3,postgres},
    py{310,311}-dj{42,50,main}-{sqlite3,postgres},  # the rest
    docs, lint
"""
DEPS = (
    "-rrequirements/test.txt",
    "dj32: Django>=3.2,<3.3",
    "dj42: Django>=4.2,<4.3",
    "dj50: Django>=5.0,<5.1",
    "djmain: https://example.org/main.tar.gz",
    "postgres: psycopg2",
)


def test_braces_are_multiplied_out():
    assert factors.expanded("py{27,36}-{a,b}, docs") == ("py27-a", "py27-b", "py36-a", "py36-b", "docs")


def test_a_list_without_end_is_cut():
    assert len(factors.expanded("{a,b,c,d,e,f,g,h}" * 9)) <= 500


def test_the_newest_release_without_a_service_is_taken():
    chosen = factors.chosen(MATRIX, DEPS)
    assert chosen == {"dj50", "sqlite3"}
    assert factors.active(DEPS, chosen) == ("Django>=5.0,<5.1",)


def test_versions_are_compared_and_not_their_digits():
    deps = ("dj111: Django~=1.11.0", "dj22: Django~=2.2.0")
    assert factors.chosen("py37-dj22, py37-dj111", deps) == {"dj22"}


@pytest.mark.parametrize(
    ("line", "holds"),
    [
        ("dj42,dj50: x", True),
        ("dj{42,50}: x", True),
        ("dj50-sqlite3: x", True),
        ("dj50-postgres: x", False),
        ("!dj42: x", True),
        ("!dj50: x", False),
        ("py38: x", False),
        ("py38-dj50: x", False),
        ("x", False),
    ],
)
def test_a_condition_holds_as_tox_has_it(line, holds):
    assert bool(factors.active([line], frozenset({"dj50", "sqlite3"}))) is holds


@pytest.mark.parametrize("listed", ["", "py38, py39, docs", "lint"])
def test_without_factors_none_is_taken(listed):
    assert factors.chosen(listed, DEPS) == frozenset()


def test_what_the_taken_environment_installs_is_evidence():
    text = f"[tox]\nenvlist ={MATRIX.replace(chr(10), chr(10) + '  ')}\n[testenv]\ndeps =\n  " + "\n  ".join(DEPS)
    found = tox.detect(Files({"tox.ini": text.encode(), "requirements/test.txt": b"pytest\n"}))
    assert found is not None
    assert (found.requirements, found.files) == (("Django>=5.0,<5.1",), ("requirements/test.txt",))


def test_variables_that_hold_for_a_factor_are_those_of_the_environment_that_is_taken():
    text = (
        "[tox]\nenvlist = py{36,37}-{narrow,wide}\n[testenv]\nsetenv =\n    MODE=strict\n"
        "    narrow: WITH_EXTRAS=no\n    wide: WITH_EXTRAS=yes\ndeps =\n    wide: abydos\n"
    )
    assert factors.chosen("py{36,37}-{narrow,wide}", ("wide: abydos",)) == {"wide"}
    assert tox.variables(Files({"tox.ini": text})) == {"MODE": "strict", "WITH_EXTRAS": "yes"}


def test_an_environment_of_a_python_goes_before_others_and_what_installs_more_before_what_installs_less():
    listed = "lint\npy{39,310}-{crypto,nocrypto}\npy{39,310}{-crypto,}-mypy\npy39\npypi-description\n"
    assert factors.chosen(listed, ("tests", "crypto: crypto")) == {"crypto"}


def test_the_groups_of_every_released_factor_are_taken_together_and_extras_of_one():
    text = (
        "[tox]\nenvlist =\n    py{39,313}\n    py{39,313}-{clients,flask,nightly,numpy}\n    docs\n[testenv]\n"
        "extras =\n    plain\n    numpy: fast\n    docs: docs\n"
        "dependency_groups =\n    dev\n    clients: web\n    flask: flask\n    nightly: nightly\n    py39: old\n"
    )
    groups = "[dependency-groups]\n" + "".join(f"{name} = []\n" for name in ("dev", "web", "flask", "nightly", "old"))
    found = tox.detect(Files({"tox.ini": text, "pyproject.toml": groups}))
    assert found is not None
    assert found.groups == ("dev", "web", "flask")
    assert found.extras == ("plain", "fast")
