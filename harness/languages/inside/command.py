# Runs inside a task's container, after harness/grading/inside/supervisor.py and in the same names: starts a test runner
# that is a program of its own, and sends on what that tells on a pipe, one JSON object a line (docs/languages.md). What
# the runner prints goes where all output of tests goes.
import errno
import json
import os
import resource
import sys

PIPE = 3
LONGEST = 1 << 22
"""Bytes of a line; a longer one ends what is read."""


def run_tests(spec, frames, watch):
    """In the child: start the program, send on its frames, and end as it ends. Never returns."""
    os.setsid()
    quiet = os.open(os.devnull, os.O_RDONLY)
    os.dup2(quiet, 0)
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.chdir(WORK)
    if "vary" in spec:
        vary(spec["vary"])
    # A proof's run in another language: Node's ICU asks for it here. As images lack it, text is ASCII to Java, Ruby or C then.
    if os.environ.get("LANGUAGE") and "in_python" not in spec:
        os.environ["LC_ALL"] = os.environ["LANGUAGE"] + ".UTF-8"

    def is_there(name):
        """Also a file of code that the fix brings with tests in it: the others of its program are run."""
        path = name.split("::")[0]
        return path in spec.get("inline", ()) or os.path.exists(os.path.join(WORK, path))

    source, entry = os.pipe()
    set_dumpable(0)  # the key of the frames is in this process
    pid = os.fork()
    if pid == 0:
        blank(frames.key)
        become(spec["argv"] + list(filter(is_there, spec["files"])), source, entry, "in_python" in spec)
    os.close(entry)
    for kind, fields in frames_from(source):
        frames.send(kind, **fields)
    os.close(source)  # whoever writes on is told so
    code = os.waitpid(pid, 0)[1]
    if os.WIFEXITED(code):
        frames.send("finish", code=os.WEXITSTATUS(code))
        os._exit(0)
    os.kill(os.getpid(), os.WTERMSIG(code))


def become(argv, source, entry, in_python):
    """The runner's own process, with nothing of ours but the pipe's end."""
    try:
        os.close(source)
        if entry != PIPE:
            os.dup2(entry, PIPE)
            os.close(entry)
        os.set_inheritable(PIPE, True)
        for fd in range(PIPE + 1, 256):
            try:
                os.close(fd)
            except OSError as error:
                if error.errno != errno.EBADF:
                    raise
        if in_python:
            go_on(argv[argv.index("-c") :])
        os.execvp(argv[0], argv)
    except BaseException as error:
        os.write(2, ("the test runner can't be started: %s\n" % error).encode("utf-8", "replace"))
    os._exit(127)


def go_on(argv):
    """Be a program in Python, in this interpreter: it takes no module from the tree, and no process may look into it."""
    sys.argv, code = argv, 0
    try:
        exec(compile(argv.pop(1), "<string>", "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        code = end.code
    except BaseException:
        import traceback

        code = 1
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(code)


def frames_from(source):
    """What the runner tells: kind and fields of each line; a line that is no such thing is told as one of `broken`."""
    left = b""
    while True:
        data = os.read(source, 1 << 16)
        *lines, left = (left + data).split(b"\n")
        for line in lines:
            yield frame_of(line)
        if not data or len(left) > LONGEST:
            if left:
                yield frame_of(left)
            return


def frame_of(line):
    try:
        fields = json.loads(line.decode("utf-8"))
        kind = fields.pop("t")
        if isinstance(kind, str) and kind not in ("finish", "broken") and "kind" not in fields:
            return kind, fields
    except Exception:
        pass
    return "broken", {"line": line[:200].decode("utf-8", "replace")}
