"""What a failure says is missing, or gone, changes the recipe; nothing else does."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from miner.evidence.tree import Evidence, Recipe
from miner.languages.python.images import exclude_newer
from miner.languages.python.recipes import distributions, imports, missing, recipe_fixes
from tests.trees import Files

NO_TREE = Files()


def recipe(*requirements, pins=(), apt=()):
    return Recipe(project=None, evidence=Evidence(rung="x", requirements=requirements, pins=pins), apt=apt)


@pytest.mark.parametrize(
    ("said", "package"),
    [
        ("a.c:2:10: fatal error: libpq-fe.h: No such file or directory", "libpq-dev"),
        ("fatal error: 'lmdb.h' file not found", "liblmdb-dev"),
        ("src/x.c:1: fatal error: libxml/xmlversion.h: No such file or directory", "libxml2-dev"),
        ("/usr/bin/ld: cannot find -lldap: No such file or directory", "libldap-dev"),
        ("ImportError: libGL.so.1: cannot open shared object file: No such file or directory", "libgl1"),
        ("OSError: cannot load library 'libsndfile.so': x", "libsndfile1"),
        ("Error: pg_config executable not found.", "libpq-dev"),
        ("/bin/sh: 1: mysql_config: not found", "default-libmysqlclient-dev"),
        ("Could not find geos-config executable. Either append the path", "libgeos-dev"),
        ("sh: 3: swig: not found", "swig"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'cmake'", "cmake"),
        ("error: can't find Rust compiler", "cargo-web|cargo"),
        ("Package libvirt was not found in the pkg-config search path", "libvirt-dev"),
        ("ImportError: failed to find libmagic.  Check your installation", "libmagic1"),
        ("error: command 'gfortran' failed", "gfortran"),
    ],
)
def test_a_native_build_tells_what_it_lacks(said, package):
    assert missing.packages(said) == (package,)


@pytest.mark.parametrize("said", ["", "SyntaxError", "fatal error: mine.h: No such file or directory", "x" * 300_000])
def test_what_the_tables_do_not_know_is_not_guessed(said):
    assert missing.packages(said) == ()


def test_missing_packages_are_added_once():
    first = recipe_fixes.after_failure(recipe(), "fatal error: ffi.h: No such file or directory")
    assert first is not None
    assert (first.apt, first.rung) == (("libffi-dev",), "x+apt:libffi-dev")
    assert recipe_fixes.after_failure(first, "fatal error: ffi.h: No such file or directory") is None


def test_a_pytest_that_is_too_old_gives_way():
    said = (
        "Because requests depends on pytest>=4.3 and pytest>=2.8.0,<=3.10.1, we can conclude that your\n"
        "  requirements are unsatisfiable."
    )
    first = recipe_fixes.after_failure(recipe("pytest<=3.10.1"), said)
    assert first is not None
    assert (first.overrides, first.rung) == (("pytest>=4.3",), "x-gone:pytest")
    assert recipe_fixes.after_failure(first, said) is None


def test_what_a_repository_out_of_reach_would_give_is_taken_from_the_index():
    said = """   Updating https://github.com/acme/h11.git (master)
  × Failed to download and build `h11 @
  │ git+https://github.com/acme/h11.git@master`
  ├─▶ Git operation failed
  ├─▶ failed to fetch into: /run/goldseam/uv-cache/git-v0/db/1d99b16f3b4ddff6
"""
    first = recipe_fixes.after_failure(recipe("h11 @ git+https://github.com/acme/h11.git@master"), said)

    assert first.overrides == ("h11",)
    assert first.rung.endswith("-repository:h11")
    assert recipe_fixes.after_failure(first, said) is None


def test_what_cannot_be_built_on_a_younger_interpreter_is_taken_as_of_when_that_was_settled():
    said = "  × Failed to build `cffi==1.11.5`\n  ├─▶ The build backend returned an error\n"
    day = exclude_newer.settled(datetime(2018, 8, 9, tzinfo=UTC), "3.11")
    first = recipe_fixes.after_failure(recipe("cffi"), said, day)

    assert (first.later, first.rung) == ((("cffi", "2023-04-23"),), "x+later:cffi")
    assert recipe_fixes.after_failure(first, said, day) is None
    assert exclude_newer.settled(datetime(2024, 8, 9, tzinfo=UTC), "3.11") == ""
    assert recipe_fixes.after_failure(recipe("cffi"), said) is None


def test_another_conflict_changes_nothing_of_pytest():
    assert (
        recipe_fixes.after_failure(recipe(), "Because a depends on b==1 and b==2, your requirements are unsatisfiable.")
        is None
    )


GONE = """\
× No solution found when resolving dependencies:
  ╰─▶ Because there is no version of
      old-thing==1.0 and you require old-thing==1.0, we can conclude
