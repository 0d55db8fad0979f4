"""Secrets are taken out of what is kept and shown, and ordinary words are not."""

from __future__ import annotations

import pytest

from harness.solve.models.endpoint import floating_warning, is_local, is_pinned
from harness.solve.models.masking import Masker, of_environment


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-" + "a1B2" * 8,
        "ghp_" + "a1B2" * 9,
        "AKIA" + "ABCD1234" * 2,
        "hf_" + "a1B2" * 8,
        "AIza" + "a1B2" * 9,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefgh",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_what_has_the_shape_of_a_secret_is_masked(secret):
    masked = Masker({}).text(f"before {secret} after")
    assert masked.startswith("before [masked: ")
    assert masked.endswith("] after")
    assert secret not in masked


def test_a_bearer_token_and_a_password_in_an_address_are_masked():
    text = Masker({}).text("Authorization: Bearer abcd1234efgh and https://me:pass@host/x")
    assert text == "Authorization: Bearer [masked: bearer token] and https://[masked: password]@host/x"


def test_the_environment_s_secrets_are_masked_by_name_and_by_randomness():
    masker = of_environment(
        {
            "MY_TOKEN": "plainword1",
            "NAMED": "also-secret",
            "BLOB": "q8Zr2LxV9tNw4KsYp7HdJm3B",
            "HOME": "/home/somebody/with/a/long/path1",
            "SHORT_KEY": "abc",
        },
        names=["NAMED"],
    )
    assert masker.text("plainword1 also-secret q8Zr2LxV9tNw4KsYp7HdJm3B") == (
        "[masked: MY_TOKEN] [masked: NAMED] [masked: BLOB]"
    )
    untouched = "abc /home/somebody/with/a/long/path1 and def test_something_with_a_long_name_2(): pass"
    assert masker.text(untouched) == untouched


def test_every_text_of_a_json_value_is_masked():
    value = {"a": ["x secret-word", {"b": "secret-word"}], "n": 1}
    assert Masker({"S": "secret-word"}).value(value) == {"a": ["x [masked: S]", {"b": "[masked: S]"}], "n": 1}


@pytest.mark.parametrize(
    "name",
    [
        "gpt-4o-2024-08-06",
        "claude-sonnet-4-20250514",
        "gemini-2.0-flash-001",
        "gpt-4-0613",
        "mistral-large-2411",
        "gemini-2.5-pro-preview-06-05",
        "anthropic.claude-3-5-sonnet-20241022-v2:0",
        "model@sha256:" + "0" * 64,
    ],
)
def test_a_name_with_a_date_a_release_or_a_digest_is_pinned(name):
    assert is_pinned(name)


@pytest.mark.parametrize(
    "name",
    ["gpt-4o", "gpt-4.1", "o3", "claude-3-5-sonnet-latest", "gemini-2.5-pro", "qwen2.5-coder:32b", "llama-3-70b"],
)
def test_a_name_without_one_floats(name):
    assert not is_pinned(name)
    assert "floating" in floating_warning(name, "api.example.com")
    assert floating_warning(name, "localhost") is None


@pytest.mark.parametrize(
    ("host", "local"),
    [("localhost", True), ("127.0.0.1", True), ("::1", True), ("10.1.2.3", True), ("gpu-box", True),
     ("gpu.local", True), ("api.openai.com", False), ("8.8.8.8", False)],
)  # fmt: skip
def test_local_is_this_machine_or_its_own_network(host, local):
    assert is_local(host) is local
