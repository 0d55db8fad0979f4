# Runs inside a task's container, after harness/grading/inside/supervisor.py and its parts and in the same names, where calls are
# recorded or replayed; see harness/differential. Recording happens with the fix alone. A replay starts no test runner:
# each call is made in a process of its own, and what comes of it is told in a frame.
import importlib
import json
import os
import random
import resource
import select
import signal
import sys
import types

CALL_SECONDS = 3
MOST_LOST = 20
ROOM = 512 << 20
TEXT = 20000
MOST_ITEMS = 200
STEPS = 40
HELD = 3000


# What an interpreter or a library calls, and a test only by way of these: another right fix need not have it.
HOOKS = "reduce reduce_ex getstate setstate getnewargs getnewargs_ex copy deepcopy new getattr getattribute missing del"
HOOKS = {"__%s__" % name for name in (HOOKS + " set_name init_subclass hash sizeof").split()}


class Opaque(Exception):
    """A value that can't be told as plain data."""


def of_class(value):
    return isinstance(value, type)


def path_of(value):
    """`module:qualname` of a class, function or member of an enumeration that is found there."""
    kind = type(value)
    if hasattr(kind, "__members__"):
        found = "%s:%s.%s" % (kind.__module__, kind.__qualname__, value.name)
    elif of_class(value) or isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
        found = "%s:%s" % (value.__module__, value.__qualname__)
    else:
        raise Opaque()
    try:
        same = resolved(found) is value
    except Exception:
        same = False
    if not same or of_tests(getattr(sys.modules.get(found.split(":")[0]), "__file__", None)):
        raise Opaque()
    return found


def resolved(path):
    module, _, names = path.partition(":")
    found = importlib.import_module(module)
    for name in names.split("."):
        found = getattr(found, name)
    return found


SCALARS_OF = {
    int: lambda value: ["i", format(value, "x")],
    float: lambda value: ["f", value.hex()],
    complex: lambda value: ["c", value.real.hex(), value.imag.hex()],
    str: lambda value: ["s", value],
    bytes: lambda value: ["b", value.hex()],
    bytearray: lambda value: ["B", bytes(value).hex()],
}
CONTAINERS_OF = {list: "l", tuple: "t", set: "S", frozenset: "F"}


def as_data(value, other, depth=0):
    """A value as data: closed set of plain types; anything else is told by `other`, or not at all."""
    if value is None or value is True or value is False:
        return value
    if value is Ellipsis or value is NotImplemented:
        return ["k", repr(value)]
    kind = type(value)
    if depth > 12 or (kind in (str, bytes, bytearray, list, tuple, dict, set, frozenset) and len(value) > TEXT):
        raise Opaque()
    if kind in SCALARS_OF:
        return SCALARS_OF[kind](value)
    if kind in (set, frozenset):
        return [CONTAINERS_OF[kind], sorted((as_data(item, other, depth + 1) for item in value), key=json.dumps)]
    if kind in CONTAINERS_OF:
        return [CONTAINERS_OF[kind], [as_data(item, other, depth + 1) for item in value]]
    if kind is dict:
        return ["d", [[as_data(key, other, depth + 1), as_data(item, other, depth + 1)] for key, item in value.items()]]
    named = named_data(value)
    return named if named is not None else other(value, depth)


def named_data(value):
    import datetime
    import decimal
    import fractions
    import pathlib

    kind = type(value)
    if kind in (datetime.datetime, datetime.date, datetime.time) and getattr(value, "tzinfo", None) in (
        None,
        datetime.timezone.utc,
    ):
        return ["n", "datetime." + kind.__name__, value.isoformat()]
    if kind is datetime.timedelta:
        return ["n", "datetime.timedelta", str(value.days), str(value.seconds), str(value.microseconds)]
    if kind is decimal.Decimal:
        return ["n", "decimal.Decimal", str(value)]
    if kind is fractions.Fraction:
        return ["n", "fractions.Fraction", str(value)]
    if isinstance(value, pathlib.PurePath) and kind.__module__.split(".")[0] == "pathlib":
        return ["n", "pathlib.PurePath", str(value)]
    if kind is range:
        return ["n", "range", str(value.start), str(value.stop), str(value.step)]
    return None


