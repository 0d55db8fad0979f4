# Runs inside a task's container, after harness/grading/inside/supervisor.py and in the same names: what stripped tests hand out.
# A stripped assertion is `with __goldseam__(SLOT) as h: h(operand, …)`. Whatever its body raises is caught, as an exception
# is one kind of value; one frame leaves, and the test goes on. What is expected stays on the host, which compares; only where
# the product's own code compares, or the fix is recorded, both sides are here.
import __future__
import collections
import collections.abc
import io
import itertools
import operator
import time
import warnings
from json import dumps

DEPTH = 40
ITEMS = 20000
MOST_VALUES = 5000
"""Of one assertion in one test; with more it is not judged on the host, and one more says so."""
LETTERS = 1 << 18
OPERATORS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.is_,
    "is_not": operator.is_not,
    "in": lambda left, right: left in right,
    "not_in": lambda left, right: left not in right,
}


def hand_out_by(frames, current):
    """Give stripped tests what they call; `current` holds the id of the test that runs."""
    import builtins

    builtins.__goldseam__ = HandOut(frames, current)


class HandOut(object):
    """Makes one site a call, and counts how often a test comes to each slot."""

    def __init__(self, frames, current):
        self.frames = frames
        self.current = current  # holds the id of the test that runs
        self.counts = {}
        self.began = time.time()

    def __call__(self, slot, passes_on=False, by_pytest=False):
        return Site(self, slot, passes_on, by_pytest)

    @property
    def deprecations(self):
        """What `deprecated_call` waits for: since pytest 8 one class more."""
        import pytest

        kinds = (DeprecationWarning, PendingDeprecationWarning)
        return kinds + (FutureWarning,) if int(pytest.__version__.partition(".")[0]) >= 8 else kinds

    def text_matched(self, error):
        """What `match` of what `pytest.raises` gives searches."""
        return text_matched(error, of_block=False)

    def send(self, slot, values, raised):
        key = (self.current[0], slot)
        count = self.counts.get(key, 0)
        self.counts[key] = count + 1
        if count <= MOST_VALUES:
            self.frames.send("value", id=key[0], slot=slot, n=count, values=values, raised=raised)


