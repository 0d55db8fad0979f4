"""What the host makes of numpy's arrays and testing functions is what numpy makes of them."""

from __future__ import annotations

import ast
import functools
import itertools
import warnings

import numpy as np
import pandas as pd
import pytest

from harness.core.expectations import Site
from harness.judging import values
from harness.judging.operators import holds
from miner.languages.base import Mode
from miner.languages.python.stripping.source import StrippedSource
from tests import inside

NAN, INF = float("nan"), float("inf")
SIDES = [
    *(1, 1.0, 1.0000000001, 1.00001, 0.0, -0.0, NAN, INF, -INF, True, None, "a", 1 + 2j, complex(NAN, 0)),
    *([1, 2], (1, 2), [[1, 2], [3, 4]], [], [NAN, -0.0], {"a": 1}, {"a": np.array([1, 2])}, {}),
    *(np.array([1, 2]), np.array([1.0, 2.0]), np.array([1.0, 2.00001]), np.array([1, 2], dtype=object)),
    *(np.array([1.0, NAN]), np.array([INF, 1.0]), np.array([-INF, 1.0]), np.array([0.0, -0.0]), np.array([])),
    *(np.array([[1, 2], [3, 4]]), np.array([[1], [2]]), np.array([1]), np.zeros((2, 0)), np.zeros((0, 2))),
    *(np.array(["a", "b"]), np.array([b"a"]), np.array([True, False]), np.array([1 + 2j, 3]), np.float32(0.1)),
    *(np.array([0.1], dtype=np.float32), np.arange(24).reshape(2, 3, 4), np.array(3), np.array([1, 1])),
]
FUNCTIONS = {
    "np.testing.assert_equal(a, b)": np.testing.assert_equal,
    "np.testing.assert_array_equal(a, b)": np.testing.assert_array_equal,
    "np.testing.assert_allclose(a, b)": np.testing.assert_allclose,
    "np.testing.assert_allclose(a, b, 1e-3, atol=0.1, equal_nan=False)": functools.partial(
        np.testing.assert_allclose, rtol=1e-3, atol=0.1, equal_nan=False
    ),
    "np.testing.assert_almost_equal(a, b)": np.testing.assert_almost_equal,
    "np.testing.assert_almost_equal(a, b, 3)": functools.partial(np.testing.assert_almost_equal, decimal=3),
    "np.testing.assert_array_almost_equal(a, b)": np.testing.assert_array_almost_equal,
    "np.testing.assert_array_almost_equal(a, b, decimal=3)": functools.partial(
        np.testing.assert_array_almost_equal, decimal=3
    ),
    "assert np.allclose(a, b)": lambda a, b: must(np.allclose(a, b)),
    "assert np.allclose(a, b, equal_nan=True)": lambda a, b: must(np.allclose(a, b, equal_nan=True)),
    "assert np.array_equal(a, b)": lambda a, b: must(np.array_equal(a, b)),
    "self.assertTrue(np.array_equal(a, b, equal_nan=True))": lambda a, b: must(np.array_equal(a, b, equal_nan=True)),
    "assert np.isclose(a, b).all()": lambda a, b: must(np.isclose(a, b).all()),
    "assert np.all(np.isclose(a, b, rtol=0.1))": lambda a, b: must(np.all(np.isclose(a, b, rtol=0.1))),
    "assert np.isclose(a, b)": lambda a, b: must(np.isclose(a, b)),
    "assert np.all(a == b)": lambda a, b: must(np.all(a == b)),
    "assert (a == b).all()": lambda a, b: must((a == b).all()),
}


def ast_options(text):
    """The keywords of a call, of `, name=value`."""
    call = ast.parse(f"f(a{text})", mode="eval").body
    return {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}


def must(holds):
    assert holds


@functools.cache
def runner():
    names = {"__name__": "runner"}
    exec(compile(inside.part("supervisor", "recorder", "handout"), "<goldseam>", "exec"), names)
    return names


def handed_out(value):
    return runner()["encoded"](value)


def both(sides):
    """Each value beside each: the two, and both as they are read, the one that came out and the one that is kept."""
    told = [handed_out(side) for side in sides]
    out = zip(sides, map(values.decode, told), strict=True)
    kept = zip(sides, (values.decode(one, kept=True) for one in told), strict=True)
    return [(left, other, one, wanted) for (left, one), (other, wanted) in itertools.product(out, kept)]


