"""What is said of a build that came to nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.config.settings import ImageSettings
from miner.languages.base import ImageRequest, RefusedError
from miner.languages.go.build import build_image as go
from miner.languages.java.language import build_image as java
from miner.languages.javascript.build import build_image as javascript
from miner.languages.rust.build import build_image as rust
from miner.layers import reasons
from miner.layers.runner import Ran
from tests.trees import Files

FAILED = Ran(container="", out=Path(), exit_code=1, seconds=1.0, tail="boom", timed_out=False, out_of_memory=False)
SETTINGS = ImageSettings(build_seconds=7, build_memory_mb=8, build_disk_mb=9)


@pytest.mark.parametrize(
    ("tail", "reason", "said"),
    [
        ("src/a.c:1:10: fatal error: no/such.h: No such file or directory\n", "needs_compiler", "no/such.h"),
        ("error: command 'gfortran' failed: No such file or directory", "needs_compiler", "gfortran"),
        ("unable to execute 'swig': No such file or directory", "needs_compiler", "swig"),
        ("error: can't find Rust compiler", "needs_compiler", "Rust"),
        ("numpy.distutils.fcompiler: no Fortran compiler found", "needs_compiler", "Fortran"),
        ("OSError: CUDA_HOME environment variable is not set. Please set it", "needs_gpu", "CUDA_HOME"),
        ("FileNotFoundError: [Errno 2] No such file or directory: '/usr/local/cuda/bin/nvcc'", "needs_gpu", "nvcc"),
        ("fatal error: cuda_runtime.h: No such file or directory", "needs_gpu", "cuda_runtime.h"),
        ("RuntimeError: No CUDA GPUs are available", "needs_gpu", "GPU"),
        ("Please get typeshed first (Hint: git submodule update --init)", "needs_submodule", "typeshed"),
        ("error: command '/usr/bin/gcc' failed with exit code 1", "install_failed", ""),
        ("FileNotFoundError: No such file or directory: 'README.rst'", "install_failed", ""),
    ],
)  # fmt: skip
def test_what_a_build_lacks_is_told_by_its_own_words(tail, reason, said):
    found, why = reasons.of(replace(FAILED, tail=tail), SETTINGS)
    assert found == reason
    assert said in why


@pytest.mark.parametrize(
    ("ended", "reason", "limit"),
    [
        ({"timed_out": True}, "build_timeout", "7 s"),
        ({"out_of_memory": True}, "build_oom", "8 MB"),
        ({"disk_full": True}, "build_disk", "9 MB"),
        ({"tail": "cp: No space left on device"}, "build_disk", "/tmp"),
    ],
)
def test_a_limit_that_ended_a_build_is_named_with_its_setting(ended, reason, limit):
    found, why = reasons.of(replace(FAILED, **ended), SETTINGS)
    assert found == reason
    assert limit in why
    assert "[images]" in why


def test_a_host_out_of_reach_is_the_reason_where_the_output_tells_of_a_network():
    tail = "urllib.error.URLError: <urlopen error Tunnel connection failed: 403 Forbidden>"
    found, why = reasons.of(replace(FAILED, tail=tail, refused=("example.org",)), SETTINGS)
    assert found == "needs_network"
    assert "example.org" in why


def test_a_host_that_was_tried_in_passing_is_not_the_reason():
    assert reasons.of(replace(FAILED, tail="SyntaxError", refused=("example.org",)), SETTINGS)[0] == "install_failed"


def test_a_lock_that_no_versions_satisfy_is_unresolvable_and_one_that_a_backend_broke_is_not():
    said = ("No solution found when resolving dependencies", "error: The build backend returned an error")
    assert [reasons.of_resolving(replace(FAILED, tail=one), SETTINGS)[0] for one in said] == [
        "unresolvable",
        "install_failed",
    ]


def test_the_sentence_stands_before_what_was_said():
    assert reasons.detail("it took too long", FAILED) == "it took too long\nboom"
    assert reasons.detail("", FAILED) == "boom"


JAVA_TEST = "src/test/java/ATest.java"
POM = "<project><properties><java.version>99</java.version></properties></project>"


@pytest.mark.parametrize(
    ("build_image", "files", "test", "reason", "said"),
    [
        (go, {"b/go.mod": "module b\n", "a.go": "package a\n"}, "a_test.go", "no_module", "go.mod"),
        (go, {"go.mod": "module a\n\ngo 1.99\n", "a.go": "package a\n"}, "a_test.go", "no_go", "newest that is known"),
        (java, {"README.md": ""}, JAVA_TEST, "no_build_file", "pom.xml"),
        (java, {"pom.xml": POM, JAVA_TEST: ""}, JAVA_TEST, "no_jdk", '"99" under [images.jdks]'),
        (rust, {"README.md": ""}, "tests/a.rs", "no_cargo_toml", "Cargo.toml"),
        (javascript, {"README.md": ""}, "test/a.js", "no_manifest", "package.json"),
    ],
)
def test_a_tree_that_no_image_can_be_made_of_is_refused_before_anything_is_built(
    build_image, files, test, reason, said
):
    request = ImageRequest(
        workshop=SimpleNamespace(settings=SETTINGS),
        tree=Files(files),
        touched=(test,),
        source=None,
        repo="acme/a",
        base_commit="0" * 40,
        when=datetime(2024, 1, 1, tzinfo=UTC),
        version_hint=None,
        collect=None,
        repairing=None,
    )
    with pytest.raises(RefusedError) as refused:
        build_image(request)
    assert refused.value.rejection.reason == reason
    assert said in refused.value.rejection.detail
