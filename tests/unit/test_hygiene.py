"""What the search of an image finds, and what it lets pass."""

from __future__ import annotations

import io
import marshal
import tarfile
import zipfile
import zlib
from types import SimpleNamespace

import pytest

from harness.checks import hygiene, image_search
from harness.checks.image_search import unpack
from harness.core.errors import InfrastructureError
from harness.sandbox import engine
from harness.sandbox.images import layers
from tests import tiny
from tests.repos import Repository

BASE = "def total(items):\n    return sum(items)\n"
FIXED = "def total(items):\n    checked = [item for item in items if item]\n    return sum(checked, start=0)\n"
TESTS = "from shop import total\n\n\ndef test_without_holes():\n    assert total([1, None, 2]) == 3\n"
COMMIT = "ab" * 20
HIDDEN = tiny.diff("tests/test_shop.py", None, TESTS).encode()
SECRETS = hygiene.secrets(
    tiny.diff("shop.py", BASE, FIXED).encode(), tiny.diff("tests/test_shop.py", None, TESTS).encode(), commits=[COMMIT]
)


def leaks(files, secrets=SECRETS):
    search = hygiene.Search(secrets=secrets, unpack=unpack)
    for path, data in {"testbed/shop.py": BASE.encode(), **files}.items():
        search.feed(path, data)
    return search.leaks()


def loose(content):
    return zlib.compress(b"blob %d\0" % len(content) + content)


def test_a_clean_image_has_no_leak():
    files = {"usr/lib/x.py": b"import os\n", "testbed/.git/objects/ab/" + "c" * 38: loose(BASE.encode())}
    assert leaks(files) == ()


def test_a_broken_git_object_ends_no_search_and_is_searched_as_it_is():
    path = "testbed/.git/objects/ab/" + "c" * 38
    assert leaks({path: b"not deflated"}) == ()
    assert [leak.where for leak in leaks({path: FIXED.encode()})] == [path]


def test_a_broken_pack_ends_no_search_and_is_searched_as_it_is():
    path = "srv/.git/objects/pack/pack-1.pack"
    assert leaks({path: b"no pack"}) == ()
    assert [leak.where for leak in leaks({path: FIXED.encode()})] == [f"{path}:broken"]


def test_of_a_git_object_no_more_is_read_than_of_other_files():
    path = "srv/.git/objects/ab/" + "c" * 38
    [(_, content)] = hygiene.contents(path, loose(bytes(2 * hygiene.LARGEST_TEXT)), unpack)
    assert 0 < len(content) <= hygiene.LARGEST_TEXT


LEAKS = {
    "the fix in a loose git object": {"testbed/.git/objects/ab/" + "c" * 38: loose(FIXED.encode())},
    "the fixed module among the installed packages": {
        "opt/goldseam/venv/lib/python3.11/site-packages/shop.py": FIXED.encode()
    },
    "the hidden tests in place": {"testbed/tests/test_shop.py": TESTS.encode()},
    "the hidden tests in the pristine tree": {"opt/goldseam/src/tests/test_shop.py": TESTS.encode()},
    "the hidden tests under another name": {"var/tmp/x.py": TESTS.encode()},
    "the fix in place": {"testbed/shop.py": FIXED.encode()},
    "byte code of the hidden tests": {
        "testbed/tests/__pycache__/test_shop.cpython-311.pyc": b"\0\0test_without_holes\0"
    },
    "the fix's commit in a file of git": {"testbed/.git/FETCH_HEAD": COMMIT.encode() + b"\t\tbranch 'main'\n"},
    "the fix's commit elsewhere": {"etc/build": b"built from " + COMMIT.encode()},
    "a package cache": {"root/.cache/pip/http/a/b": b"x"},
}


@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_is_found(name):
    assert leaks(LEAKS[name])


def packed(members, day=(2024, 5, 18)):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(zipfile.ZipInfo(name, (*day, 12, 0, 0)), content)
    return archive.getvalue()