def assertion(statement):
    text = (
        f"import numpy as np\nimport pandas as pd\n\n\nclass TestA:\n    def test_a(self, a, b):\n        {statement}\n"
    )
    (slot,) = StrippedSource(text.encode(), first=0, product=lambda _: False).slots
    return slot.assertion


def as_site(found):
    options = {name: handed_out(ast.literal_eval(node)) for name, node in found.kept.items()}
    return Site(op=found.op, sides=("out", "kept"), options={**found.options, **options})


def is_refused(left, other):
    """Where numpy compares with nothing, so that an empty array would equal every scalar; or stretches an array."""
    first, second = (() if isinstance(side, dict) else np.shape(side) for side in (left, other))
    return first != second and (0 in first or 0 in second or (first and second))


def is_for(statement, side):
    """Whether a function takes a value: another value of its kind is never expected of it."""
    if "assert_equal" in statement:
        return True
    if "all()" in statement and np.shape(side) == ():
        return False
    if statement == "assert np.isclose(a, b)" and np.shape(side) == (1,):
        return False  # true or false, though an array
    if "np.all(a" in statement and isinstance(side, list) and NAN in side:
        return False  # equal to itself alone, as the same object
    return not isinstance(side, dict | str | None) and getattr(side, "dtype", None) != np.dtype(object)


@pytest.mark.parametrize("statement", FUNCTIONS)
def test_a_comparison_holds_where_numpy_says_so(statement):
    site, decide, differing = as_site(assertion(statement)), FUNCTIONS[statement], []
    for left, other, out, kept in both([side for side in SIDES if is_for(statement, side)]):
        with warnings.catch_warnings(action="ignore"):
            right = passes(decide, left, other) and not is_refused(left, other)
        if holds(site, [out], [kept]) != right:
            differing.append((left, other, right))
    assert differing == []


def test_a_scalar_stands_for_no_list_of_it_where_numpy_compares_neither_as_an_array():
    site = as_site(assertion("np.testing.assert_equal(a, b)"))
    assert holds(site, [values.decode(handed_out(np.zeros(3)))], [[0, 0, 0]])
    assert not holds(site, [0], [[0, 0, 0]])
    assert not holds(site, [[0, 0, 0]], [0])


def passes(decide, left, other):
    try:
        decide(left, other)
    except Exception:  # noqa: BLE001 - whatever numpy raises
        return False
    return True


DAYS = pd.date_range("2020-01-01", periods=2)
TABLES = [
    *(pd.Series([1, 2]), pd.Series([1.0, 2.0]), pd.Series([1.0, 2.000001]), pd.Series([1, 2], name="a")),
    *(pd.Series([1.0, NAN]), pd.Series([1, 2], index=[5, 6]), pd.Series([1, 2], index=["a", "b"]), pd.Series([1])),
    *(pd.Series([1, 2], index=pd.Index([0, 1], name="n")), pd.Series([1, 2], index=[0.0, 1.0])),
    *(pd.Series([1, 2], index=DAYS), pd.Series([1, 2], index=DAYS.tz_localize("UTC")), pd.Series(DAYS)),
    *(pd.Series([1, 2], index=pd.DatetimeIndex(list(DAYS))), pd.Series(["a", "b"]), pd.Series([], dtype=float)),
    *(pd.Series(["a", 1], dtype=object), pd.Series([True, False]), pd.Series([1, 2], dtype="float32")),
    *(pd.Series([1, 2], dtype="Int64"), pd.Series([1, None], dtype="Int64"), pd.Series(["a", "b"], dtype="category")),
    *(pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1.0, 2.0]}), pd.DataFrame({"b": [1, 2]}), pd.DataFrame()),
    *(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), pd.DataFrame({"b": ["x", "y"], "a": [1, 2]})),
    *(pd.DataFrame({"a": [1, 2], "b": [1.5, NAN]}), pd.DataFrame({"a": [1, 2], "b": [1.5000001, NAN]})),
    *(
        pd.Index([1, 2]),
        pd.RangeIndex(1, 3),
        pd.Index([1.0, 2.0]),
        pd.Index(["a", "b"]),
        DAYS,
        pd.Index([1, 2], name="a"),
    ),
    *(pd.MultiIndex.from_tuples([(1, "a"), (2, "b")]), pd.MultiIndex.from_tuples([(1, "a"), (2, "c")])),
    *(np.array([1, 2]), [1, 2], 1, None),
]
TABLE_FUNCTIONS = {
    f"pd.testing.assert_{kind}_equal(a, b{more})": functools.partial(
        getattr(pd.testing, f"assert_{kind}_equal"), **ast_options(more)
    )
    for kind, mores in {
        "series": ["", ", check_dtype=False", ", check_names=False", ", check_exact=True", ", check_freq=False"],
        "frame": ["", ", check_dtype=False", ", rtol=0.1, atol=0.1, obj='it'"],
        "index": ["", ", check_names=False"],
    }.items()
    for more in mores
}


