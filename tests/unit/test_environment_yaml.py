"""YAML of strangers is read for its strings, within bounds, whatever it holds."""

from __future__ import annotations

import time

import pytest

from miner.evidence import yamlfile


def test_a_version_stays_what_is_written():
    assert yamlfile.load(b"python: [3.10, '3.9', 3.8]") == {"python": ["3.10", "3.9", "3.8"]}


def test_no_tag_makes_an_object():
    text = b"a: !!python/object/apply:os.system ['exit 1']\nb: !reference [x, y]"
    assert yamlfile.load(text) == {"a": ["exit 1"], "b": ["x", "y"]}


@pytest.mark.parametrize("data", [b"a: [1", b"a: b: c", b"\x00", b"a: *nowhere", b"? [a]: b\n: {", b"[" * 5000])
def test_what_is_no_yaml_is_said_so(data):
    with pytest.raises(yamlfile.NotReadError):
        yamlfile.load(data)


def test_a_file_too_large_is_not_parsed():
    with pytest.raises(yamlfile.NotReadError, match="larger than"):
        yamlfile.load(b"a: b\n" * 100_000)


def bomb(levels):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines).encode()


def test_aliases_that_multiply_are_walked_up_to_a_bound():
    began = time.process_time()
    assert len(list(yamlfile.walk(yamlfile.load(bomb(30))))) == 20_000
    assert time.process_time() - began < 5


def test_a_list_that_holds_itself_is_refused():
    with pytest.raises(yamlfile.NotReadError):
        yamlfile.load(b"&a [*a, *a]")


def test_mappings_that_merge_each_other_end():
    lines = ["a0: &a0 {x: y}"]
    lines += [f"a{n}: &a{n}\n  <<: [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    document = yamlfile.load("\n".join(lines).encode())
    assert yamlfile.mapping(document["a2"]) == {"x": "y"}
    assert yamlfile.mapping(document["a29"]) == {}


def test_what_a_mapping_says_itself_goes_before_what_it_merges():
    document = yamlfile.load(b"a: &a {x: one, y: two}\nb:\n  <<: *a\n  x: mine")
    assert yamlfile.mapping(document["b"]) == {"x": "mine", "y": "two"}


@pytest.mark.parametrize("value", [None, "text", ["a"], {"a": ["b"]}])
def test_a_value_of_another_type_is_read_as_nothing(value):
    assert yamlfile.mapping(value) in ({}, {"a": ["b"]})
    assert yamlfile.strings({"a": "b"}) == []