"""


def test_a_pin_of_a_version_that_is_gone_is_dropped_and_said():
    found = recipe_fixes.after_failure(recipe("six", pins=("old-thing==1.0", "six==1")), GONE)
    assert found is not None
    assert (found.evidence.pins, found.evidence.requirements) == (("six==1",), ("six",))
    assert found.rung == "x-gone:old-thing"


def test_a_requirement_that_is_gone_is_dropped_where_no_pin_is_to_blame():
    found = recipe_fixes.after_failure(recipe("Old_Thing==1.0", "six"), GONE)
    assert found is not None
    assert found.evidence.requirements == ("six",)


def test_what_the_recipe_never_named_cannot_be_dropped():
    assert recipe_fixes.after_failure(recipe("six"), GONE) is None


def test_a_distribution_that_the_index_never_had_is_dropped():
    said = "Because my-own-plugin was not found in the package registry and you require my-own-plugin, we can"
    found = recipe_fixes.after_failure(recipe("my_own.plugin>=1", "six"), said)
    assert found is not None
    assert found.evidence.requirements == ("six",)


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("Because there is no version of six==99.9 and you require six==99.9, we can conclude", ("six",)),
        ("Because only six<=1.13.0 is available and you require six>=1.17, we can conclude", ("six",)),
        ("Because only a[b]>=2 are available and there are no versions of C_d", ("a", "c-d")),
        ("Because a depends on b and you require both, we can conclude", ()),
    ],
)
def test_a_resolver_says_what_is_gone_in_several_ways(said, names):
    assert missing.vanished(said) == names


def test_missing_modules_become_distributions():
    found = recipe_fixes.after_collecting(recipe("six"), ("yaml", "google.cloud.storage", "tomli_w"), "", NO_TREE)
    assert found is not None
    assert found.evidence.requirements == ("six", "PyYAML", "google-cloud-storage", "tomli-w")
    assert found.rung == "x+missing:PyYAML,google-cloud-storage,tomli-w"


@pytest.mark.parametrize("module", ["os", "winreg", "helpers", "conftest", "_private", "a" * 80, "", "ünï", "x y"])
def test_a_module_that_no_index_has_is_not_asked_for(module):
    assert distributions.of_module(module) is None


def test_a_module_of_the_repository_is_never_taken_from_an_index():
    tree = Files({"src/yaml/__init__.py": "", "tests/unit/toolbox.py": "", "tests/pkg/__init__.py": "", "top.py": ""})
    assert recipe_fixes.after_collecting(recipe(), ("yaml", "toolbox", "pkg", "top", "tests.x"), "", tree) is None


def test_a_module_deep_in_a_package_of_the_repository_hides_no_distribution():
    tree = Files({"tests/__init__.py": "", "tests/django/__init__.py": "", "tests/django/test_a.py": ""})
    found = recipe_fixes.after_collecting(recipe(), ("django",), "", tree)
    assert found is not None
    assert found.evidence.requirements == ("django",)


def test_a_distribution_that_did_not_help_is_not_added_again():
    assert recipe_fixes.after_collecting(recipe("PyYAML"), ("yaml",), "", NO_TREE) is None


def test_a_library_that_an_import_lacks_is_added():
    found = recipe_fixes.after_collecting(recipe(), (), "libGL.so.1: cannot open shared object file", NO_TREE)
    assert found is not None
    assert found.apt == ("libgl1",)


def test_a_setuptools_that_warns_where_that_is_an_error_is_taken_older():
    said = "E   DeprecationWarning: pkg_resources is deprecated as an API"
    mended = recipe_fixes.after_collecting(recipe("setuptools"), (), said, NO_TREE)
    assert mended.evidence.requirements == ("setuptools", "setuptools<67.3")
    assert recipe_fixes.after_collecting(mended, (), said, NO_TREE) is None


def test_a_pytest_in_which_a_plugin_of_the_day_fails_or_a_test_file_is_refused_is_taken_one_version_older():
    said = """\
/opt/venv/lib/python3.12/site-packages/pluggy/_manager.py:119: in _hookexec
    return self._inner_hookexec(hook_name, methods, kwargs, firstresult)
/opt/venv/lib/python3.12/site-packages/pytest_asyncio/plugin.py:626: in pytest_collectstart
    pyobject = collector.obj
