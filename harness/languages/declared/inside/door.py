# Runs in a task's container as `python3 -c`, started by harness/languages/inside/command.py: builds, runs the tests by the
# commands that a task declares, and writes how they ended and the bytes of their results files to descriptor 3, one JSON
# object a line. It understands none of these: the host does (harness/languages/declared/results.py).
import base64
import glob
import json
import os
import select
import signal
import stat
import subprocess
import sys

PIPE = 3
CHUNK = 1 << 20
LARGEST = 1 << 24
"""Bytes of all results files of a trial together."""
MOST = 2000
"""Results files of a trial."""
TAIL = 4000


def say(kind, **fields):
    data = json.dumps(dict(fields, t=kind)).encode("ascii") + b"\n"
    while data:
        data = data[os.write(PIPE, data) :]


def called(command, files):
    """The exit code of a shell command, and the end of what it printed. What it left running in its session is ended."""
    child = subprocess.Popen(
        ["/bin/sh", "-c", command, "sh"] + files,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    tail, source, lives = b"", child.stdout.fileno(), True
    while True:
        if lives and child.poll() is not None:
            lives = False
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        if not select.select([source], [], [], 0.02)[0]:
            if not lives:
                break  # what it left running outside of its session holds the pipe
            continue
        data = os.read(source, 1 << 16)
        if not data:
            break
        os.write(2, data)
        tail = (tail + data)[-TAIL:]
    child.stdout.close()
    code = child.wait()
    return (code if code >= 0 else 128 - code), tail.decode("utf-8", "replace")


def results_of(pattern):
    """The paths that match, in order; links are followed by none of them."""
    return sorted(path for path in glob.glob(pattern, recursive=True) if not os.path.isdir(path))


def clear(pattern):
    for path in results_of(pattern):
        os.unlink(path)


class Sender(object):
    """Sends results files, up to a limit for all of them."""

    size = count = 0

    def send(self, path):
        self.count += 1
        if self.count > MOST:
            return say("lost", path=path, why="there are more than %d results files" % MOST)
        if os.path.realpath(path) != os.path.join(os.path.realpath("."), os.path.normpath(path)):
            return say("lost", path=path, why="it is behind a link")
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            return say("lost", path=path, why="it can't be read: %s" % error.strerror)
        with os.fdopen(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return say("lost", path=path, why="it is no plain file")
            data = file.read(LARGEST - self.size + 1)
        self.size += len(data)
        if self.size > LARGEST:
            return say("lost", path=path, why="results files are larger than %d MB" % (LARGEST >> 20))
        for at in range(0, len(data) or 1, CHUNK):
            say("results", path=path, data=base64.b64encode(data[at : at + CHUNK]).decode("ascii"), first=at == 0)


def main(request, files):
    for command in request["build"]:
        code, text = called(command, [])
        if code:
            return say("unbuilt", command=command, code=code, text=text)
    sender = Sender()
    if not files and request["takes_files"]:
        return
    for paths in [[path] for path in files] if request["each"] else [files]:
        clear(request["results"])
        code, text = called(request["test"], paths)
        say("run", file=paths[0] if request["each"] else "", code=code, text=text)
        for path in results_of(request["results"]):
            sender.send(path)


main(json.loads(sys.argv[1]), list(dict.fromkeys(name.split("::")[0] for name in sys.argv[2:])))
