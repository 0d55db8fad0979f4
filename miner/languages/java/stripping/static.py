"""What of a test file in Java does not depend on the product: literals, and what is made of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import takewhile
from typing import ClassVar

from tree_sitter import Node

from harness.core.syntax import (
    arguments_of,
    bare,
    covers,
    field_of,
    field_text,
    is_field,
    named,
    place_of,
    text_of,
    upward,
    walk,
    words,
)
from miner.languages.java.stripping import rows
from miner.languages.java.stripping.scopes import (
    BODIES,
    METHODS,
    Binding,
    Scopes,
    annotation_of,
    has_modifier,
    method_around,
    modifiers_of,
    name_of,
)
from miner.languages.stripping import scopes as stripping
from miner.languages.stripping import static

TEXTS = frozenset({"string_literal", "text_block"})
NUMBERS = frozenset(
    {
        *("decimal_integer_literal", "hex_integer_literal", "octal_integer_literal", "binary_integer_literal"),
        *("decimal_floating_point_literal", "hex_floating_point_literal"),
    }
)
LITERALS = TEXTS | NUMBERS | {"true", "false", "null_literal", "character_literal", "class_literal"}
_ARRAYS = frozenset({"array_creation_expression", "array_initializer"})


_LANG = words("Boolean Byte Short Integer Long Float Double Character String Math StrictMath System StringBuilder")
_LANG_TYPES = _LANG | words("Object CharSequence Iterable Comparable Number Class Exception RuntimeException Runnable")
_CLASSES: Mapping[str, frozenset[str]] = {
    "java.lang": _LANG,
    "java.util": words(
        "Arrays List Set Map Collections Optional OptionalInt OptionalLong OptionalDouble Locale UUID Date Currency"
        " ArrayList LinkedList HashSet LinkedHashSet TreeSet HashMap LinkedHashMap TreeMap AbstractMap TimeZone Objects"
    ),
    "java.util.concurrent": words("TimeUnit"),
    "java.util.regex": words("Pattern"),
    "java.math": words("BigDecimal BigInteger MathContext RoundingMode"),
    "java.net": words("URI"),
    "java.nio.charset": words("StandardCharsets Charset"),
    "java.nio.file": words("Paths Path"),
    "java.io": words("File"),
    "java.time": words(
        "LocalDate LocalTime LocalDateTime Instant Duration Period ZonedDateTime OffsetDateTime OffsetTime ZoneOffset"
        " ZoneId Year YearMonth MonthDay Month DayOfWeek"
    ),
    "java.time.temporal": words("ChronoUnit"),
    "com.google.common.collect": words("ImmutableList ImmutableSet ImmutableMap"),
}
"""By package, classes whose static members, and what they make, are the same for the same."""
_UNCHANGING = words(
    "Boolean Byte Short Integer Long Float Double Character String BigDecimal BigInteger MathContext URI UUID Locale"
    " File"
)
"""Classes of these whose objects nothing changes."""
_CHANGING = words(
    "now random currentTimeMillis nanoTime getProperty getenv systemDefault exit setProperty randomUUID getDefault"
    " setDefault sort shuffle fill addAll getInteger getLong getBoolean identityHashCode exists listFiles setOut setErr"
    " getProperties clearProperty isFile isDirectory isHidden lastModified canRead canWrite canExecute list delete"
    " mkdir mkdirs createNewFile renameTo getTotalSpace getFreeSpace getUsableSpace toRealPath getCanonicalPath"
    " getCanonicalFile toURI toURL toUri"
)
_CHANGING |= words(
    "getEnumConstants getFields getField getMethods getMethod getConstructors getConstructor getDeclaredFields"
    " getDeclaredField getDeclaredMethods getDeclaredMethod getDeclaredConstructors getDeclaredConstructor"
    " getDeclaredClasses getDeclaringClass getModifiers getSuperclass getInterfaces getAnnotations getAnnotation"
    " getDeclaredAnnotations isAnnotationPresent isInstance isAssignableFrom newInstance cast getResource"
    " getResourceAsStream getProtectionDomain getPackage getRecordComponents getTypeParameters getGenericSuperclass"
    " getGenericInterfaces getPermittedSubclasses getClassLoader getModule isInterface isEnum isRecord isSealed"
    " isAnnotation desiredAssertionStatus enumConstantDirectory toGenericString describeConstable"
)
"""Methods of these classes that look at surroundings or at what a class has, or change something."""
LOOKING = words(
    "size get length charAt contains containsKey isEmpty indexOf equals hashCode toString iterator stream keySet values"
    " entrySet getBytes toCharArray substring build"
)
_LIVE = words("get iterator stream keySet values entrySet")
"""Those of these that give a part of an object, or what may change it."""
_MAKING = words(
    "asList clone copyOf copyOfRange toArray toCharArray getBytes split iterator listIterator stream chars append"
    " toByteArray toChars values from getTimeZone matcher codePoints lines splitAsStream datesUntil builder newEncoder"
    " newDecoder getAvailableZoneIds"
)
_MAKING |= words("getISOCountries getISOLanguages getAvailableLocales getAvailableIDs getAvailableCurrencies")
"""Methods whose value is an array, or another thing that can change."""
PRIMITIVE = words("boolean byte short int long float double char")
FIXED = _UNCHANGING | PRIMITIVE | words("LocalDate LocalTime LocalDateTime Instant")
"""Types whose objects nothing changes."""
_HOLDING = re.compile(r"\w*(?:List|Set|Map|Deque|Queue|Collection|Iterable)<([\w, ]+)>|(\w+)((?:\[\])+)")
_OF_CLASS = words("getName getSimpleName getTypeName getCanonicalName toString equals")
_ASSERTING = re.compile(r"\w*(?:Assert|Test|Truth)\w*|this|")
"""How classes are called whose methods assert."""
_FILLING = frozenset({"add", "put", "append"})
_TELLING_ORDER = words("toString join iterator stream toArray valueOf format")
"""Methods whose value says in which order something is in a collection."""
_IN_ORDER = words("ArrayList LinkedList LinkedHashSet LinkedHashMap")
_LOOPS = {
    **dict.fromkeys(("for_statement", "while_statement", "do_statement"), "condition"),
    "enhanced_for_statement": "value",
}
"""Loops, and what of each says how many turns it has."""
_COUNTED = words("for_statement enhanced_for_statement")
_WITH_BODY = words("object_creation_expression class_declaration enum_constant record_declaration")
"""What may stand in a method and has methods of its own, which something else runs."""
_ANONYMOUS = words("object_creation_expression enum_constant")
_TELLS_THE_COMPILER = re.compile(
    r"(?:[\w.]*\.)?(?:SuppressWarnings|Deprecated|\w*Nullable|No[nt]Null|VisibleForTesting)"
)
"""Annotations by which nothing is set."""
_CONSTANT = re.compile(r"(?:[A-Z]\w*\.)+[A-Za-z]\w*|[A-Z][A-Z0-9_]+")


class Statics(static.Statics[Scopes]):
    """Tells what of one file is static."""

    literals = LITERALS
    functions = METHODS
    made_of = words(
        "parenthesized_expression unary_expression binary_expression ternary_expression array_access array_initializer"
        " dimensions_expr"
    )

    told_by: ClassVar[Mapping[str, str]] = {"cast_expression": "value"}

    def __init__(
        self,
        scopes: Scopes,
        shared: Collection[str] = (),
        beside: Collection[str] = (),
        above: Collection[str] = (),
        below: Collection[str] = (),
    ) -> None:
        """`shared` are methods that other files call, `beside` the other classes of its package.

        `above` are methods that its classes have of those of other files, `below` those of classes that extend its own.
        """
        super().__init__(scopes, shared)
        self._beside, self._above, self._below = beside, above, below
        self._several: dict[int, bool] = {}

    def _by_type(self) -> Mapping[str, Callable[[Node, int], bool]]:
        return {
            "identifier": self._is_static_name,
            "field_access": self._is_static_member,
            "method_invocation": self._is_static_call,
            "array_creation_expression": self._is_static_array,
            "object_creation_expression": self._is_static_object,
        }

    def has_method(self, name: str) -> bool:
        """Whether a class of the file, or one that these extend, has a method of that name."""
        return name in self._scopes.functions or name in self._above

    def is_constant(self, node: Node) -> bool:
        """Whether it is a constant of another class, by its name: an enum's, it may be."""
        node = bare(node)
        if _CONSTANT.fullmatch(text_of(node)) is None or self._scopes.resolve(node) is not None:
            return False
        if node.type == "identifier":
            return text_of(node) in self._scopes.members
        holder = field_of(node, "object")
        return node.type == "field_access" and holder is not None and self._scopes.resolve(holder) is None

    def is_static_binding(self, binding: Binding, depth: int = 0) -> bool:
        """Whether a name is set once, to something static that nothing can change."""
        init = binding.init
        if binding.is_written:
            return self._is_set_in_turn(binding, depth)
        if binding.kind not in ("local", "field") or init is None:
            return False
        if binding.kind == "field" and not self._is_set_here_alone(binding.statement):
            return False
        if not self.is_static(init, depth):
            return False
        return self._is_fixed(binding, [init]) or self._is_left(binding)

    def _is_left(self, binding: Binding) -> bool:
        """Whether nothing changes what a name stands for, but to add something static to it."""
        return all(self._only_looks(use) or self.filling(use, binding) is not None for use in binding.uses)

    @staticmethod
    def _is_set_here_alone(field: Node) -> bool:
        """Whether nothing but the file sets a field: of one with an annotation, what reads that may."""
        marks = [child for child in named(modifiers_of(field)) if child.type.endswith("annotation")]
        is_own = has_modifier(field, "private") and all(map(_TELLS_THE_COMPILER.fullmatch, map(name_of, marks)))
        return is_own or has_modifier(field, "final") or field.type == "constant_declaration"

    def _is_set_in_turn(self, binding: Binding, depth: int) -> bool:
        """Whether a local name is set again by statements beside its own alone, each time to something static."""
        values = [field_of(write, "right") for write in map(_write_of, binding.uses) if write is not None]
        values += [binding.init] if binding.init is not None else []
        return (
            binding.kind == "local"
            and all(_write_of(use) is None or self.filling(use, binding) is not None for use in binding.uses)
            and self._are_static(filter(None, values), depth)
            and (self._is_fixed(binding, values) or self._is_left(binding))
        )

    def _is_counter(self, binding: Binding, use: Node, depth: int) -> bool:
        """Whether a name counts the turns of a loop, and the product does not say of which turn a use of it is."""
        loop = _counting(binding)
        if loop is None:
            return False
        writes = [write for write in map(_write_of, binding.uses) if write is not None]
        updates = loop.children_by_field_name("update")
        steps = [field_of(write, "right") for write in writes if write.type == "assignment_expression"]
        return (
            all(write in updates for write in writes)
            and binding.type_name in FIXED
            and all(self.is_static(value, depth) for value in (binding.init, *steps))
            and not self._is_of_chosen_turn(use, loop)
        )

    def _is_of_chosen_turn(self, use: Node, loop: Node) -> bool:
        """Whether the product says in which turns of a loop a name is read; what asks for that again has its answer."""
        return self._unless_open(loop.id, lambda: self._is_by_choice(use, loop))

    def _conditions(self, around: Node, at: Node) -> list[Node]:
        """Those of loops, too: of how many turns these are. What runs a lambda or an object is taken for one."""
        condition = None
        if around.type in _LOOPS and is_field(around, "body", at):
            condition = field_of(around, _LOOPS[around.type]) or around
        elif around.type == "lambda_expression" or (at.type == "class_body" and around.type in _WITH_BODY):
            call = around.parent.parent if around.parent is not None else None
            if call is None or not name_of(call).startswith("assert"):
                condition = field_of(call, "object") or around
        return super()._conditions(around, at) + ([condition] if condition is not None else [])

    def filling(self, use: Node, binding: Binding) -> Node | None:
        """What sets a name, or adds to its collection, something static, in turns of loops that the test alone counts.

        None of another use. It stands beside the name's own statement, or in such loops there.
        """
        statement, home = _setting(use), binding.statement.parent
        if statement is None or home is None:
            return None
        change = named(statement)[0]
        if change.type == "assignment_expression":
            parts = [field_of(field_of(change, "left"), "index"), field_of(change, "right")]
            is_its = binding.kind == "local" and field_text(change, "operator") in ("=", "+=")
        else:
            parts, is_its = [*arguments_of(change)], True
        are_static = is_its and self._are_static(filter(None, parts), 0)
        return statement if are_static and self._is_always_come_to(statement, home) else None

    def _is_always_come_to(self, statement: Node, home: Node) -> bool:
        """Whether a block comes to a statement in it, and as often, whatever the product says."""
        between = list(takewhile(lambda at: at != home, upward(statement.parent)))
        if not between:
            return True
        are_loops = all(at.type == "block" or at.type in _COUNTED for at in between)
        return between[-1].parent == home and are_loops and not self._is_by_choice(statement, home)

    def calls_of(self, binding: Binding) -> list[Node] | None:
        """What a parameter of the file's own method is given, call by call; None where that can't be told."""
        method = method_around(binding.statement)
        if binding.kind != "parameter" or method is None or method.type != "method_declaration":
            return None
        parameters = self._scopes.parameters(method)
        if len(parameters) != len(named(field_of(method, "parameters"))):
            return None
        name = name_of(method)
        operands = self._given(name, parameters, binding)
        if operands is None or name in self._scopes.referred or rows.sources_of(method) or _is_of_another(method):
            return None
        more = map(arguments_of, self._scopes.calls_of_objects.get(name, []))
        operands += [arguments[parameters.index(binding)] for arguments in more if len(arguments) == len(parameters)]
        return None if self._is_choice(operands) else operands

    def _given(
        self, name: str, parameters: Sequence[stripping.Binding | None], binding: stripping.Binding
    ) -> list[Node] | None:
        """The same of a method beside others of its name: calls are told apart by how many arguments they have."""
        forms = [named(field_of(method, "parameters")) for method in self._scopes.functions.get(name, [])]
        is_clear = [len(form) for form in forms].count(len(parameters)) == 1
        if len(forms) == 1 or not is_clear or any(part.type == "spread_parameter" for form in forms for part in form):
            return super()._given(name, parameters, binding)
        calls = [call for call in self._scopes.calls.get(name, []) if len(arguments_of(call)) == len(parameters)]
        if binding not in parameters or name in self._shared or not calls:
            return None
        return [arguments_of(call)[parameters.index(binding)] for call in calls]

    def _is_choice(self, operands: Iterable[Node]) -> bool:
        operands = list(operands)
        methods = {name_of(method) for operand in operands if (method := method_around(operand)) is not None}
        is_referred = not methods.isdisjoint(self._scopes.referred) and len(set(map(self._form, operands))) > 1
        return is_referred or super()._is_choice(operands)

    def _calls_to(self, function: Node | None) -> list[Node]:
        calls = super()._calls_to(function)
        body = function.parent if function is not None else None
        if function is not None and body is not None and body.parent is not None and body.parent.type in _WITH_BODY:
            calls += self._scopes.calls_of_objects.get(name_of(function), [])
            is_anonymous = body.parent.type in _ANONYMOUS
            calls += [function] if is_anonymous else []
        return calls

    def _is_static_array(self, node: Node, depth: int) -> bool:
        sizes = [part for part in node.children_by_field_name("dimensions") if part.type == "dimensions_expr"]
        return all(self.is_static(part, depth) for part in (*sizes, *node.children_by_field_name("value")))

    def _is_static_object(self, node: Node, depth: int) -> bool:
        kind = _type_of(node)
        is_plain = not any(child.type == "class_body" for child in node.children)
        parts = arguments_of(node)
        is_ordered = kind.rpartition(".")[2] not in _IN_ORDER or all(map(self._is_in_order, parts))
        return is_plain and is_ordered and self._is_known(kind) and all(self.is_static(part, depth) for part in parts)

    def values_of(self, binding: Binding) -> list[Node] | None:
        """All that a parameter is given, by calls or by rows; None where that can't be told."""
        operands = self.calls_of(binding)
        return rows.cells_of(binding, self._scopes, {*self._above, *self._below}) if operands is None else operands

    def _is_static_name(self, node: Node, depth: int) -> bool:
        binding = self._scopes.resolve(node)
        if binding is None:
            return self._is_known_member(text_of(node))
        turns = (turn for turn in self._turns_of(binding) if covers(place_of(turn), place_of(node)))
        if any(self._is_of_chosen_turn(node, turn) for turn in turns):
            return False
        if self._may_be_inherited(node, binding) or self._is_filled_later(node, binding):
            return False
        return self._unless_open(id(binding), lambda: self._is_static_as(binding, node, depth))

    def _may_be_inherited(self, use: Node, binding: Binding) -> bool:
        """Whether a name of a class may be that of a field which a class within it has of what that extends."""
        inner = takewhile(lambda at: at != binding.statement.parent, upward(use))
        bases = (
            {name for at in inner if at.type in BODIES for name in _bases_of(at)} if binding.kind == "field" else set()
        )
        if any(map(self._is_of_product, bases)):
            return True
        fields = (other for other in self._scopes.bindings() if other != binding and other.kind == "field")
        return bool(bases & self._scopes.classes) and any(other.name == binding.name for other in fields)

    def _is_filled_later(self, use: Node, binding: Binding) -> bool:
        """Whether something is added to what a name stands for behind a function that reads it and may be run later."""
        inner = takewhile(lambda at: at != binding.statement.parent, upward(use))
        run = [at for at in inner if at.type in ("lambda_expression", "class_body")]
        return bool(run) and any(
            other.start_byte > run[-1].start_byte and _setting(other) is not None for other in binding.uses
        )

    def _form(self, operand: Node) -> tuple[object, ...]:
        names = (self._scopes.resolve(name) for name in walk(operand) if name.type == "identifier")
        is_filled = any(name is not None and any(map(_is_filled, name.uses)) for name in names)
        return *super()._form(operand), operand.id if is_filled else None

    def _turns_of(self, binding: Binding) -> list[Node]:
        """The loops and methods in each turn, or call, of which a name stands for another thing."""
        turns: dict[int, Node] = {}
        visited, rest = {id(binding)}, [binding]
        while rest:
            name = rest.pop()
            turn = name.statement if name.kind == "each" else _counting(name)
            if name.kind == "parameter" and self._is_given_several(name):
                turn = method_around(name.statement)
            turns |= {at.id: at for at in (turn, *_loops_of(name)) if at is not None}
            if name.kind != "parameter":
                inner = [part for part in self._made_of(name) if id(part) not in visited]
                visited |= set(map(id, inner))
                rest += inner
        return list(turns.values())

    def _is_given_several(self, parameter: Binding) -> bool:
        """Whether calls give a parameter of a method more than one thing."""
        key = id(parameter)
        if key not in self._several:
            self._several[key] = False  # while that is being asked: a method that calls itself
            operands = self._operands_of(parameter)
            names = (name for node in operands for name in self._names_in(node))
            self._several[key] = len(set(map(self._form, operands))) > 1 or any(map(self._varies, names))
        return self._several[key]

    def _operands_of(self, parameter: Binding) -> list[Node]:
        method = method_around(parameter.statement)
        parameters = self._scopes.parameters(method) if method is not None else []
        if method is None or parameter not in parameters:
            return []
        place, name = parameters.index(parameter), name_of(method)
        calls = [*self._scopes.calls.get(name, []), *self._scopes.calls_of_objects.get(name, [])]
        return [argument for call in calls for argument in arguments_of(call)[place : place + 1]]

    def _varies(self, binding: Binding) -> bool:
        return bool(self._turns_of(binding))

    def _made_of(self, binding: Binding) -> list[Binding]:
        """The names in what one is set to, or in what is added to that."""
        values = [binding.init, *map(_setting, binding.uses)]
        writes = (field_of(write, "right") for write in map(_write_of, binding.uses) if write is not None)
        names = [name for value in (*values, *writes) if value is not None for name in self._names_in(value)]
        return [name for name in names if name != binding]

    def _names_in(self, node: Node) -> list[Binding]:
        names = (self._scopes.resolve(part) for part in walk(node) if part.type == "identifier")
        return [name for name in names if name is not None and name.kind in ("local", "each", "parameter")]

    def _is_static_as(self, binding: Binding, use: Node, depth: int) -> bool:
        if binding.is_written:
            return self._is_counter(binding, use, depth) or self._is_set_in_turn(binding, depth)
        if binding.kind == "parameter":
            return self._is_static_parameter(binding, depth)
        if binding.kind == "each":
            return (
                self._is_in_order(binding.init)
                and self.is_static(binding.init, depth)
                and self._stays(binding, [binding.init])
            )
        return self.is_static_binding(binding, depth)

    def _is_in_order(self, rows_of: Node | None) -> bool:
        """Whether a loop comes to what it goes over in the same order in each run."""
        names = (self._scopes.resolve(part) for part in walk(rows_of) if part.type == "identifier")
        inits = (name.init for name in names if name is not None and name.init is not None)
        return rows_of is not None and not any(map(rows.is_unordered, (rows_of, *inits)))

    def _is_static_parameter(self, binding: Binding, depth: int) -> bool:
        if rows.column_of(binding, self._scopes) is not None:
            return True
        operands = self.values_of(binding)
        if operands is None or not all(self.is_static(operand, depth) for operand in operands):
            return False
        return self._stays(binding, operands)

    def _stays(self, binding: Binding, values: Iterable[Node | None]) -> bool:
        """Whether nothing can change what a name stands for, which is one of some values or in one."""
        return self._is_fixed(binding, values) or all(map(self._only_looks, binding.uses))

    def _is_fixed(self, binding: Binding, values: Iterable[Node | None]) -> bool:
        return binding.type_name in FIXED or not any(map(self._is_mutable, values))

    def _is_mutable(self, node: Node | None) -> bool:
        if node is None:
            return True
        node = bare(node)
        match node.type:
            case "identifier":
                binding = self._scopes.resolve(node)
                return binding is not None and binding.init is not None and not self._is_fixed(binding, [binding.init])
            case "object_creation_expression":
                return field_text(node, "type").rpartition(".")[2] not in _UNCHANGING
            case "method_invocation" if field_of(node, "object") is None and name_of(node) in self._scopes.functions:
                return any(field_text(own, "type") not in FIXED for own in self._scopes.functions[name_of(node)])
            case "method_invocation" if name_of(node) not in LOOKING - _LIVE - _MAKING:
                holder = field_of(node, "object")
                parts = [*([holder] if holder is not None else []), *arguments_of(node)]
                return name_of(node) in _MAKING or any(map(self._is_mutable, parts))
            case "cast_expression" | "ternary_expression":
                return any(map(self._is_mutable, named(node)[1:]))
        return node.type in _ARRAYS

    def _only_looks(self, use: Node) -> bool:
        """Whether a use of a name can't change what it stands for."""
        return self._looks_at(use, self._levels(self._scopes.resolve(use)))

    def _levels(self, binding: Binding | None) -> int:
        """How many steps lead from what a name stands for to what nothing can change; 0 where that can't be told."""
        holding = _HOLDING.fullmatch(binding.type_name) if binding is not None else None
        if binding is None or holding is None:
            return 0
        is_of_fixed = set((holding[1] or holding[2]).split(", ")) <= FIXED
        return len(holding[3] or "[]") // 2 if is_of_fixed or self._holds_fixed(binding.init) else 0

    def _holds_fixed(self, node: Node | None) -> bool:
        """Whether nothing can change what is written out in an array or a list."""
        node = bare(node) if node is not None else None
        if node is None or node.type == "identifier":
            binding = self._scopes.of_name(node)
            return binding is not None and self._holds_fixed(binding.init)
        if node.type in _ARRAYS:
            inner = node.children_by_field_name("value") if node.type == "array_creation_expression" else named(node)
            return bool(inner) and all(map(self._holds_fixed, inner))
        if node.type == "method_invocation" and name_of(node) in ("of", "asList"):
            return all(map(self._holds_fixed, arguments_of(node)))
        return not self._is_mutable(node)

    def _looks_at(self, at: Node, levels: int) -> bool:
        """Whether what is done with an object can't change it."""
        around = at.parent
        while around is not None and around.type in ("parenthesized_expression", "cast_expression", "array_access"):
            if around.type == "array_access":
                if is_field(around, "array", at) and _write_of(around) is not None:
                    return False
                levels -= 1
                if not levels:
                    return True
            at, around = around, around.parent
        if around is None:
            return False
        if around.type == "argument_list" and around.parent is not None:
            return self._looks_in_call(at, around.parent, levels)
        if around.type == "method_invocation":
            name = name_of(around)
            if name not in LOOKING or field_of(around, "object") != at:
                return False
            is_live = name in _LIVE and not (levels == 1 and name in ("get", "stream"))
            return not is_live or self._looks_at(around, levels)
        if around.type in ("variable_declarator", "enhanced_for_statement"):
            alias = self._scopes.of_name(field_of(around, "name"))
            return alias is not None and (alias.type_name in FIXED or self._looks_all(alias))
        return around.type in ("field_access", "binary_expression", "expression_statement")

    def _looks_all(self, binding: Binding) -> bool:
        return self._unless_open(binding.declared.id, lambda: all(map(self._only_looks, binding.uses)))

    def _looks_in_call(self, at: Node, call: Node, levels: int) -> bool:
        own = self._scopes.functions.get(name_of(call), []) if call.type == "method_invocation" else []
        if len(own) == 1 and field_text(call, "object") in ("", "this"):
            parameters, place = self._scopes.parameters(own[0]), arguments_of(call).index(at)
            return place < len(parameters) and self._looks_all(parameters[place])
        if not own and name_of(call).startswith("assert") and self._is_a_test_s(call):
            return True
        is_static = call.type == "method_invocation" and self._is_static_call(call, static.MOST_DEPTH - 3)
        return is_static and (not self._is_mutable(call) or self._looks_at(call, levels))

    def _is_a_test_s(self, call: Node) -> bool:
        """Whether what asserts is a library's, or of the test's own class; a method of the product may be called so."""
        holder = text_of(field_of(call, "object"))
        path = self._scopes.class_of(holder) if holder else self._scopes.members.get(name_of(call), "")
        return _ASSERTING.fullmatch(path.rpartition(".")[2]) is not None

    def _is_settled(self, condition: Node) -> bool:
        made = (part for part in walk(condition) if part.type == "object_creation_expression")
        return super()._is_settled(condition) and all(self._is_known(_type_of(part)) for part in made)

    def _is_of_language(self, name: Node) -> bool:
        around = name.parent
        if around is not None and (is_field(around, "name", name) or is_field(around, "field", name)):
            holder = field_of(around, "object")
            return holder is not None and holder.type not in ("this", "super")  # which says whose it is
        return text_of(name) == "System" or self._is_known(text_of(name))

    def _is_known(self, name: str) -> bool:
        """Whether a class is one of the standard library's that only makes values."""
        package, _, last = self._scopes.class_of(name).rpartition(".")
        if last in self._scopes.classes or (not package and last in self._beside):
            return False
        packages = [package] if package else ["java.lang", *self._scopes.packages]
        return any(last in _CLASSES.get(package, ()) for package in packages)

    def _is_static_member(self, node: Node, depth: int) -> bool:
        binding = self._scopes.resolve(node)
        if binding is not None:
            return self.is_static_binding(binding, depth)
        holder = field_of(node, "object")
        if holder is None:
            return False
        if holder.type in ("identifier", "field_access") and self._scopes.resolve(holder) is None:
            return self._is_known(text_of(holder))
        return field_text(node, "field") == "length" and self.is_static(holder, depth)

    def _is_static_call(self, node: Node, depth: int) -> bool:
        name, holder = name_of(node), field_of(node, "object")
        if self._is_changing(node) or not all(self.is_static(argument, depth) for argument in arguments_of(node)):
            return False
        is_list = name == "copyOf" and text_of(holder).rpartition(".")[2] == "List"
        if (is_list or name in _TELLING_ORDER) and not self._is_in_order(node):
            return False
        if holder is None:
            own = self._scopes.functions.get(name, [])
            return self._is_pure(node, own) if own else name not in self._above and self._is_known_member(name)
        if holder.type in ("identifier", "field_access", "scoped_identifier") and self._scopes.resolve(holder) is None:
            return self._is_known(text_of(holder))
        return self.is_static(holder, depth) and (name in _OF_CLASS or not self._is_class(holder))

    def _is_pure(self, call: Node, own: Sequence[Node]) -> bool:
        """Whether a method of the file makes what it gives of its arguments alone, so that it is the same for the same.

        What it says itself stays in the file, so one that is given nothing is none.
        """
        count = len(arguments_of(call))
        forms = [method for method in own if len(named(field_of(method, "parameters"))) == count]
        parts = (part for method in own for part in named(field_of(method, "parameters")))
        is_open = any(part.type == "spread_parameter" for part in parts)
        method = own[0] if len(own) == 1 else forms[0] if len(forms) == 1 and not is_open else None
        body = field_of(method, "body")
        if method is None or body is None or not count or not self._is_called(method, call):
            return False
        inner = [part for node in (field_of(method, "parameters"), body) for part in walk(node)]
        return self._unless_open(method.id, lambda: all(self._asks_nothing(part, method) for part in inner))

    def _is_called(self, method: Node, call: Node) -> bool:
        """Whether a call is of a method of the file, and of none that a class has of another one or overrides it by."""
        is_own = has_modifier(method, "private", "static", "final")
        if name_of(method) in self._above or (name_of(method) in self._below and not is_own):
            return False
        bodies = (at for at in upward(call) if at.type in BODIES)
        inner = takewhile(lambda body: body != method.parent, bodies)
        is_around = any(at == method.parent for at in upward(call))
        return is_around and not any(map(_is_derived, inner))

    def _is_changing(self, call: Node) -> bool:
        """Whether a method looks at surroundings, or changes something."""
        name, holder = name_of(call), field_of(call, "object")
        return name in _CHANGING or (name == "length" and holder is not None and self._is_file(holder))

    def _is_file(self, node: Node) -> bool:
        """Whether something is a file, whose length is that of what is on the disk."""
        node = bare(node)
        binding = self._scopes.resolve(node) if node.type in ("identifier", "field_access") else None
        if binding is not None and binding.type_name == "var" and binding.init is not None:
            return self._is_file(binding.init)
        kind = binding.type_name if binding is not None else _type_of(node)
        return kind.rpartition(".")[2] == "File" or name_of(node).endswith("File")

    def _asks_nothing(self, part: Node, method: Node) -> bool:
        """Whether a node in a method that may be pure is of what it is given, or what a known class makes."""
        match part.type:
            case "this" | "super" | "class_body" | "class_literal":
                return False
            case "type_identifier":
                return not self._is_of_product(text_of(part))
            case "object_creation_expression":
                return self._is_known(_type_of(part))
            case "method_invocation":
                own = self._scopes.functions.get(name_of(part), [])
                if field_of(part, "object") is None:
                    return self._is_pure(part, own) if own else self._is_known_member(name_of(part))
                return not self._is_changing(part)
            case "identifier" if not _is_name_of(part):
                binding = self._scopes.resolve(part)
                if binding is None:
                    return self._is_known(text_of(part)) or self._is_known_member(text_of(part))
                return method_around(binding.declared) == method or self.is_static_binding(binding)
        return True

    def _is_of_product(self, name: str) -> bool:
        """Whether a type is another than the language's own; one without an import may be a variable of types."""
        package, _, last = self._scopes.class_of(name).rpartition(".")
        if package:
            return not package.startswith("java.")
        stars = [path for path in self._scopes.packages if not path.startswith("java.")]
        is_java_s = last in _LANG_TYPES or len(stars) < len(self._scopes.packages)
        return last in self._beside or (bool(stars) and not is_java_s and len(last) > 1)

    def _is_known_member(self, name: str) -> bool:
        """Whether a name that is imported alone is of a class of the standard library's that only makes values."""
        return self._is_known(self._scopes.members.get(name, ""))

    def _is_class(self, node: Node) -> bool:
        """Whether it is a class, whose members are those of the product."""
        node = bare(node)
        binding = self._scopes.of_name(node)
        return node.type == "class_literal" or (binding is not None and binding.type_name.startswith("Class"))


