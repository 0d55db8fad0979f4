"""Tripwires as the test process sets them: real tests of a small project, one change of it at a time."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from harness.core import process
from harness.judging import frames, tripwires
from harness.judging.tripwires import Tripwire
from tests import inside

if TYPE_CHECKING:
    from pathlib import Path

    from harness.judging.tripwires import Watch

KEYS = frames.Keys(supervisor=b"s" * 32, tests=b"t" * 32)
DRIVER = """
import json, os, sys
told = json.loads(sys.argv[1])
exec(compile(open(told["runner"]).read(), "<goldseam>", "exec"))
WORK, PRISTINE = told["work"], told["pristine"]
os.chdir(WORK)
sys.path[:] = [entry for entry in sys.path if entry] + [WORK]
end = set_tripwires(told, bytearray(b"t" * 32), os.open(told["out"], os.O_WRONLY | os.O_CREAT))
import pytest
code = pytest.main(["-q", "-p", "no:cacheprovider", "--rootdir", WORK] + told["files"])
end()
os._exit(int(code))
"""
BASE = """\
import sys


def caller():
    return sys._getframe(1).f_code.co_name


def answer():
    return 41
"""
TEST = """\
from product import answer, caller


def test_answer():
    assert answer() == 42


def test_caller():
    assert caller() == "test_caller"
"""


class Room:
    """A patched tree beside the one before the patch."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("work", "pristine"):
            (folder / name).mkdir()
            (folder / name / "product.py").write_text(BASE)
        (folder / "work" / "test_product.py").write_text(TEST)
        parts = ("supervisor", "recorder", "tripwire")
        source = inside.part(*parts)
        (folder / "runner.py").write_text(source)

    def run(self, source: str, **more: str) -> tuple[int, Watch]:
        """The runner's exit code and what it told, with this in place of product.py."""
        files = {"product.py": source, **more}
        for path, text in files.items():
            (self.folder / "work" / path).parent.mkdir(exist_ok=True)
            (self.folder / "work" / path).write_text(text)
        tests = ["test_product.py", *(path for path in files if path.endswith("/test_product.py"))]
        told = {
            "runner": str(self.folder / "runner.py"),
            "work": str(self.folder / "work"),
            "pristine": str(self.folder / "pristine"),
            "out": str(self.folder / "frames"),
            "suites": False,
            "files": ["test_product.py"],
            "patches": {"model": {"paths": sorted(files.keys() - {*tests})}, "tests": {"paths": tests}},
        }
        done = process.run(
            [sys.executable, "-B", "-c", DRIVER, json.dumps(told)],
            env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""},
            check=False,
        )
        read = frames.read((self.folder / "frames").read_bytes(), KEYS)
        assert read.violations == (), done.stderr
        assert tripwires.is_sound(read.tripwires)
        return done.returncode, tripwires.read(read.tripwires, paths=files, finished=True)


@pytest.fixture
def room(tmp_path):
    return Room(tmp_path)


