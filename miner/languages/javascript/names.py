"""Names and texts of JavaScript: what a change brings, what a test asks for and was in want of. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator

from tree_sitter import Node

from harness.core.syntax import field_text, is_field, text_of, walk
from harness.languages.base import TestReport
from harness.languages.javascript.source import FUNCTIONS, arguments_of
from harness.quality.base import Keyword, Names
from harness.quality.change import FileChange
from miner.languages.base import MODULE
from miner.languages.javascript.artefacts import SOURCES, SUFFIXES
from miner.languages.javascript.stripping.scopes import Scopes, parameters

_DECLARED = frozenset(
    {
        *("function_declaration", "generator_function_declaration", "class_declaration"),
        *("abstract_class_declaration", "enum_declaration"),
    }
)
_MEMBERS = frozenset({"method_definition", "field_definition", "public_field_definition", "export_specifier"})
_SETTING = frozenset({"assignment_expression", "augmented_assignment_expression"})
_LOOSE = frozenset({"enum_body", "object"})
"""What the names right below are known by outside."""
_NAMED = frozenset(
    {"identifier", "property_identifier", "shorthand_property_identifier", "private_property_identifier"}
)
_BINDING = _NAMED | {"shorthand_property_identifier_pattern", "type_identifier", "string"}
_OPTIONS = re.compile(r"(?:\w*O|o)pt(?:s|ions?)?|(?:\w*C|c)onfig|(?:\w*S|s)ettings|(?:\w*P|p)rops|(?:\w*P|p)arams")
"""What those objects are called whose properties are parameters that are given by name."""
_ESCAPED = re.compile(r"\\([^A-Za-z0-9])")
_WHOLE = re.compile(r"[A-Za-z_$][\w$]*")
_IN = r"(?:\n|\\n|\s)*(?:Require stack:\s*- (?P<by>\S+)|(?:imported )?from ['\"]?(?P<at>[^\s'\"]+)|in (?P<load>\S+))?"
_MODULES = re.compile(
    r"(?:Cannot find (?:module|package)|Failed to (?:load url|resolve import)|Could not resolve) ['\"]?"
    rf"(?P<module>[^'\"\s]+)['\"]?(?: \(resolved id: [^)]*\))?\.?{_IN}"
)
_WANTED = tuple(
    map(
        re.compile,
        (
            r"does not provide an export named '(?P<name>[\w$]+)'",
            r"Export named '(?P<name>[\w$]+)' not found",
            r"TypeError: Cannot read propert(?:y|ies) [^\n']*'(?P<name>[\w$]+)'",
            r"TypeError: (?:[\w$().\[\]]+\.)?(?P<name>[\w$]+) is not (?:a function|a constructor|iterable)",
            r"TypeError: Cannot destructure property '(?P<name>[\w$]+)'",
            r"ReferenceError: (?P<name>[\w$]+) is not defined",
            r"error TS\d+: (?:Module [^\n]* has no exported member|Property) '(?P<name>[\w$]+)'",
        ),
    )
)
_ROOT = "/testbed/"


def names(root: Node, lines: Collection[int]) -> Names:
    """What some lines of a file have; see `harness.quality.base.Names`."""
    own = {binding.name for binding in Scopes(root).bindings() if not binding.module}
    keywords = frozenset((called, _key(key)) for called, key in _argument_keys(root) if _is_on(key, lines))
    return Names(
        introduced=frozenset(_key(node) for node in _binding(root, local=False) if _is_on(node, lines)),
        asked=frozenset(text_of(node) for node in walk(root) if node.type in _NAMED and _is_on(node, lines)) - own,
        keywords=keywords,
        texts=frozenset(_texts(root, lines)),
    )


def identifiers(root: Node) -> frozenset[str]:
    """Every name that code binds, uses or imports."""
    return frozenset(text_of(node) for node in walk(root) if "identifier" in node.type)


def _is_on(node: Node, lines: Collection[int]) -> bool:
    return node.start_point.row + 1 in lines


def _key(node: Node) -> str:
    return text_of(node).strip("\"'")


def _binding(node: Node, *, local: bool) -> Iterator[Node]:
    """Names of functions, classes, members, keys and options; and of variables that are not local to a function."""
    for child in node.named_children:
        fields = map(child.child_by_field_name, ("alias", "name", "property"))
        named = next(filter(None, fields), None)
        if named is not None and _is_bound(child, local=local):
            yield from (part for part in walk(named) if part.type in _BINDING)
        elif child.type in _NAMED and node.type in _LOOSE:
            yield child
        else:
            key = child.child_by_field_name("key") if child.type == "pair" else None
            yield from (key,) if key is not None else ()
        yield from _option_keys(child) if child.type in FUNCTIONS else ()
        yield from _binding(child, local=local or child.type in FUNCTIONS)


def _is_bound(node: Node, *, local: bool) -> bool:
    """Whether a node gives a name that others can ask for to something."""
    around = node.parent
    if node.type == "member_expression":
        is_set = around is not None and around.type in _SETTING and is_field(around, "left", node)
        return is_set or _OPTIONS.fullmatch(field_text(node, "object").rpartition(".")[2]) is not None
    if node.type in ("variable_declarator", *_DECLARED):
        return not local
    return node.type in _MEMBERS


def _option_keys(function: Node) -> Iterator[Node]:
    """What a function takes out of an object that it is given."""
    for parameter in parameters(function):
        for node in walk(parameter):
            is_key = node.parent is not None and node.parent.type == "pair_pattern"
            if node.type == "shorthand_property_identifier_pattern" or (node.type == "property_identifier" and is_key):
                yield node


def options(root: Node) -> frozenset[Keyword]:
    """What functions take out of objects that they are given."""
    functions = (node for node in walk(root) if node.type in FUNCTIONS)
    return frozenset((_called(node), text_of(key)) for node in functions for key in _option_keys(node))


def _called(function: Node) -> str:
    """What a function is called, by itself or by what it is the value of."""
    names = (field_text(function.parent, name) for name in ("name", "key", "property", "left"))
    return (field_text(function, "name") or next(filter(None, names), "")).rpartition(".")[2]


def _argument_keys(root: Node) -> Iterator[tuple[str, Node]]:
    """The keys of objects that are given to what is called."""
    for call in walk(root):
        name = field_text(call, "function" if call.type == "call_expression" else "constructor")
        for argument in arguments_of(call):
            for member in argument.named_children if argument.type == "object" else ():
                key = member.child_by_field_name("key") if member.type == "pair" else member
                if key is not None and key.type in (*_NAMED, "string"):
                    yield name.rpartition(".")[2], key


def _texts(root: Node, lines: Collection[int]) -> Iterator[str]:
    """String literals, and the parts of templates between what is put in; modules' names are none."""
    for node in walk(root):
        around = node.parent
        if node.type not in ("string", "string_fragment", "regex_pattern") or around is None:
            continue
        if (node.type == "string_fragment") != (around.type == "template_string"):
            continue
        if around.type in ("import_statement", "export_statement") or text_of(around).startswith("require("):
            continue
        if any(line in lines for line in range(node.start_point.row + 1, node.end_point.row + 2)):
            text = text_of(node)[1:-1] if node.type == "string" else text_of(node)
            yield _ESCAPED.sub(r"\1", text).strip()


