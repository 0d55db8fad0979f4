# Stands before driver.py, in the same names: a program that runs tests and tells of them on descriptor 3, a line each behind
# a word that is nobody else's.
import ctypes
import json
import os
import select
import subprocess

PIPE = 3
OWN = os.dup(PIPE)
"""Where this program tells; a program that it starts has a pipe of its own under the number."""
LONGEST = 1 << 22
TAIL = 4000
MOST_VALUES = 5000
"""Of one assertion in one test; with more it is not judged on the host, and one more says so."""


def say(kind, **fields):
    data = json.dumps(dict(fields, t=kind)).encode("ascii") + b"\n"
    while data:
        data = data[os.write(OWN, data) :]


def shut():
    """Have no process of this user read this one's memory, or write to what it has open."""
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE


def piece(source):
    """What has come; nothing at the end, which of a socket is also that the other side went with something unread."""
    try:
        return os.read(source, 1 << 16)
    except ConnectionResetError:
        return b""


class Output(object):
    """What a program tells behind a word on its pipe, and what it prints."""

    def __init__(self, word):
        self.frames, self.tail, self.counts = [], b"", {}
        self.done = self.forged = False
        self.word, self.rest = word.encode("ascii") + b" ", b""

    def follow(self, takers, ended):
        """Have what comes of each taken until `ended` is true and nothing is left: others may still hold the pipes."""
        ready, left = select.poll(), dict(takers)
        for source in left:
            ready.register(source, select.POLLIN)
        while left:
            is_over = ended()
            events = ready.poll(0 if is_over else 50)
            for source, _ in events:
                data = piece(source)
                left[source](data)
                if not data:
                    ready.unregister(source)
                    del left[source]
            if is_over and not events:
                break

    def show(self, data):
        os.write(2, data)
        self.tail = (self.tail + data)[-TAIL:]

    def take(self, data):
        *lines, self.rest = (self.rest + data).split(b"\n")
        if len(self.rest) > LONGEST or (not data and self.rest):
            lines, self.rest = lines + [self.rest], b""
        for line in lines:
            frame = self.frame(line)
            if frame is None:
                self.forged = True
            elif frame["t"] == "done":
                self.done = True
            elif frame["t"] != "value" or self.is_taken(frame):
                self.add(frame)

    def add(self, frame):
        self.frames.append(frame)

    def is_taken(self, frame):
        key = str(frame.get("id", frame.get("name"))), str(frame.get("slot"))
        self.counts[key] = self.counts.get(key, 0) + 1
        return self.counts[key] <= MOST_VALUES + 1

    def frame(self, line):
        try:
            frame = json.loads(line[len(self.word) :].decode("utf-8"))
            if line.startswith(self.word) and isinstance(frame["t"], str):
                return frame
        except (ValueError, KeyError, TypeError, RecursionError):
            pass
        return None


class Run(Output):
    """One start of a program; `stdin` is what it reads."""

    def __init__(self, argv, folder, word, stdin, env):
        Output.__init__(self, word)
        child, source = start(argv, folder, env, subprocess.PIPE)
        try:
            child.stdin.write(stdin.encode("utf-8"))
            child.stdin.close()
        except BrokenPipeError:
            pass
        self.follow({source: self.take, child.stdout.fileno(): self.show}, lambda: child.poll() is not None)
        os.close(source)
        self.code = child.wait()


def start(argv, folder, env, stdin):
    """A program with a pipe of its own to tell on, and the other end of that."""
    source, entry = os.pipe()
    os.dup2(entry, PIPE)
    os.close(entry)
    child = subprocess.Popen(  # by vfork, as no function of ours runs in the child: in a tenth of the time
        argv,
        cwd=folder,
        env=env,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=(PIPE,),
    )
    os.dup2(OWN, PIPE, inheritable=False)
    return child, source
