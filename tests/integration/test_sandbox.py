"""Trials in real containers: what becomes of honest, broken and hostile patches, and how the container is locked."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness.core import process
from harness.core.instance import Budgets, Outcome
from harness.runs import evaluate
from harness.sandbox.job import Job
from miner.proof.runs import PROOF_BUDGETS
from tests import tiny

pytestmark = pytest.mark.engine

SHORT = Budgets(seconds=4, memory_mb=192, pids=48, disk_mb=64)


def judge(sandbox, task, patch, **settings):
    return evaluate.evaluate_one(task, tiny.prediction(patch), sandbox, settings=evaluate.Settings(**settings))


def statuses(verdict):
    return {test_id: found["status"] for test_id, found in verdict.evidence.results["tests"].items()}


@pytest.fixture
def task(tiny_image):
    return tiny.task(tiny_image)


OUTCOMES = {
    "the gold patch": (tiny.GOLD, Outcome.RESOLVED, None),
    "another right patch": (tiny.fix("return b + a"), Outcome.RESOLVED, None),
    "an empty patch": ("", Outcome.EMPTY_PATCH, "empty_patch"),
    "no patch": (None, Outcome.EMPTY_PATCH, "empty_patch"),
    "white space": (" \n\n", Outcome.EMPTY_PATCH, "empty_patch"),
    "garbage": ("Sorry, I can't do that.", Outcome.APPLY_FAILED, "apply_failed"),
    "a patch for other lines": (tiny.GOLD.replace("a - b", "a * b"), Outcome.APPLY_FAILED, "apply_failed"),
    "a patch of a missing file": (tiny.diff("src/no.py", "a\n", "b\n"), Outcome.APPLY_FAILED, "apply_failed"),
    "a hook for git": (tiny.diff(".git/hooks/post-checkout", None, "x\n"), Outcome.APPLY_FAILED, "apply_failed"),
    "a path out of the tree": (tiny.diff("../../opt/x.py", None, "x\n"), Outcome.APPLY_FAILED, "apply_failed"),
    "half a surrogate pair": (tiny.fix("return '\ud800'"), Outcome.UNRESOLVED, "collection_error"),
    "a wrong patch": (tiny.fix("return 0"), Outcome.UNRESOLVED, "tests_failed"),
    "a regression": (tiny.fix("return 2"), Outcome.UNRESOLVED, "regression"),
    "a syntax error": (tiny.fix("return ("), Outcome.UNRESOLVED, "collection_error"),
    "an exit with success": (tiny.fix("import os; os._exit(0)"), Outcome.UNRESOLVED, "crashed"),
    "an exit at import": (tiny.fix("return a + b", top=["import sys", "sys.exit(0)"]), Outcome.UNRESOLVED, None),
    "a segmentation fault": (tiny.fix("import os; os.kill(os.getpid(), 11)"), Outcome.UNRESOLVED, "crashed"),
    "a kill of everything": (tiny.fix("import os; os.kill(-1, 9)"), Outcome.UNRESOLVED, "crashed"),
    "a kill of the parent": (
        tiny.fix("import os, time", "os.kill(os.getppid(), 9)", "time.sleep(60)"),
        Outcome.UNRESOLVED,
        "crashed",
    ),
    "an endless loop": (tiny.fix("while True: pass"), Outcome.UNRESOLVED, "timeout"),
    "too much memory": (tiny.fix("x = b'x' * (1 << 30)", "return a + b"), Outcome.UNRESOLVED, "out_of_memory"),
    "a fork bomb": (
        tiny.fix("import os", "while True:", "    try: os.fork()", "    except OSError: pass"),
        Outcome.UNRESOLVED,
        None,
    ),
    "a forged frame": (
        tiny.fix("import os; os.write(198, b't9 ' + b'a' * 32 + b' {}\\n'); return a + b"),
        Outcome.TAMPERED,
        "tampered",
    ),
    "printed text on the result channel": (
        tiny.fix("import os; os.write(198, b'tests/test_calc.py::test_two PASSED\\n'); return a + b"),
        Outcome.TAMPERED,
        "tampered",
    ),
    "results printed as a person reads them": (
        tiny.fix("print('tests/test_calc.py::test_two PASSED\\n2 passed'); return 0"),
        Outcome.UNRESOLVED,
        "tests_failed",
    ),
    "xfail from product code": (
        tiny.fix("import pytest; pytest.xfail('later')"),
        Outcome.UNRESOLVED,
        "tests_failed",
    ),
    "skip from product code": (tiny.fix("import pytest; pytest.skip('later')"), Outcome.UNRESOLVED, "tests_failed"),
    "pytest.exit with success": (
        tiny.fix("import pytest; pytest.exit('done', returncode=0)"),
        Outcome.UNRESOLVED,
        "tests_failed",
    ),
    "an object equal to everything in a repr": (
        tiny.fix("raise ValueError('\\udc80\\ud800')"),
        Outcome.UNRESOLVED,
        None,
    ),
    "an error without characters at import": (
        tiny.fix("return a + b", top=["raise ValueError('\\ud800')"]),
        Outcome.UNRESOLVED,
        "collection_error",
    ),
    "a fork that comes back": (tiny.fix("import os; os.fork(); return a + b"), Outcome.RESOLVED, None),
    "a stray process": (
        tiny.fix("import os", "if os.fork() == 0:", "    os.setsid(); __import__('time').sleep(600)", "return a + b"),
        Outcome.RESOLVED,
        None,
    ),
}


ENDLESS = {"an endless loop", "a fork bomb"}
"""What only the clock ends; all else gets more of it than a busy machine needs."""


@pytest.mark.parametrize("name", OUTCOMES)
def test_a_patch_comes_to_its_outcome(name, tiny_image, sandbox):
    patch, outcome, cause = OUTCOMES[name]
    verdict = judge(sandbox, tiny.task(tiny_image, budgets=SHORT if name in ENDLESS else None), patch)
    assert verdict.report.outcome is outcome, verdict.report
    if cause or outcome is Outcome.RESOLVED:
        assert verdict.report.cause == cause
    verdict.report.model_dump_json()
    json.dumps(verdict.evidence.results)


def test_no_change_is_run_and_does_not_resolve(task, sandbox):
    (null,) = evaluate.null_predictions([task.instance_id])
    verdict = evaluate.evaluate_one(task, null, sandbox, settings=evaluate.Settings())
    assert verdict.report.outcome is Outcome.UNRESOLVED
    assert statuses(verdict) == {"tests/test_calc.py::test_zero": "PASSED", "tests/test_calc.py::test_two": "FAILED"}


def test_a_flood_of_output_is_cut_in_the_middle_and_its_size_recorded(task, sandbox):
    small = replace(task, instance=replace(task.instance, budgets=replace(task.instance.budgets, output_bytes=100_000)))
    verdict = judge(sandbox, small, tiny.fix("print('x' * 3_000_000); return 0"))
    assert verdict.report.cause == "tests_failed"
    assert 100_000 <= len(verdict.evidence.output) < 100_200
    assert b"bytes left out" in verdict.evidence.output
    assert verdict.evidence.results["output_bytes"] > 3_000_000


def test_a_thousand_threads_are_within_the_limits_of_a_proof_and_of_the_task_that_comes_of_it(sandbox, tiny_image):
    ends = "e = threading.Event(); all_of = [threading.Thread(target=e.wait) for _ in range(1000)]"
    patch = tiny.fix("import threading", ends, "for one in all_of: one.start()", "e.set()", "return a + b")
    task = tiny.task(tiny_image, budgets=replace(PROOF_BUDGETS, seconds=60))
    assert judge(sandbox, task, patch).report.outcome is Outcome.RESOLVED


def test_a_flood_of_the_result_channel_is_tampering_and_stops_no_clock(tiny_image, sandbox):
    flood, patient = "os.write(198, b'x' * 60000)", replace(SHORT, seconds=240)
    for words, budgets, outcomes in (
        (f"for _ in range(500): {flood}", patient, {Outcome.TAMPERED}),
        (f"while True: {flood}", SHORT, {Outcome.TAMPERED, Outcome.UNRESOLVED}),  # a busy machine has not begun by then
    ):
        verdict = judge(sandbox, tiny.task(tiny_image, budgets=budgets), tiny.fix("import os", words))
        assert verdict.report.outcome in outcomes, words


def test_a_patch_that_leaves_no_room_for_the_hidden_tests_is_charged_with_it(tiny_image, sandbox, tmp_path):
    budgets = replace(SHORT, seconds=60, disk_mb=4)
    large = {tiny.TESTS: (tiny.BASE_TESTS, f"{tiny.HIDDEN_TESTS}# {'x' * (2 << 20)}\n")}
    (tmp_path / "z.bin").write_bytes(bytes(3 << 20))
    diff = ("git", "diff", "--no-index", "--binary", "/dev/null", "z.bin")
    patch = process.run(diff, cwd=tmp_path, check=False).stdout.decode()
    report = judge(sandbox, tiny.task(tiny_image, budgets=budgets, tests=large), patch).report
    assert (report.outcome, report.cause) == (Outcome.APPLY_FAILED, "apply_failed"), report
    assert "can't be laid" in report.reason


DROPPED = {
    "conftest.py": "conftest",
    "tests/conftest.py": "conftest",
    "pytest.ini": "runner_config",
    "tests/test_calc.py": "hidden_test",
    "sitecustomize.py": "startup_module",
    "src/random.py": "shadows_module",
    "tests/pytest.py": "test_support",
    "src/x.pth": "compiled_or_path_file",
    "calc.egg-info/entry_points.txt": "package_metadata",
    "src/.gitattributes": "git_settings",
}


def test_parts_that_could_touch_the_judge_are_dropped_and_recorded(task, sandbox):
    parts = [tiny.diff(path, tiny.FILES.get(path), "raise SystemExit(0)\n") for path in DROPPED]
    verdict = judge(sandbox, task, tiny.GOLD + "".join(parts))
    assert verdict.report.outcome is Outcome.RESOLVED, verdict.report
    assert {one["path"]: one["reason"] for one in verdict.report.dropped} == DROPPED


def test_a_dropped_path_that_is_no_text_is_recorded_all_the_same(task, sandbox):
    patch = tiny.GOLD + '--- /dev/null\n+++ "b/caf\\351/conftest.py"\n@@ -0,0 +1 @@\n+x\n'
    verdict = judge(sandbox, task, patch)
    assert verdict.report.resolved
    assert verdict.report.dropped == [{"path": "caf\\udce9/conftest.py", "reason": "conftest"}]


def test_a_patch_of_which_nothing_is_left_is_run_as_no_change(task, sandbox):
    verdict = judge(sandbox, task, tiny.diff("conftest.py", None, "import os\n"))
    assert verdict.report.outcome is Outcome.UNRESOLVED
    assert verdict.report.cause == "tests_failed"


def test_the_keys_are_not_within_reach_of_an_import(task, sandbox):
    patch = tiny.fix(
        "import __main__; return 0 if [k for k in vars(__main__) if 'key' in str(vars(__main__)[k])] else a + b"
    )
    assert judge(sandbox, task, patch).report.outcome is Outcome.NEEDS_REVIEW


KINDS = """\
import os, sys, unittest
import pytest