def _is_of_another(method: Node) -> bool:
    """Whether a method may be one that others know, who call it as well: by what its class implements, or is of."""
    body = method.parent
    if body is None or body.parent is None or has_modifier(method, "private", "static"):
        return False
    is_inner = body.parent.parent is not None and body.parent.parent.type != "program"
    is_implemented = has_modifier(method, "public") and field_of(body.parent, "interfaces") is not None
    return annotation_of(method, "Override") is not None or is_implemented or (is_inner and _is_derived(body))


def _type_of(creation: Node) -> str:
    """The class of what is made, without what it is general in."""
    return field_text(creation, "type").partition("<")[0]


def _is_name_of(name: Node) -> bool:
    """Whether it is the name of a method or a member, by what it is a member of."""
    return any(is_field(name.parent, word, name) for word in ("name", "field"))


def _is_derived(body: Node) -> bool:
    """Whether a class may have methods of another, by what it extends or implements."""
    of = body.parent
    is_anonymous = of is not None and of.type in _ANONYMOUS
    return is_anonymous or field_of(of, "superclass") is not None or field_of(of, "interfaces") is not None


def _counting(binding: Binding) -> Node | None:
    """The loop whose turns a name counts; None of any other name."""
    loop = binding.statement.parent
    is_its = loop is not None and loop.type == "for_statement" and is_field(loop, "init", binding.statement)
    return loop if is_its else None


