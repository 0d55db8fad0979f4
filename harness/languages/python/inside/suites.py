# Runs inside a task's container, after harness/grading/inside/supervisor.py and in the same names, where the tests are a
# unittest suite: by unittest alone, or by the repository's own program (manage.py, runtests.py), which makes Django's
# settings and databases and is then given this suite in place of its own. What it prints decides nothing: each result
# leaves as the same frames that pytest's recorder writes.
import importlib
import os
import sys
import unittest
import warnings

EVERYTHING = "conftest.py"  # the id by which the host knows that nothing at all could be collected
USAGE = 4
NOTHING = 5


def run_suites(spec, frames):
    """Run the files of a trial; the exit code that pytest would have."""
    asked = Asked(spec["argv"])
    os.chdir(os.path.join(WORK, asked.chdir))
    for warning in asked.warnings:
        warn(warning)
    run = Suites(spec, frames, asked)
    try:
        if asked.program:
            run.by_program()
        else:
            run.alone()
    except Enough:
        pass
    except SystemExit as ended:
        if not run.begun and not run.lost:
            sys.stderr.write("the program ended before it came to any test: %s\n" % (ended.code,))
    except BaseException as error:
        import traceback

        traceback.print_exc()
        if not run.begun:
            run.lose(EVERYTHING, error)
    return run.code()


class Asked(object):
    """The words of a task: own options, then `--` and the program that makes the tests' world, with its arguments."""

    def __init__(self, argv):
        self.chdir, self.top, self.collect_only, self.labels = "", "", False, False
        self.warnings, self.program = [], []
        words = list(argv)
        while words:
            word = words.pop(0)
            if word == "--":
                self.program = words
                break
            if word == "-W":
                self.warnings.append(words.pop(0))
            elif word.startswith("--chdir="):
                self.chdir = word[8:]
            elif word.startswith("--top="):
                self.top = word[6:]
            elif word == "--collect-only":
                self.collect_only = True
            elif word == "--labels":
                self.labels = True
            else:
                raise SystemExit("an option that the runner does not know: %s" % word)


def warn(asked):
    """A warning filter as `python -W` takes it."""
    sys.warnoptions.append(asked)
    action, message, category, module = (asked.split(":") + ["", "", ""])[:4]
    kind = Warning
    if category:
        package, _, name = category.rpartition(".")
        kind = getattr(importlib.import_module(package or "builtins"), name)
    for full in ("error", "ignore", "always", "default", "module", "once"):
        if action and full.startswith(action):
            warnings.filterwarnings(full, message, kind, module)


class Enough(BaseException):
    """What was wanted is done; nothing between here and the start of the program may stop it."""