@pytest.mark.parametrize("x", ["a b", "ü", "a::b[c]", "x/y", "", "\\ud800", "nul\\0", "ab"*3], ids=lambda x: None)
def test_param(x): pass

@pytest.mark.parametrize("x", [1, 2], ids=["with space", "üñí"])
def test_ids(x): pass

@pytest.mark.parametrize("x", [1, 1], ids=["same", "same"])
def test_twice(x): pass

class TestCase(unittest.TestCase):
    def test_ok(self): pass
    def test_subtests(self):
        for i in range(3):
            with self.subTest(i=i): self.assertNotEqual(i, 1)
    def test_good_subtests(self):
        for i in range(3):
            with self.subTest(i=i): pass
    @unittest.expectedFailure
    def test_expected(self): self.fail()
    @unittest.skip("no")
    def test_skipped(self): pass

@pytest.mark.xfail
def test_xfail(): assert 0
@pytest.mark.xfail
def test_xpass(): pass
@pytest.mark.xfail(strict=True)
def test_xpass_strict(): pass
def test_skip(): pytest.skip("now")

@pytest.fixture
def broken(): raise RuntimeError("set-up")
def test_fixture_error(broken): pass
@pytest.fixture
def leaky():
    yield
    raise RuntimeError("tear-down")
def test_teardown_error(leaky): pass

