# Stands between child.py and driver.py, in the same names: compiles of a module's code only the sources that a patch changes,
# against the classes that the image has of the others, and those others that may see what these have changed of themselves.
# Wherever it is not sure which these are, all of the module is compiled.
import re
import shutil
import struct
import tempfile

SHARE, ROUNDS_OF_USERS = 3, 4
"""More than one of so many sources, or than so many rounds of them, and all are compiled."""
WIDTHS = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
"""Bytes of a constant of each kind (https://docs.oracle.com/javase/specs/jvms/se21/html/jvms-4.html#jvms-4.4)."""
PRIVATE, STATIC, INTERFACE, ABSTRACT, SYNTHETIC, ANNOTATION, ENUM = 0x2, 0x8, 0x200, 0x400, 0x1000, 0x2000, 0x4000
UNSEEN = 0x20 | 0x100 | 0x800
"""Of a method: synchronized, native, strictfp."""
NO_FIELDS = (b"java/lang/Object",), (b"java/lang/Record",), (b"java/lang/Enum",)
"""Classes that pass on no field that another could hide."""
WORD = re.compile(rb"[\w$]+\Z")
ESCAPED = re.compile(rb"\\u+00([2-7][0-9a-fA-F])")
NO_CODE = re.compile(rb'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
UNNAMED = {b"iterator", b"hasNext", b"next", b"close"}
"""Methods that a statement calls without their names."""


class Class(object):
    """What other sources may see of a compiled class."""

    def __init__(self, data):
        self.constants, at = constants_of(data)
        self.data = data
        flags, this, parent, count = struct.unpack_from(">HHHH", data, at)
        self.name = self.constant(this)
        parents = [self.constant(index) for index in struct.unpack_from(">%dH" % count, data, at + 8)]
        self.members, self.hiding, at = {}, set(), at + 8 + 2 * count
        inherits = parents or self.constant(parent) not in NO_FIELDS
        for kind in ("field", "method"):
            count, at = struct.unpack_from(">H", data, at)[0], at + 2
            for _ in range(count):
                of, name, form = struct.unpack_from(">HHH", data, at)
                told, at = self.attributes(at + 6)
                if not of & (PRIVATE | SYNTHETIC) and self.constants[name] != b"<clinit>":
                    key = kind, self.constants[name], self.constants[form]
                    self.members[key] = of & ~UNSEEN if kind == "method" else of, sorted(told.items())
                elif kind == "field" and of & PRIVATE and inherits:
                    self.hiding.add(self.constants[name])
        told, _ = self.attributes(at)
        self.source = told.pop(b"SourceFile", None)
        self.is_fixed = bool(flags & (ANNOTATION | ENUM)) or b"Record" in told
        """Whether others may depend on it without a name of what they depend on."""
        self.head = flags, self.constant(parent), parents, sorted(told.items())

    def constant(self, index):
        """A constant, with those that it is made of."""
        value = self.constants[index] if index else None
        return tuple(map(self.constant, value)) if isinstance(value, tuple) else value

    def attributes(self, at):
        """The attributes at a place that tell others something, and where they end."""
        told = {}
        count, at = struct.unpack_from(">H", self.data, at)[0], at + 2
        for _ in range(count):
            name, length = struct.unpack_from(">HI", self.data, at)
            name, body = self.constants[name], self.data[at + 6 : at + 6 + length]
            at += 6 + length
            numbers = struct.unpack(">%dH" % (length // 2), body[: length // 2 * 2])
            if name in (b"Signature", b"ConstantValue", b"SourceFile"):
                told[name] = self.constant(numbers[0])
            elif name in (b"Exceptions", b"PermittedSubclasses"):
                told[name] = [self.constant(index) for index in numbers[1:]]
            elif name == b"InnerClasses":
                own = [flags for inner, flags in zip(numbers[1::4], numbers[4::4]) if self.constant(inner) == self.name]
                told.update({name: own} if own else {})
            elif name == b"Record":
                told[name] = self.components(at - length)
        return told, at

    def components(self, at):
        """Those of a record, in order: what matches it by pattern counts them."""
        count, at = struct.unpack_from(">H", self.data, at)[0], at + 2
        listed = []
        for _ in range(count):
            name, form = struct.unpack_from(">HH", self.data, at)
            listed.append((self.constants[name], self.constants[form]))
            _, at = self.attributes(at + 4)
        return listed


def constants_of(data):
    """The constants of a class by their number, and where they end: bytes, or the numbers of others."""
    count, at = struct.unpack_from(">H", data, 8)[0], 10
    constants, number = [None] * count, 1
    while number < count:
        kind, at = data[at], at + 1
        if kind == 1:
            length = struct.unpack_from(">H", data, at)[0]
            constants[number], at = data[at + 2 : at + 2 + length], at + 2 + length
        else:
            width = WIDTHS[kind]
            body, at = data[at : at + width], at + width
            constants[number] = struct.unpack(">H", body) if kind in (7, 8, 16, 19, 20) else (b"%d" % kind + body)
        number += 2 if kind in (5, 6) else 1
    return constants, at


def plain(text):
    """A source without comments and texts, its letters as they are: what tells of names by their words."""
    text = ESCAPED.sub(lambda match: bytes([int(match.group(1), 16)]), text)
    return NO_CODE.sub(lambda match: b"" if match.group().startswith((b'"', b"'")) else b" ", text)


def classes_in(folder):
    """The classes in a folder, by their paths below it."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(place, name), "rb") as file:
                found[os.path.relpath(os.path.join(place, name), folder)] = Class(file.read())
    return found


def classes_of(folder, roots, paths):
    """The classes in a folder that come from some sources, by their paths below it."""
    found = {}
    for path in paths:
        root = next((root for root in roots if path.startswith(root + "/")), None)
        if root is None:
            continue
        package, name = os.path.split(path[len(root) + 1 :])
        place = os.path.join(folder, package)
        for entry in os.listdir(place) if os.path.isdir(place) else ():
            if not entry.endswith(".class"):
                continue
            with open(os.path.join(place, entry), "rb") as file:
                data = file.read()
            if name.encode("utf-8") in data:
                read = Class(data)
                if read.source == name.encode("utf-8"):
                    found[os.path.join(package, entry)] = read
    return found


def simple(name):
    return re.split(b"[/$]", name)[-1]


def seen(before, now):
    """Names by which other sources may know what has changed, and classes whose heirs may; None if any source may."""
    names, parents = set(), set()
    for path in set(before) | set(now):
        if re.search(r"\$\d", path):
            continue  # of a method alone
        old, new = before.get(path), now.get(path)
        if old is None or new is None:
            names.add(simple((old or new).name[0]))
            continue
        names |= old.hiding ^ new.hiding
        changed = [key for key in set(old.members) | set(new.members) if old.members.get(key) != new.members.get(key)]
        is_fixed = old.is_fixed or new.is_fixed
        if old.head != new.head or (is_fixed and (changed or old.data != new.data and is_annotation(new))):
            return None
        for key in changed:
            kind, name, _ = key
            flags = [read.members[key][0] for read in (old, new) if key in read.members]
            if kind == "method" and (name in UNNAMED or any(flag & ABSTRACT for flag in flags)):
                return None
            names.add(simple(old.name[0]) if name == b"<init>" else name)
            if kind == "method" and name != b"<init>" and not all(flag & STATIC for flag in flags):
                parents.add(simple(old.name[0]))
    return (names, parents) if all(map(WORD.match, names | parents)) else None


def is_annotation(read):
    return bool(read.head[0] & ANNOTATION)


def users_of(texts, names, parents):
    """The sources that have one of the names as a word, or extend one of the classes, or what extends these."""
    used = set()
    if names:
        word = re.compile(rb"(?<![\w$])(?:%s)(?![\w$])" % b"|".join(map(re.escape, names)))
        used = {path for path, text in texts.items() if word.search(text)}
    parents, known = set(parents), set()
    while parents - known:
        known |= parents
        any_of = b"|".join(map(re.escape, parents))
        heir = re.compile(
            rb"\b(?:extends|implements|permits)\b[^{;]*\b(?:%s)\b|\bnew\s+(?:[\w.]+\.)?(?:%s)\b" % (any_of, any_of)
        )
        for path, text in texts.items():
            if heir.search(text):
                used.add(path)
                parents.update(re.findall(rb"\b(?:class|interface|enum|record)\s+(\w+)", text))
    return used


def compile_changed(module, paths):
    """Compile changed sources, and those that may see it; False where all of the module is to be compiled."""
    if not module.parts_javac or not all(path.endswith(".java") and os.path.isfile(path) for path in paths):
        return False
    texts = {}
    for root in module.sources:
        for place, _, names in os.walk(root):
            for name in names:
                if name.endswith(".java"):
                    with open(os.path.join(place, name), "rb") as file:
                        texts[os.path.join(place, name)] = plain(file.read())
    chosen = set(paths)
    for _ in range(ROUNDS_OF_USERS):
        if not chosen <= set(texts) or len(chosen) * SHARE > len(texts) + SHARE:
            return False
        place = tempfile.mkdtemp(prefix="classes-")
        try:
            if not compiled(module.parts_javac + ["-d", place], [os.path.abspath(path) for path in sorted(chosen)]):
                return False
            before = classes_of(module.output, module.sources, chosen)
            now = classes_in(place)
            names = seen(before, now)
            others = set(now) - set(before)
            if names is None or any(os.path.exists(os.path.join(module.output, path)) for path in others):
                return False
            users = users_of(texts, *names) - chosen
            if not users:
                laid(place, module.output, before)
                return True
        finally:
            shutil.rmtree(place)
        chosen |= users
    return False


def laid(place, output, before):
    """Put classes in the place of those that there were of the same sources."""
    for path in before:
        os.unlink(os.path.join(output, path))
    for folder, _, names in os.walk(place):
        for name in names:
            target = os.path.join(output, os.path.relpath(os.path.join(folder, name), place))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.move(os.path.join(folder, name), target)
