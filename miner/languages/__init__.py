"""Languages by name: one folder each, in one literal table."""

from __future__ import annotations

from harness import languages
from harness.core.instance import TestSpec
from miner.languages.base import Language
from miner.languages.declared.language import DECLARED
from miner.languages.go.language import GO
from miner.languages.java.language import GROOVY, JAVA, KOTLIN
from miner.languages.javascript.language import JAVASCRIPT, TYPESCRIPT
from miner.languages.python.language import PYTHON
from miner.languages.rust.language import RUST
from miner.languages.toolchain import Toolchain

LANGUAGES: dict[str, Language] = {
    "python": PYTHON,
    "javascript": JAVASCRIPT,
    "typescript": TYPESCRIPT,
    "go": GO,
    "java": JAVA,
    "kotlin": KOTLIN,
    "groovy": GROOVY,
    "rust": RUST,
    "declared": DECLARED,
}


def toolchains() -> dict[str, Toolchain]:
    """All toolchains of languages by name."""
    return {toolchain.name: toolchain for language in LANGUAGES.values() for toolchain in language.toolchains}


def language_of(test: TestSpec) -> Language:
    """The language of how tests are run.

    Raises:
        InputError: no such framework.

    """
    return LANGUAGES[languages.language_of(test.framework).name]