class Suites(object):
    """One run of some files' suites."""

    def __init__(self, spec, frames, asked):
        self.spec, self.frames, self.asked = spec, frames, asked
        self.wanted = {}  # by file: the ids in it that are asked for; none for all of them
        for word in spec["files"]:
            path, _, names = word.partition("::")
            if os.path.exists(os.path.join(WORK, path)):
                self.wanted.setdefault(path, set()).add(names)
        self.modules = {}  # by what was imported: the file
        self.begun = self.lost = self.failed = False
        self.count = 0
        self.current = [""]
        hand_out_by(frames, self.current)
        self.result = make_result(self)  # made of unittest as it is before anything of the tests is imported

    def code(self):
        if self.failed or (self.lost and self.begun):
            return 1
        if not self.begun:
            return USAGE
        return 0 if self.count else NOTHING

    def lose(self, path, error):
        """Tell of a file, or of everything, that can't be collected."""
        self.lost = True
        self.frames.send("collect_error", id=path, text=words_of(error), raised=chain_of(error))

    # -- how the tests come to be run

    def alone(self):
        """By unittest and nothing else."""
        sys.argv = ["python -m unittest"]
        top = os.path.normpath(os.path.join(os.getcwd(), self.asked.top))
        for folder in (os.getcwd(), top):
            if folder not in sys.path:
                sys.path.insert(0, folder)
        self.execute(self.loaded(top))

    def by_program(self):
        """By the repository's own program: what it would run is replaced, what it sets up is not."""
        import runpy

        name, arguments = self.asked.program[0], self.asked.program[1:]
        is_module = name == "-m"
        if is_module:
            name, arguments = arguments[0], arguments[1:]
            sys.path.insert(0, os.getcwd())
        else:
            name = os.path.normpath(os.path.join(os.getcwd(), name))
            sys.path.insert(0, os.path.dirname(name))
        sys.argv = [name] + arguments
        if self.asked.labels:
            sys.argv += [".".join(self.name_of(path)[1:]) for path in sorted(self.wanted)]
        run = self

        def in_place_of(runner, suite):
            if run.begun:
                return unittest.TestResult()
            return run.execute(run.loaded(""))

        unittest.TextTestRunner.run = in_place_of
        refuse_pytest()
        try:
            from django.test.runner import DiscoverRunner
        except ImportError:
            pass
        else:
            self.take_over(DiscoverRunner)
        if is_module:
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(name, run_name="__main__")

    def take_over(self, kind):
        """Give Django's runner this suite; settings, databases and checks stay its own."""
        run, original = self, kind.__init__

        def made(runner, *args, **kwargs):
            original(runner, *args, **kwargs)
            build = runner.build_suite

            def build_suite(*_labels, **_more):
                return run.suite_of(build)

            runner.build_suite = build_suite
            runner.run_suite = lambda suite, **_more: run.execute(suite)
            for name, value in QUIET.items():
                if hasattr(runner, name):
                    setattr(runner, name, value)

        kind.__init__ = made

    def suite_of(self, build):
        """What Django makes of the files; a second call has nothing left to do."""
        if self.begun:
            return unittest.TestSuite()
        files = sorted(path for path in self.wanted if path.endswith(".py"))
        names = [name for name in (self.imported(path, "") for path in files) if name]
        suite = build(names) if names else unittest.TestSuite()
        return self.narrowed(suite)

    def loaded(self, top):
        """The files' tests, as unittest loads them."""
        suite = unittest.TestSuite()
        for path in sorted(self.wanted):
            if not path.endswith(".py"):
                suite.addTest(doctests_of(path))
                continue
            name = self.imported(path, top)
            if name:
                try:
                    suite.addTest(unittest.defaultTestLoader.loadTestsFromModule(sys.modules[name]))
                except Exception as error:
                    self.lose(path, error)
        return self.narrowed(suite)

    # -- which tests

    def imported(self, path, top):
        """The module of a file, imported; None where that fails, which is told."""
        root, name = self.name_of(path, top)
        if root not in sys.path:
            sys.path.insert(0, root)
        try:
            module = importlib.import_module(name)
        except unittest.SkipTest as skipped:
            self.frames.send("collect_skip", id=path, text=str(skipped)[:2000])
            return None
        except Exception as error:
            self.lose(path, error)
            return None
        if place_of(getattr(module, "__file__", None)) != path:
            self.lose(path, ImportError("%s is another file's module" % name))
            return None
        self.modules[name] = path
        return name

    def name_of(self, path, top=""):
        """The folder that has to be on sys.path for a file, and the module's name from there.

        Of a file in a Django application, as the application is called; else from `top`, or the first folder above it
        that is no package.
        """
        file = os.path.join(WORK, path)
        apps = sys.modules.get("django.apps")
        found = (
            [config for config in apps.apps.get_app_configs() if apps.apps.ready] if apps and apps.apps.ready else []
        )
        for config in sorted(found, key=lambda one: -len(one.path)):
            inside = os.path.relpath(os.path.realpath(file), os.path.realpath(config.path))
            if not inside.startswith(".."):
                root = os.path.normpath(os.path.join(config.path, *[".."] * len(config.name.split("."))))
                return root, ".".join([config.name] + dotted(inside))
        root = top
        if not root or os.path.relpath(file, root).startswith(".."):
            root = os.path.dirname(file)
            while os.path.exists(os.path.join(root, "__init__.py")):
                root = os.path.dirname(root)
        return root, ".".join(dotted(os.path.relpath(file, root)))

    def narrowed(self, suite):
        """A suite with nothing but what was asked for, in the order that was asked for; what is in it is told."""
        tests = [test for test in flat(suite) if type(test).__name__ != "_FailedTest"]
        for test in flat(suite):
            if type(test).__name__ == "_FailedTest":
                self.lose(EVERYTHING, getattr(test, "_exception", ImportError(test.id())))
        kept = [test for test in tests if self.is_wanted(self.id_of(test))]
        varied = "order" in self.spec.get("vary", {})
        if varied:
            kept = shuffled(kept, self.spec["vary"]["order"])
        if varied or len(kept) < len(tests):
            suite = unittest.TestSuite(kept)
        self.tests = kept
        self.count = len(kept)
        self.frames.send("collected", ids=[self.id_of(test) for test in kept])
        if self.asked.collect_only:
            self.begun = True
            raise Enough
        return suite

    def is_wanted(self, test_id):
        path, _, names = test_id.partition("::")
        asked = self.wanted.get(path)
        if asked is None:  # a class of another file, which a file that is asked for takes over
            return all("" in found for found in self.wanted.values())
        names = names.partition("[")[0]
        return any(not name or names == name or names.startswith(name + "::") for name in asked)

    def id_of(self, test):
        """`path::Class::method`, as pytest calls it."""
        doctest = getattr(test, "_dt_test", None)
        if doctest is not None:
            return "%s::%s" % (place_of(doctest.filename) or doctest.filename, doctest.name)
        function = getattr(test, "_testFunc", None)
        if function is not None:
            return "%s::%s" % (place_of(function.__code__.co_filename), function.__name__)
        kind = type(test)
        path = place_of(getattr(sys.modules.get(kind.__module__), "__file__", None)) or self.holder(kind)
        return "::".join([path] + kind.__qualname__.split(".") + [getattr(test, "_testMethodName", "") or test.id()])

    def holder(self, kind):
        """The file in which a class stands that is not of the repository."""
        for name, path in self.modules.items():
            if any(value is kind for value in vars(sys.modules[name]).values()):
                return path
        return next(iter(sorted(self.wanted)), "")

    def execute(self, suite):
        """Run a suite, and tell of each test."""
        self.begun = True
        result = self.result
        with warnings.catch_warnings():
            if not sys.warnoptions:
                warnings.simplefilter("default")
            result.startTestRun()
            try:
                suite(result)
            finally:
                result.stopTestRun()
        return result


