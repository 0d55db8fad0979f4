# Runs inside a task's container for another harness, on whatever Python (3.6 and later) the task has:
#
#     grader.py FOLDER OUT
#
# FOLDER holds hidden.json, test.patch, and a part of the runner where pytest alone can't run the tests; OUT gets
# reward.txt (1 or 0) and report.json. It builds what the tests load of a build, puts back the hidden tests' files, applies
# the hidden tests to the work tree as the agent left it, runs them, and holds the listed ids against what came of them.
# The tests share a process with what the model wrote, which could therefore lie about them.
import collections
import hashlib
import json
import os
import re
import select
import shutil
import subprocess
import sys
import time
import types

WORK = "/testbed"
PRISTINE = "/opt/goldseam/src"
ADDRESS = re.compile(r"(?<![0-9A-Za-z])(at[ _]0x)[0-9A-Fa-f]{4,16}(?![0-9A-Za-z])")
WORST = ["PASSED", "SKIPPED", "XFAIL", "XPASS", "ERROR", "FAILED"]  # the last one wins


def main(folder, out):
    with open(os.path.join(folder, "hidden.json")) as file:
        hidden = json.load(file)
    problem = build(hidden["build"]) or put_in(hidden, folder)
    statuses = {}
    if not problem:
        statuses, problem = run_program(hidden) if hidden["program"] else run(hidden, folder, out)
    listed = {}
    missed = []
    for name in ("FAIL_TO_PASS", "PASS_TO_PASS"):
        passed = [test for test in hidden[name] if statuses.get(test) == "PASSED"]
        failed = [test for test in hidden[name] if statuses.get(test) != "PASSED"]
        listed[name] = {"success": passed, "failure": failed}
        missed += failed
    resolved = not problem and not missed and bool(hidden["FAIL_TO_PASS"])
    if not problem and missed:
        problem = "%d of the listed tests do not pass" % len(missed)
    write(
        os.path.join(out, "report.json"), json.dumps({"resolved": resolved, "reason": problem, "tests_status": listed})
    )
    write(os.path.join(out, "reward.txt"), "1\n" if resolved else "0\n")
    print("resolved" if resolved else "not resolved: %s" % problem)
    return 0


def build(spec):
    """Build anew what the tests load of a build; what went wrong, or nothing."""
    if not spec:
        return ""
    child = subprocess.Popen(spec["argv"], cwd=WORK, env=dict(os.environ, **spec["env"]))
    try:
        child.wait(spec["seconds"])
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
        return "the build took longer than %g s" % spec["seconds"]
    return "the build fails (exit code %s)" % child.returncode if child.returncode else ""