class Site(object):
    """One assertion of a stripped test; afterwards it stands for what pytest and unittest tell of a caught exception."""

    def __init__(self, out, slot, passes_on, by_pytest):
        self.out, self.slot = out, slot
        self.by_pytest = by_pytest  # which knows more of what is caught than unittest
        self.passes_on = passes_on  # to a block around that waits for what is raised
        self.values = []
        self.caught = None
        self.catcher = None

    def __enter__(self):
        return self if self.catcher is None else self.catcher.__enter__()

    def __call__(self, *values):
        self.values.extend(encoded(value, left=with_own_fields()) for value in values)
        return self

    def searched(self, *values):
        """Hand out values, the last of which is searched by `in`: where it is gone through, as a list."""
        return self(*(values[:-1] + (gone_through(values[-1]),)))

    def looked_up(self, *values):
        """The same, where a mapping that finds keys by code of its own comes out as what can't be searched outside."""
        if looks_up_itself(values[-1]):
            self(*values[:-1]).values.append(["x", "it finds keys by code of its own"])
        else:
            self.searched(*values)

    def recorded_lookup(self, item, container):
        """Hand out both sides of `in`, and whether searching runs code of the work tree."""
        self.recorded(item, container)
        if looks_up_itself(container):
            self.values[1] = ["x", "it finds keys by code of its own"]
        return self

    def truth_alone(self, value):
        """Hand out a value of which is asked only whether it is true: of an object nothing but that."""
        form = encoded(value, left=with_own_fields())
        if isinstance(form, list) and form[0] == "o":
            form = form[:2] + [None, None, bool(value)]
        self.values.append(form)

    def recorded_truth(self, value):
        """Hand out a value in the same way, and that nothing else is compared inside."""
        self.truth_alone(value)
        return self.compared_alone(value)

    def of_kind(self, value):
        """Hand out a value of which is asked what it is an instance of: one that only does as others do, as an object."""
        form = encoded(value, left=with_own_fields())
        self.values.append(form if is_of_kind_told(value, form) else ["o", name_of(type(value)), None, None, True])
        return self

    def recorded_kind(self, value, kinds):
        """Hand out a value in the same way, the classes, and that nothing else is compared inside."""
        self.of_kind(value).values.append(encoded(kinds))
        return self.compared_alone(value)

    def called(self, mock, name="call_args_list"):
        """Hand out a mock's calls, by the name under which it has them."""
        self([bound_call(mock, call) for call in getattr(mock, name)])

    def recorded_calls(self, mock, expected, name="call_args_list"):
        """Hand out a mock's calls and what is expected of them, and whether comparing them runs code of the work tree."""
        if isinstance(expected, list) and getattr(mock, "_spec_signature", None) is not None:
            raise TypeError("calls of its parts are compared by their signatures")
        calls = expected if isinstance(expected, list) else bound_call(mock, expected)
        return self.recorded([bound_call(mock, call) for call in getattr(mock, name)], calls)

    def unwritten(self, *paths):
        """Make sure that no test has written what serves as expected."""
        if any(os.stat(str(path)).st_mtime >= self.out.began for path in paths):
            raise AssertionError("a file beside the tests was written")
        return self

    def by_sure(self):
        """Make sure that this sure compares by `==`: before 1.4 it asked for one class as well."""
        import sure

        if [int(part) for part in sure.version.split(".")[:2]] < [1, 4]:
            raise AssertionError("sure compares classes")
        return self

    def beside_result(self, *values):
        """Hand out what the product's own code compares."""
        self.values.extend(map(encoded, values))

    def recorded(self, *operands):
        """Hand out all sides of an assertion, and whether comparing them runs code of the work tree."""
        self.beside_result(*operands)
        self.values.append(any(compares_itself(operand, 20) for operand in operands))
        return self

    def recorded_alone(self, value, *others):
        """The same of an assertion for which nothing inside of a value is compared."""
        self.beside_result(value, *others)
        return self.compared_alone(value)

    def compared_alone(self, value):
        """Hand out whether comparing a value, and nothing inside of it, runs code of the work tree."""
        self.values.append(isinstance(value, BY_WHAT_THEY_DO) and compares_by_own_code(type(value)))
        return self

    def check(self, name, left, right):
        """Hand out both sides and what comes of comparing them, which may be the product's own code."""
        self.beside_result(left, right)
        self.values.append(bool(OPERATORS[name](left, right)))
        return self

    def truth(self, value):
        self.beside_result(value)
        self.values.append(bool(value))
        return self

    def example(self, source, names, *expected):
        """Run an example of a doctest and hand out what it prints and raises; expectations of it are for recording."""
        printed, shown, error = sys.stdout, io.StringIO(), None
        sys.stdout = shown
        try:
            exec(compile(source, "<example>", "single", futures_of(names), True), names)
        except KeyboardInterrupt:
            raise
        except BaseException as raised:  # it is to be compared, whatever it is
            error = raised
        finally:
            sys.stdout = printed
        self.values.extend(encoded(one) for one in expected)
        self((shown.getvalue(), error))
        if getattr(error, "__notes__", None):
            self.values[-1] = ["x", "what doctest shows of notes is another thing in each version"]
        if expected:
            self.values.extend([False, encoded(flags_of_doctest(sys._getframe(1)))])
        self.out.send(self.slot, self.values, None)

    def warning(self):
        """Catch warnings in place of exceptions."""
        self.catcher = Warnings()
        return self

    def waiting(self, block):
        """Hand out what a block of pytest waits for: classes and a pattern, or nothing."""
        kinds = getattr(block, "expected_exception", getattr(block, "expected_exceptions", None))
        if kinds is not None:
            self(kinds, getattr(block, "match_expr", getattr(block, "match", None)))
        return self

    def __exit__(self, kind, error, trace):
        if self.passes_on and error is not None:
            return False
        if self.catcher is not None:
            self.catcher.__exit__(kind, error, trace)
            again = is_emitted_again if self.by_pytest else lambda one: False
            self.values.append(["l", [encoded_warning(one, again(one)) for one in self.catcher.seen]])
        self.caught = (kind, error, trace)
        self.out.send(
            self.slot,
            self.values,
            None if error is None else encoded_error(error, text_of=text_matched if self.by_pytest else str),
        )
        return self.catcher is None and not isinstance(error, GeneratorExit)

    @property
    def exception(self):
        if self.caught is None or self.caught[1] is None:
            raise AttributeError("nothing was raised")
        return self.caught[1]

    def __getattr__(self, name):
        if name.startswith("__") or self.caught is None or self.caught[1] is None:
            raise AttributeError(name)
        from _pytest._code import ExceptionInfo

        caught = (type(self.caught[1]),) + self.caught[1:]
        make = getattr(ExceptionInfo, "from_exc_info", ExceptionInfo)
        return getattr(make(caught), name)


