"""Languages by name: one folder each, in one literal table."""

from __future__ import annotations

from harness.core.errors import InputError
from harness.languages.base import Framework, Language
from harness.languages.declared.language import DECLARED
from harness.languages.go.language import GO
from harness.languages.java.language import JAVA
from harness.languages.javascript.language import JAVASCRIPT
from harness.languages.python.language import PYTHON
from harness.languages.rust.language import RUST

LANGUAGES: dict[str, Language] = {
    "python": PYTHON,
    "javascript": JAVASCRIPT,
    "go": GO,
    "java": JAVA,
    "rust": RUST,
    "declared": DECLARED,
}


def language_of(framework: str) -> Language:
    """The language that a test framework is of.

    Raises:
        InputError: no such framework.

    """
    language_found = next((language for language in LANGUAGES.values() if framework in language.frameworks), None)
    if language_found is None:
        names = (name for language in LANGUAGES.values() for name in language.frameworks)
        raise InputError(f"unknown test framework {framework!r}; known: {', '.join(names)}")
    return language_found


def framework(name: str) -> Framework:
    """The framework of that name.

    Raises:
        InputError: no such framework.

    """
    return language_of(name).frameworks[name]
