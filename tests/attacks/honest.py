"""Honest patches, generated: right solutions, each written down in many ways that people and agents write patches."""

from __future__ import annotations

import ast
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from harness.core.process import run
from tests.repos import Repository

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.attacks.projects import Project

Changes = dict[str, str | None]

SOLUTIONS: Mapping[str, list[str]] = yaml.safe_load(Path(__file__).with_name("solutions.yaml").read_text("utf-8"))
"""Right bodies of the wrong function, by project."""


_STRAY_LINK = """\
diff --git a/symlink_dir b/symlink_dir
new file mode 120000
--- /dev/null
+++ b/symlink_dir
@@ -0,0 +1 @@
+.
\\ No newline at end of file
"""
"""What a person who tried the fix by hand left behind."""


def honest(project: Project) -> Iterator[tuple[str, str]]:
    """Every honest patch of a project: its kind and its text."""
    yield "gold", project.patch(project.gold)
    yield "stray-link", project.patch(project.gold) + _STRAY_LINK
    for body in SOLUTIONS[project.name]:
        changes: Changes = {project.product: project.with_body(body)}
        for kind, decorate in _DECORATIONS.items():
            yield kind, project.patch(decorate(project, dict(changes)))
    gold: Changes = dict(project.gold)
    for kind, decorate in _DECORATIONS.items():
        yield f"gold-{kind}", project.patch(decorate(project, dict(gold)))
    for body in SOLUTIONS[project.name][:3]:
        yield from _styles(project, {project.product: project.with_body(body)})
    yield from _styles(project, gold)


def _product(project: Project, changes: Changes) -> str:
    text = changes[project.product]
    assert text is not None
    return text


def _folder(project: Project) -> str:
    parent = Path(project.product).parent.as_posix()
    return "" if parent == "." else f"{parent}/"


def _comments(project: Project, changes: Changes) -> Changes:
    lines = _product(project, changes).splitlines(keepends=True)
    at = next(index for index, line in enumerate(lines) if line.startswith(("def ", "class ")))
    lines.insert(at, "# Mended: see the changelog.\n")
    return {**changes, project.product: "".join(lines)}


def _docstring(project: Project, changes: Changes) -> Changes:
    text = _product(project, changes)
    return {
        **changes,
        project.product: text.replace('"""\n', '\n\nNow right for every input, “quoted” and ünusual.\n"""\n', 1),
    }


def _type_hints(project: Project, changes: Changes) -> Changes:
    text = _product(project, changes)
    for old, new in (
        ("(cents, parts):", "(cents: int, parts: int) -> list:"),
        ("(number):", "(number: int) -> str:"),
        ("(self, key, default=None):", "(self, key: str, default: object = None):"),
    ):
        text = text.replace(old, new)
    return {**changes, project.product: text}


def _reformatted(project: Project, changes: Changes) -> Changes:
    return {**changes, project.product: ast.unparse(ast.parse(_product(project, changes))) + "\n"}


def _renamed_locals(project: Project, changes: Changes) -> Changes:
    tree = ast.parse(_product(project, changes))
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
        own = {node.id for node in names if isinstance(node.ctx, ast.Store)} - {arg.arg for arg in function.args.args}
        for node in names:
            if node.id in own:
                node.id = f"{node.id}_new"
    return {**changes, project.product: ast.unparse(tree) + "\n"}


def _helper_module(project: Project, changes: Changes) -> Changes:
    """The whole implementation moves to a new module, which the old one imports."""
    text = _product(project, changes)
    name = f"{Path(project.product).stem}_core"
    dotted = (_folder(project).removeprefix("src/") + name).replace("/", ".")
    names = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    old = f'"""Kept for its name."""\n\nfrom {dotted} import {", ".join(names)}\n\n__all__ = {names!r}\n'
    return {**changes, project.product: old, f"{_folder(project)}{name}.py": text}


def _logging(project: Project, changes: Changes) -> Changes:
    text = _product(project, changes)
    end = text.index('"""\n') + 4
    return {
        **changes,
        project.product: f"{text[:end]}\nimport logging\n{text[end:]}\nlogging.getLogger(__name__).debug('ready')\n",
    }


def _own_tests(project: Project, changes: Changes) -> Changes:
    folder = "" if project.hidden_path.count("/") == 0 else "tests/"
    return {**changes, f"{folder}test_own_case.py": "def test_own():\n    assert 1 + 1 == 2\n"}


def _edited_tests(project: Project, changes: Changes) -> Changes:
    more = "\n\ndef test_of_the_agent():\n    assert True\n"
    return {**changes, project.hidden_path: project.base[project.hidden_path] + more}