GONE_THROUGH = (collections.deque, collections.abc.ValuesView)
"""What `in` goes through item by item although a method of its own does it."""


def gone_through(container):
    """What `in` searches: a list of what it goes through, else the container itself."""
    if isinstance(container, GONE_THROUGH) or not hasattr(type(container), "__contains__"):
        return list(itertools.islice(container, ITEMS + 1))
    return container


def looks_up_itself(container):
    """Whether a mapping finds keys by code of the work tree, or by that of a library in another spelling."""
    kind = type(container)
    if kind is dict or not isinstance(container, collections.abc.Mapping):
        return False
    owners = [next(base for base in kind.__mro__ if name in vars(base)) for name in ("__contains__", "__getitem__")]
    if all(owner.__module__.lstrip("_") in PLAIN_MODULES for owner in owners):
        return False
    if any(is_of_tree(owner) for owner in owners):
        return True
    texts = {key for key in container if isinstance(key, str)}
    spellings = {spelling for text in texts for spelling in (text.lower(), text.upper(), text.swapcase())}
    return any(spelling in container for spelling in spellings - texts)


KINDS = {
    "t": tuple,
    "i": int,
    "f": float,
    "c": complex,
    "s": str,
    "b": bytes,
    "B": bytearray,
    "l": list,
    "S": set,
    "d": dict,
    "D": dict,
    "C": dict,
}


def is_of_kind_told(value, form):
    """Whether a value is of the class by whose form it comes out, if it is one of several classes that have this form."""
    return not isinstance(form, list) or isinstance(value, KINDS.get(form[0], object))


PLAIN_MODULES = ("builtins", "collections", "collections_abc", "types")


def bound_call(mock, call):
    """The arguments of a call by place and by name, as the mock's signature takes them, where it has one."""
    inner = mock.mock if type(mock).__name__ == "function" else mock  # of `create_autospec`
    signature = getattr(inner, "_spec_signature", None)
    if signature is None:
        return call
    try:
        bound = signature.bind(*call[0], **call[1])
    except TypeError:
        return call
    return bound.args, bound.kwargs


def futures_of(names):
    """What a doctest's names have of `__future__`, as flags of `compile`."""
    features = [getattr(__future__, name) for name in __future__.all_feature_names]
    return sum(one.compiler_flag for one in features if any(one is value for value in names.values()))


def flags_of_doctest(frame):
    """The names of the options under which the doctest that runs is compared; None where none runs."""
    from doctest import OPTIONFLAGS_BY_NAME

    while frame is not None:
        flags = getattr(frame.f_locals.get("self"), "optionflags", None)
        if isinstance(flags, int):
            return sorted(name for name, flag in OPTIONFLAGS_BY_NAME.items() if flags & flag)
        frame = frame.f_back
    return None