E   AttributeError: 'Package' object has no attribute 'obj'
"""
    refused = "E   Failed: 'yield' keyword is allowed in fixtures, but not in tests (test_cases)"
    assert recipe_fixes.after_collecting(recipe(), (), refused, NO_TREE, pytest="9.0.1").evidence.requirements == (
        "pytest<9",
    )
    mended = recipe_fixes.after_collecting(recipe(), (), said, NO_TREE, pytest="8.0.0")
    assert mended.evidence.requirements == ("pytest<8",)
    assert recipe_fixes.after_collecting(mended, (), said, NO_TREE, pytest="7.4.4").evidence.requirements[1:] == (
        "pytest<7",
    )
    for other in ("_pytest/python.py:626: in pytest_collectstart", "shop/plugin.py:626: in load"):
        elsewhere = said.replace("pytest_asyncio/plugin.py:626: in pytest_collectstart", other)
        assert recipe_fixes.after_collecting(recipe(), (), elsewhere, NO_TREE, pytest="8.0.0") is None


@pytest.mark.parametrize(
    ("source", "modules"),
    [
        (
            "try:\n    from grpc import aio\nexcept ImportError:\n    pytest.skip('', allow_module_level=True)\n",
            ("grpc",),
        ),
        ("try:\n    import a.b, c\nexcept (ImportError, OSError):\n    a = None\n", ("a", "c")),
        ("try:\n    import mock\nexcept ImportError:\n    from unittest import mock\n", ()),
        ("try:\n    from . import x\nexcept ImportError:\n    x = None\n", ()),
        ("try:\n    import a\nfinally:\n    pass\n", ()),
        ("import a\n", ()),
        ("try:\n", ()),
        ("def test_a():\n    pytest.importorskip('a.b', reason='slow')\n    pytest.importorskip(NAME)\n", ("a",)),
        (
            "class A:\n    def test_a(self):\n        try: import a\n        except ImportError: self.skipTest('')\n",
            ("a",),
        ),
        ("def test_old():\n    pytest.importorskip('old')\n", ()),
    ],
)
def test_what_a_test_file_tries_to_import_with_nothing_in_place_of_it(source, modules):
    before = Files({"tests/test_a.py": "def test_old():\n    pytest.importorskip('old')  # as it was\n"})
    assert imports.optional({"tests/test_a.py": source.encode()}, before) == modules
    assert imports.optional({"src/a.py": source.encode()}, before) == ()


@pytest.mark.parametrize(
    "source",
    [
        "from tests import needs_lxml\n",
        "from . import HAVE_LXML as there\n",
        "def test_a():\n    from tests import HAVE_LXML\n",
    ],
)
def test_what_another_test_module_tries_to_import_counts_where_a_test_file_needs_to_know(source):
    tried = "try:\n    import lxml.etree\n    HAVE_LXML = True\nexcept ImportError:\n    HAVE_LXML = False\n"
    decorator = "def needs_lxml(test):\n    return unittest.skipUnless(HAVE_LXML, 'no lxml')(test)\n"
    other = "try:\n    import numpy\nexcept ImportError:\n    numpy = None\n"
    before = Files({"tests/__init__.py": tried + decorator + other, "shop/tests.py": ""})
    assert imports.optional({"tests/test_a.py": source.encode()}, before) == ("lxml",)


@pytest.mark.parametrize("path", ["google/shop/a.py", "src/google/shop/a.py"])
def test_a_package_that_the_tree_shares_with_dependencies_is_not_theirs_alone(path):
    installed = ("google", "pytest", "shop")
    assert distributions.of_others(installed, Files({path: ""})) == ("pytest", "shop")


@pytest.mark.parametrize(
    ("module", "folders"),
    [
        ("tests.helpers", (".",)),
        ("shared", ("tests/unit",)),
        ("space", ("src",)),
        ("space.other.b", ("parts/other/src",)),
        ("space.none", ("src",)),
        ("yaml", ()),
        ("no.such", ()),
        ("a(b", ()),
    ],
)
def test_a_module_of_the_tree_that_was_not_found_is_put_on_the_path(module, folders):
    paths = "tests/helpers/__init__.py tests/unit/shared.py src/space/sub/a.py parts/other/src/space/other/b.py yaml"
    tree = Files(dict.fromkeys(paths.split(), ""))
    assert recipe_fixes.paths_for([module], (), tree, ()) == folders


def test_a_part_of_a_namespace_is_looked_for_by_its_whole_name():
    tree = Files({"sdk/src/space/sdk/a.py": "", "api/src/space/logs/__init__.py": ""})
    assert recipe_fixes.paths_for((), ["space.logs"], tree, ()) == ("api/src",)
    assert recipe_fixes.paths_for((), ["space.other"], tree, ()) == ()


def test_a_folder_that_is_on_the_path_already_does_not_help():
    assert recipe_fixes.paths_for(["shared"], (), Files({"tests/shared.py": ""}), ("tests",)) == ()


def test_what_one_recipe_was_mended_with_the_next_gets_at_once():
    first = recipe("six")
    mended = recipe_fixes.after_collecting(first, ("yaml",), "", NO_TREE)
    assert mended is not None
    wanted = recipe_fixes.after_failure(mended, "fatal error: ffi.h: No such file or directory")
    assert wanted is not None
    learned = [recipe_fixes.Learned.between(first, mended), recipe_fixes.Learned.between(mended, wanted)]
    found = recipe_fixes.with_learned(recipe("mock"), learned)
    assert (found.evidence.requirements, found.apt) == (("mock", "PyYAML"), ("libffi-dev",))
    assert recipe_fixes.with_learned(wanted, learned) == wanted


AGAIN = """error: No solution found when resolving dependencies
  cause: Because there are no versions of {0} and you require {0}, we can conclude that your requirements are
      unsatisfiable.

