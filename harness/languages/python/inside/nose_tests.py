# Runs inside a task's container, after harness/grading/inside/supervisor.py and in the same names, where test files hold tests as
# nose had them: functions that yield a function and its arguments, and plain classes with the fixtures of unittest.
# pytest ran the former until version 4; later ones leave them out or refuse them. Each thing that is yielded is a test,
# called by its place, as old versions of pytest did. Fixtures of plain classes it knows by other names alone.
import inspect
import unittest

FIXTURES = {
    "setup_method": ("setUp",),
    "teardown_method": ("tearDown",),
    "setup_class": ("setUpClass", "setupClass", "setUpAll", "setupAll", "setup_all"),
    "teardown_class": ("tearDownClass", "teardownClass", "tearDownAll", "teardownAll", "teardown_all"),
}
# What pytest calls a fixture of a class, and what nose took for one besides.


class Nose(object):
    """A plugin of pytest that collects what such functions yield, and has such fixtures called."""

    def pytest_pycollect_makeitem(self, collector, name, obj):
        import pytest

        if inspect.isclass(obj) and not issubclass(obj, unittest.TestCase):
            adopt_fixtures(obj)
        if int(pytest.__version__.split(".")[0]) < 4 or not inspect.isgeneratorfunction(obj):
            return None
        if not collector.funcnamefilter(name) or getattr(obj, "__test__", True) is False:
            return None
        if hasattr(obj, "_pytestfixturefunction") or type(obj).__name__ == "FixtureFunctionDefinition":
            return None
        return [made(collector, "%s[%s]" % (name, label), call) for label, call in yielded(collector, name, obj)]


def adopt_fixtures(cls):
    """Give a class its fixtures by the names that pytest knows, where it hasn't got these."""
    for known, others in FIXTURES.items():
        own = next((other for other in others if callable(getattr(cls, other, None))), None)
        if own and not hasattr(cls, known):
            call = calls_of(own)
            setattr(cls, known, classmethod(call) if known.endswith("_class") else call)


def calls_of(name):
    return lambda holder: getattr(holder, name)()


def yielded(collector, name, obj):
    """What a function yields: a label of each, by its arguments or else its place, and how it is called."""
    if inspect.isclass(getattr(collector, "obj", None)):  # pytest 7 and later: a method that is bound to nothing yet
        obj = getattr(collector.obj(), name)
    labels, calls = [], []
    for given in obj():
        given = tuple(given) if isinstance(given, (list, tuple)) else (given,)
        called = given and isinstance(given[0], str)  # it has a name of its own
        function, arguments = (given[1], given[2:]) if called else (given[0], given[1:])
        labels.append(given[0] if called else label_of(arguments))
        calls.append(caller(function, arguments))
    places = [label if label and labels.count(label) == 1 else str(place) for place, label in enumerate(labels)]
    return list(zip(places, calls))


def label_of(arguments):
    """The arguments, where all of them are words and numbers that are the same in every run; a file from the root."""
    words = [str(one) for one in arguments if one is None or isinstance(one, (str, int, float))]
    label = "-".join(word[len(WORK) + 1 :] if word.startswith(WORK + "/") else word for word in words)
    return label if len(words) == len(arguments) and len(label) <= 200 else ""


def caller(function, arguments):
    def call(*_self):
        function(*arguments)

    call.__signature__ = inspect.Signature()  # by it pytest finds the fixtures of a test
    return call


def made(collector, name, call):
    import pytest

    if hasattr(pytest.Function, "from_parent"):
        return pytest.Function.from_parent(collector, name=name, callobj=call)
    return pytest.Function(name, parent=collector, callobj=call)
