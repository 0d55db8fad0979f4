# Runs inside a task's container, on Python 3.6 and later. It arrives on standard input, so it is on no disk. First it
# makes the work tree (trusted; nothing of the model runs yet but a build, see building.py), then a forked child runs the tests by `run_tests` of the
# task's language (harness/languages), and this process waits for it, with the clock.
#
# stdout carries signed frames and nothing else; whatever the tests print goes to stderr.
import fcntl
import hashlib
import hmac
import json
import os
import select
import signal
import subprocess
import sys
import time

WORK = "/testbed"
PRISTINE = "/opt/goldseam/src"
MOST_PRINTED = 1 << 27
"""Bytes that tests or a build may print: what prints without end shall not take its whole time."""


class Frames(object):
    """Numbered, signed lines on a descriptor: `<seq> <mac> <json>`."""

    def __init__(self, fd, key, name):
        self.fd = fd
        self.key = key
        self.name = name
        self.seq = 0
        # tests put mocks in the place of these, which are still there when a report is sent
        self.write, self.getpid, self.dumps = os.write, os.getpid, json.dumps
        self.new_mac, self.sha256 = hmac.new, hashlib.sha256
        self.pid = os.getpid()

    def send(self, kind, **fields):
        if self.getpid() != self.pid:
            return  # a fork of the tests came back into the runner
        fields["t"] = kind
        body = self.dumps(fields, sort_keys=True).encode("ascii")
        head = ("%s%d" % (self.name, self.seq)).encode("ascii")
        self.seq += 1
        data = head + b" " + self.sign(head, body) + b" " + body + b"\n"
        while data:
            data = data[self.write(self.fd, data) :]

    def close(self):
        """The word after which nothing more comes on either stream, and the container's end tells nothing."""
        for fd in (2, self.fd):
            self.write(fd, self.sign(b"closing", b""))

    def sign(self, head, body):
        return self.new_mac(bytes(self.key), head + b" " + body, self.sha256).hexdigest()[:32].encode("ascii")


def blank(key):
    """Leave nothing of a key in this process, which is not to have it."""
    key[:] = bytes(len(key))