def is_table_refused(left, other):
    """Where goldseam is stricter: what has categories or lacks values, and integers beside floats."""
    return any(str(getattr(side, "dtype", "")) in ("category", "Int64") for side in (left, other))


@pytest.mark.parametrize("statement", TABLE_FUNCTIONS)
def test_tables_are_equal_where_pandas_says_so(statement):
    site, differing = as_site(assertion(statement)), []
    for left, other, out, kept in both(TABLES):
        with warnings.catch_warnings(action="ignore"):
            right = passes(TABLE_FUNCTIONS[statement], left, other)
        held = holds(site, [out], [kept])
        if held != right and not (right and is_table_refused(left, other)):
            differing.append((left, other, right))
    assert differing == []


ARRAY = ["a", [2, 2], [["i", "1"], ["i", "2"], ["i", "3"], ["i", "4"]]]


def test_an_array_comes_out_with_its_shape():
    assert handed_out(np.array([[1, 2], [3, 4]])) == ARRAY
    array = values.decode(ARRAY)
    assert (array.shape, array.as_lists()) == ((2, 2), [[1, 2], [3, 4]])
    assert values.kind_names(array) == ("numpy.ndarray",)


@pytest.mark.parametrize("shape", [[], [2], [5], [-1, -4], [4.0], ["4"], None, [True, 4], [1] * 65, [2**40, 0]])
def test_an_array_that_is_not_of_its_shape_is_none(shape):
    with pytest.raises(values.MalformedError):
        values.decode(["a", shape, ARRAY[2]])


@pytest.mark.parametrize("op", ["==", "!=", "in", "not_in", "is_not", "<", "truth", "not", "count_equal", "almost"])
def test_no_other_operator_holds_for_an_array(op):
    sides = ("out",) if op in ("truth", "not") else ("out", "kept")
    array, kept = values.decode(ARRAY), values.decode(ARRAY, kept=True)
    for other in (kept, [kept], 3):
        assert not holds(Site(op=op, sides=sides), [array], [other][: len(sides) - 1])


def test_an_approximation_is_of_arrays_too():
    expected = np.array([1.0, 2.0])
    others = [[1.0, 2.0], 1.0, np.array([1.0]), np.array([[1.0, 2.0]])]
    for actual in (expected, expected + 1e-9, expected + 1e-3, *others):
        kept = values.Approx(expected=values.decode(handed_out(expected), kept=True))
        shapes = {np.shape(actual), ()} - {expected.shape}
        assert (values.decode(handed_out(actual)) == kept) == (actual == pytest.approx(expected) and shapes == {()})
    assert values.decode(handed_out(np.array([2.0, 2.0]))) == values.Approx(expected=2.0)


def test_objects_of_the_work_tree_in_an_array_compare_by_their_own_code():
    compares = runner()["compares_itself"]
    own = type("Own", (), {"__eq__": lambda _self, _other: True, "__module__": "__main__"})()
    assert compares(np.array([1, own]), 20)
    assert not compares(np.array([1, None]), 20)
    assert not compares(np.array([1, 2]), 20)


def test_what_is_too_large_is_not_handed_out():
    assert handed_out(np.zeros(20_001)) == ["x", "too large"]


SERIES = handed_out(pd.Series([1, 2], name="a"))


@pytest.mark.parametrize("labels", [{"index": ["i", "3"]}, {"index": ARRAY}, {"kind": ["i", "3"]}, {"kind": None}])
def test_labels_that_are_none_equal_nothing(labels):
    site = as_site(assertion("pd.testing.assert_series_equal(a, b)"))
    told = dict(SERIES[3]) | labels
    forged = [*SERIES[:3], [list(pair) for pair in told.items()]]
    series = values.decode(SERIES, kept=True)
    assert holds(site, [series], [series])
    assert not holds(site, [values.decode(forged)], [series])


@pytest.mark.parametrize("more", [", strict=True", ", rtol=a"])
def test_what_the_host_does_not_know_is_decided_by_its_result(more):
    found = assertion(f"np.testing.assert_allclose(a, b{more})")
    assert found.modes[1] is Mode.RESULT
    assert not holds(as_site(found), [1], [1])
