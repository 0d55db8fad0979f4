"""Changes of which nothing runs: types, comments and layout, by language."""

from __future__ import annotations

import pytest

from miner.languages import LANGUAGES


class Commits:
    """Two commits of a repository, as texts by path."""

    def __init__(self, base: dict[str, str], head: dict[str, str]) -> None:
        self._commits = {"base": base, "head": {**base, **head}}

    def read_file(self, commit: str, path: str) -> bytes | None:
        text = self._commits[commit].get(path)
        return None if text is None else text.encode()

    def diff_sections(self, base: str, head: str) -> dict[str, bytes]:
        raise NotImplementedError


TYPED = "export interface A { a: string }\nexport type B = string;\nexport const c: B = 'x';\n"
PACKAGE = '{"devDependencies": {"%s": "1"}}'


@pytest.mark.parametrize(
    ("language", "base", "head", "never"),
    [
        ("typescript", {"a.ts": TYPED}, {"a.ts": TYPED.replace("string", "number")}, True),
        ("typescript", {"a.ts": TYPED}, {"a.ts": TYPED + "export type { D } from './d';\nexport type E = 1;\n"}, True),
        ("typescript", {"a.ts": TYPED}, {"a.ts": TYPED.replace("'x'", "'y'")}, False),
        ("typescript", {}, {"types.ts": "// types\nexport interface A {}\n"}, True),
        ("typescript", {}, {"more.ts": "export const a = 1;\n"}, False),
        ("typescript", {}, {"index.d.ts": "export const a: number;\n"}, True),
        ("typescript", {"package.json": PACKAGE % "ts-jest"}, {"index.d.ts": ""}, False),
        ("typescript", {"packages/a/package.json": PACKAGE % "ts-jest"}, {"packages/a/src/index.d.ts": ""}, False),
        ("python", {"p/a.py": "", "p/a.pyi": ""}, {"p/a.pyi": "x: int\n"}, True),
        ("python", {"p/a.c": ""}, {"p/a.pyi": "x: int\n"}, True),
        ("python", {"p/a.py": ""}, {"p/a.pyi": "x: int\n", "p/a.py": "x = 1\n"}, False),
        ("python", {"tool/typeshed/os.pyi": ""}, {"tool/typeshed/os.pyi": "x: int\n"}, False),
        ("python", {"p/a.py": "", "tox.ini": "deps = pytest-mypy-plugins"}, {"p/a.pyi": ""}, False),
    ],
)
def test_types_alone_run_nowhere_but_where_something_reads_them(language, base, head, never):
    assert LANGUAGES[language].never_runs(Commits(base, head), "base", "head", list(head)) is never
