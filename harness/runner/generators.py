# Runs inside a task's container, after harness/runner/supervisor.py and in the same names, where test files hold tests as
# nose had them: functions that yield a function and its arguments. pytest ran those until version 4; later ones leave
# them out or refuse them. Each thing that is yielded is a test, called by its place, as old versions of pytest did.
import inspect


class Generators(object):
    """A plugin of pytest that collects what such functions yield."""

    def pytest_pycollect_makeitem(self, collector, name, obj):
        import pytest

        if int(pytest.__version__.split(".")[0]) < 4 or not inspect.isgeneratorfunction(obj):
            return None
        if not collector.funcnamefilter(name) or getattr(obj, "__test__", True) is False:
            return None
        if hasattr(obj, "_pytestfixturefunction") or type(obj).__name__ == "FixtureFunctionDefinition":
            return None
        return [made(collector, "%s[%s]" % (name, label), call) for label, call in yielded(collector, name, obj)]


def yielded(collector, name, obj):
    """What a function yields: a label of each, and how it is called."""
    if inspect.isclass(getattr(collector, "obj", None)):  # pytest 7 and later: a method that is bound to nothing yet
        obj = getattr(collector.obj(), name)
    found = []
    for place, given in enumerate(obj()):
        given = tuple(given) if isinstance(given, (list, tuple)) else (given,)
        label = str(place)
        if given and isinstance(given[0], str):
            label, given = repr(given[0]), given[1:]
        found.append((label, caller(given[0], given[1:])))
    return found


def caller(function, arguments):
    def call(*_self):
        function(*arguments)

    call.__wrapped_by_goldseam__ = True
    return without_arguments(call)


def without_arguments(call):
    """pytest reads what a test takes from its signature, and finds fixtures by that."""
    call.__signature__ = inspect.Signature()
    return call


def made(collector, name, call):
    import pytest

    if hasattr(pytest.Function, "from_parent"):
        return pytest.Function.from_parent(collector, name=name, callobj=call)
    return pytest.Function(name, parent=collector, callobj=call)
