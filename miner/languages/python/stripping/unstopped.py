"""A stripped test file in which nothing that raises ends a test, and what its base lacks is made up. Pure."""

from __future__ import annotations

import ast
import re
from typing import cast

from harness.core import python_source
from miner.languages.python.stripping.nodes import call_of, name_of

_STAY = (ast.Global, ast.Nonlocal, ast.Pass, ast.Break, ast.Continue, ast.Raise)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_KEPT_WHOLE = (ast.While, ast.Try, ast.TryStar)
"""Without an error, a loop may never end and a handler never run."""
_CATCHES = re.compile(r"raises|warn|suppress|assert|logs", re.IGNORECASE)
SITE = "_goldseam_site"
_LOOKING_AROUND = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec"})
"""Functions that look at the frame which calls them."""
_MADE_UP, _ATTRIBUTE, _CALLED = "_goldseam_made_up", "_goldseam_attribute", "_goldseam_called"
_PLAIN, _GRANTED, _REFUSED, _TIMES = "_goldseam_plain", "_goldseam_granted", "_goldseam_refused", "_goldseam_times"
_MOST_REFUSALS = 200
"""Of a file: each is looked for among all objects."""
_HEAD = f"""
class _GoldseamMadeUp(object):
    def __init__(self, *given, **named): pass
    def __call__(self, *given, **named): return given[0] if given and callable(given[0]) else self
    def __getattr__(self, name):
        if name[:2] == "__": raise AttributeError(name)
        return self
    def __enter__(self): return self
    def __exit__(self, *why): return False
    def __iter__(self): return iter(())
{_MADE_UP}, {_TIMES} = _GoldseamMadeUp(), []
def {_ATTRIBUTE}(of, name):
    try:
        return getattr(of, name)
    except AttributeError:
        if type(of).__name__ == "module": return {_MADE_UP}
        if not isinstance(of, type): return lambda *given, **named: of
        return lambda *given, **named: {_CALLED}(of, *given, **named)
def {_CALLED}(*given, **named):
    import re, sys
    function, given, tried = given[0], given[1:], False
    while True:
        try:
            return function(*given, **named)
        except TypeError as error:
            if error.__traceback__.tb_next is not None: raise
            name = re.search("unexpected keyword argument '(.*)'", str(error))
            if name and name.group(1) in named: del named[name.group(1)]
            elif given and re.search("takes .* positional arguments? but", str(error)): given = given[:-1]
            else: raise
        except SystemExit:
            if tried: raise
            tried, given, sys.argv[:] = True, {_PLAIN}(given), {_PLAIN}(sys.argv)
def {_PLAIN}(words):
    words = [word for word in words if not (isinstance(word, str) and word[:1] == "-")]
    return [{_PLAIN}(word) if isinstance(word, list) else word for word in words]
def {_GRANTED}(*given, **named):
    changed, lines = [], set()
    try:
        while True:
            try:
                return {_CALLED}(*given, **named)
            except Exception as error:
                if len(lines) == 5 or not {_REFUSED}(error, changed, lines): raise
    finally:
        for function, code in reversed(changed): function.__code__ = code
def {_REFUSED}(error, changed, lines):
    import ast, gc, os, types
    trace = error.__traceback__
    while trace.tb_next is not None: trace = trace.tb_next
    code, line, first = trace.tb_frame.f_code, trace.tb_lineno, len(lines)
    file = code.co_filename
    others = os.path.dirname(os.__file__), globals().get("__file__", file)
    if not os.path.isfile(file) or "-packages" in file or file.startswith(others): return False
    if len({_TIMES}) == {_MOST_REFUSALS}: return False
    {_TIMES}.append(line)
    class Without(ast.NodeTransformer):
        def visit_Raise(self, node):
            if node.lineno <= line <= (getattr(node, "end_lineno", None) or node.lineno): lines.add((file, node.lineno))
            return ast.copy_location(ast.Pass(), node) if (file, node.lineno) in lines else node
    with open(file, "rb") as source: tree = compile(source.read(), file, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    codes = [compile(Without().visit(tree), file, "exec", dont_inherit=True)]
    for one in codes: codes += [inner for inner in one.co_consts if isinstance(inner, types.CodeType)]
    made = [one for one in codes if (one.co_name, one.co_firstlineno) == (code.co_name, code.co_firstlineno)]
    found = [one for one in gc.get_objects() if isinstance(one, types.FunctionType) and one.__code__ is code]
    if len(lines) == first or not made: return False
    changed += [(one, code) for one in found]
    for one in found: one.__code__ = made[0]
    return bool(found)
"""
"""What stands for what a module lacks; a call without the arguments that a function does not take yet, and without the
options of a command line where it ends the program; one in which the product's own `raise` ends nothing."""