def test_child():
    if os.fork() == 0: os._exit(0)
    os.wait()
def test_stdout_closed(): print("fine"); sys.stdout.flush()
"""


@pytest.fixture(scope="module")
def kinds(tiny_image, sandbox):
    one = tiny.task(
        tiny_image,
        tests={"tests/test_kinds.py": (None, KINDS), "tests/test_broken.py": (None, "import nothing_like_it\n")},
        fail_to_pass=["tests/test_kinds.py::test_child"],
        pass_to_pass=[],
    )
    return judge(sandbox, one, tiny.GOLD)


def test_results_hold_beside_a_file_that_cannot_be_collected(kinds):
    assert kinds.report.outcome is Outcome.RESOLVED
    assert list(kinds.evidence.results["collect_errors"]) == ["tests/test_broken.py"]
    assert kinds.evidence.results["violations"] == []


@pytest.mark.parametrize(
    ("test_id", "status"),
    [
        ("TestCase::test_ok", "PASSED"),
        ("TestCase::test_subtests", "FAILED"),
        ("TestCase::test_good_subtests", "PASSED"),
        ("TestCase::test_expected", "XFAIL"),
        ("TestCase::test_skipped", "SKIPPED"),
        ("test_xfail", "XFAIL"),
        ("test_xpass", "XPASS"),
        ("test_xpass_strict", "FAILED"),
        ("test_skip", "SKIPPED"),
        ("test_fixture_error", "ERROR"),
        ("test_teardown_error", "ERROR"),
        ("test_child", "PASSED"),
        ("test_ids[with space]", "PASSED"),
        ("test_ids[\\xfc\\xf1\\xed]", "PASSED"),
        ("test_param[a b]", "PASSED"),
        ("test_param[a::b[c]]", "PASSED"),
        ("test_stdout_closed", "PASSED"),
    ],
)
def test_every_kind_of_test_has_its_status(test_id, status, kinds):
    assert statuses(kinds)[f"tests/test_kinds.py::{test_id}"] == status


LOCKS = """\
import getpass, grp, json, os, pwd, socket, sys, urllib.request
import pytest