WHEEL = "usr/share/python-wheels/tools-1.0-py3-none-any.whl"
JAR = "opt/java/maven/lib/shop-2.0.jar"


def test_the_fix_in_an_archive_is_found_also_by_the_index_of_a_layer():
    wheel = packed({"tools/_vendor/shop.py": FIXED, "tools/__init__.py": "import os\n"})
    search = hygiene.Search(secrets=SECRETS, unpack=unpack)
    image_search.build([(WHEEL, wheel)], unpack).feed(search)

    assert [leak.where for leak in leaks({WHEEL: wheel})] == [f"{WHEEL}!/tools/_vendor/shop.py"]
    assert [leak.where for leak in search.leaks()] == [f"{WHEEL}!/tools/_vendor/shop.py"]
    assert leaks({WHEEL: packed({"tools/_vendor/shop.py": BASE})}) == ()


def test_a_class_that_is_compiled_after_the_fix_is_a_later_release_of_it():
    changed = tiny.diff("core/src/main/java/org/shop/Cart.java", "class Cart {}\n", "class Cart { int a; }\n").encode()
    wanted = hygiene.secrets(changed, HIDDEN, made="2023-07-25T06:43:46Z")
    members = {"META-INF/MANIFEST.MF": "Manifest-Version: 1.0\n", "org/shop/Cart.class": b"\xca\xfe\0"}
    search = hygiene.Search(secrets=wanted, unpack=unpack)
    image_search.build([(JAR, packed(members))], unpack).feed(search)

    assert [leak.where for leak in search.leaks()] == [f"{JAR}!2024-05-18"]
    assert leaks({JAR: packed(members)}, wanted)
    assert leaks({JAR: packed(members, (1980, 2, 1))}, wanted)  # does not tell when
    assert leaks({JAR: packed(members, (2023, 7, 24))}, wanted) == ()
    assert leaks({JAR: packed({"org/other/Cart.class": b"\xca\xfe\0"})}, wanted) == ()


def test_the_fix_in_the_library_of_an_interpreter_is_found_though_formatted_otherwise():
    added = "const first = one('a')\nconst second = two('b')\nconst third = three('c')\n"
    wanted = hygiene.secrets(tiny.diff("shop.js", "start()\n", "start()\n" + added).encode(), HIDDEN)
    library = added.replace("'", '"').replace("\n", ";\n").encode()
    long = library + b"// more of it\n" * 2000

    assert [leak.where for leak in leaks({"bin/node": b"\x7fELF\0" + long + b"\0"}, wanted)] == ["bin/node"]
    assert leaks({"bin/node": b"\x7fELF\0" + library + b"\0"}, wanted) == ()


def test_an_archive_that_is_none_ends_no_search():
    whole = packed({"tools/shop.py": FIXED * 50})
    assert leaks({WHEEL: whole[:60], JAR: whole[:40] + b"\0" * 9 + whole[49:]}) == ()


def test_the_fix_in_a_packed_object_is_found(tmp_path):
    repository = Repository(tmp_path / "repo")
    (repository.path / "shop.py").write_text(FIXED)
    repository.git("add", ".")
    repository.git("commit", "-qm", "fix")
    repository.git("gc", "-q")
    (pack,) = (repository.path / ".git/objects/pack").glob("*.pack")
    assert leaks({"testbed/.git/objects/pack/pack-1.pack": pack.read_bytes()})


def test_lines_that_the_tree_has_anyway_are_no_leak():
    files = {"testbed/other.py": FIXED.encode(), "testbed/.git/objects/ab/" + "c" * 38: loose(FIXED.encode())}
    assert leaks(files) == ()


def test_a_file_that_repeats_itself_may_have_what_comes_beside_what_goes():
    given, gap = "    given()\n" * 4, "\n" * 4
    old = "".join(f"def test_{name}():\n{given}    assert total() == {name}\n{gap}" for name in (3, 4))
    new = old.replace("== 3", "== 4")
    wanted = hygiene.secrets(HIDDEN, tiny.diff("tests/test_old.py", old, new).encode())
    assert leaks({"testbed/tests/test_old.py": old.encode()}, wanted) == ()
    assert leaks({"testbed/tests/test_old.py": new.encode()}, wanted) != ()