def git_apply(patch, *flags):
    env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1"}
    env["GIT_CEILING_DIRECTORIES"] = "/"
    argv = ["git", "-c", "core.hooksPath=/dev/null", "apply", "--whitespace=nowarn"] + list(flags) + ["-"]
    child = subprocess.Popen(
        argv, cwd=WORK, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, err = child.communicate(patch)
    return child.returncode, out, err.decode("utf-8", "replace")[-2000:]


def lay_tree():
    """Copy the pristine tree."""
    subprocess.check_call(["/bin/cp", "-a", "--no-preserve=ownership", PRISTINE + "/.", WORK])


def build_tree(frames, spec, blobs, watch):
    """Copy the pristine tree, apply the model's patch, build what that changes, then apply the hidden tests.

    True if the tests may run.
    """
    lay_tree()
    for side in ("model", "tests"):
        patch = blobs[side]
        if not patch:
            continue
        inline = spec.get("inline", ()) if side == "tests" else ()
        absent = [path for path in inline if not os.path.lexists(os.path.join(WORK, path))]
        error = apply_patch(patch, spec["patches"][side], absent)
        frames.send("apply", which=side, ok=not error, error=error)
        if error:
            return False
        if watch and side == "model":
            watch.guarded(watch.patched)
        if side == "model" and "inline" in spec:
            put_back_tests(WORK, PRISTINE, spec["inline"])
        if side == "model" and "build" in spec and not rebuild(frames, spec, patch):
            return False
    at = 0
    for path, size in spec["overlay"]:
        place = os.path.join(WORK, path)
        if not os.path.isdir(os.path.dirname(place)):
            os.makedirs(os.path.dirname(place))
        content = blobs["overlay"][at : at + size]
        if path in spec.get("inline", ()):
            place = place_of_module(place)
            content = with_hidden_tests(place, content)
        with open(place, "wb") as file:
            file.write(content)
        at += size
    return True


def numstat_paths(out):
    fields = out.decode("utf-8", "surrogateescape").split("\0")
    index = 0
    while index < len(fields) - 1:
        path = fields[index].split("\t", 2)[2]
        if path:
            yield path
            index += 1
        else:  # a rename: two more fields
            yield fields[index + 1]
            yield fields[index + 2]
            index += 3


class Relay(object):
    """Carries what the tests write on to the host, much at a time: each write of their own costs the engine as much as
    a small test. The pipe outlives the child, so nothing that it wrote is lost however it ends."""

    def __init__(self, sink):
        self.sink = sink
        self.carried = 0
        self.source, self.entry = os.pipe()
        try:
            fcntl.fcntl(self.entry, 1031, 1 << 20)  # F_SETPIPE_SZ, so that the tests never wait for us
        except OSError:
            pass
        os.set_blocking(self.source, False)

    def in_child(self, inheritable):
        """Put the child's end in the place of the engine's own descriptor."""
        os.close(self.source)
        os.dup2(self.entry, self.sink, inheritable=inheritable)
        os.close(self.entry)

    def in_parent(self):
        os.close(self.entry)

    def pump(self, limit=1 << 22):
        """Carry on what is there, up to a limit, so that a flood doesn't stop the clock."""
        while limit > 0:
            try:
                data = os.read(self.source, 1 << 20)
            except BlockingIOError:
                return
            if not data:
                return
            limit -= len(data)
            self.carried += len(data)
            self.carry(data)

    def carry(self, data):
        while data:
            data = data[os.write(self.sink, data) :]


def wait_for(pid, seconds, relays):
    """How the process ended, what it used, and what was too much: "", "time", or "flood" of what the last relay carried.

    Polls: a signal handler could be taken away."""
    deadline = time.monotonic() + seconds
    ends, why = end_of(pid), ""
    pause = 0.001
    while True:
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        carried = sum(relay.carried for relay in relays)
        for relay in relays:
            relay.pump()
        if ended:
            break
        if sum(relay.carried for relay in relays) - carried >= 1 << 16:  # as much as a pipe holds: more waits
            pause = 0.001
        if relays[-1].carried > MOST_PRINTED or time.monotonic() >= deadline:
            why = "time"
            os.kill(pid, signal.SIGKILL)
            status, usage = os.wait4(pid, 0)[1:]
            break
        if ends is None:
            time.sleep(pause)
        else:
            select.select([ends], [], [], pause)
        pause = min(pause * 1.5, 0.02)
    for relay in relays:
        relay.pump(1 << 26)
    return status, usage, "flood" if relays[-1].carried > MOST_PRINTED else why


def end_of(pid):
    """A descriptor that tells at once when the process ends; None where Python or the kernel has none."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def spared_by_memory():
    """Whether the kernel tells that nothing in the container was ended for its memory."""
    for place in ("memory.events", "memory/memory.oom_control"):  # version 2 of control groups, and 1
        try:
            with open("/sys/fs/cgroup/" + place) as file:
                return "oom_kill 0\n" in file
        except OSError:
            continue
    return False


def set_dumpable(value):
    """PR_SET_DUMPABLE: without it no process of this user may read this one's memory, trace it or open what it has."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(4, value, 0, 0, 0)
    except Exception:
        pass


def main(spec, blobs, keys):
    frames_fd = 198
    os.dup2(1, frames_fd, inheritable=False)
    os.dup2(2, 1)
    mine = Frames(frames_fd, keys[0], "s")
    watch = Watch(spec["watch"], mine, keys) if "watch" in spec else None
    if "clock" in spec and not has_clock(spec["clock"]):
        mine.send("setup_error", text=NO_CLOCK)
        return
    started = time.monotonic()
    try:
        ready = build_tree(mine, spec, blobs, watch)
    except Exception as error:  # the container is broken, not the patch
        mine.send("setup_error", text=repr(error)[-2000:])
        return
    blobs.clear()
    if not ready:
        return
    mine.send("ready", seconds=round(time.monotonic() - started, 6), python=sys.version.split()[0])
    if watch:
        watch.guarded(watch.begin)
    began = time.monotonic()
    results, printed = Relay(frames_fd), Relay(2)
    handover = Handover(spec, keys[1], frames_fd, watch) if "clock" in spec else None
    pid = os.fork()
    if pid == 0:
        results.in_child(inheritable=False)
        printed.in_child(inheritable=True)
        blank(keys[0])
        if "build" in spec:
            set_dumpable(1)
        try:
            if handover:
                handover.start_again()
            run_tests(spec, Frames(frames_fd, keys[1], "t"), watch)
        except BaseException:
            import traceback

            traceback.print_exc(file=sys.__stderr__)
            sys.__stderr__.flush()  # a buffer of its own up to Python 3.8
        finally:
            os._exit(70)
    for relay in (results, printed):
        relay.in_parent()
    set_dumpable(0)
    if handover:
        handover.give()
    status, usage, why = wait_for(pid, spec["seconds"], (results, printed))
    seconds = time.monotonic() - began
    os.write(frames_fd, b"\n")  # a killed child may have left half a line
    mine.send(
        "exit",
        code=os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
        signal=os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
        timed_out=why == "time",
        flooded=why == "flood",
        seconds=round(seconds, 6),
        cpu_seconds=round(usage.ru_utime + usage.ru_stime, 6),
        max_rss_kb=usage.ru_maxrss,
    )
    if watch:
        watch.guarded(watch.ended, bool(why))
    if os.WIFEXITED(status) and not why and spared_by_memory():
        mine.close()