def read_name(name, texts):
    import datetime
    import decimal
    import fractions
    import pathlib

    if name in ("datetime.datetime", "datetime.date", "datetime.time"):
        kind = getattr(datetime, name.split(".")[1])
        if hasattr(kind, "fromisoformat"):
            return kind.fromisoformat(texts[0])
        raise Opaque()
    if name == "datetime.timedelta":
        return datetime.timedelta(*[int(text) for text in texts])
    if name == "range":
        return range(*[int(text) for text in texts])
    plain = {"decimal.Decimal": decimal.Decimal, "fractions.Fraction": fractions.Fraction}
    return plain[name](texts[0]) if name in plain else pathlib.Path(texts[0])


def from_data(data, objects):
    """The value of which `as_data` made this."""
    if data is None or data is True or data is False:
        return data
    tag, body = data[0], data[1]
    if tag == "k":
        return {"Ellipsis": Ellipsis, "NotImplemented": NotImplemented}[body]
    if tag == "i":
        return int(body, 16)
    if tag == "f":
        return float.fromhex(body)
    if tag == "c":
        return complex(float.fromhex(body), float.fromhex(data[2]))
    if tag == "s":
        return body
    if tag in ("b", "B"):
        return (bytes if tag == "b" else bytearray).fromhex(body)
    if tag in ("l", "t", "S", "F"):
        return {"l": list, "t": tuple, "S": set, "F": frozenset}[tag](from_data(item, objects) for item in body)
    if tag == "d":
        return {from_data(key, objects): from_data(item, objects) for key, item in body}
    if tag == "n":
        return read_name(body, data[2:])
    if tag == "g":
        return resolved(body)
    return objects[body]  # "v": what came of an earlier step


class Results(object):
    """Tells what a call gave, by what it does: whoever returns a list of another class returns a list."""

    def __init__(self):
        self.left = 2000

    def tell(self, value, depth=0):
        return as_data(value, self.other, depth)

    def other(self, value, depth):
        import collections

        self.left -= 1
        if self.left < 0 or depth > 8:
            raise Opaque()
        if isinstance(value, BaseException):
            return ["e", standard(type(value)), [self.tell(item, depth + 1) for item in value.args]]
        if of_class(value):
            return ["n", "type", value.__module__ + "." + value.__qualname__]
        if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.CoroutineType)):
            raise Opaque()
        for kind in (bool, int, float, complex, bytes):
            if isinstance(value, kind):
                return SCALARS_OF[kind](kind(value))
        if isinstance(value, (str, collections.UserString)):
            return ["s", str.__str__(str(value))]
        seen = self.shape(value, depth)
        module = sys.modules.get(type(value).__module__)
        if not of_product(getattr(module, "__file__", None)):
            return seen
        text = repr(value)
        return ["o", seen, text if len(text) < TEXT and " at 0x" not in text else ""]

    def shape(self, value, depth):
        if hasattr(value, "keys") and hasattr(value, "__getitem__"):
            return ["d", [[self.tell(key, depth + 1), self.tell(value[key], depth + 1)] for key in list(value.keys())]]
        if isinstance(value, tuple):
            return ["t", [self.tell(item, depth + 1) for item in value]]
        if isinstance(value, (set, frozenset)):
            return ["S", sorted((self.tell(item, depth + 1) for item in value), key=json.dumps)]
        if hasattr(type(value), "__iter__"):
            found = []
            for item in value:
                if len(found) >= MOST_ITEMS:
                    break
                found.append(self.tell(item, depth + 1))
            return ["l", found]
        attributes = getattr(value, "__dict__", {})
        return ["a", [[name, self.quiet(attributes[name], depth)] for name in sorted(attributes) if name[:1] != "_"]]

    def quiet(self, value, depth):
        try:
            return self.tell(value, depth + 1)
        except Opaque:
            return ["x", ""]


