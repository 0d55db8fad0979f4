"""`holdout scan`: copies are found whatever their layout, and honest text is no alarm."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import re
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from harness.core import process
from harness.core.errors import InputError
from harness.dataset.similarity import corpus, leak_fingerprints, leaks, scan
from harness.dataset.similarity.leak_fingerprints import Kind
from tests import tiny

STATEMENT = """\
Rounding a negative amount to whole cents drops the sign when the currency has no minor unit.

Calling `round_amount(-3, "JPY")` gives 3, where -3 is expected; other currencies keep the sign as they should.
"""
OLD = """\
def round_amount(value, currency):
    unit = minor_unit(currency)
    if unit == 0:
        return abs(value)
    scaled = value * 10 ** unit
    return scaled // 1 / 10 ** unit
"""
NEW = OLD.replace(
    "        return abs(value)\n",
    "        whole = int(abs(value) + 0.5)\n        return -whole if value < 0 and currency.signed else whole\n",
)
GOLD = tiny.diff("src/money.py", OLD, NEW)
TESTS = tiny.diff(
    "tests/test_money.py",
    "",
    "def test_yen_keeps_its_sign():\n    rounded = [round_amount(sign * 3, 'JPY') for sign in (-1, 1)]\n"
    "    assert rounded == [-3, 3] and not any(isinstance(amount, float) for amount in rounded)\n",
)
CANARY = "goldseam-canary 0f5e2d7a-1111-4222-8333-444455556666"


@pytest.fixture(scope="module")
def index():
    texts = [
        leak_fingerprints.of_statement("t-1", STATEMENT),
        leak_fingerprints.of_patch("t-1", Kind.GOLD, GOLD.encode()),
        leak_fingerprints.of_patch("t-1", Kind.TESTS, TESTS.encode()),
    ]
    return leak_fingerprints.build(texts, [CANARY], ordinary=leaks.ordinary_code())


def kinds(index, text: str | bytes, size: int = 1 << 20) -> set[Kind]:
    data = text.encode() if isinstance(text, str) else text
    return {find.kind for find in scan.scan(index, "x", [data[at : at + size] for at in range(0, len(data), size)])}


ADDED = "".join(line[1:] + "\n" for line in GOLD.splitlines() if line.startswith("+") and line[:3] != "+++")


@pytest.mark.parametrize(
    "text",
    [
        ADDED,
        ADDED.replace("    ", "\t\t\t"),
        ADDED.replace("int(abs(value) + 0.5)", "int(\n    abs(value)\n    + 0.5,\n)"),
        " ".join(ADDED.split()),
        f"Here is my patch:\n```diff\n{GOLD}```\n",
        json.dumps({"model_patch": GOLD}),
        json.dumps({"text": json.dumps({"model_patch": GOLD})}),
        f"<html><pre>{ADDED.replace('<', '&lt;').replace('whole', '<span class=n>whole</span>')}</pre></html>",
        NEW.upper(),
    ],
    ids=["as it is", "tabs", "wrapped", "one line", "a diff", "JSON", "JSON in JSON", "HTML", "capitals"],
)
def test_gold_code_is_found_whatever_its_layout(index, text):
    assert Kind.GOLD in kinds(index, text)


def test_the_code_before_the_fix_is_no_leak_of_it(index):
    assert kinds(index, OLD * 3) == set()


@pytest.mark.parametrize(
    "text",
    [
        STATEMENT,
        " ".join(STATEMENT.split()[: len(STATEMENT.split()) // 2]),
        STATEMENT.replace("`", "**").replace("\n", "\n> "),
        json.dumps(STATEMENT),
    ],
    ids=["whole", "half", "Markdown", "JSON"],
)
def test_a_statement_is_found(index, text):
    assert Kind.STATEMENT in kinds(index, f"Some issue.\n\n{text}\n\nThanks!")


def test_hidden_tests_are_found(index):
    assert Kind.TESTS in kinds(index, TESTS.replace("+", " "))


def test_words_of_a_statement_in_another_order_are_no_leak(index):
    assert kinds(index, " ".join(sorted(STATEMENT.split()))) == set()


def test_shingles_far_apart_are_no_leak(index):
    words = STATEMENT.split()
    runs = [
        " ".join(words[at : at + leak_fingerprints.WORDS])
        for at in range(0, len(words) - leak_fingerprints.WORDS, leak_fingerprints.WORDS)
    ]

    assert kinds(index, (" filler" * 250).join(runs)) == set()


@pytest.mark.parametrize("text", ["0f5e2d7a-1111-4222-8333-444455556666", CANARY.upper()])
def test_the_canary_is_found_by_its_guid(index, text):
    assert kinds(index, f"a line\n# {text}\n") == {Kind.CANARY}


@pytest.mark.parametrize("size", [1, 7, 64])
def test_where_a_stream_is_cut_changes_nothing(index, size):
    text = "x = 1\n" * 50 + STATEMENT + CANARY + "\n" + NEW

    assert kinds(index, text, size) == {Kind.STATEMENT, Kind.CANARY, Kind.GOLD}


def test_a_copy_across_two_pieces_is_found_and_placed(index, monkeypatch):
    monkeypatch.setattr(scan, "PIECE", 400)
    monkeypatch.setattr(scan, "_LONGEST_TOKEN", 100)
    before = "one two three\n" * 20
    [find] = scan.scan(index, "x", [(before + STATEMENT + before).encode()])

    assert (find.line, find.task, find.share) == (21, "t-1", 1.0)
    assert (before + STATEMENT).encode()[find.offset :].startswith(b"Rounding")


def test_a_text_without_white_space_is_searched_in_pieces(index):
    assert kinds(index, b"x" * (3 << 20) + b" " + CANARY.encode()) == {Kind.CANARY}


def test_what_three_tasks_share_is_no_evidence():
    form = "I agree to follow the code of conduct of this project and searched for issues like mine before."
    texts = [leak_fingerprints.of_statement(f"t-{number}", form) for number in range(3)]

    assert kinds(leak_fingerprints.build(texts, []), form) == set()
    assert kinds(leak_fingerprints.build(texts[:2], []), form) == {Kind.STATEMENT}


def test_what_is_too_short_to_be_told_is_counted():
    index = leak_fingerprints.build([leak_fingerprints.of_statement("t-1", "Fix the typo")], [])

    assert leak_fingerprints.untold_counts(index) == {Kind.STATEMENT: 1}


def packed(name: str, data: bytes) -> bytes:
    out = io.BytesIO()
    if name == "zip":
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("in/it.txt", data)
    else:
        with tarfile.open(fileobj=out, mode="w:gz") as tar:
            member = tarfile.TarInfo("in/it.txt")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()


def zstd(data: bytes) -> bytes:
    return process.run(["zstd", "-qc"], input=data).stdout


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("x.jsonl", lambda data: data),
        ("x.gz", gzip.compress),
        ("x.bz2", bz2.compress),
        ("x.xz", lzma.compress),
        ("x.zip", lambda data: packed("zip", data)),
        ("x.tar.gz", lambda data: packed("tar", data)),
        ("x.gz.gz", lambda data: gzip.compress(gzip.compress(data))),
        ("utf16.txt", lambda data: data.decode().encode("utf-16")),
        pytest.param("x.zst", zstd, marks=pytest.mark.skipif(not process.which("zstd"), reason="no zstd here")),
    ],
)
def test_a_packed_file_is_searched(index, tmp_path, name, pack):
    (tmp_path / name).write_bytes(pack(STATEMENT.encode()))
    answer = search(index, str(tmp_path))

    assert [find.kind for find in answer.finds] == [Kind.STATEMENT]
    assert answer.unread == ()


def search(index, *places, **options):
    found = corpus.sources(places, **options)
    return leaks.search(index, found, tasks=1, code=True, note=lambda _name: None)


def test_a_broken_archive_is_told_and_stops_nothing(index, tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(STATEMENT.encode() * 50)[:-20])
    (tmp_path / "b.txt").write_text(STATEMENT, encoding="utf-8")
    (tmp_path / "c.zip").write_bytes(packed("zip", b"x" * 900)[:-30])
    answer = search(index, str(tmp_path))

    assert [unread.name.rpartition("/")[2] for unread in answer.unread] == ["a.gz"]
    assert {find.source.rpartition("/")[2] for find in answer.finds} == {"a.gz", "b.txt"}


def test_the_dataset_itself_is_left_out(index, tmp_path):
    (tmp_path / "ds").mkdir()
    (tmp_path / "ds" / "a.txt").write_text(STATEMENT, encoding="utf-8")

    assert search(index, str(tmp_path), skip=[tmp_path / "ds"]).sources == 0


def test_a_place_that_is_not_there_is_refused(index, tmp_path):
    with pytest.raises(InputError, match="no file or folder"):
        search(index, str(tmp_path / "nothing"))


class Pages(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/away":
            self.send_response(302)
            self.send_header("Location", "http://elsewhere.invalid/page")
            self.end_headers()
            return
        body = {"/leak": STATEMENT.encode(), "/large": b"x " * 100_000}.get(self.path)
        self.send_response(404 if body is None else 200)
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_words):
        pass


@pytest.fixture(scope="module")
def web():
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_page_is_fetched_and_searched(index, web):
    assert [find.source for find in search(index, f"{web}/leak").finds] == [f"{web}/leak"]


@pytest.mark.parametrize(
    ("page", "why"), [("/away", "not named"), ("/large", "larger than"), ("/nothing", "404|Not Found")]
)
def test_a_page_that_cannot_be_had_is_told(index, web, page, why):
    [unread] = search(index, f"{web}{page}", limits=corpus.Limits(bytes=50_000)).unread

    assert re.search(why, unread.why)


def test_a_list_of_addresses_is_read(tmp_path):
    (tmp_path / "urls").write_text("# pages\nhttps://a.example/x\n\n http://b.example/y \n", encoding="utf-8")

    assert corpus.addresses(tmp_path / "urls") == ("https://a.example/x", "http://b.example/y")


@pytest.mark.parametrize("line", ["ftp://a.example/x", "just words"])
def test_a_list_with_something_else_in_it_is_refused(tmp_path, line):
    (tmp_path / "urls").write_text(f"https://a.example\n{line}\n", encoding="utf-8")

    with pytest.raises(InputError, match="line 2"):
        corpus.addresses(tmp_path / "urls")
