"""Files of a task's tree at base_commit, read from its image: no source is needed for that."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

from harness.core.instance import Budgets
from harness.sandbox.job import PYTHON, Job, SandboxError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.sandbox.job import Sandbox

_READ = """\
import base64, json, os, sys
for path in json.loads(sys.stdin.readline()):
    place = os.path.join("/opt/goldseam/src", path)
    if os.path.isfile(place) and not os.path.islink(place) and os.path.getsize(place) <= 1 << 20:
        print(json.dumps([path, base64.b64encode(open(place, "rb").read()).decode("ascii")]))
"""
_BUDGETS = Budgets(seconds=60.0, memory_mb=256)


def read_files(image: str, paths: Sequence[str], sandbox: Sandbox) -> dict[str, bytes]:
    """The plain files among some paths, up to 1 MiB each.

    Raises:
        MissingImageError: the image is not there.
        SandboxError: the engine failed, or the image's own Python did.

    """
    stdin = json.dumps(list(paths)).encode() + b"\n"  # its end tells the end: the engine leaves the stream open
    job_result = sandbox.run(Job(image=image, argv=(PYTHON, "-I", "-S", "-c", _READ), stdin=stdin, budgets=_BUDGETS))
    if job_result.exit_code or job_result.timed_out or job_result.stdout_overflow:
        error_text = job_result.stderr.decode("utf-8", "replace").strip()[-300:]
        raise SandboxError(f"the tree of {image} could not be read (exit code {job_result.exit_code}): {error_text}")
    lines = (json.loads(line) for line in job_result.stdout.splitlines())
    return {path: base64.b64decode(content) for path, content in lines}