COMPARING = (
    "__eq__",
    "__ne__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__contains__",
    "__bool__",
    "__len__",
    "__sub__",
    "__rsub__",
    "__abs__",
    "__round__",
    "startswith",
    "endswith",
)


def compares_itself(value, depth):
    """Whether a value, or one inside of it, is of a class whose comparisons are code of the work tree."""
    kind = type(value)
    if depth == 0:
        return True
    if kind in (list, tuple, set, frozenset):
        return any(compares_itself(item, depth - 1) for item in value)
    if kind is dict:
        return any(compares_itself(item, depth - 1) for pair in value.items() for item in pair)
    if labels_of(value, kind):
        return compares_itself(value.to_numpy(dtype=object), depth - 1)
    if is_array(kind):
        return value.dtype.hasobject and any(compares_itself(item, depth - 1) for item in value.flat)
    if kind not in compares_itself.known:
        names = None if issubclass(kind, BY_WHAT_THEY_DO) else fields_of(kind)
        compares_itself.known[kind] = compares_by_own_code(kind) if names is None else names
    how = compares_itself.known[kind]
    return how if how in (True, False) else any(compares_itself(getattr(value, name), depth - 1) for name in how)


compares_itself.known = {}  # whether it does, or the fields that are compared; by class, as tests hold many values of few


def compares_by_own_code(kind):
    for name in COMPARING:
        for base in kind.__mro__:
            if name in vars(base):
                if is_of_tree(base):
                    return True
                break
    return False