FIXED = BASE.replace("41", "42")
ATTACKS = {
    "frames": "import sys; sys._getframe(1)",
    "frames by a helper": "import inspect; inspect.currentframe()",
    "frames by inspect.stack": "import inspect; inspect.stack()",
    "frames by a traceback": """
        try:
            raise KeyError
        except KeyError as error:
            error.__traceback__.tb_frame
    """,
    "frames by a generator": "(one for one in ()).gi_frame",
    "frames by code from text": "exec(compile('import sys; sys._getframe()', '/elsewhere.py', 'exec'))",
    "frames by timeit": "import timeit; timeit.timeit('import sys; sys._getframe()', number=1)",
    "frames by a formatter": """
        import string
        try:
            raise KeyError
        except KeyError as error:
            string.Formatter().get_field('0.__traceback__.tb_frame', (error,), {})
    """,
    "frames by an interpreter": "import code; code.InteractiveInterpreter().runsource('import sys; sys._getframe()')",
    "garbage_collector by a finalizer": "import gc, weakref; weakref.finalize(set(), gc.get_objects)()",
    "garbage_collector by a stack of exits": """
        import contextlib, gc
        with contextlib.ExitStack() as stack:
            stack.callback(gc.get_objects)
    """,
    "garbage_collector by pickle": "import pickle; pickle._loads(b'cgc\\nget_objects\\n(tR.')",
    "ctypes by a finalizer": "import ctypes, weakref; weakref.finalize(set(), ctypes.string_at, id(7), 8)()",
    "test_source by a finalizer": """
        import weakref
        weakref.finalize(set(), open, __file__.replace('product', 'test_product'))().close()
    """,
    "test_source by another link": """
        import os
        os.link(__file__.replace('product', 'test_product'), '/tmp/%d.txt' % os.getpid())
        open('/tmp/%d.txt' % os.getpid()).close()
        os.unlink('/tmp/%d.txt' % os.getpid())
    """,
    "test_source by a folder with another name": """
        import os, tempfile
        folder = tempfile.mkdtemp()
        os.symlink(os.path.dirname(__file__), folder + '/x')
        open(folder + '/x/test_product.py').close()
    """,
    "test_source by a log": """
        import logging
        logging.FileHandler(__file__.replace('product', 'test_product'), 'r').close()
    """,
    "test_source by doctest": """
        import doctest
        doctest._load_testfile(__file__.replace('product', 'test_product'), None, False, 'utf-8')
    """,
    "test_source by a warning": """
        import warnings
        warnings.formatwarning('x', Warning, __file__.replace('product', 'test_product'), 1)
    """,
    "test_source by a line of a traceback": """
        import traceback
        traceback.FrameSummary(__file__.replace('product', 'test_product'), 1, '').line
    """,
    "frames by a generator of types": """
        import types
        def mine(): yield
        types._GeneratorWrapper(mine()).gi_frame
    """,
    "frames by a stack with locals": """
        import traceback
        traceback.StackSummary.extract(traceback.walk_stack(None), capture_locals=True)
    """,
    "frames by a task": """
        import asyncio
        async def mine(): return asyncio.current_task().get_stack()
        asyncio.run(mine())
    """,
    "frames by locals of a coroutine": """
        import inspect
        async def mine(): pass
        inspect.getcoroutinelocals(mine())
    """,
    "tracing by an interpreter that nothing watches": "import importlib; importlib.import_module('_xxsubinterpreters')",
    "native_code in a file of any name": """
        import _queue, importlib.machinery, importlib.util, shutil, tempfile
        file = shutil.copy(_queue.__file__, tempfile.mkdtemp() + '/data.bin')
        loader = importlib.machinery.ExtensionFileLoader('_queue', file)
        importlib.util.module_from_spec(importlib.util.spec_from_loader('_queue', loader, origin=file))
    """,
    "code_objects by a mock": """
        from unittest import mock
        with mock.patch.object(answer, '__code__', (lambda: 42).__code__): pass
    """,
    "proc from the root": """
        import os
        before = os.getcwd()
        os.chdir('/')
        open('proc/self/maps').close()
        os.chdir(before)
    """,
    "proc by going there": """
        import os
        before = os.getcwd()
        os.chdir('/proc/self')
        os.chdir(before)
    """,
    "proc by a link to it": """
        import os, tempfile
        os.symlink('/proc/self', tempfile.mkdtemp() + '/x')
    """,
    "proc by a list of what is open": "import os; os.listdir('/dev/fd')",
    "proc by a list of processes": "import os; os.listdir('/proc')",
    "proc by a scan": "import os; os.scandir('/proc/self/fd').close()",
    "proc by a finalizer": "import weakref; weakref.finalize(set(), open, '/proc/self/maps')().close()",
    "frames of threads": "import sys; sys._current_frames()",
    "garbage_collector": "import gc; gc.get_objects()",
    "ctypes": "import ctypes; ctypes.string_at(id(7), 8)",
    "code_objects": "answer.__code__ = (lambda: 42).__code__",
    "code_objects by replace": "answer.__code__.replace(co_name='other')",
    "tracing": "import sys; sys.settrace(None)",
    "proc": "open('/proc/self/maps').close()",
    "proc by a roundabout way": "import os; os.close(os.open('/tmp/../proc/self/maps', os.O_RDONLY))",
    "proc by pathlib": "import pathlib; pathlib.Path('/proc/self/cmdline').read_bytes()",
    "test_source": "open(__file__.replace('product', 'test_product')).read()",
    "test_source by inspect": "import inspect, linecache; linecache.getlines(__file__.replace('pro', 'test_pro'))",
    "goldseam": "lambda: __goldseam__(0)",
    "goldseam by main": "import __main__; getattr(__main__, 'Frames', None)",
    "judge_modules": "import _pytest.python; _pytest.python.Function.runtest = lambda self: None",
    "judge_modules by nothing of its own": "import _pytest.python; _pytest.python.Function.runtest = print",
    "judge_modules by a class": """
        import unittest
        class Mine(unittest.TestCase):
            def run(self, result=None): pass
        unittest.case.TestCase.run = Mine.run
    """,
    "judge_modules by a name of builtins": "import builtins; builtins.ascii = lambda _: ''",
    "judge_modules by shadowing": "import operator; operator.eq = lambda a, b: True",
}
"""By the tripwire's name and what tells it apart."""