def _is_filled(use: Node) -> bool:
    """Whether something is added to what a name stands for where it is used."""
    around = use.parent
    return around is not None and name_of(around) in _FILLING and field_of(around, "object") == use


def _setting(use: Node) -> Node | None:
    """The statement that sets a name or an item of its array, or adds to its collection; None of another use."""
    around = use.parent
    if around is not None and around.type == "array_access" and is_field(around, "array", use):
        around = around.parent
    statement = around.parent if around is not None else None
    if around is None or statement is None or statement.type != "expression_statement":
        return None
    left = field_of(around, "left") if around.type == "assignment_expression" else None
    return statement if _is_filled(use) or (left is not None and use in (left, field_of(left, "array"))) else None


def _loops_of(name: Binding) -> list[Node]:
    """The loops in whose turns something is added to what a name stands for, or set, that was declared before them."""
    settings = (statement for statement in map(_setting, name.uses) if statement is not None)
    around = (takewhile(lambda at: at != name.statement.parent, upward(statement)) for statement in settings)
    return [at for way in around for at in way if at.type in _LOOPS]


def _bases_of(body: Node) -> list[str]:
    """The classes and interfaces that the class of a body extends or implements."""
    of = body.parent
    parts = [field_of(of, word) for word in ("superclass", "interfaces", "type")]
    return [
        text_of(part) for node in parts if node is not None for part in walk(node) if part.type == "type_identifier"
    ]


def _write_of(use: Node) -> Node | None:
    """What sets a name where it is used; None where it is read, or a part of what it stands for is set."""
    around = use.parent
    if around is None:
        return None
    if around.type == "update_expression" or (around.type == "assignment_expression" and is_field(around, "left", use)):
        return around
    return None


def holds_text(node: Node) -> bool:
    """Whether an expression is a text as it is written."""
    node = bare(node)
    if node.type == "binary_expression":
        return any(map(holds_text, named(node)))
    return node.type in TEXTS or any(
        text_of(part).startswith(("String.format", "String.valueOf")) for part in walk(node) if part.id == node.id
    )