def standard(kind):
    """Names of the standard classes among an exception's own and its bases, nearest first."""
    return [one.__name__ for one in kind.__mro__ if one.__module__ == "builtins" and one is not object]


def made_call(step, objects):
    """What one step gives."""
    how, name, args, named = step
    args = [from_data(arg, objects) for arg in args]
    named = {key: from_data(arg, objects) for key, arg in named}
    if how == "f":
        return resolved(name)(*args, **named), args
    found = getattr(args[0], name)
    return (found if how == "p" else found(*args[1:], **named)), args


def answer_of(steps):
    """What comes of a call, after the steps that make what it works on."""
    objects = []
    try:
        for step in steps[:-1]:
            try:
                objects.append(made_call(step, objects)[0])
            except Exception:
                objects.append(None)
        found, args = made_call(steps[-1], objects)
        results = Results()
        value = results.tell(found)
        if found is None and args and type(args[0]) not in SCALARS_OF and args[0] is not None:
            value = ["t", [None, results.tell(args[0])]]  # it works on its argument
        answer = {"value": value}
    except (Opaque, RecursionError, MemoryError):
        return {"opaque": True}
    except BaseException as error:
        return {"raised": standard(type(error))}
    return answer if len(json.dumps(answer)) < TEXT else {"opaque": True}


def replay(asked, frames, where):
    """Make every call, in an order of its own, and tell what came of it.

    They are made in a process apart, which starts anew after a call that hangs or ends it.
    """
    order = list(range(len(asked["calls"])))
    random.Random(asked["order"]).shuffle(order)
    for path in sorted({step[1] for call in asked["calls"] for step in call if step[0] == "f"}):
        try:
            resolved(path)  # once, and not in every process
        except BaseException:
            pass
    lost = 0
    while order and lost < MOST_LOST:
        done = 0
        for answer in answers_apart([asked["calls"][index] for index in order]):
            frames.send("answer", where=where, call=order[done], answer=answer)
            done += 1
        if done < len(order):
            frames.send("answer", where=where, call=order[done], answer={"lost": True})
            lost += 1
        order = order[done + 1 :]


def answers_apart(calls):
    """The answers from a process of its own, up to a call that hangs or ends it."""
    source, entry = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(source)
            answer_all(calls, entry)
        finally:
            os._exit(0)
    os.close(entry)
    data = b""
    try:
        while select.select([source], [], [], CALL_SECONDS)[0]:
            chunk = os.read(source, 65536)
            if not chunk:
                return
            lines = (data + chunk).split(b"\n")
            data = lines.pop()
            for line in lines:
                yield json.loads(line.decode("ascii"))
    except ValueError:
        return  # it wrote there itself
    finally:
        os.close(source)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def answer_all(calls, entry):
    import warnings

    warnings.simplefilter("ignore")  # what is written of them quotes the line that gave them, with its number
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    with open("/proc/self/statm") as file:
        room = ROOM + int(file.read().split()[0]) * os.sysconf("SC_PAGESIZE")
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    for steps in calls:
        data = json.dumps(answer_of(steps)).encode("ascii") + b"\n"
        while data:
            data = data[os.write(entry, data) :]


TESTS = set()
FOLDERS = set()
PRODUCT_FOLDERS = set()


def of_tests(file):
    if not file or not file.startswith(WORK + "/"):
        return False
    path = os.path.relpath(file, WORK)
    folder, name = os.path.split(path)
    if path in TESTS or name == "conftest.py" or name.startswith("test_") or name.endswith("_test.py"):
        return True
    return folder in FOLDERS and folder not in PRODUCT_FOLDERS