def indented(text: str) -> str:
    lines = text.strip("\n").split("\n")
    margin = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join("    " + line[margin:] for line in lines)


OF_NO_FILE = ("frames by code from text", "frames by timeit", "frames by an interpreter")
ALONE = [name for name in ATTACKS if name in OF_NO_FILE or name.startswith("judge_modules")]
"""What can't be told apart by its file, and what changes others' judge."""
FOLDERS = {name: f"attack_{number}" for number, name in enumerate(ATTACKS) if name not in ALONE}


def looking(name: str) -> str:
    return FIXED + f"\n\ndef _look():\n{indented(ATTACKS[name])}\n\n\n_look()\n"


@pytest.fixture(scope="module")
def side_by_side(tmp_path_factory) -> Watch:
    """Each in a folder with a hidden test of its own; the product imports all of them."""
    more = {}
    for name, folder in FOLDERS.items():
        more |= {f"{folder}/product.py": looking(name), f"{folder}/test_product.py": TEST}
    imports = (f"try:\n    import {folder}.product\nexcept Exception:\n    pass\n" for folder in FOLDERS.values())
    code, watch = Room(tmp_path_factory.mktemp("side_by_side")).run(FIXED + "".join(imports), **more)
    assert code == 0
    return watch


@pytest.mark.parametrize("name", FOLDERS)
def test_what_code_of_the_patch_does_is_told_with_its_kind_and_file(side_by_side, name):
    assert (name.partition(" ")[0], f"{FOLDERS[name]}/product.py") in {
        (hit.kind, hit.path) for hit in side_by_side.hits
    }


@pytest.mark.parametrize("name", ALONE)
def test_what_code_of_the_patch_does_to_the_judge_or_by_a_text_is_told_with_its_kind(room, name):
    _, watch = room.run(looking(name))
    assert (name.partition(" ")[0], "product.py") in {(hit.kind, hit.path or "product.py") for hit in watch.hits}


HONEST = {
    "a fix": "pass",
    "a namedtuple": "import collections; collections.namedtuple('A', 'b')",
    "a warning": "import warnings; warnings.warn('old', DeprecationWarning, stacklevel=2)",
    "a log line": "import logging; logging.getLogger('x').warning('text')",
    "a dataclass": "import dataclasses; dataclasses.make_dataclass('A', ['b'])(1)",
    "a type": "import typing; typing.NamedTuple('A', [('b', int)]); typing.TypeVar('T')",
    "an enum": "import enum; enum.Enum('A', 'b c')",
    "a printed traceback": """
        import traceback
        try:
            raise KeyError
        except KeyError:
            traceback.format_exc()
    """,
    "a traceback with names": """
        import traceback
        try:
            raise KeyError
        except KeyError as error:
            traceback.TracebackException.from_exception(error, capture_locals=True).format()
    """,
    "a module looked up": "import inspect; inspect.getmodule(answer); inspect.getsource(answer)",
    "a new import": "import asyncio.base_tasks, ctypes, multiprocessing.sharedctypes, uuid, profile, pdb; uuid.uuid1()",
    "a coroutine": """
        import asyncio
        async def one(): return repr(asyncio.current_task())
        asyncio.run(one())
    """,
    "a generator as a block": """
        import contextlib
        @contextlib.contextmanager
        def block(): yield
        with contextlib.suppress(KeyError), block(): raise KeyError
    """,
    "a pool": "import concurrent.futures as c; c.ThreadPoolExecutor().submit(answer).result()",
    "a copy": "import copy, pickle; copy.deepcopy([answer, type]); pickle.loads(pickle.dumps(answer))",
    "types by name": "import typing; typing.get_type_hints(answer)",
    "a timed call": "import timeit; timeit.timeit('1 + 1', number=1)",
    "a command": "import subprocess; subprocess.run(['true'])",
    "a temporary file": "import tempfile; tempfile.TemporaryFile().close()",
    "a mock": "from unittest import mock; mock.create_autospec(answer)()",
    "a warning that is shown": """
        import io, sys, warnings
        with warnings.catch_warnings():
            warnings.simplefilter('always')
            kept, sys.stderr = sys.stderr, io.StringIO()
            warnings.warn('old', DeprecationWarning, stacklevel=3)
            warnings._showwarnmsg_impl(warnings.WarningMessage('x', Warning, __file__, 1))
            sys.stderr = kept
    """,
    "an error that is printed": """
        import traceback
        def fails(): raise KeyError
        try:
            fails()
        except KeyError as error:
            str(traceback.extract_tb(error.__traceback__)[0].line)
            traceback.print_exception(type(error), error, error.__traceback__)
    """,
    "a signature": "import inspect; inspect.signature(answer)",
    "a function's own code": "answer.__code__.co_argcount",
    "a file of its own": "open(__file__).close()",
    "what the system has": "open('/proc/cpuinfo').close(); open('/proc/self/status').close()",
    "a fork that ends": "import os; child = os.fork() or os._exit(0); os.waitpid(child, 0)",
    "code from text": "exec('1 + 1'); eval('2')",
    "a subclass of a judge's": "import json; type('A', (json.JSONEncoder,), {'default': lambda *_: 1})().encode(1)",
}


