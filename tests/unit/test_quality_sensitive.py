"""Secrets, private keys and addresses: found, counted, masked; and what looks like one but is none."""

from __future__ import annotations

import pytest

from harness.quality import sensitive
from miner.quality.assessment import CleanStatement, cleaned
from miner.sources.change import Rejection, Split

# Put together here, so that no scanner takes this file for a leak.
GITHUB = "ghp_" + "a1B2" * 9
AWS = "AKIA" + "Q3EGRMTB5XKZ7NLW"
KEY = "-----BEGIN RSA " + "PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEA\n" * 5 + "-----END RSA " + "PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"token = '{GITHUB}'", "github_token"),
        (f"key: {AWS}", "aws_access_key"),
        (f"before\n{KEY}\nafter", "private_key"),
        ("https://deploy:hunter2-hunter3@git.corp.io/a", "basic_auth_credentials"),
        ("ask jane.doe@corp.io about it", "email"),
    ],
)
def test_a_secret_is_found_and_taken_out(text, kind):
    assert sensitive.counts(text) == {kind: 1}

    masked = sensitive.mask(text)

    assert f"<{kind}>" in masked
    assert sensitive.counts(masked) == {}


@pytest.mark.parametrize(
    "text",
    [
        "password = 'secret'",
        "0123456789abcdef0123456789abcdef01234567",
        "https://user:password@example.com/x",
        "http://user:pass@localhost",
        "https://u:p@host.corp.io",
        "me@example.com, you@sub.example.org, x@y.test, a@b.invalid, 1+me@users.noreply.github.com",
        "git@github.com:acme/shop.git",
        "@pytest.mark.parametrize and a@b and x @ y.T",
        "-----BEGIN " + "PRIVATE KEY-----\n...\n-----END " + "PRIVATE KEY-----",
        "10.1.2.3 and 8.8.8.8",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ],
)
def test_what_looks_like_a_secret_is_none(text):
    assert sensitive.counts(text) == {}
    assert sensitive.mask(text) == text


def test_a_text_is_masked_around_what_it_says():
    text = f"Use {GITHUB} and {AWS},\nthen ask jane@corp.io.\n"

    assert sensitive.mask(text) == "Use <github_token> and <aws_access_key>,\nthen ask <email>.\n"


def test_the_same_secret_in_two_lines_is_masked_in_both():
    assert sensitive.mask(f"{GITHUB}\n{GITHUB}\n") == "<github_token>\n<github_token>\n"


def test_a_key_in_a_patch_is_found_between_its_marks():
    patch = "".join(f"+{line}\n" for line in KEY.split("\n")).encode()

    assert sensitive.patch_counts(patch) == {"private_key": 1}


def test_a_secret_that_a_patch_removes_counts_too():
    assert sensitive.patch_counts(f"-token = '{GITHUB}'\n".encode(), b"") == {"github_token": 1}


def parts(gold: str = "", tests: str = "") -> Split:
    return Split(gold_patch=gold.encode(), test_patch=tests.encode())


def test_mask_takes_out_of_the_statement_and_says_what_it_was():
    done = cleaned(f"Log in with {GITHUB}.", parts(f"+ask jane@corp.io {AWS}\n"), "mask")

    assert isinstance(done, CleanStatement)
    assert done.statement == "Log in with <github_token>."
    assert done.public() == {
        "policy": "mask",
        "statement": {"github_token": 1},
        "patches": {"aws_access_key": 1, "email": 1},
    }
    assert done.of_hints("jane@corp.io knows") == "<email> knows"


def test_mask_rejects_a_private_key_in_a_patch_without_saying_it():
    done = cleaned("A key.", parts(tests="".join(f"+{line}\n" for line in KEY.split("\n"))), "mask")

    assert isinstance(done, Rejection)
    assert (done.reason, done.detail) == ("has_secret", "a patch holds: private_key")


@pytest.mark.parametrize(("statement", "gold"), [(f"It is {GITHUB}", ""), ("A statement", f"+{AWS}\n")])
def test_reject_rejects_any_secret(statement, gold):
    done = cleaned(statement, parts(gold), "reject")

    assert isinstance(done, Rejection)
    assert GITHUB not in done.detail
    assert AWS not in done.detail


def test_reject_leaves_addresses():
    done = cleaned("Ask jane@corp.io", parts("+jane@corp.io\n"), "reject")

    assert isinstance(done, CleanStatement)
    assert done.statement == "Ask jane@corp.io"


def test_keep_only_counts():
    done = cleaned(f"It is {GITHUB}", parts("".join(f"+{line}\n" for line in KEY.split("\n"))), "keep")

    assert isinstance(done, CleanStatement)
    assert done.statement == f"It is {GITHUB}"
    assert done.report.patches == {"private_key": 1}
    assert done.of_hints("jane@corp.io") == "jane@corp.io"
