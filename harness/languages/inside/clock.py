# Runs inside a task's container, after harness/grading/inside/supervisor.py and in the same names, where the tests have a clock of
# their own. libfaketime works by LD_PRELOAD, which is read as a program starts: so the test process starts anew, as the
# same process, and what it needs for that comes through a pipe. The supervisor itself stays on real time.
import os
import time

NO_CLOCK = "the image has no libfaketime"
AGAIN = """
import sys
sys.path[:] = [path for path in sys.path if path]
import json, os
def take(n):
    data = bytearray()
    while len(data) < n:
        chunk = os.read(fd, min(1 << 20, n - len(data)))
        if not chunk: raise SystemExit(71)
        data += chunk
    return bytes(data)
fd = int(sys.argv[1])
told = json.loads(take(int(take(8), 16)).decode())
runner = take(told["runner"])
os.close(fd)
exec(compile(runner, "<goldseam>", "exec"))
resume(told)
"""


def has_clock(clock):
    return all(os.path.exists(path) for path in clock["preload"])


def clock_env(clock):
    """The environment of a program on a clock of its own; what it starts inherits that.

    It tells a distance from real time and no date: a date would be read in the local time zone, and start again with
    every program.
    """
    preload = clock["preload"] + os.environ.get("LD_PRELOAD", "").split()
    distance = "%+.3f" % (clock["seconds"] - time.time())
    return dict(os.environ, LD_PRELOAD=" ".join(preload), FAKETIME=distance, **clock["env"])


class Handover(object):
    """From the supervisor to the test process that starts anew: what it runs, and the key of its frames."""

    def __init__(self, spec, key, frames_fd, watch):
        self.told = {"spec": spec, "key": key.hex(), "frames": frames_fd, "runner": len(runner)}
        self.kept = [frames_fd]
        if watch:
            self.told["watch"] = {"modules": watch.modules, "loaded": watch.loaded[1]}
            self.kept.append(watch.loaded[1])
        self.source, self.entry = os.pipe()

    def start_again(self):
        """In the child: become the test process, on its own clock. Returns only by an error."""
        os.close(self.entry)
        for fd in self.kept + [self.source]:
            os.set_inheritable(fd, True)
        argv = [sys.executable, "-s", "-S", "-B", "-c", AGAIN, str(self.source)]
        os.execve(argv[0], argv, clock_env(self.told["spec"]["clock"]))

    def give(self):
        """In the supervisor, before anything of the model runs."""
        os.close(self.source)
        head = json.dumps(self.told).encode("ascii")
        data = b"%08x" % len(head) + head + runner
        try:
            while data:
                data = data[os.write(self.entry, data) :]
        except OSError:
            pass  # it ended; how, is told as always
        os.close(self.entry)


def resume(handover):
    """In the test process as it starts anew."""
    fd, spec, watch = handover["frames"], handover["spec"], None
    os.set_inheritable(fd, False)
    frames = Frames(fd, bytearray.fromhex(handover["key"]), "t")
    try:
        if "watch" in handover:
            watch = Watch(spec["watch"], frames, [])
            watch.modules, watch.loaded = handover["watch"]["modules"], (-1, handover["watch"]["loaded"])
            os.set_inheritable(watch.loaded[1], False)
        run_tests(spec, frames, watch)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(70)