def of_product(file):
    return bool(file) and file.startswith(WORK + "/") and not of_tests(file)


class Recorder(object):
    """A profile function that tells each call, from tests to what they test, in which a changed function ran.

    It is the call nearest to the tests that can be told as plain data; what it works on is told by the calls that made
    it and that it went through.
    """

    def __init__(self, asked, frames):
        self.frames = frames
        self.changed_lines = asked["changed"]
        self.limit = asked["limit"]
        self.each = asked["each"]
        self.kinds = {}
        self.changed = {}
        self.sent = {}
        self.stdlib = os.path.dirname(os.__file__)
        self.forget()

    def forget(self):
        self.steps = []
        self.objects = {}  # by id: the object, the steps it went through (None where one can't be told), the one that made it
        self.active = {}  # by id of a frame: number of its step
        self.failed = set()
        self.held = []

    def kind_of(self, frame):
        code = frame.f_code
        kind = self.kinds.get(code)
        if kind is None:
            file = code.co_filename
            if not file.startswith("/"):
                file = frame.f_globals.get("__file__") or ""
            if of_tests(file):
                kind = "test"
            elif file.startswith(WORK + "/"):
                kind = "inside"
            elif file.startswith(self.stdlib) and not any(
                word in file for word in ("-packages/", "/unittest/", "/importlib", "/threading.py", "/contextlib.py")
            ):
                kind = "inside"
            else:
                kind = "through"
            self.kinds[code] = kind
        return kind

    def is_changed(self, code):
        found = self.changed.get(code)
        if found is None:
            path = os.path.relpath(code.co_filename, WORK)
            lines = self.changed_lines.get(path)
            found = self.changed[code] = (
                bool(lines) and code.co_name != "<module>" and bool(own_lines(code) & set(lines))
            )
        return found

    def __call__(self, frame, event, arg):
        if event == "call":
            kind = self.kind_of(frame)
            if kind == "inside":
                key = id(frame)
                if key not in self.active and key not in self.failed:
                    direct = self.is_direct(frame)
                    if direct is not None:
                        self.enter(frame, direct)
                if self.is_changed(frame.f_code):
                    self.confirm(frame)
        elif event == "return" and id(frame) in self.active:
            if not frame.f_code.co_flags & 0x220:  # generators go on
                self.left(self.active.pop(id(frame)), arg)
        elif event == "return":
            self.failed.discard(id(frame))

    def is_direct(self, frame):
        """Whether a test makes this call itself, or None where another call in between is told already."""
        parent, depth, direct = frame.f_back, 0, True
        while parent is not None and depth < 30:
            kind = self.kind_of(parent)
            if kind == "test":
                return direct if parent.f_code.co_name != "<module>" else None
            if kind == "inside":
                if id(parent) not in self.failed:
                    return None
                direct = False
            parent, depth = parent.f_back, depth + 1
        return None

    def enter(self, frame, direct):
        if len(self.steps) > HELD:
            self.forget()
        met = []
        try:
            step = self.step_of(frame, met)
        except Exception:
            self.failed.add(id(frame))
            for known in met:
                self.objects[known] = (self.objects[known][0], None, 0)
            return
        number = len(self.steps)
        self.steps.append((step, met, direct))
        self.active[id(frame)] = number
        if frame.f_code.co_flags & 0x220:
            self.held.append(frame)
        for known in met:
            self.objects[known][1].append(number)

    def left(self, number, value):
        """A call returned an object of the product: from now on it's known by the steps that it came of."""
        if value is None or id(value) in self.objects or number >= len(self.steps):
            return
        module = sys.modules.get(type(value).__module__)
        if of_product(getattr(module, "__file__", None)) and not of_class(value):
            self.objects[id(value)] = (value, [number], number)

    def step_of(self, frame, met):
        code = frame.f_code
        count = code.co_argcount
        values = frame.f_locals
        names = code.co_varnames
        how, name, function = self.found_function(frame)
        positional = [values[one] for one in names[:count]]
        named = {one: values[one] for one in names[count : count + code.co_kwonlyargcount]}
        at = count + code.co_kwonlyargcount
        more = ()
        if code.co_flags & 0x04:
            more = values[names[at]]
            at += 1
        extra = values[names[at]] if code.co_flags & 0x08 else {}
        if how == "n":
            target = positional.pop(0)
            names = names[1:]
            count -= 1
        defaults = function.__defaults__ or ()
        if not more:
            while defaults and positional and positional[-1] is defaults[-1]:
                positional, defaults = positional[:-1], defaults[:-1]
        only = function.__kwdefaults__ or {}
        named = {one: value for one, value in named.items() if one not in only or only[one] is not value}
        named.update(extra)

        def other(value, depth):
            known = self.objects.get(id(value))
            if known is not None and known[0] is value:
                if known[1] is None:
                    raise Opaque()
                if id(value) not in met:
                    met.append(id(value))
                return ["v", known[2]]
            return ["g", path_of(value)]

        if how in ("p", "get"):
            positional, more, named = positional[:1] if how == "p" else positional[1:2], (), {}
            how = "p"
        args = [as_data(value, other) for value in list(positional) + list(more)]
        named = sorted([one, as_data(value, other)] for one, value in named.items())
        if len(json.dumps([args, named])) > TEXT:
            raise Opaque()
        if how == "n":
            self.objects[id(target)] = (target, [], len(self.steps))
            met.append(id(target))
            how = "f"
        return [how, name, args, named]

    def found_function(self, frame):
        """How a frame's function is called again: by its own path, on its first argument, or by an object's class."""
        code = frame.f_code
        if code.co_name in HOOKS:
            raise Opaque()
        if code.co_argcount:
            first = frame.f_locals[code.co_varnames[0]]
            kind = first if of_class(first) else type(first)
            if code.co_name == "__get__" and code.co_argcount > 1:
                holder = frame.f_locals[code.co_varnames[1]]
                for cls in type(holder).__mro__:
                    for name, value in vars(cls).items():
                        if value is first:
                            return "get", name, types.SimpleNamespace(__defaults__=(), __kwdefaults__={})
            for cls in kind.__mro__:
                for name, value in vars(cls).items():
                    for inner in (value, getattr(value, "__func__", None), getattr(value, "fget", None)):
                        if getattr(inner, "__code__", None) is code:
                            if name == "__init__" and not of_class(first) and id(first) not in self.objects:
                                return "n", path_of(type(first)), inner
                            if name == "__init__":
                                raise Opaque()
                            return ("p" if isinstance(value, property) else "m"), name, inner
        held = [
            (name, value)
            for name, value in list(frame.f_globals.items())
            if getattr(value, "__code__", None) is code and is_this(value, frame)
        ]
        if not held:
            raise Opaque()
        return "f", "%s:%s" % (frame.f_globals["__name__"], held[0][0]), held[0][1]

    def confirm(self, frame):
        while frame is not None and id(frame) not in self.active:
            frame = frame.f_back
        if frame is None:
            return
        number = self.active[id(frame)]
        if number < len(self.steps):
            self.tell(number)

    def tell(self, last):
        """A call, with the steps that made what it works on."""
        needed, waiting = set(), [last]
        while waiting:
            number = waiting.pop()
            if number in needed:
                continue
            needed.add(number)
            if len(needed) > STEPS:
                return
            for known in self.steps[number][1]:
                history = self.objects[known][1]
                if history is None:
                    return
                waiting += [step for step in history if step < number]
                waiting += [self.objects[known][2]] if self.objects[known][2] < number else []
        order = sorted(needed)
        places = {number: index for index, number in enumerate(order)}
        try:
            call = [renumbered(self.steps[number][0], places) for number in order]
        except KeyError:
            return
        text = json.dumps(call)
        group = json.dumps(call[-1][:2])
        known = self.sent.setdefault(group, set())
        if text in known or len(known) >= self.each or sum(map(len, self.sent.values())) >= self.limit:
            return
        known.add(text)
        self.frames.send("call", steps=call, direct=self.steps[last][2])


