"""How far off the rule of thumb for tokens is, on the prompts that `goldseam solve` really sends.

    python benchmarks/token_rule.py DATASET=CLONE [DATASET=CLONE …]

CLONE is a git repository that has the base commits of DATASET's tasks. Prompts are those of `--agent single`; they are
counted by three published tokenizers (OpenAI's o200k and cl100k, Anthropic's of 2023), which come with the
PyPI package litellm. Compared with: the rule in `harness/solve/models/tokens.py`. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import statistics
import sys
import tarfile
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness.core import process
from harness.dataset.folder import open_dataset
from harness.solve import prompts
from harness.solve.agents.single import SingleAgent
from harness.solve.base import Sampling, SolveJob
from harness.solve.estimate import RATIO, first_question
from harness.solve.models import tokens
from tests import pypi_tools

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.solve.base import Request

TOOLS = ("litellm==1.80.0", "tiktoken==0.14.0", "tokenizers==0.23.3")
COUNTER = """
import importlib.util, json, os, pathlib, sys
package = importlib.util.find_spec("litellm").submodule_search_locations[0]
folder = pathlib.Path(package) / "litellm_core_utils" / "tokenizers"
os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
import tiktoken
from tokenizers import Tokenizer
count = {name: tiktoken.get_encoding(name).encode_ordinary for name in ("o200k_base", "cl100k_base")}
for name in ("anthropic",):
    made = Tokenizer.from_file(str(folder / f"{name}_tokenizer.json"))
    count[name] = lambda text, made=made: made.encode(text).ids
for line in open(sys.argv[1], encoding="utf-8"):
    texts = json.loads(line)
    print(json.dumps({name: sum(len(found(text)) + 4 for text in texts) for name, found in count.items()}))
"""
"""Runs where the tokenizers are; four tokens a turn are what chat templates add."""


class Tree:
    """A commit's files; read alone."""

    def __init__(self, clone: Path, commit: str) -> None:
        packed = process.run(["git", "-C", str(clone), "archive", commit], timeout=120).stdout
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            packed_files = ((member.name, archive.extractfile(member)) for member in archive)
            self._files = {name: file.read() for name, file in packed_files if file}

    def files(self) -> tuple[str, ...]:
        return tuple(sorted(self._files))

    def read(self, path: str) -> bytes:
        return self._files[path]


def _alone(tree: Tree) -> contextlib.AbstractContextManager[Any]:
    """A tree in place of a workspace: the first question reads files alone."""
    return contextlib.nullcontext(tree)


def questions(dataset: Path, clone: Path, most: int) -> Iterator[Request]:
    """The first question about each task."""
    opened = open_dataset(dataset)
    for instance in list(opened.instances())[:most]:
        tree = Tree(clone, instance.base_commit)
        job = SolveJob(
            instance=instance,
            sample=0,
            sampling=Sampling(),
            open_workspace=partial(_alone, tree),
            header=opened.canary,
        )
        asked = first_question(SingleAgent(prompts.load()), job, model="none")
        if asked is not None:
            yield asked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="+", metavar="DATASET=CLONE")
    parser.add_argument("--tasks", type=int, default=12, help="at most so many of each dataset")
    asked = parser.parse_args()
    found = [
        one
        for pair in asked.pairs
        for one in questions(Path(pair.split("=")[0]), Path(pair.split("=")[1]), asked.tasks)
    ]
    sizes = [tokens.request_bytes(one) for one in found]
    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder) / "prompts.jsonl"
        texts.write_text("".join(json.dumps([one.content for one in each.messages]) + "\n" for each in found))
        python = pypi_tools.environment(*TOOLS).python
        told = process.run([str(python), "-c", COUNTER, str(texts)], timeout=600).stdout.decode()
    counts = [json.loads(line) for line in told.splitlines()]
    shares = []
    print(f"{len(sizes)} prompts of {statistics.median(sizes):,.0f} bytes (median)")
    for name in counts[0]:
        each = [size / count[name] for size, count in zip(sizes, counts, strict=True)]
        shares += [tokens.BYTES_PER_TOKEN / one for one in each]
        print(f"{name:12} bytes a token: {min(each):.2f} to {max(each):.2f}, median {statistics.median(each):.2f}")
    low, high = min(shares), max(shares)
    print(f"real tokens are {low:.2f} to {high:.2f} times the rule's, median {statistics.median(shares):.2f}")
    print(
        json.dumps(
            {
                "benchmark": "token_rule",
                "prompts": len(sizes),
                "low": round(low, 3),
                "high": round(high, 3),
                "median": round(statistics.median(shares), 3),
                "within_stated": RATIO[0] <= low and high <= RATIO[1],
                "within_reservation": tokens.BYTES_PER_TOKEN / high >= tokens.FEWEST_BYTES_PER_TOKEN,
            }
        )
    )


if __name__ == "__main__":
    main()