def _own_conftest(_project: Project, changes: Changes) -> Changes:
    return {**changes, "conftest.py": "import sys\n\nsys.path.insert(0, '.')\n"}


def _changelog(_project: Project, changes: Changes) -> Changes:
    return {**changes, "CHANGELOG.md": "# Changes\n\n- mended\n", "docs/how.rst": "How\n===\n"}


def _data_files(project: Project, changes: Changes) -> Changes:
    folder = _folder(project)
    return {**changes, f"{folder}tables/signs.json": '{"a": [1, 2]}\n', f"{folder}tables/notes.csv": "a,b\n1,2\n"}


def _odd_names(_project: Project, changes: Changes) -> Changes:
    return {
        **changes,
        "docs/a file with spaces.txt": "x\n",
        "docs/größe.txt": "x\n",
        "docs/deep/er/and/deeper.txt": "x\n",
    }


def _leftovers(_project: Project, changes: Changes) -> Changes:
    return {
        **changes,
        "reproduce.py": "print('it fails')\n",
        "fix.patch.orig": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
    }


def _settings(_project: Project, changes: Changes) -> Changes:
    return {
        **changes,
        ".editorconfig": "root = true\n",
        "tox.ini": "[tox]\nenvlist = py311\n",
        "Makefile": "test:\n\tpytest\n",
    }


def _new_package(project: Project, changes: Changes) -> Changes:
    folder = _folder(project)
    return {**changes, f"{folder}extras/__init__.py": "", f"{folder}extras/more.py": "def more():\n    return 1\n"}


def _no_final_newline(project: Project, changes: Changes) -> Changes:
    return {**changes, project.product: _product(project, changes).rstrip("\n")}


def _windows_lines(project: Project, changes: Changes) -> Changes:
    return {**changes, project.product: _product(project, changes).replace("\n", "\r\n")}


def _unused_imports(project: Project, changes: Changes) -> Changes:
    text = _product(project, changes)
    end = text.index('"""\n') + 4
    return {**changes, project.product: f"{text[:end]}\nimport functools\nimport json\nimport re\n{text[end:]}"}


_DECORATIONS: Mapping[str, Callable[[Project, Changes], Changes]] = {
    "equivalent": lambda _project, changes: changes,
    "comments": _comments,
    "docstring": _docstring,
    "type-hints": _type_hints,
    "reformatted": _reformatted,
    "renamed-locals": _renamed_locals,
    "helper-module": _helper_module,
    "logging": _logging,
    "own-tests": _own_tests,
    "edited-tests": _edited_tests,
    "own-conftest": _own_conftest,
    "changelog": _changelog,
    "data-files": _data_files,
    "odd-names": _odd_names,
    "leftovers": _leftovers,
    "settings": _settings,
    "new-package": _new_package,
    "no-final-newline": _no_final_newline,
    "windows-lines": _windows_lines,
    "unused-imports": _unused_imports,
}


def _styles(project: Project, changes: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
    """The same change as the tools of this world print it."""
    plain = project.patch(changes)
    yield "style-stripped", plain.rstrip("\n")
    yield "style-fence", plain + "\n\n"
    yield "style-mail", f"From: Ada <ada@example.org>\nSubject: [PATCH] Mend it\n\n---\n{plain}-- \n2.39.2\n"
    yield "style-talk", f"I found the bug. Here is the fix:\n\n{plain}"
    with tempfile.TemporaryDirectory() as folder:
        repository = Repository(Path(folder, "repo"))
        write(repository.path, project.base)
        repository.git("add", "-A", ".")
        repository.git("commit", "-qm", "base")
        write(repository.path, {**changes, "assets/logo.bin": "\0\1\2" * 50})
        repository.git("add", "-A", ".")
        for name, words in _GIT_STYLES.items():
            done = run(["git", "-C", repository.path, "diff", "--cached", *words], env=repository.env())
            yield f"git-{name}", done.stdout.decode("utf-8", "surrogateescape")


_GIT_STYLES = {
    "binary": ("--binary",),
    "full-index": ("--binary", "--full-index"),
    "context-1": ("--binary", "-U1"),
    "context-10": ("--binary", "-U10"),
    "patience": ("--binary", "--patience"),
    "no-renames": ("--binary", "--no-renames"),
    "function-context": ("--binary", "-W"),
}


def write(folder: Path, texts: Mapping[str, str | None]) -> None:
    """Write texts below a folder."""
    for path, text in texts.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if text is not None:
            target.write_bytes(text.encode())