def is_this(function, frame):
    """Whether a function's closure is the frame's, as several functions may share their code."""
    cells = function.__closure__ or ()
    try:
        return all(cell.cell_contents is frame.f_locals[name] for name, cell in zip(frame.f_code.co_freevars, cells))
    except (KeyError, ValueError):
        return False


def renumbered(data, places):
    if isinstance(data, list):
        if len(data) == 2 and data[0] == "v" and isinstance(data[1], int):
            return ["v", places[data[1]]]
        return [renumbered(item, places) for item in data]
    return data


def own_lines(code):
    """The lines of a function, less those of functions in it."""
    import dis

    found = set(line for _, line in dis.findlinestarts(code) if line)
    if not found:
        return found
    inner = set()
    for const in code.co_consts:
        if hasattr(const, "co_code"):
            inner |= all_lines(const)
    return set(range(code.co_firstlineno, max(found) + 1)) - (inner - found)


def all_lines(code):
    import dis

    found = set(line for _, line in dis.findlinestarts(code) if line)
    for const in code.co_consts:
        if hasattr(const, "co_code"):
            found |= all_lines(const)
    return set(range(code.co_firstlineno, max(found or {code.co_firstlineno}) + 1))


def widened(changed):
    """Changed lines by file; every line of the files where no function has a changed one (a table, say)."""
    whole = {}
    for path, lines in changed.items():
        try:
            with open(os.path.join(WORK, path), "rb") as file:
                source = file.read()
            waiting = [compile(source, path, "exec", dont_inherit=True)]
        except (OSError, SyntaxError, ValueError):
            continue
        whole[path] = list(range(1, source.count(b"\n") + 2))
        while waiting:
            code = waiting.pop()
            if code.co_name != "<module>" and code.co_flags & 0x02 and own_lines(code) & set(lines):
                return changed
            waiting += [const for const in code.co_consts if hasattr(const, "co_code")]
    return whole