def unstopped(text: str, hand_out: str) -> str:
    """The same file with each statement in a `try` of its own; bodies of assertions (`with hand_out(…)`) stay."""
    tree = python_source.parse(text)
    _go_on(tree, hand_out)
    tree = cast("ast.Module", _Calls(hand_out).visit(tree))
    first = next((place for place, statement in enumerate(tree.body) if not _is_before_all(statement)), 0)
    tree.body[first:first] = python_source.parse(_HEAD).body
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _is_before_all(statement: ast.stmt) -> bool:
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_text or (isinstance(statement, ast.ImportFrom) and statement.module == "__future__")


def _go_on(node: ast.AST, hand_out: str, *, is_within: bool = False) -> None:
    """Guard the statements in a node; `is_within` a function or not."""
    is_within = is_within or isinstance(node, _FUNCTIONS)
    for field, value in ast.iter_fields(node):
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            setattr(node, field, [part for statement in value for part in _guarded(statement, hand_out, is_within)])


def _guarded(statement: ast.stmt, hand_out: str, is_within: bool) -> list[ast.stmt]:
    if _is_before_all(statement) or isinstance(statement, _STAY):
        return [statement]
    if isinstance(statement, ast.Import):
        parts: list[ast.stmt] = [ast.Import(names=[name]) for name in statement.names]
    elif isinstance(statement, ast.ImportFrom):
        module, level = statement.module, statement.level
        parts = [ast.ImportFrom(module=module, names=[name], level=level) for name in statement.names]
    else:
        is_caught = isinstance(statement, ast.With | ast.AsyncWith) and _may_catch(statement, hand_out)
        is_given = is_within and isinstance(statement, _FUNCTIONS)  # the product may wait for what it raises
        if not is_caught and not is_given and not isinstance(statement, _KEPT_WHOLE):
            _go_on(statement, hand_out, is_within=is_within)
        return [_tried(statement)]
    names = [(name.asname or name.name.partition(".")[0]) for name in statement.names]
    return [_tried(part, None if name == "*" else name) for part, name in zip(parts, names, strict=True)]


def _may_catch(statement: ast.With | ast.AsyncWith, hand_out: str) -> bool:
    """Whether what is raised in a block may be what it is for."""
    words = [ast.unparse(item.context_expr) for item in statement.items]
    return any(hand_out in text or _CATCHES.search(text) for text in words)


def _tried(statement: ast.stmt, made_up: str | None = None) -> ast.stmt:
    """A statement in a `try`; the name that it was to bind is made up where it raises."""
    body = python_source.parse(f"{made_up} = {_MADE_UP}" if made_up else "pass").body
    kinds: list[ast.expr] = [name_of(kind) for kind in ("Exception", "SystemExit")]
    handler = ast.ExceptHandler(type=ast.Tuple(elts=kinds, ctx=ast.Load()), name=None, body=body)
    return ast.Try(body=[statement], handlers=[handler], orelse=[], finalbody=[])


class _Calls(ast.NodeTransformer):
    """Has every call leave out what is not taken, and makes up attributes; what hands out is no such call.

    Where an error may be what the test is for, `raise` stays.
    """

    def __init__(self, hand_out: str) -> None:
        self._stay = {hand_out, *_LOOKING_AROUND}
        self._hand_out = hand_out
        self._called = _GRANTED

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = self._called
        if _is_site(node.func):
            self._called = _GRANTED
            node.args = [cast("ast.expr", self.visit(argument)) for argument in node.args]
            self._called = called
            return node
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self._stay:
            return node
        return ast.Call(func=name_of(called), args=[node.func, *node.args], keywords=node.keywords)

    def visit_With(self, node: ast.With | ast.AsyncWith) -> ast.AST:
        return self._visit_caught(node) if _may_catch(node, self._hand_out) else self.generic_visit(node)

    def visit_Try(self, node: ast.Try | ast.TryStar) -> ast.AST:
        is_ours = [ast.unparse(handler.type or node) for handler in node.handlers] == ["(Exception, SystemExit)"]
        return self.generic_visit(node) if is_ours else self._visit_caught(node)

    visit_AsyncWith = visit_With  # noqa: N815 - what the base class looks for
    visit_TryStar = visit_Try  # noqa: N815

    def _visit_caught(self, node: ast.AST) -> ast.AST:
        called, self._called = self._called, _CALLED
        self.generic_visit(node)
        self._called = called
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or node.attr.startswith("__"):
            return node
        return call_of(_ATTRIBUTE, node.value, ast.Constant(value=node.attr))


def _is_site(func: ast.expr) -> bool:
    """Whether it is a site that is called, or a method of one."""
    match func:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id=name)):
            return name == SITE
    return False