def test_one_common_line_in_an_unrelated_file_is_chance():
    assert leaks({"usr/lib/x.py": b"    return sum(checked, start=0)\n"}) == ()


def test_settings_of_editors_are_in_many_packages():
    text = "[*.js]\nindent_style = space\nindent_size = 2\n"
    wanted = hygiene.secrets(tiny.diff(".editorconfig", "[*.js]\n", text).encode(), HIDDEN)
    assert leaks({"opt/modules/one/.editorconfig": text.encode()}, wanted) == ()
    assert leaks({"opt/modules/one/shop.js": TESTS.encode()}, wanted) != ()


@pytest.mark.parametrize("name", ["package.json", "pnpm-lock.yaml", "deep/yarn.lock", "eslint.config.mjs", "go.mod"])
def test_lines_of_a_manifest_and_of_a_lock_tell_what_is_installed_and_nothing_of_a_fix(name):
    text = "".join(f"line number {number} of it\n" for number in range(8))
    wanted = hygiene.secrets(tiny.diff(name, "other\n", text).encode(), HIDDEN)
    assert leaks({"opt/modules/.pnpm/lock.yaml": text.encode(), f"opt/modules/one/{name}": text.encode()}, wanted) == ()


@pytest.mark.parametrize(
    "name", ["vendor/crypto/block.go", "shop/_vendor/six.py", "LICENSE-APACHE", "deep/COPYING.txt"]
)
def test_copies_of_libraries_and_licences_are_in_other_packages_as_well(name):
    text = "".join(f"line number {number} of it\n" for number in range(8))
    added = tiny.diff(name, None, text).encode()
    wanted = hygiene.secrets(tiny.diff("shop.py", BASE, FIXED).encode() + added, HIDDEN)
    copy = f"opt/go/src/cmd/{name}"
    assert leaks({copy: text.encode()}, wanted) == ()
    assert leaks({copy: text.encode(), "opt/modules/shop.py": FIXED.encode()}, wanted) != ()


def test_binary_files_of_the_system_are_left_alone():
    assert leaks({"usr/bin/x": b"\0" + FIXED.encode()}) == ()


def test_byte_code_with_a_name_that_the_tree_has_too_is_no_leak():
    compiled = {"testbed/tests/__pycache__/test_shop.cpython-311.pyc": b"\0\0test_without_holes\0"}
    source = {"testbed/tests/test_other.py": b"class TestOther:\n    def test_without_holes(self): ...\n"}

    assert leaks(compiled | source) == ()


def test_a_file_that_has_the_added_lines_elsewhere_is_no_leak():
    elsewhere = (
        "def checked_total(items):\n    checked = [item for item in items if item]\n    return sum(checked, start=0)\n"
    )
    assert leaks({"testbed/shop.py": (BASE + elsewhere).encode()}) == ()


def test_a_fix_applied_in_one_of_its_two_places_is_no_leak_of_the_file():
    base = BASE + "\n" * 20 + "def mean(items):\n    return total(items) / len(items)\n"
    fixed = base.replace("return sum(items)", "return sum(items or [])").replace("/ len(items)", "/ max(1, len(items))")
    tests = tiny.diff("tests/test_shop.py", None, TESTS).encode()
    wanted = hygiene.secrets(tiny.diff("shop.py", base, fixed).encode(), tests)
    half = base.replace("return sum(items)", "return sum(items or [])")

    assert leaks({"testbed/shop.py": half.encode()}, wanted) == ()
    assert leaks({"testbed/shop.py": fixed.encode()}, wanted)


def test_one_name_in_the_byte_code_of_another_project_is_chance():
    compiled = {
        "opt/goldseam/venv/lib/site-packages/lint/__pycache__/test_lint.cpython-312.pyc": b"\0test_without_holes\0"
    }

    assert leaks(compiled) == ()