def status(name):
    return next(l.split(":", 1)[1].strip() for l in open("/proc/self/status") if l.startswith(name + ":"))
def first(*paths):
    return next(open(p).read().strip() for p in paths if os.path.exists(p))

def test_user():
    user = os.getuid()
    assert (user in range(20000, 60000), os.geteuid(), os.getgid()) == (True, user, user)
    assert set(os.getgroups()) <= {user}
def test_capabilities():
    assert [int(status(n), 16) for n in ("CapEff", "CapPrm", "CapInh", "CapBnd", "CapAmb")] == [0] * 5
def test_no_new_privileges(): assert status("NoNewPrivs") == "1"
def test_seccomp(): assert status("Seccomp") == "2"
PLACES = ["/x", "/etc/x", "/opt/goldseam/src/x", "/opt/goldseam/venv/x", "/usr/x", "/var/tmp/x"]
@pytest.mark.parametrize("path", PLACES)
def test_read_only(path):
    with pytest.raises(OSError): open(path, "w")
def test_root_is_read_only():
    options = [l.split()[3].split(",") for l in open("/proc/mounts") if l.split()[1] == "/"]
    assert "ro" in options[-1]
def test_writable(tmp_path):
    for path in ("/testbed/x", "/tmp/x", tmp_path / "x"): open(path, "w").close()
def test_only_loopback(): assert [l.split(":")[0].strip() for l in list(open("/proc/net/dev"))[2:]] == ["lo"]
def test_network_fails():
    with pytest.raises(OSError): socket.create_connection(("1.1.1.1", 53), timeout=3)
def test_names_fail():
    with pytest.raises(OSError): urllib.request.urlopen("https://example.org", timeout=3)
def test_localhost():
    with socket.create_server(("localhost", 0)) as server:
        socket.create_connection(server.getsockname()[:2], timeout=3).close()
    assert any("localhost" in l for l in open("/etc/hosts"))
