# Runs inside a task's container, after harness/grading/inside/supervisor.py and in the same names: builds anew what the
# model's patch changes the sources of. A build runs code of the patch, before the hidden tests are laid. So it gets no
# descriptor of ours, what it leaves running is killed, and the tree is laid anew: of all that it wrote, the declared
# outputs alone are taken over.
import os
import signal
import stat
import subprocess
import time

WRITABLE = (WORK, "/tmp", "/dev/shm")
LARGEST = 1 << 28
"""Bytes of all outputs together."""
MOST = 20000
"""Files of all outputs together."""
TAIL = 1 << 15
"""Bytes of what the build printed last that are told to the host apart from all output."""
PATIENCE = 10
"""Seconds until processes that were killed must be gone."""


class NoBuild(Exception):
    """The patch has not given what is to be tested."""


class Printed(Relay):
    """Carries on what the build prints, and keeps its end."""

    tail = b""

    def carry(self, data):
        self.tail = (self.tail + data)[-TAIL:]
        Relay.carry(self, data)


def rebuild(frames, spec, patch):
    """Run the build, lay the tree and the model's patch anew and put the outputs there. True if there are some.

    An OSError that no patch can bring about is not caught: the container is broken then, which `main` tells.
    """
    build = spec["build"]
    set_dumpable(0)  # the keys and the hidden tests are in this process
    frames.send("building")
    facts = {"code": None, "signal": None, "timed_out": False, "seconds": 0.0, "cpu_seconds": 0.0}
    printed, outputs, why = Printed(2), {}, ""
    try:
        run_build(build, printed, facts)
        end_others()
        outputs = read_outputs(build["outputs"])
        end_others()
        wipe()
    except NoBuild as error:
        why = str(error)
    if not why:
        lay_tree()
        why = apply_patch(patch, spec["patches"]["model"]) or write_outputs(outputs, build["outputs"])
    output = printed.tail.decode("utf-8", "replace")
    frames.send("build", ok=not why, why=why[-2000:], output=output, **facts)
    return not why


def run_build(build, printed, facts):
    """Start the build and wait for its end or that of its time."""
    for path in build["outputs"]:
        place = os.path.join(WORK, path.rstrip("/"))
        if os.path.isdir(place) and not os.path.islink(place):
            if not path.endswith("/"):
                raise NoBuild("%s is a folder in the patch" % path)
            remove(place)
        if os.path.lexists(place):
            os.unlink(place)
    env = {name: value for name, value in os.environ.items() if name not in build["without"]}  # the tests' own
    began = time.monotonic()
    with open(os.devnull) as nothing:
        child = subprocess.Popen(
            build["argv"],
            cwd=WORK,
            env=dict(env, **build["env"]),
            stdin=nothing,
            stdout=printed.entry,
            stderr=printed.entry,
            start_new_session=True,
        )
    printed.in_parent()
    status, usage, why = wait_for(child.pid, build["seconds"], (printed,))
    facts["seconds"] = round(time.monotonic() - began, 6)
    facts["cpu_seconds"] = round(usage.ru_utime + usage.ru_stime, 6)
    facts["timed_out"] = why == "time"
    facts["code"] = child.returncode = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
    facts["signal"] = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    if why == "time":
        raise NoBuild("it took longer than %g s" % build["seconds"])
    if why:
        raise NoBuild("it printed more than %d MB" % (MOST_PRINTED >> 20))
    if facts["signal"]:
        raise NoBuild("it was ended by signal %d" % facts["signal"])
    if facts["code"]:
        raise NoBuild("exit code %d" % facts["code"])


def end_others():
    """End every process but this one and the container's init. One call reaches all; a fork meanwhile fails."""
    deadline = time.monotonic() + PATIENCE
    while others():
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        if time.monotonic() > deadline:
            raise NoBuild("a process that it left can't be ended")
        time.sleep(0.001)


def others():
    """The processes of the container besides this one and its init, less those that have ended."""
    return [
        pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if pid not in (1, os.getpid()) and lives(pid)
    ]


def lives(pid):
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            return file.read().rpartition(b") ")[2][:1] not in (b"Z", b"X")
    except OSError:
        return False


def files_of(paths):
    """The outputs by path: files, and all that is below a folder, whose path ends in a slash."""
    for path in paths:
        place = os.path.join(WORK, path)
        if not path.endswith("/"):
            yield path
        elif os.path.realpath(place) != place.rstrip("/") or not os.path.isdir(place):
            raise NoBuild("%s was not built" % path)
        else:
            for folder, _, names in os.walk(place):
                for name in names:
                    yield os.path.relpath(os.path.join(folder, name), WORK)


def read_outputs(paths):
    """The outputs' bytes by path."""
    outputs, left = {}, LARGEST
    for path in files_of(paths):
        if len(outputs) >= MOST:
            raise NoBuild("it wrote more than %d files" % MOST)
        place = os.path.join(WORK, path)
        if not os.path.lexists(place):
            raise NoBuild("%s was not built" % path)
        if os.path.realpath(place) != place:
            raise NoBuild("%s is behind a link" % path)
        try:
            fd = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            raise NoBuild("%s can't be read: %s" % (path, error.strerror))
        with os.fdopen(fd, "rb") as file:
            state = os.fstat(fd)
            if not stat.S_ISREG(state.st_mode) or state.st_size > left:
                raise NoBuild("%s is no plain file, or too large" % path)
            outputs[path] = file.read(left)
        left -= len(outputs[path])
    return outputs


def wipe():
    """Empty every folder that could be written to."""
    for folder in WRITABLE:
        if not os.path.isdir(folder):
            continue
        if os.stat(folder).st_uid == os.getuid():
            os.chmod(folder, 0o755)
        subprocess.call(
            [
                "/usr/bin/find",
                folder,
                "-mindepth",
                "1",
                "-type",
                "d",
                "!",
                "-perm",
                "-700",
                "-exec",
                "/bin/chmod",
                "u+rwx",
                "{}",
                ";",
            ]
        )
        subprocess.call(
            ["/usr/bin/find", folder, "-mindepth", "1", "-maxdepth", "1", "-exec", "/bin/rm", "-rf", "--", "{}", "+"]
        )
        if os.listdir(folder):
            raise NoBuild("what it left in %s can't be removed" % folder)


def remove(place):
    subprocess.call(["/bin/rm", "-rf", "--", place])


def write_outputs(outputs, paths):
    """Write the outputs into the tree, in place of those that it has: why that is not possible, or nothing."""
    try:
        for path in paths:
            place = os.path.join(WORK, path.rstrip("/"))
            if path.endswith("/") and not os.path.islink(place):
                remove(place)
        for path in sorted(outputs):
            place = os.path.join(WORK, path)
            if not os.path.isdir(os.path.dirname(place)):
                os.makedirs(os.path.dirname(place))
            with open(place, "wb") as file:
                file.write(outputs[path])
            os.chmod(place, 0o755)
    except OSError as error:
        return str(error)
    return ""