def test_lines_that_many_files_have_are_common_and_no_leak():
    added = "    warnings.warn(\n        'old',\n        DeprecationWarning,\n        stacklevel=2,\n    )\n"
    wanted = hygiene.secrets(
        tiny.diff("shop.py", BASE, BASE + added).encode(), tiny.diff("tests/test_shop.py", None, TESTS).encode()
    )
    others = {f"usr/lib/{name}.py": b"warnings.warn(\nDeprecationWarning,\nstacklevel=2,\n" for name in "abc"}

    assert leaks(others, wanted) == ()
    copy = {"usr/lib/vendored/shop.py": (BASE + added).encode()}
    assert [leak.where for leak in leaks({**others, **copy}, wanted)] == list(copy)


def test_a_vendored_copy_of_the_fixed_file_is_found_under_any_name():
    copies = {f"usr/lib/{where}/shop.py": FIXED.encode() for where in ("a", "b", "c", "d")}

    assert {leak.where for leak in leaks(copies)} == set(copies)
    assert leaks({"usr/lib/x/renamed.py": (FIXED + TESTS).encode()})


def test_some_lines_of_a_file_of_the_same_name_are_chance():
    assert leaks({"usr/lib/vendored/shop.py": b"    return sum(checked, start=0)\n"}) == ()


def test_everyday_lines_of_a_fix_that_the_standard_library_has_too_are_chance():
    added = (
        "    # bounds count from the end where they are negative\n"
        "    if start is not None and start < 0:\n"
        "        start = max(len(self) + start, 0)\n"
        "    if stop is not None and stop < 0:\n"
        "        stop = max(len(self) + stop, 0)\n"
        "    # a negative step slices the reversed stream\n"
        "    return islice(reversed(self), start, stop)\n"
    )
    wanted = hygiene.secrets(tiny.diff("shop.py", BASE, BASE + added).encode(), HIDDEN)
    everyday = b"\n".join(line.encode() for line in added.splitlines()[1:4])

    assert leaks({"usr/lib/python3.12/_collections_abc.py": everyday}, wanted) == ()
    assert leaks({"usr/lib/python3.12/_collections_abc.py": added.encode()}, wanted)


def test_one_whole_hunk_of_many_is_found_under_any_name():
    base = "\n".join(f"line_{number} = {number}" for number in range(60)) + "\n"
    hunk = "first_of_hunk = compute()\nsecond_of_hunk = compute()\nthird_of_hunk = compute()\n"
    fixed = base.replace("line_50", hunk + "line_50").replace("line_2 ", "many = more()\n" * 2 + "line_2 ")
    fixed = fixed.replace("line_20", "\n".join(f"rewritten_{number} = again()" for number in range(20)) + "\nline_20")
    wanted = hygiene.secrets(tiny.diff("shop.py", base, fixed).encode(), HIDDEN)

    assert leaks({"usr/share/x.txt": hunk.encode()}, wanted)
    assert leaks({"usr/share/x.txt": hunk.encode().partition(b"\n")[2]}, wanted) == ()


SHARED = {
    "a loose git object": {"srv/x/.git/objects/ab/" + "c" * 38: loose(FIXED.encode())},
    "the fixed module among the installed packages": {"venv/lib/site-packages/shop.py": FIXED.encode()},
    "the hidden tests under another name": {"var/tmp/x.py": TESTS.encode()},
    "byte code of the hidden tests": {"venv/test_shop.pyc": marshal.dumps(compile(TESTS, "test_shop.py", "exec"))},
    "the fix's commit": {"etc/build": b"built from " + COMMIT.encode()},
    "a package cache": {"root/.cache/pip/http/a/b": b"x"},
}


@pytest.mark.parametrize("name", SHARED)
def test_a_leak_in_a_shared_layer_is_found_by_its_index(name):
    search = hygiene.Search(secrets=SECRETS, unpack=unpack)
    search.feed("testbed/shop.py", BASE.encode())
    image_search.build(SHARED[name].items(), unpack).feed(search)

    assert [leak.where for leak in search.leaks()] == list(SHARED[name])