def test_pids(): assert first("/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max") == "64"
def test_memory():
    found = first("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
    assert found == str(256 << 20)
SOCKETS = ("/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock")
def test_no_engine_socket(): assert not any(os.path.exists(p) for p in SOCKETS)
def test_environ_of_init_is_closed():
    with pytest.raises(OSError): open("/proc/1/mem", "rb").read(1)
def test_supervisor_memory_is_closed():
    with pytest.raises(OSError): open("/proc/%d/mem" % os.getppid(), "rb").read(1)
def test_supervisor_descriptors_are_closed():
    with pytest.raises(OSError): os.listdir("/proc/%d/fd" % os.getppid())
def test_init_environ_tells_nothing():
    try: text = open("/proc/1/environ").read()
    except OSError: text = ""
    assert "KEY" not in text and "TOKEN" not in text
def test_fixed(): assert (os.environ["PYTHONHASHSEED"], os.environ["TZ"], os.environ["LANG"]) == ("0", "UTC", "C.UTF-8")
def test_name(): assert getpass.getuser() == "goldseam"
def test_account():
    entry = pwd.getpwuid(os.getuid())
    assert (entry.pw_name, entry.pw_dir) == ("goldseam", os.environ["HOME"])
    assert grp.getgrgid(os.getgid()).gr_name == "goldseam"
    assert os.path.expanduser("~root") == "/root"
    with pytest.raises(OSError): open("/etc/passwd", "a")
def test_hash(): assert sys.flags.hash_randomization == 0
def test_stdin(): assert sys.stdin is None or os.read(0, 1) == b""
def test_core(): import resource; assert resource.getrlimit(resource.RLIMIT_CORE) == (0, 0)
def test_hostname(): assert socket.gethostname() == "sandbox"
def test_devices(): assert not [d for d in os.listdir("/dev") if d.startswith(("sd", "vd", "nvme", "mem", "kmsg"))]
"""


def test_the_container_is_locked_down(tiny_image, sandbox):
    one = tiny.task(tiny_image, tests={"tests/test_locks.py": (None, LOCKS)})
    found = statuses(judge(sandbox, one, tiny.GOLD))
    assert {name: status for name, status in found.items() if status != "PASSED"} == {}
    assert len(found) == LOCKS.count("def test_") + 5


def test_no_two_containers_have_the_user_for_whom_the_kernel_counts_what_is_watched(tiny_image, sandbox):
    job = Job(image=tiny_image, argv=("id", "-u"), stdin=b"", budgets=Budgets(seconds=10, memory_mb=64))
    users = [int(sandbox.run(job).stdout) for _ in range(3)]
    assert len(set(users)) == len(users)


def test_nothing_survives_from_one_trial_to_the_next(task, sandbox):
    twice = tiny.fix("import os", "if not os.path.exists('/tmp/marker'): open('/tmp/marker', 'x')", "return a + b")
    probe = tiny.fix("import os", "return 0 if os.path.exists('/tmp/marker') else a + b")
    assert judge(sandbox, task, twice).report.resolved
    assert judge(sandbox, task, probe).report.resolved


@pytest.mark.parametrize(("last", "ended_by_us"), [("bye", False), ("bye.", True), ("by", True)])
def test_the_end_of_a_container_is_not_waited_for_after_the_closing_word(last, ended_by_us, tiny_image, sandbox):
    program = f"printf 'frames {last}'; printf 'printed {last}' >&2; sleep 600"
    short = Budgets(seconds=1, memory_mb=64)
    job = Job(image=tiny_image, argv=("sh", "-c", program), stdin=b"", budgets=short, grace_seconds=1, closing=b"bye")
    ran = sandbox.run(job)
    assert ran.timed_out == ended_by_us
    assert (ran.stdout, ran.stderr) == (
        (f"frames {last}".encode(), f"printed {last}".encode()) if ended_by_us else (b"frames ", b"printed ")
    )


def test_a_test_that_lost_a_process_to_memory_is_not_resolved_though_it_passes(task, sandbox):
    greedy = "'/usr/bin/python3', '-c', 'x = bytearray(1 << 30)'"
    loses = tiny.fix(f"import subprocess; subprocess.call([{greedy}])", "return a + b")
    report = judge(sandbox, replace(task, instance=replace(task.instance, budgets=SHORT)), loses).report
    assert (report.outcome, report.cause) == (Outcome.UNRESOLVED, "out_of_memory")


def test_a_full_disk_in_the_container_is_the_patchs_fault(task, sandbox):
    patch = tiny.fix("open('/tmp/x', 'wb').write(b'x' * (200 << 20))", "return a + b")
    verdict = judge(sandbox, task, patch)
    assert verdict.report.outcome is Outcome.UNRESOLVED


def test_a_missing_image_is_an_infrastructure_error(sandbox):
    verdict = judge(sandbox, tiny.task(tiny.NO_IMAGE), tiny.GOLD)
    assert (verdict.report.outcome, verdict.report.cause) == (Outcome.INFRA_ERROR, "missing_image")


def test_hidden_tests_that_do_not_apply_are_no_fault_of_the_patch(tiny_image, sandbox):
    broken = tiny.task(tiny_image, tests={"tests/test_calc.py": ("not there\n", "x\n")})
    verdict = judge(sandbox, broken, tiny.GOLD)
    assert (verdict.report.outcome, verdict.report.cause) == (Outcome.INFRA_ERROR, "broken_task")