def functions(root: Node, prefix: str = "") -> Iterator[tuple[str, range]]:
    """Every function that is in no other, by its dotted name, with its lines; of several with one name the last."""
    for child in root.named_children:
        name = _called(child) if child.type in FUNCTIONS else ""
        if name:
            yield f"{prefix}{name}", range(child.start_point.row + 1, child.end_point.row + 2)
        elif child.type in ("class_declaration", "class"):
            yield from functions(child, f"{prefix}{field_text(child, 'name')}.")
        else:
            yield from functions(child, prefix)


# -- what a fix brings, and what a file was in want of


def added_names(change: FileChange, root: Node | None) -> Iterator[str]:
    """The names that a change of one file brings: all on its new lines that are bound, exported or read of options.

    `root` is the file as it will be; of one that can't be read, every name on a new line counts.
    """
    if root is None:
        text = b"\n".join(change.added.values()).decode("utf-8", "replace")
        yield from _WHOLE.findall(text)
    else:
        found = names(root, change.added.keys())
        yield from (*found.introduced, *filter(_WHOLE.fullmatch, found.texts))
        for node in walk(root):
            if node.type in ("import_specifier", "export_statement") and _is_on(node, change.added.keys()):
                yield from (text_of(part) for part in walk(node) if part.type == "identifier")
    if change.is_new:
        stem, suffix = posixpath.splitext(change.path)
        compiled = [stem + ending for ending, sources in SOURCES.items() if suffix in sources]
        ways = (change.path, *compiled, stem, stem.removesuffix("/index"))
        yield from (MODULE + name for name in ways if suffix in SUFFIXES)


def missing_names(report: TestReport) -> dict[str, str]:
    """By each file that could not be loaded: the name it wants, in the words of Node and of what compiles for it."""
    return {path: _missing(path, text) for path, text in report.collect_errors.items()}


def _missing(path: str, text: str) -> str:
    if match := _MODULES.search(text):
        importer = match["by"] or match["at"] or match["load"] or path
        module = match["module"].removeprefix("file://")
        if module.startswith("."):
            module = posixpath.join(posixpath.dirname(importer.removeprefix("file://")), module)
        return MODULE + posixpath.normpath(module.removeprefix("file://")).removeprefix(_ROOT)
    found = (match["name"] for words in _WANTED if (match := words.search(text)))
    return next(found, "")