def test_byte_code_of_a_fixed_module_is_told_by_a_text_that_only_the_fix_has():
    fixed = BASE.replace("return", "if not items:\n        raise ValueError('nothing to sum up')\n    return")
    wanted = hygiene.secrets(tiny.diff("shop.py", BASE, fixed).encode(), HIDDEN)
    compiled = marshal.dumps(compile(fixed, "shop.py", "exec"))

    assert leaks({"venv/__pycache__/shop.cpython-312.pyc": compiled}, wanted)
    assert leaks({"venv/__pycache__/other.cpython-312.pyc": compiled}, wanted) == ()


def test_a_name_in_the_byte_code_of_another_packages_module_of_the_same_name_is_chance():
    fixed = BASE + "class Checks:\n    def inline_checks_are_listed(self):\n        return False\n"
    wanted = hygiene.secrets(tiny.diff("tests/requirements.py", BASE, fixed).encode(), HIDDEN)
    compiled = b"\0inline_checks_are_listed\0"
    assert leaks({"venv/other/testing/__pycache__/requirements.cpython-313.pyc": compiled}, wanted) == ()
    assert leaks({"venv/tests/__pycache__/requirements.cpython-313.pyc": compiled}, wanted)


def test_a_text_that_is_wrapped_in_another_place_is_no_leak_of_the_base_byte_code():
    base = BASE + 'WHY = (\n    "Access is denied. Either your "\n    "browser supplied the wrong origin"\n)\n'
    fixed = BASE + 'WHY = (\n    "Denied. Access is denied. "\n    "Either your browser supplied the wrong origin"\n)\n'
    wanted = hygiene.secrets(tiny.diff("shop.py", base, fixed).encode(), HIDDEN)
    path = "opt/goldseam/src/__pycache__/shop.cpython-312.pyc"
    assert (
        leaks({path: marshal.dumps(compile(base, "shop.py", "exec")), "testbed/shop.py": base.encode()}, wanted) == ()
    )
    assert leaks({path: marshal.dumps(compile(fixed, "shop.py", "exec"))}, wanted)


def test_what_the_byte_code_of_several_packages_has_is_no_leak():
    fixed = BASE + "class _NameOfTheFix:\n    text = 'an-everyday-text'\n    name = '__annotations__'\n"
    wanted = hygiene.secrets(tiny.diff("shop/__init__.py", BASE, fixed).encode(), HIDDEN)
    compiled = marshal.dumps(compile("a = 'an-everyday-text'\nb = '__annotations__'\n", "x.py", "exec"))
    images = {f"lib/{package}/__pycache__/__init__.cpython-312.pyc": compiled for package in ("a", "b", "c")}
    copied = {"venv/shop/__pycache__/__init__.cpython-312.pyc": b"\0_NameOfTheFix\0"}
    assert leaks(images, wanted) == ()
    assert [leak.where for leak in leaks({**images, **copied}, wanted)] == list(copied)


def test_a_saved_image_that_breaks_off_is_a_failure_of_the_engine(monkeypatch):
    saved = io.BytesIO()
    with tarfile.open(fileobj=saved, mode="w") as archive:
        entry = tarfile.TarInfo("manifest.json")
        entry.size = 20_000
        archive.addfile(entry, io.BytesIO(bytes(entry.size)))
    client = SimpleNamespace(get_image=lambda _image: iter([saved.getvalue()[:9_000]]))
    monkeypatch.setattr(engine, "connect", lambda: client)
    with pytest.raises(InfrastructureError, match="saving image money: unexpected end of data"):
        list(layers.every_layer("money"))


def test_what_a_jar_says_of_the_libraries_that_it_needs_is_not_searched():
    assert leaks({JAR: packed({"META-INF/maven/org.shop/shop.py": FIXED})}) == ()
    assert leaks({JAR: packed({"META-INF/other/shop.py": FIXED})}) != ()
