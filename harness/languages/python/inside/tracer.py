# A pytest plugin that runs inside a task's container, on whatever Python (3.6 and later) the task has: which of some
# lines run while files are imported and the FAIL_TO_PASS tests run. It is put beside the tests for one trial with the
# fix, where nobody has a reason to lie. `WANTED` (path: lines) and `TESTS` (ids) are written below by lines.py.
import dis
import json
import os
import sys
import threading

ROOT = "/testbed"
ran = {}
known = {}


def lines_of(filename):
    """The set that collects a file's lines; None for a file that nobody asked for."""
    if filename not in known:
        path = os.path.relpath(os.path.realpath(os.path.join(ROOT, filename)), ROOT)
        known[filename] = ran.setdefault(path, set()) if path in WANTED else None  # noqa: F821
    return known[filename]


def traced(frame, event, arg):
    lines = lines_of(frame.f_code.co_filename)
    if lines is None:
        return None

    def inside(frame, event, arg):
        if event == "line":
            lines.add(frame.f_lineno)
        return inside

    return inside


def told(code, line):
    lines = lines_of(code.co_filename)
    if lines is not None:
        lines.add(line)
    return sys.monitoring.DISABLE


def begin():
    for tool in (5, 4, 3) if hasattr(sys, "monitoring") else ():
        if sys.monitoring.get_tool(tool) is None:
            sys.monitoring.use_tool_id(tool, "goldseam")
            sys.monitoring.register_callback(tool, sys.monitoring.events.LINE, told)
            sys.monitoring.set_events(tool, sys.monitoring.events.LINE)
            return
    threading.settrace(traced)
    sys.settrace(traced)


def executable(path):
    """The lines of a file that code stands on."""
    with open(os.path.join(ROOT, path), "rb") as file:
        waiting = [compile(file.read(), path, "exec", dont_inherit=True)]
    found = set()
    while waiting:
        code = waiting.pop()
        found.update(line for _, line in dis.findlinestarts(code) if line)
        waiting += [const for const in code.co_consts if hasattr(const, "co_code")]
    return found


def pytest_collection_modifyitems(items):
    """Only the tests in question; where none of a function's rows has an id that is known, all of them."""
    exact = set(TESTS)  # noqa: F821
    functions = {test_id.split("[")[0] for test_id in exact}
    met = {item.nodeid.split("[")[0] for item in items if item.nodeid in exact}
    items[:] = [
        item
        for item in items
        if item.nodeid in exact or item.nodeid.split("[")[0] in functions and item.nodeid.split("[")[0] not in met
    ]


def pytest_sessionfinish():
    import builtins

    found = {}
    for path, lines in WANTED.items():  # noqa: F821
        there = executable(path) & set(lines)
        found[path] = {"there": sorted(there), "ran": sorted(there & ran.get(path, set()))}
    with builtins.__goldseam__(0) as site:
        site(json.dumps(found))


begin()