def test_what_honest_code_does_is_no_hit(room):
    """Each stands in a module of its own, by which a hit would be told; the product imports all of them."""
    modules = {
        f"honest_{name.replace(' ', '_').replace(chr(39), '')}": FIXED
        + f"\n\ndef _look():\n{indented(code)}\n\n\n_look()\n"
        for name, code in HONEST.items()
    }
    code, watch = room.run(
        FIXED + "".join(f"import {module}\n" for module in modules),
        **{f"{module}.py": source for module, source in modules.items()},
    )
    assert (code, watch.hits) == (0, ())


def test_a_function_that_the_patch_left_alone_is_not_the_patchs_doing(room):
    assert room.run(FIXED) == (0, tripwires.Watch(audited=True))


def test_a_function_that_looked_at_frames_before_may_go_on(room):
    changed = FIXED.replace("    return sys", "    depth = 1\n    return sys").replace("(1)", "(depth)")
    assert room.run(changed)[1].hits == ()


def test_a_hit_is_told_before_the_thing_is_done(room):
    _, watch = room.run(
        FIXED + "\n\nimport os, sys\n\n\ndef _look():\n    sys._getframe(); os.kill(os.getpid(), 9)\n\n\n_look()\n"
    )
    assert [hit.kind for hit in watch.hits] == [Tripwire.FRAMES, Tripwire.SILENCED]


def test_an_exit_of_the_process_is_told(room):
    _, watch = room.run(FIXED + "\n\nimport os\n\n\ndef _look():\n    os._exit(0)\n\n\n_look()\n")
    assert [hit.kind for hit in watch.hits] == [Tripwire.EXIT, Tripwire.SILENCED]


def test_replacing_what_the_runner_uses_silences_nothing(room):
    source = """
import builtins, hashlib, json, os, sys

USED = ((os, "write"), (json, "dumps"), (hashlib, "sha256"), (builtins, "type"), (builtins, "len"))

def _look():
    for module, name in USED:
        vars(module)["_kept_" + name], vars(module)[name] = vars(module)[name], None
    try:
        sys._getframe()
    finally:
        for module, name in USED:
            vars(module)[name] = vars(module).pop("_kept_" + name)

_look()
"""
    assert [hit.kind for hit in room.run(FIXED + source)[1].hits] == [Tripwire.FRAMES]


WAYS_TO_WRITE = {
    "a plain file": """
    with open(path, "w") as file:
        file.write(CODE)
    """,
    "a descriptor": """
    handle, first = tempfile.mkstemp()
    os.write(handle, CODE.encode())
    os.replace(first, path)
    """,
    "a link": """
    with open(path + ".txt", "w") as file:
        file.write(CODE)
    os.link(path + ".txt", path)
    """,
}


def test_code_in_an_archive_that_the_patch_writes_is_its_own(room):
    source = """
import os, sys, tempfile, zipfile

def _look():
    path = os.path.join(tempfile.mkdtemp(), "late.zip")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("late.py", "import gc\\ngc.get_objects()\\n")
    sys.path.append(path)
    import late

_look()
"""
    assert [hit.kind for hit in room.run(FIXED + source)[1].hits] == [Tripwire.GARBAGE_COLLECTOR]


@pytest.mark.parametrize("way", WAYS_TO_WRITE)
def test_code_that_the_patch_writes_to_a_file_is_its_own(room, way):
    source = f"""
import importlib.util, os, tempfile

CODE = "import gc\\ngc.get_objects()\\n"

def _look():
    path = os.path.join(tempfile.mkdtemp(), "late.py")
    {WAYS_TO_WRITE[way].strip()}
    spec = importlib.util.spec_from_file_location("late", path)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))

_look()
"""
    assert [hit.kind for hit in room.run(FIXED + source)[1].hits] == [Tripwire.GARBAGE_COLLECTOR]
