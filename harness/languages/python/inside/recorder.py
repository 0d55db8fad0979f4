# Runs inside a task's container, after harness/grading/inside/supervisor.py and in the same names: the process of the
# tests, with pytest in it and what writes a frame for each of pytest's reports.
import os
import resource
import sys

LONGEST_ID = 1 << 16  # of a test; a megabyte of parameters, told with each report, would be a flood


def run_tests(spec, frames, watch):
    """In the child: become the test process. Never returns."""
    os.setsid()
    quiet = os.open(os.devnull, os.O_RDONLY)
    os.dup2(quiet, 0)
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if "vary" in spec:
        vary(spec["vary"])
    enter(spec["pythonpath"])
    end_watch = set_tripwires(spec, frames.key, frames.fd)
    code = (run_suites if spec["suites"] else run_pytest)(spec, frames)
    flush()
    end_watch()
    frames.send("finish", code=int(code))
    if watch:
        watch.in_tests()
    os._exit(0)


def flush():
    """Write out what was printed, through whatever tests left in place of the streams; a closed one has nothing."""
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()
        except Exception:
            continue


def enter(pythonpath):
    """Import and look for files as the tests do."""
    import types

    for name in ("sitecustomize", "usercustomize"):
        sys.modules[name] = types.ModuleType(name)
    sys.argv = ["pytest"]
    sys.path = [entry for entry in sys.path if entry not in ("", ".")]
    import site

    site.main()
    os.chdir(WORK)
    sys.path.extend(os.path.normpath(os.path.join(WORK, entry)) for entry in pythonpath)
    run_by_scripts_alone()


def run_by_scripts_alone():
    """Keep a test file that ends in a bare `unittest.main()` from running, and exiting, where it is imported."""
    import unittest

    class Main(unittest.main):
        def __init__(self, *args, **kwargs):
            frame = sys._getframe(1)
            while frame and frame.f_code.co_name != "<module>":
                frame = frame.f_back
            if frame is None or frame.f_globals["__name__"] == "__main__":
                super(Main, self).__init__(*args, **kwargs)

    unittest.main = Main


def run_pytest(spec, frames):
    import pytest

    current = [""]
    hand_out_by(frames, current)
    raised = {}  # by what failed: the chain of exceptions, until the frame that takes it along

    installed = installed_plugins()

    class Recorder(object):
        @pytest.hookimpl(tryfirst=True)  # before pytest loads them
        def pytest_cmdline_parse(self, pluginmanager):
            for name in installed - set(spec["plugins"]):
                pluginmanager.set_blocked(name)

        @pytest.hookimpl(hookwrapper=True)
        def pytest_load_initial_conftests(self):
            outcome = yield
            if outcome.excinfo is not None:  # pytest only prints it and ends
                error = outcome.excinfo[1]
                frames.send("collect_error", id="conftest.py", text=str(error)[-4000:], raised=chain_of(error))

        @pytest.hookimpl(tryfirst=True)  # what groups or sorts tests after this keeps its say
        def pytest_collection_modifyitems(self, items):
            items[:] = [item for item in items if len(item.nodeid) <= LONGEST_ID]
            if "order" in spec.get("vary", {}):
                items[:] = reordered(items, spec["vary"]["order"])

        def pytest_exception_interact(self, node, call):
            raised[node.nodeid] = chain_of(call.excinfo.value)

        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_makereport(self, item, call):
            yield
            if call.excinfo is not None:  # only now: unittest's failures are put in by an inner hook
                raised[item.nodeid, call.when] = chain_of(call.excinfo.value)

        def pytest_runtest_logstart(self, nodeid):
            current[0] = nodeid

        def pytest_collectreport(self, report):
            if report.failed:
                found = raised.pop(report.nodeid, [])
                frames.send("collect_error", id=report.nodeid, text=text_of(report), raised=found)
            elif report.skipped:
                frames.send("collect_skip", id=report.nodeid, text=text_of(report))

        def pytest_collection_finish(self, session):
            frames.send("collected", ids=[item.nodeid for item in session.items])

        def pytest_runtest_logreport(self, report):
            found = raised.pop((report.nodeid, report.when), [])
            frames.send(
                "report",
                id=report.nodeid,
                when="part" if hasattr(report, "context") else report.when,  # of a subtest
                outcome=report.outcome,
                xfail=hasattr(report, "wasxfail"),
                seconds=round(report.duration, 6),
                text=text_of(report) if report.outcome != "passed" else "",
                raised=found if report.outcome == "failed" else [],
            )

        def pytest_internalerror(self, excrepr, excinfo):
            frames.send("internal_error", text=str(excrepr)[-4000:], raised=chain_of(excinfo.value))

    def text_of(report):
        try:
            text = report.longreprtext
        except AttributeError:
            text = str(report.longrepr or "")
        return text if len(text) <= 6000 else text[:2000] + "\n[…]\n" + text[-4000:]

    files = [path for path in spec["files"] if os.path.exists(os.path.join(WORK, path.split("::")[0]))]
    if not files:
        frames.send("collected", ids=[])
        return 5  # pytest's own code for "no tests collected"
    modules = [word for name in spec["plugins"] if name not in installed for word in ("-p", name)]
    more = [Nose()] if spec["nose"] else []
    more += stand_ins(installed - set(spec["plugins"]))
    if spec["chdir"]:
        os.chdir(os.path.join(WORK, spec["chdir"]))
        files = [os.path.join(WORK, path) for path in files]
    return pytest.main(list(spec["argv"]) + modules + files, plugins=[Recorder()] + more)


