"""How long uv believes what a package index said: as long as it makes no difference, also where an index does not say.

An index behind a company's proxy often sends neither `Cache-Control` nor `ETag`. uv then asks again for every page and
every file's metadata in each of its runs, which is most of the time that a further commit of a repository takes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit, urlunsplit

NAME = "uv.toml"
PYPI = "https://pypi.org/simple"
PAGES = "max-age=600"
"""What PyPI says of a page. No longer: a commit of today may need what was uploaded a moment before it."""
OLD_PAGES = "max-age=86400"
"""For commits that are older than such a page can be: what was uploaded since, they don't see."""
_OLD = timedelta(days=2)
FILES = "max-age=31536000, immutable"
"""What PyPI says of files: a name is given once. Locks have hashes, so another file under that name is refused."""
_NAMED = re.compile(r"[A-Za-z0-9_-]+=(?=[a-z]+://)")


def config(variables: Mapping[str, str], as_of: datetime | None = None) -> str:
    """A configuration of uv that says so of the default index; without the index's credentials, which uv ignores here.

    `variables` are those of the build. The index that they name goes before this one, which is the same. Nothing that
    was uploaded after `as_of` is asked for.
    """
    if "UV_NO_INDEX" in variables or "PIP_NO_INDEX" in variables:
        return ""
    parts = urlsplit(_NAMED.sub("", variables.get("UV_DEFAULT_INDEX") or variables.get("UV_INDEX_URL") or PYPI))
    if not parts.hostname:
        return ""
    url = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    is_old = as_of is not None and as_of + _OLD < datetime.now(UTC)
    pages = OLD_PAGES if is_old else PAGES
    control = f"{{ api = {json.dumps(pages)}, files = {json.dumps(FILES)} }}"
    return f"[[index]]\nurl = {json.dumps(url)}\ndefault = true\ncache-control = {control}\n"
