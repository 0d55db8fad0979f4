"""Take the wheels out of an image from which `venv` installs pip, where they hold a copy of the project.

    bundled.py TREE [ROOT]

pip brings what it needs in its own package (requests, packaging, rich…): later releases of projects than a task has.
Runs on the interpreter whose wheels they are; without them it makes environments without pip. Standard library.
"""

import os
import sys
import zipfile
from pathlib import Path

PLACES = "usr/share/python-wheels/*.whl", "usr/lib/python3*/ensurepip/_bundled/*.whl"
VENDORED = ("pip", "_vendor")


def modules_of(tree: Path) -> set[str]:
    """The names of the packages and modules of a tree."""
    folders = [folder for folder in (tree, tree / "src", tree / "lib") if folder.is_dir()]
    entries = [entry for folder in folders for entry in folder.iterdir()]
    return {entry.stem for entry in entries if entry.suffix == ".py" or (entry / "__init__.py").exists()}


def modules_in(wheel: Path) -> set[str]:
    """The names of those that a wheel has, pip's own copies among them."""
    with zipfile.ZipFile(wheel) as archive:
        paths = [Path(name).parts for name in archive.namelist()]
    return {part[-1].removesuffix(".py") for parts in paths for part in (parts[:1], parts[:3]) if of(part)}


def of(parts: tuple[str, ...]) -> bool:
    """Whether a path is of a module at the top of a wheel, or of one that pip has copied."""
    return len(parts) == 1 or (len(parts) == 3 and parts[:2] == VENDORED)  # noqa: PLR2004


def main(tree: str, root: str = "/") -> None:
    own = modules_of(Path(tree)) - {"__init__", "setup", "conftest", "tests"}
    wheels = [wheel for place in PLACES for wheel in Path(root).glob(place)]
    wheels += Path(os.__file__).parent.glob("ensurepip/_bundled/*.whl") if root == "/" else []
    for wheel in {wheel.resolve() for wheel in wheels}:
        if own & modules_in(wheel):
            wheel.unlink()


if __name__ == "__main__":
    main(*sys.argv[1:])