MARKERS = {
    "rerunfailures": "flaky(reruns=1, reruns_delay=0): runs once here",
    "retry": "flaky(retries=1, delay=0): runs once here",
    "xdist": "xdist_group(name): runs in one process here",
    "forked": "forked: runs in the same process here",
    "pytest_cov": "no_cover: nothing is covered here",
    "random_order": "random_order(disabled=True): runs in order here",
}
OPTIONS = {
    "xdist": {"numprocesses": None, "maxprocesses": None, "dist": "no", "tx": []},
    "pytest_cov": {"cov": [], "no-cov": False},
    "rerunfailures": {"reruns": None},
}
HOOKS = {
    "xdist": {
        "pytest_configure_node": lambda node: None,
        "pytest_handlecrashitem": lambda crashitem, report, sched: None,
        "pytest_testnodedown": lambda node, error: None,
        "pytest_testnodeready": lambda node: None,
        "pytest_xdist_auto_num_workers": lambda config: None,
        "pytest_xdist_getremotemodule": lambda: None,
        "pytest_xdist_make_scheduler": lambda config, log: None,
        "pytest_xdist_newgateway": lambda gateway: None,
        "pytest_xdist_node_collection_finished": lambda node, ids: None,
        "pytest_xdist_rsyncfinish": lambda source, gateways: None,
        "pytest_xdist_rsyncstart": lambda source, gateways: None,
        "pytest_xdist_setupnodes": lambda config, specs: None,
    },
}


def stand_ins(kept_off):
    """Plugins with what tests and their conftest ask for by name of those that are not loaded."""
    import pytest

    class Names(object):
        def pytest_addhooks(self, pluginmanager):
            for name in kept_off.intersection(HOOKS):
                pluginmanager.add_hookspecs(type(name, (object,), HOOKS[name]))

        def pytest_addoption(self, parser):
            for name in kept_off.intersection(OPTIONS):
                for option, value in OPTIONS[name].items():
                    parser.addoption("--" + option, default=value)

        def pytest_configure(self, config):
            for name in kept_off.intersection(MARKERS):
                config.addinivalue_line("markers", MARKERS[name])

    class OfXdist(object):
        @pytest.fixture(scope="session")
        def worker_id(self):
            return "master"

        @pytest.fixture(scope="session")
        def testrun_uid(self):
            return "0" * 32

    class OfCov(object):
        @pytest.fixture
        def no_cover(self):
            return None

        @pytest.fixture
        def cov(self):
            return None

    fixtures = {"xdist": OfXdist, "pytest_cov": OfCov}
    return [Names()] + [fixtures[name]() for name in sorted(kept_off.intersection(fixtures))]


def installed_plugins():
    """The names of the entry points by which pytest finds plugins."""
    try:
        from importlib.metadata import distributions
    except ImportError:
        try:
            from importlib_metadata import distributions
        except ImportError:
            from pkg_resources import iter_entry_points

            return set(point.name for point in iter_entry_points("pytest11"))
    return set(point.name for one in distributions() for point in one.entry_points if point.group == "pytest11")


def chain_of(error):
    """What was raised and what lies behind it, outermost first. Evidence for a label, no part of a verdict."""
    chain, seen = [], []
    try:
        while error is not None and len(chain) < 6 and not any(error is known for known in seen):
            seen.append(error)
            chain.append(link_of(error))
            inner = getattr(error, "exceptions", None)
            error = inner[0] if isinstance(inner, tuple) and inner else error.__cause__ or error.__context__
    except Exception:
        pass
    return chain


def link_of(error):
    """One exception: its class and that one's bases, and what says more than their names."""
    link = {"names": [str(kind.__name__)[:100] for kind in type(error).__mro__[:-1]][:12]}
    number = getattr(error, "errno", None)
    if isinstance(error, OSError) and isinstance(number, int) and abs(number) < 1 << 31:
        link["errno"] = number
    if isinstance(error, ImportError):
        name = str(error.name or "")[:200]
        if name and not is_found(name.split(".")[0]):
            link["missing"] = name  # as a whole, not a part of a package that is there
    if isinstance(error, SyntaxError):
        link["file"] = str(error.filename or "")[:500]
    if type(error).__name__ == "FixtureLookupError":
        link["says"] = "fixture '%s' not found" % str(error.argname)[:200]
    elif isinstance(error, (ImportError, AttributeError, NameError, TypeError)) or "Failed" in link["names"]:
        link["says"] = str(error)[:500]
    return link


def is_found(module):
    import importlib.util

    try:
        return module in sys.modules or importlib.util.find_spec(module) is not None
    except Exception:
        return True