in_pytest = run_pytest
in_suites = globals().get("run_suites")


def with_calls(spec, frames):
    asked = spec["calls"]
    TESTS.update(asked["tests"])
    FOLDERS.update(os.path.dirname(path) for path in asked["tests"])
    PRODUCT_FOLDERS.update(os.path.dirname(path) for path in asked["changed"])
    FOLDERS.discard("")
    run = in_suites if spec["suites"] else in_pytest
    if asked["mode"] == "record":
        sys.setprofile(Recorder(dict(asked, changed=widened(asked["changed"])), frames))
        try:
            return run(spec, frames)
        finally:
            sys.setprofile(None)
    if asked["mode"] == "replay" or spec["suites"]:
        sys.argv = ["-c"]
        sys.path.insert(0, WORK)
        replay(asked, frames, "outside" if asked["mode"] == "replay" else "tests")
        return 0
    return replay_in_tests(spec, frames, run)


def replay_in_tests(spec, frames, run):
    """The same calls while tests run: whoever asks sees a test runner, the tests' files and the name of a test."""
    import pytest

    asked = spec["calls"]
    main, places = pytest.main, []

    class Replayer(object):
        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_call(self, item):
            if len(places) < asked["times"]:
                places.append(item.nodeid)
                replay(asked, frames, item.nodeid)
            yield

    pytest.main = lambda argv, plugins: main(argv, plugins=list(plugins) + [Replayer()])
    return run(spec, frames)


def set_no_tripwires(spec, key, fd):
    """A verdict has these; whoever asks a replay sees no test runner loaded."""
    return lambda: None


run_pytest = run_suites = with_calls
set_tripwires = set_no_tripwires