def put_in(hidden, folder):
    """Undo what was done to the hidden tests' own files, then apply the hidden tests; what went wrong, or nothing."""
    if hidden["inline"]:
        part(folder, "inline.py")["put_back_tests"](WORK, PRISTINE, hidden["inline"])
    for path in hidden["restore"]:
        target = os.path.join(WORK, path)
        remove(target)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(os.path.join(PRISTINE, path), target)
    for path in hidden["remove"]:
        remove(os.path.join(WORK, path))
    env = dict(os.environ, GIT_CONFIG_NOSYSTEM="1", GIT_CEILING_DIRECTORIES="/", HOME="/nonexistent", LC_ALL="C")
    child = subprocess.Popen(
        [
            "git",
            "-c",
            "core.hooksPath=/dev/null",
            "apply",
            "--whitespace=nowarn",
            os.path.abspath(folder) + "/test.patch",
        ],
        cwd=WORK,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    output = child.communicate()[0].decode("utf-8", "replace")
    return "the hidden tests do not apply: %s" % output[-500:] if child.returncode else ""


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def run(hidden, folder, out):
    """Statuses by test id, and what went wrong, or nothing."""
    results = os.path.join(out, "results.json")
    remove(results)
    env = dict(os.environ, PYTEST_ADDOPTS="", **hidden["env"])
    child = subprocess.Popen(
        hidden["prefix"] + [sys.executable, "-s", "-S", "-B", os.path.abspath(__file__), "--tests", folder, results],
        cwd=WORK,
        env=env,
    )
    try:
        child.wait(hidden["seconds"])
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
        return {}, "the tests took longer than %g s" % hidden["seconds"]
    try:
        with open(results) as file:
            return json.load(file), ""
    except (OSError, ValueError):
        return {}, "the tests ended before they were done (exit code %s)" % child.returncode


def run_program(hidden):
    """As `run`, where the tests' runner is a program of its own that tells of each test on descriptor 3."""
    source, entry = os.pipe()

    def become():
        os.dup2(entry, 3)
        os.set_inheritable(3, True)

    files = [path for path in hidden["files"] if os.path.exists(os.path.join(WORK, path.split("::")[0]))]
    env = dict(os.environ, **hidden["env"])
    argv = hidden["prefix"] + hidden["argv"] + files
    child = subprocess.Popen(argv, cwd=WORK, env=env, close_fds=False, preexec_fn=become)
    os.close(entry)
    deadline, data, ended = time.monotonic() + hidden["seconds"], b"", False
    while not ended and select.select([source], [], [], max(0, deadline - time.monotonic()))[0]:
        more = os.read(source, 1 << 16)
        data, ended = data + more, not more
    try:
        child.wait(max(0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
        return {}, "the tests took longer than %g s" % hidden["seconds"]
    if child.returncode < 0:
        return {}, "the tests ended before they were done (signal %d)" % -child.returncode
    statuses = {}
    for frame in map(json.loads, data.decode("utf-8", "replace").splitlines()):
        if frame["t"] == "report":
            name = readable(frame["id"])
            statuses[name] = "FAILED" if name in statuses else frame["status"].upper()
    return statuses, ""


def tests(folder, results):
    """In a process of its own: run the tests, then write their statuses."""
    with open(os.path.join(folder, "hidden.json")) as file:
        hidden = json.load(file)
    own_folder = os.path.dirname(os.path.abspath(__file__))
    sys.argv = ["pytest"]
    sys.path = [entry for entry in sys.path if entry not in ("", ".", own_folder)]
    import site

    site.main()
    os.chdir(WORK)
    sys.path.extend(os.path.normpath(os.path.join(WORK, entry)) for entry in hidden["pythonpath"])
    statuses = {}
    parts = {}
    finished = []
    collected = []

    class Recorder(object):
        def pytest_collection_finish(self, session):
            collected.extend(item.nodeid for item in session.items)

        def pytest_runtest_logreport(self, report):
            status = status_of(report)
            if hasattr(report, "context"):  # of a subtest
                parts.setdefault(report.nodeid, set()).add(status)
                return
            self.count(report.nodeid, status)
            if report.when == "teardown":
                seen = parts.get(report.nodeid, set())
                for status in seen - {"SKIPPED"} if "PASSED" in seen else seen:
                    self.count(report.nodeid, status)
                finished.append(report.nodeid)

        def count(self, test, status):
            if WORST.index(status) > WORST.index(statuses.setdefault(test, status)):
                statuses[test] = status

        def send(self, kind, **fields):
            """As frames are sent, which runner/suites.py does."""
            if kind == "collected":
                collected.extend(fields["ids"])
            elif kind == "report":
                report = types.SimpleNamespace(nodeid=fields["id"], when=fields["when"], outcome=fields["outcome"])
                if fields["when"] == "part":
                    report.when, report.context = "call", None
                if fields["xfail"]:
                    report.wasxfail = ""
                self.pytest_runtest_logreport(report)

    files = [path for path in hidden["files"] if os.path.exists(path.split("::")[0])]
    if hidden["suites"]:
        run_suites(folder, hidden, files, Recorder())
    elif files:  # without one, pytest would run whatever it finds
        import pytest

        more = [part(folder, "nose_tests.py")["Nose"]()] if hidden["nose"] else []
        if hidden["chdir"]:
            os.chdir(hidden["chdir"])
            files = [os.path.join(WORK, path) for path in files]
        pytest.main(hidden["argv"] + files, plugins=[Recorder()] + more)
    names = stable_ids(set(collected) | set(finished))
    write(results, json.dumps({names[test]: statuses[test] for test in finished}))
    for stream in (sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()
        except ValueError:  # tests closed it
            continue
    os._exit(0)


def run_suites(folder, hidden, files, recorder):
    """unittest's suites, by the runner that goldseam itself has for them; nothing is handed out."""
    part(folder, "suites.py", "outcomes.py")["run_suites"]({"argv": hidden["argv"], "files": files}, recorder)


def part(folder, *files):
    """The names of a part of goldseam's own runner, which stands beside this file."""
    names = {"WORK": WORK, "hashlib": hashlib, "hand_out_by": lambda *_: None, "chain_of": lambda _: []}
    for name in files:
        with open(os.path.join(folder, name)) as file:
            exec(compile(file.read(), name, "exec"), names)
    return names


def stable_ids(ids):
    """As harness/core/test_ids.py: ids without addresses of objects, where no two are the same then."""
    forms = {}
    for test in ids:
        path, colons, names = readable(test).partition("::")
        forms[test] = path + colons + ADDRESS.sub(r"\1...", names)
    count = collections.Counter(forms.values())
    return {test: form if count[form] == 1 else readable(test) for test, form in forms.items()}


def readable(test):
    return test.encode("utf-8", "backslashreplace").decode()


def status_of(report):
    """As goldseam itself reads pytest: a failure outside the call is an ERROR, and only PASSED is a pass."""
    in_call = report.when == "call"
    expected = hasattr(report, "wasxfail")
    if report.outcome == "failed":
        return "FAILED" if in_call else "ERROR"
    if report.outcome == "skipped":
        return "XFAIL" if expected else "SKIPPED"
    if report.outcome != "passed":
        return "ERROR"
    return "XPASS" if expected and in_call else "PASSED"


def write(path, text):
    with open(path + ".tmp", "w") as file:
        file.write(text)
    os.replace(path + ".tmp", path)


if __name__ == "__main__":
    if sys.argv[1] == "--tests":
        tests(*sys.argv[2:])
    sys.exit(main(*sys.argv[1:]))
