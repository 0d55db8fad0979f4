"""Fixes whose tests are data: the change touches no test file, and what reads the data is found by running."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.dataset.folder import open_dataset
from tests import tiny
from tests.repos import Repository

pytestmark = pytest.mark.engine

PROJECT = """\
[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[project]
name = "caps"
version = "1.0"

[project.optional-dependencies]
tests = ["pytest"]

[tool.setuptools]
packages = ["caps"]
"""
GOLDEN = """\
from pathlib import Path

import pytest

from caps import title

GOLDEN = Path(__file__).parent / "golden"
CASES = sorted(GOLDEN.glob("*.in"))
assert all(path.is_file() for path in GOLDEN.iterdir())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_golden(case):
    assert title(case.read_text()) == case.with_suffix(".out").read_text()
"""
TABLE = """\
import json
import os

from caps import title


def test_table():
    with open(os.path.join(os.path.dirname(__file__), "words.json")) as file:
        assert all(title(given) == expected for given, expected in json.load(file).items())
"""
BLIND = """\
import os

from caps import title


def test_every_file_of_this_suite():
    for name in os.listdir(os.path.dirname(__file__)):
        if name.endswith(".case"):
            with open(os.path.join(os.path.dirname(__file__), name)) as file:
                given, expected = file.read().split()
            assert title(given) == expected
"""
PAGE = """\
from pathlib import Path

from caps import title

HERE = Path(__file__).parent


def test_page():
    assert title((HERE / "page.txt").read_text()) == (HERE / "page.html").read_text()
"""
FAULTY = "def title(text):\n    return text[:1].upper() + text[1:]\n"
STRIPS = "def title(text):\n    text = text.strip()\n    return text[:1].upper() + text[1:]\n"
LOWERS = "def title(text):\n    text = text.strip()\n    return text[:1].upper() + text[1:].lower()\n"
FOLDS = "def title(text):\n    text = text.replace('_', ' ').strip()\n    return text[:1].upper() + text[1:].lower()\n"
SPELLS = FOLDS.replace("text.replace", "str(text).replace")
DASHES = SPELLS.replace(".strip()", ".replace('-', ' ').strip()")
TABS = DASHES.replace(".strip()", ".replace('\\t', ' ').strip()")
HELPER = "from caps import title\n\n\ndef agrees():\n    return title('abc') == 'Abc'\n"
HELPED = "import agreement\n\n\ndef test_agreement():\n    assert agreement.agrees()\n"
FILES = {
    "pyproject.toml": PROJECT,
    "caps/__init__.py": FAULTY,
    "tests/test_golden.py": GOLDEN,
    "tests/test_table.py": TABLE,
    "tests/agreement.py": HELPER,
    "tests/test_helped.py": HELPED,
    "tests/test_other.py": "def test_sound():\n    assert True\n",
    "tests/golden/code.py": "x = 1\n",
    "tests/golden/plain.in": "abc",
    "tests/golden/plain.out": "Abc",
    "tests/test_page.py": PAGE,
    "tests/page.txt": "abc",
    "tests/page.html": "Abc",
    "tests/words.json": '{"abc": "Abc"}',
    "more/tests/test_every.py": BLIND,
    "more/tests/one.case": "abc Abc",
}


@pytest.fixture(scope="module")
def mined(tmp_path_factory) -> Path:
    """A dataset of fixes by new, changed and unnamed data and by a helper, and a change whose data nothing reads."""
    folder = tmp_path_factory.mktemp("data")
    repo = Repository(folder / "repo")
    repo.commit("Start", dict(FILES))
    golden = {"tests/golden/blank_before.in": " abc", "tests/golden/blank_before.out": "Abc"}
    commits = [
        repo.commit("Fix blanks", {"caps/__init__.py": STRIPS, **golden}),
        repo.commit("Fix case", {"caps/__init__.py": LOWERS, "tests/words.json": '{"abc": "Abc", "aBC": "Abc"}'}),
        repo.commit("Fix lines", {"caps/__init__.py": FOLDS, "more/tests/two.case": "_abc Abc"}),
        repo.commit("Fix quotes", {"caps/__init__.py": SPELLS, "tests/golden/notes.bin": "x"}),
        repo.commit(
            "Fix dashes", {"caps/__init__.py": DASHES, "tests/agreement.py": HELPER.replace("'abc'", "'-abc'")}
        ),
        repo.commit(
            "Fix tabs",
            {"caps/__init__.py": TABS, "tests/page.txt": "abc\tof it\n", "tests/page.html": "Abc of it"},
        ),
    ]
    words = ("--name", "acme/caps", "--runs", "1", "-j", "2", *(word for sha in commits for word in ("--commit", sha)))
    done = tiny.goldseam("mine", repo.path, "-o", folder / "dataset", *words)
    assert done.returncode == 0, done.error_text
    return folder / "dataset"


def lines_of(mined: Path) -> dict[str, dict]:
    """The funnel by title."""
    lines = map(json.loads, (mined / "funnel.jsonl").read_text().splitlines()[1:])
    return {line["title"]: line for line in lines}


def task_of(mined: Path, title: str):
    return open_dataset(mined).task(lines_of(mined)[title]["instance_id"])


@pytest.mark.parametrize(
    ("title", "turned"),
    [
        ("Fix blanks", "tests/test_golden.py::test_golden[blank_before]"),
        ("Fix case", "tests/test_table.py::test_table"),
        ("Fix lines", "more/tests/test_every.py::test_every_file_of_this_suite"),
        ("Fix dashes", "tests/test_helped.py::test_agreement"),
        ("Fix tabs", "tests/test_page.py::test_page"),
    ],
)
def test_the_tests_that_read_the_data_prove_a_fix(mined, title, turned):
    assert lines_of(mined)[title]["reason"] == "accepted", lines_of(mined)[title]
    task = task_of(mined, title)
    assert task.hidden.fail_to_pass == (turned,)
    assert task.hidden.test_files == (turned.partition("::")[0],)


def test_how_the_tests_were_found_is_on_record(mined):
    notes = task_of(mined, "Fix case").instance.extra["origin"]["notes"]
    assert "tests/words.json is test data: the tests that read it are looked for" in notes
    assert "tests/test_table.py reads the data, as its tests show" in notes


def test_the_search_for_readers_is_of_the_proofs_budget(mined):
    assert task_of(mined, "Fix case").hidden.evidence["price"]["seconds"]["readers"] > 0


def test_what_is_only_expected_is_not_in_the_data_that_enter_the_container(mined):
    files = task_of(mined, "Fix tabs").hidden.expectations.files
    assert files["tests/page.html"] == "-"
    assert "tests/page.txt" not in files


def test_a_patch_that_gives_what_the_data_have_resolves_nothing(mined, tmp_path):
    reads = "from pathlib import Path\n\n\ndef title(text):\n    return Path('tests/page.html').read_text()\n"
    task = task_of(mined, "Fix tabs").instance.instance_id
    patch = {"forger": tiny.diff("caps/__init__.py", DASHES, reads)}
    predictions = tiny.write_predictions(tmp_path / "p.jsonl", patch, instance_id=task)
    done = tiny.goldseam("evaluate", mined, "-p", predictions, "-o", tmp_path / "run", "--json")
    assert done.returncode == 0, done.error_text
    (report,) = [json.loads(file.read_text()) for file in (tmp_path / "run").rglob("report.json") if task in str(file)]
    assert (report["outcome"], report["judged"]["FAIL_TO_PASS"]["host"]) == ("unresolved", 1), report


def test_data_that_no_test_reads_is_the_reason_of_a_rejection(mined):
    assert lines_of(mined)["Fix quotes"]["reason"] == "no_test_reads_the_data"


def test_gold_resolves_all_and_nothing_resolves_none(mined, tmp_path):
    done = tiny.goldseam("evaluate", mined, "--gold", "--null", "-o", tmp_path / "run", "--json")
    models = {model["model"]: model["resolved"] for model in json.loads(done.stdout)["goldseam"]["models"]}
    assert models == {"gold": 5, "null": 0}