def is_of_tree(kind):
    """Whether a class is of a module of the work tree, or of the program."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None) or ""  # Python's own have none
    return kind.__module__ == "__main__" or (bool(file) and os.path.abspath(file).startswith(WORK + os.sep))


class Warnings(object):
    """A list of the warnings of a block, as pytest.warns and assertWarns give it."""

    def __init__(self):
        self.seen = []

    def __enter__(self):
        self.guard = warnings.catch_warnings(record=True)
        self.seen = self.guard.__enter__()
        warnings.simplefilter("always")
        return self

    def __exit__(self, *caught):
        self.guard.__exit__(*caught)

    def __iter__(self):
        return iter(self.seen)

    def __len__(self):
        return len(self.seen)

    def __getitem__(self, index):
        return self.seen[index]

    @property
    def list(self):
        return self.seen

    def pop(self, kind=Warning):
        """The first warning of just this class, else that of the class next to it."""
        best = None
        for index, one in enumerate(self.seen):
            if one.category is kind:
                return self.seen.pop(index)
            is_nearer = best is None or not issubclass(one.category, self.seen[best].category)
            if issubclass(one.category, kind) and is_nearer:
                best = index
        if best is None:
            raise AssertionError("no such warning")
        return self.seen.pop(best)

    def only(self):
        """The one warning; of several nobody can tell here which unittest would give."""
        if len({(one.category, str(one.message)) for one in self.seen}) != 1:
            raise AttributeError("not one warning")
        return self.seen[0]

    @property
    def warning(self):
        return self.only().message

    @property
    def filename(self):
        return self.only().filename

    @property
    def lineno(self):
        return self.only().lineno


class TooMuch(Exception):
    """A value that is larger than what may leave."""


class Allowance(object):
    """What one value may still take; `own_fields` is for objects that compare themselves, as they may be large graphs."""

    def __init__(self, items=ITEMS, letters=LETTERS, own_fields=None):
        self.items, self.letters, self.own_fields = items, letters, own_fields

    def take(self, items=0, letters=0):
        self.items -= items
        self.letters -= letters
        if self.items < 0 or self.letters < 0:
            raise TooMuch()


def with_own_fields():
    """What a value may take where the product's own code compares nothing."""
    within = Allowance(ITEMS // 10, LETTERS >> 4)
    within.own_fields = within
    return Allowance(own_fields=within)


def encoded(value, depth=DEPTH, left=None):
    """A value as JSON, by what it does: iterate, give items, be a number or a text."""
    try:
        return encoded_within(value, depth, left or Allowance())
    except TooMuch:
        return ["x", "too large"]
    except Exception as error:
        return ["x", "raised %s" % type(error).__name__]


def encoded_warning(caught, raises):
    """A warning as JSON, and whether it would raise outside of the block that caught it."""
    return encoded_error(caught.message)[:-1] + [[["raises", True]] if raises else []]


def is_emitted_again(caught):
    """Whether a warning raises where pytest emits it again, as it does since version 8 with what nobody waited for."""
    import pytest

    if int(pytest.__version__.partition(".")[0]) < 8:
        return False
    with warnings.catch_warnings(record=True):
        try:
            warnings.warn_explicit(caught.message, caught.category, caught.filename, caught.lineno, "warnings")
        except Warning:
            return True
    return False


def text_matched(error, of_block=True):
    """What pytest searches for a pattern: since version 8 an exception's notes, too."""
    from _pytest._code import ExceptionInfo, code

    if hasattr(code, "stringify_exception"):
        return code.stringify_exception(error, include_subexception_msg=not of_block)
    joined = getattr(ExceptionInfo, "_stringify_exception", None)
    return str(error) if joined is None else joined(None, error)


def encoded_error(error, depth=DEPTH, left=None, text_of=str):
    """An exception as JSON: the names of its classes, its text and its arguments."""
    left = left or Allowance()
    try:
        text = text_of(error)[:LETTERS]
    except Exception:
        text = ""
    left.take(letters=len(text))
    try:
        arguments = [encoded(argument, depth - 1, left) for argument in error.args]
    except Exception:
        arguments = []
    return ["e", names_of(type(error)), text, arguments, []]


def names_of(kind):
    return [name_of(one) for one in type.mro(kind) if one is not object]


def name_of(kind):
    return "%s.%s" % (kind.__module__, kind.__qualname__)


def encoded_within(value, depth, left):
    left.take(items=1)
    if value is None or value is True or value is False:
        return value
    if value is Ellipsis or value is NotImplemented:
        return ["k", "Ellipsis" if value is Ellipsis else "NotImplemented"]
    if depth == 0:
        return ["x", "too deep"]
    kind = type(value)
    if kind.__module__ in ("typing", "types") and name_of(kind) in GENERIC:
        return encoded_generic(value, kind, depth, left)
    if value.__class__ is not kind:
        form = form_claimed(value, kind)
        if form is not value:
            return encoded_within(form, depth - 1, left)
        return ["o", name_of(kind), None, None] + truth_of(value, kind)
    scalar = encoded_scalar(value, left)
    if scalar is not None:
        return scalar
    if is_array(kind):
        return encoded_array(value, depth, left)
    labels = labels_of(value, kind)
    if labels:
        told = [[name, encoded_within(label, depth - 1, left)] for name, label in labels]
        return encoded_array(value, depth, left) + [told]
    for tag, kinds in SEVERAL:
        if isinstance(value, kinds):
            items = [encoded_within(item, depth - 1, left) for item in value]
            return [tag, sorted(items, key=dumps) if tag in ("F", "S") else items]  # the same in every process
    if isinstance(value, (dict, collections.abc.Mapping)):
        pairs = value.items()
        tag = MAPPINGS.get(owner_of_equality(kind), "d")
        return [tag, [[encoded_within(k, depth - 1, left), encoded_within(v, depth - 1, left)] for k, v in pairs]]
    if isinstance(value, type):
        return ["n", "type"] + ([name_of(value)] + names_of(value))
    if isinstance(value, BaseException):
        return encoded_error(value, depth, left)
    names, items = told_by(value, kind)
    attributes = names and [[name, encoded_within(getattr(value, name), depth - 1, left)] for name in names]
    if attributes is None and items is None:
        attributes = own_fields(value, kind, depth, left)
        form = None if declared_fields(kind) else own_form(value, kind)
        if form is not None:
            told = encoded_within(form, depth - 1, left)
            return told if is_able(kind, form) else ["o", name_of(kind), None, None, None, told]
    return ["o", name_of(kind), attributes, items] + (truth_of(value, kind) if items is None else [])


GENERIC = ("typing._GenericAlias", "typing._UnionGenericAlias", "types.GenericAlias", "types.UnionType", "typing.Union")


def encoded_generic(value, kind, depth, left):
    """`Union[int, str]`, `list[int]`: a type of the standard library by what it is made of, a union in any order."""
    origin, args = getattr(value, "__origin__", None), value.__args__
    if kind.__name__.startswith("Union") or str(origin) == "typing.Union":
        return ["o", "typing.Union", [["__args__", encoded_within(frozenset(args), depth - 1, left)]], []]
    if not isinstance(origin, type):
        return ["o", name_of(kind), None, None, True]
    names = (("__origin__", origin), ("__args__", args))
    return ["o", name_of(kind), [[name, encoded_within(one, depth - 1, left)] for name, one in names], []]


CLAIMED = (int, float, complex, str, bytes, bytearray, tuple, list, frozenset)
CLAIMED += ((collections.abc.Set, set), (collections.abc.Mapping, dict))


def form_claimed(value, kind):
    """The plain value that an object equals which says that it is of another class, or the object itself."""
    for claimed in CLAIMED:
        claimed, make = claimed if isinstance(claimed, tuple) else (claimed, claimed)
        if isinstance(value, claimed):
            form = make(value)
            return form if kind.__eq__(value, form) is True else value
    return value


FORMS = (
    ("__index__", 0, operator.index),
    ("__float__", 0.0, float),
    ("__str__", "", str),
    ("tobytes", b"", bytes),
    ("keys", {}, dict),
    ("__len__", [], list),
    ("__len__", (), tuple),
)


def own_form(value, kind):
    """The plain value that an object says it equals, such as a text that is made when it is asked for; None of others."""
    if owner_of_equality(kind) is object or kind.__module__.partition(".")[0] in ("unittest", "mock"):
        return None
    for name, empty, make in FORMS:
        try:
            if hasattr(kind, name) and isinstance(kind.__eq__(value, empty), bool):
                form = make(value)
                if kind.__eq__(value, form) is True:
                    return form
        except Exception:
            continue
    return None


ABILITIES = (
    ((str, bytes, bytearray), ("startswith", "endswith", "__contains__", "__lt__")),
    ((int, float, complex), ("__lt__", "__sub__")),
)
"""Of texts and numbers: methods of what assertions ask of them, besides whether they equal something."""


def is_able(kind, form):
    """Whether objects of a class do what the plain value does that one of them equals."""
    needed = [name for kinds, names in ABILITIES if isinstance(form, kinds) for name in names]
    return all(getattr(kind, name, None) not in (None, getattr(object, name, None)) for name in needed)


def truth_of(value, kind):
    """Whether an object counts as true, in a list; nothing where code of the work tree or of a library tells."""
    owners = [base for base in kind.__mro__ if {"__bool__", "__len__"} & set(vars(base))]
    if not owners:
        return [True]
    return [bool(value)] if owners[0].__module__ in ("builtins", "collections", "array") else []


def own_fields(value, kind, depth, left):
    """The fields of an object whose class compares them by code of its own; None of others, or of too many."""
    names = declared_fields(kind)
    if not names or left.own_fields is None:
        return None
    try:
        return [
            [name, encoded_within(object.__getattribute__(value, name), depth - 1, left.own_fields)] for name in names
        ]
    except Exception:
        return None


def declared_fields(kind):
    """The names of the fields that `dataclasses` or `attrs` made of a class; none of any other."""
    return list(getattr(kind, "__dataclass_fields__", ())) or [
        field.name for field in getattr(kind, "__attrs_attrs__", ())
    ]


SEVERAL = (
    ("t", tuple),
    ("l", (list, collections.UserList)),
    ("F", frozenset),
    ("S", collections.abc.Set),
)
MAPPINGS = {collections.OrderedDict: "D", collections.Counter: "C"}
"""Of two of the first the order counts, and of two of the second, since Python 3.10, no key that counts nothing."""
BY_WHAT_THEY_DO = (int, float, complex, str, collections.UserString, bytes, bytearray, collections.abc.Mapping)
BY_WHAT_THEY_DO += (tuple, list, collections.UserList, collections.abc.Set, type, BaseException)


def encoded_array(value, depth, left):
    """An array, or a table's items as one."""
    if value.size > left.items:
        raise TooMuch()
    items = listed(value.ravel()) if is_array(type(value)) else value.to_numpy(dtype=object).ravel().tolist()
    return ["a", list(value.shape), [encoded_within(item, depth - 1, left) for item in items]]


def listed(value):
    """What numpy's own method gives for an array or one item, but no plain number for a time."""
    told = value.tolist()
    if value.dtype.kind in "mM" and isinstance(told[0] if isinstance(told, list) and told else told, int):
        exact = value.astype(value.dtype.kind + "8[us]")
        if not (exact == value).all():
            raise ValueError("Python has no such time")
        return exact.tolist()
    return told


def labels_of(value, kind):
    """What a table of pandas has beside its items; nothing of any other value, and of one with categories."""
    if kind.__module__.partition(".")[0] != "pandas" or kind.__name__ not in TABLES:
        return []
    if kind.__name__ == "DataFrame":
        dtypes, own = value.dtypes, [("index", value.index), ("columns", value.columns)]
    elif kind.__name__ == "Series":
        dtypes, own = [value.dtype], [("names", [value.name]), ("index", value.index)]
    else:
        freq = getattr(value, "freq", None)
        dtypes, own = [value.dtype], [("names", list(value.names)), ("freq", None if freq is None else str(freq))]
    words = [str(one) for one in dtypes]
    return [] if "category" in words else [("kind", TABLES[kind.__name__]), ("dtype", words)] + own


TABLES = {"DataFrame": "DataFrame", "Series": "Series", "MultiIndex": "MultiIndex"}
for _name in ("Index", "RangeIndex", "DatetimeIndex", "TimedeltaIndex", "Int64Index", "Float64Index"):
    TABLES[_name] = "Index"


def is_array(kind):
    return kind.__module__ == "numpy" and kind.__name__ == "ndarray"


def encoded_scalar(value, left):
    if isinstance(value, int):
        return ["i", format(int(value), "x")]
    if isinstance(value, float):
        return ["f", float.hex(float(value))]
    if isinstance(value, complex):
        return ["c", float.hex(value.real), float.hex(value.imag)]
    if isinstance(value, str):
        text = str.__str__(value if issubclass(type(value), str) else str(value))
        left.take(letters=len(text))
        return ["s", text]
    if isinstance(value, collections.UserString):
        return encoded_scalar(value.data, left)
    if isinstance(value, (bytes, bytearray)):
        left.take(letters=2 * len(value))
        return ["b" if isinstance(value, bytes) else "B", bytes(value).hex()]
    if isinstance(value, range):
        return ["n", "range", str(value.start), str(value.stop), str(value.step)]
    for kind in type(value).__mro__:  # by name, since importing these modules costs more than most tests
        told = STANDARD.get((kind.__module__.partition("._")[0], kind.__qualname__))
        if told:
            found = told[1](value)
            if found is None:
                return None
            left.take(letters=sum(map(len, found)))
            return ["n", told[0]] + found
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        return encoded_scalar(listed(value), left)
    return None


def as_text(value):
    return [str(value)]


def as_moment(value):
    """A time of a day; none that a zone has twice, as it equals none of another zone."""
    is_twice = value.tzinfo is not None and hasattr(value, "fold")
    if is_twice and value.utcoffset() != value.replace(fold=1 - value.fold).utcoffset():
        return None
    return [value.isoformat()]


def as_days(value):
    """A duration; none of pandas with nanoseconds."""
    if getattr(value, "nanoseconds", 0):
        return None
    return [str(value.days), str(value.seconds), str(value.microseconds)]


STANDARD = {
    ("datetime", "datetime"): ("datetime.datetime", as_moment),
    ("datetime", "date"): ("datetime.date", lambda value: [value.isoformat()]),
    ("datetime", "time"): ("datetime.time", lambda value: [value.isoformat()]),
    ("datetime", "timedelta"): ("datetime.timedelta", as_days),
    ("decimal", "Decimal"): ("decimal.Decimal", as_text),
    ("fractions", "Fraction"): ("fractions.Fraction", lambda value: ["%d/%d" % (value.numerator, value.denominator)]),
    ("uuid", "UUID"): ("uuid.UUID", as_text),
    ("pathlib", "PureWindowsPath"): ("pathlib.PureWindowsPath", as_text),
    ("pathlib", "PurePath"): ("pathlib.PurePath", as_text),
}
for _name in ("Address", "Network", "Interface"):
    for _version in ("IPv4", "IPv6"):
        STANDARD["ipaddress", _version + _name] = ("ipaddress." + _version + _name, as_text)


def told_by(value, kind):
    """The attributes and items by which the host tells an object; without items it is like no other."""
    if kind.__module__ in ("re", "_sre") and kind.__name__ in ("Pattern", "SRE_Pattern"):
        return ("pattern", "flags"), None
    if kind.__module__ in ("_pytest.python_api", "_pytest.approx") and kind.__name__.startswith("Approx"):
        return ("expected", "rel", "abs", "nan_ok"), None
    names = fields_of(kind)
    if names is not None:
        return names, []
    constant = names_of_constant(value, kind) if owner_of_equality(kind) is object else []
    return None, [["s", name] for name in constant] or None


def owner_of_equality(kind):
    return next(base for base in kind.__mro__ if "__eq__" in vars(base))


def fields_of(kind):
    """The fields that `dataclasses`, `attrs` or pydantic lets a class compare; None of one that compares otherwise."""
    owner = owner_of_equality(kind)
    if name_of(owner) == "pydantic.main.BaseModel" and not is_of_tree(owner):
        return fields_of_model(kind)
    file = getattr(getattr(vars(owner)["__eq__"], "__code__", None), "co_filename", "")
    fields = vars(owner).get("__dataclass_fields__")
    if fields is not None and file == "<string>":
        return [name for name, field in fields.items() if field.compare and field._field_type.name == "_FIELD"]
    fields = vars(owner).get("__attrs_attrs__")
    if (
        fields is None
        or not file.startswith("<attrs generated")
        or any(getattr(field, "eq_key", None) for field in fields)
    ):
        return None
    return [field.name for field in fields if getattr(field, "eq", True)]


def fields_of_model(kind):
    """What pydantic 2 compares of a model; None of one that stands for another with parameters, and of other versions."""
    fields = getattr(kind, "__pydantic_fields__", None) or getattr(kind, "model_fields", None)
    metadata = getattr(kind, "__pydantic_generic_metadata__", None)
    if not isinstance(fields, dict) or not isinstance(metadata, dict) or metadata.get("origin"):
        return None
    return list(fields) + ["__pydantic_extra__", "__pydantic_private__"]


def names_of_constant(value, kind):
    """At most two names of a member of an enumeration, or of an object in the module of its class."""
    if hasattr(kind, "__members__"):
        name = getattr(value, "_name_", None)
        others = [other for other, member in kind.__members__.items() if member is value and other != name]
        return [name] + others[:1] if isinstance(name, str) else []
    names = getattr(sys.modules.get(kind.__module__), "__dict__", {})
    return [name for name, other in list(names.items()) if other is value][:2]