QUIET = {
    "parallel": 1,
    "failfast": False,
    "interactive": False,
    "reverse": False,
    "shuffle": False,
    "pdb": False,
    "debug_sql": False,
    "buffer": False,
    "test_name_patterns": None,
}
"""What of a runner's own options would hide, reorder or stop single results."""


def refuse_pytest():
    """A program that only calls pytest would run everything there is, and nothing would be told of it."""
    try:
        import pytest
    except Exception:
        return

    def main(*_args, **_more):
        raise SystemExit("it calls pytest")

    pytest.main = main


def doctests_of(path):
    """The examples of a text file."""
    import doctest

    return doctest.DocFileSuite(os.path.join(WORK, path), module_relative=False, encoding="utf-8")


def flat(suite):
    """The tests of a suite, one by one, in its order."""
    try:
        inner = iter(suite)
    except TypeError:
        return [suite]
    return [test for part in inner for test in flat(part)]


def shuffled(tests, seed):
    """Tests in another order, as `reordered` has it: modules, then classes, then tests.

    What Django keeps apart stays apart: first the tests that leave the database as it was.
    """

    def kind(test):
        names = [one.__name__ for one in type(test).__mro__]
        return (
            0
            if "TestCase" in names and "TransactionTestCase" in names
            else 1
            if "TransactionTestCase" not in names
            else 2
        )

    groups, order = {}, []
    for test in tests:
        key = (kind(test), type(test).__module__, type(test).__qualname__)
        if key not in groups:
            groups[key] = []
            order.append(key)
        groups[key].append(test)

    def drawn(*words):
        return hashlib.sha256((" ".join(map(str, (seed,) + words))).encode("utf-8", "replace")).digest()

    if seed == 0:
        places = {module: place for place, module in enumerate(dict.fromkeys(key[1] for key in order))}
        order = sorted(reversed(order), key=lambda key: (key[0], -places[key[1]]))
    else:
        order.sort(key=lambda key: (key[0], drawn(key[1]), drawn(key[1], key[2])))
    found = []
    for key in order:
        inside = groups[key]
        found += inside[::-1] if seed == 0 else sorted(inside, key=lambda test: drawn(test.id()))
    return found


def dotted(path):
    """The parts of a module's name, from its path."""
    parts = os.path.splitext(path)[0].split(os.sep)
    return parts[:-1] if parts[-1] == "__init__" else parts


def place_of(file):
    """A file as it is called in ids; None outside of the repository."""
    if not file:
        return None
    place = os.path.relpath(os.path.realpath(file), os.path.realpath(WORK))
    return None if place.startswith("..") else place.replace(os.sep, "/")