hint: `{0}` was filtered by `exclude-newer` to only include packages uploaded before 2018-06-26T00:00:00Z. The latest
    version satisfying the requirement is v2.1.13, published at 2023-04-17T23:11:37.344Z. Consider using
    `exclude-newer-package` to override the cutoff for this package."""


def test_a_distribution_that_is_all_younger_than_the_commit_is_taken_as_of_the_day_after_its_upload():
    found = recipe_fixes.after_failure(recipe("codecov"), AGAIN.format("codecov"))
    assert found.later == (("codecov", "2023-04-18"),)
    assert found.rung.endswith("+later:codecov")
    assert found.evidence.requirements == ("codecov",)


def test_a_distribution_that_is_taken_later_in_vain_is_left_out():
    first = recipe_fixes.after_failure(recipe("codecov"), AGAIN.format("codecov"))
    assert recipe_fixes.after_failure(first, AGAIN.format("codecov")).evidence.requirements == ()


def test_a_version_that_came_after_the_commit_where_others_are_older_is_none_that_was_uploaded_again():
    said = AGAIN.format("six").replace("there are no versions of six", "only six<=1.1 is available")
    assert missing.younger(said) == ()


NEEDY = """error: Failed to build `pandas==0.11.0`
         ModuleNotFoundError: No module named '{0}'

hint: This error likely indicates that `pandas@0.11.0` depends on `{0}`, but doesn't declare it as a build
    dependency. If `pandas` is a first-party package"""


def test_what_a_build_imports_and_does_not_declare_is_there_when_it_is_built():
    found = recipe_fixes.after_failure(recipe("pandas"), NEEDY.format("Cython"))
    assert found.built_with == (("pandas", "Cython"),)
    assert found.rung.endswith("+build:Cython")
    assert recipe_fixes.after_failure(found, NEEDY.format("Cython")) is None


def test_what_itself_needs_a_distribution_is_not_what_that_is_built_with():
    said = "hint: `pandas` (v0.11.0) was included because `mock` (v1.0) depends on `pandas`\n" + NEEDY.format("mock")
    assert recipe_fixes.after_failure(recipe("pandas"), said) is None


UNFETCHED = """  × Failed to build `bcrypt==2.0.0`
  ╰─▶ Call to `setuptools.build_meta:__legacy__.build_wheel` failed (exit status: 1)
      distutils.errors.DistutilsError: Could not find suitable distribution
      for Requirement.parse('cffi>=1.1')
"""


def test_what_setup_requires_names_and_setuptools_cannot_fetch_is_there_when_it_is_built():
    assert recipe_fixes.after_failure(recipe("bcrypt"), UNFETCHED).built_with == (("bcrypt", "cffi"),)


def test_what_every_build_has_is_not_asked_for():
    assert recipe_fixes.after_failure(recipe("pandas"), NEEDY.format("distutils")) is None


def test_the_next_recipe_knows_what_was_taken_later_and_built_with_what():
    one, two = recipe("codecov"), recipe("pandas")
    learned = [
        recipe_fixes.Learned.between(one, recipe_fixes.after_failure(one, AGAIN.format("codecov"))),
        recipe_fixes.Learned.between(two, recipe_fixes.after_failure(two, NEEDY.format("numpy"))),
    ]
    next_one = recipe_fixes.with_learned(recipe("six"), learned)
    assert next_one.later == (("codecov", "2023-04-18"),)
    assert next_one.built_with == (("pandas", "numpy"),)


BARE = """error: The build backend returned an error
  cause: Call to `setuptools.build_meta:__legacy__.get_requires_for_build_wheel` failed (exit status: 1)
           File "setup.py", line 1, in <module>
             import numpy
         {0}
"""


@pytest.mark.parametrize(
    ("error", "needed"),
    [
        ("ModuleNotFoundError: No module named 'numpy'", "numpy"),
        ("RuntimeError: Cython required to build the development version.", "Cython"),
        ("SystemExit: Please install Cython first", "Cython"),
    ],
)
def test_what_the_projects_own_setup_imports_or_asks_for_is_there_when_it_is_built(error, needed):
    found = recipe_fixes.after_failure(recipe("six"), BARE.format(error))
    assert found.built_with == (("", needed),)
    assert recipe_fixes.after_failure(found, BARE.format(error)) is None
