# Sent after supervisor.py, to the same process, where a prediction's signals are wanted; see docs/signals.md. Trusted, as
# the supervisor is, and never in its way: whatever goes wrong in here is left out of what is told.
import base64
import re
import stat

MODULE = (".py",)
OF_THE_CLOCK = re.compile(r"/dev/shm/(sem\.)?faketime_(sem|shm)_\d+")  # libfaketime keeps a counter there


class Watch(object):
    """What the supervisor sees of a patch beside its tests."""

    def __init__(self, spec, frames, keys):
        self.spec = spec
        self.frames = frames
        self.keys = keys
        self.modules = []
        self.texts = {}
        self.loaded = None

    def guarded(self, step, *args):
        try:
            step(*args)
        except Exception:
            pass  # the host says that it was not told

    # before the tests: nothing of the model runs yet, so none of this can be forged

    def patched(self):
        """The changed files as they were and as they are, and whether they compile."""
        left = self.spec["total_bytes"]
        for old, new in self.spec["files"]:
            fields = {"old": old, "new": new, "before": None, "after": None, "why": ""}
            if left <= 0:
                fields["why"] = "too large"
            for side, root, path in (("before", PRISTINE, old), ("after", WORK, new)):
                if path is None or fields["why"]:
                    continue
                data, fields["why"] = self.content(os.path.join(root, path))
                if data is None:
                    continue
                left -= len(data)
                fields[side] = base64.b64encode(data).decode("ascii")
                if side == "after" and path.endswith(MODULE):
                    self.texts[path] = data
            if fields["why"]:
                fields["before"] = fields["after"] = None
            self.frames.send("source", **fields)
        for path in self.spec.get("configs", ()):
            data, why = self.content(os.path.join(PRISTINE, path))
            if data is None or why or len(data) > left:
                continue
            left -= len(data)
            data = base64.b64encode(data).decode("ascii")
            self.frames.send("source", old=path, new=None, before=data, after=None, why="configuration")
        self.modules = sorted(self.texts)
        if self.modules:
            self.compiled()

    def content(self, path):
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except (OSError, ValueError):
            return None, ""  # git made nothing of it, or a link: no text of its own
        with open(fd, "rb") as file:
            facts = os.fstat(fd)
            if not stat.S_ISREG(facts.st_mode):
                return None, "no regular file"
            if facts.st_size > self.spec["file_bytes"]:
                return None, "too large"
            return file.read(self.spec["file_bytes"]), ""

    def compiled(self):
        """In a child, since a source can make a compiler crash or use up memory."""

        def work(tell):
            for path in self.modules:
                try:
                    compile(self.texts[path], path, "exec", dont_inherit=True)
                    tell([path, True, "", 0])
                except (MemoryError, RecursionError):
                    tell([path, None, "too deep or too large for the compiler", 0])
                except (SyntaxError, ValueError) as error:
                    tell([path, False, str(error)[:300], int(getattr(error, "lineno", None) or 0)])

        said, why = self.child(work, self.spec["compile_seconds"], 256 * 1024 * 1024)
        self.frames.send("compiled", files=said, why=why)

    def begin(self):
        """Right before the tests are started."""
        self.loaded = os.pipe()
        self.network = counters()
        self.files = dict(written(self.spec["entries"])[0])

    # in the test process: it says this of itself, so it proves nothing against a patch that lies

    def in_tests(self):
        """After the last frame: which of the changed modules are loaded."""
        try:
            found = set()
            for module in list(sys.modules.values()):
                file = getattr(module, "__file__", None)
                if type(file) is str:
                    found.add(file)
            marks = ["1" if os.path.join(WORK, path) in found else "0" for path in self.modules]
            os.write(self.loaded[1], "".join(marks).encode("ascii"))
        except BaseException:
            pass

    # after the tests: the kernel's own counters, and what lies about

    def ended(self, timed_out):
        before, after = self.network, counters()
        network = {name: after[name] - before[name] for name in sorted(after) if name in before}
        found, more = written(self.spec["entries"])
        new = sorted((path, size) for path, size in found if self.files.get(path) != size)
        marks = self.marks()
        failing = [] if timed_out or marks is None else [m for m, mark in zip(self.modules, marks) if mark == "0"]
        imports, why = self.imported(failing) if failing else ([], "")
        own = [entry for entry in new if entry[0].startswith("/tmp/pytest-of-")]
        other = [entry for entry in new if not entry[0].startswith("/tmp/pytest-of-")]
        self.frames.send(
            "after",
            network=network,
            files=len(other),
            bytes=sum(size for _, size in other),
            paths=[path[:200] for path, _ in other[: self.spec["paths"]]],
            own_files=len(own),
            more=more,
            modules=self.modules,
            loaded=marks,
            imports=imports,
            why=why,
        )

    def marks(self):
        os.set_blocking(self.loaded[0], False)
        try:
            said = os.read(self.loaded[0], 4096).decode("ascii", "replace")
        except OSError:
            return None
        return said if len(said) == len(self.modules) and set(said) <= {"0", "1"} else None

    def imported(self, paths):
        """Import what the tests did not, in a child; it runs the model's code."""

        def work(tell):
            enter(self.spec["pythonpath"])
            for path in paths:
                tell([path] + import_file(path))

        return self.child(work, self.spec["import_seconds"], self.spec["memory"] // 2)

    def child(self, work, seconds, memory):
        """What a forked child tells before its time is up, and why it did not tell more."""
        out, into = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.setsid()
                os.close(out)
                self.forget()
                resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                work(lambda value: os.write(into, json.dumps(value).encode("ascii") + b"\n"))
            except BaseException:
                os._exit(1)
            os._exit(0)
        os.close(into)
        told, why = drained(out, seconds)
        for end in (os.killpg, os.kill):
            try:
                end(pid, signal.SIGKILL)
            except OSError:
                pass
        os.waitpid(pid, 0)
        values = []
        for line in told.split(b"\n")[:-1]:
            try:
                values.append(json.loads(line.decode("ascii")))
            except ValueError:
                why = why or "what came back is unreadable"
        return values, why

    def forget(self):
        """In a child: no key, no way to the result channel, nothing printed."""
        for key in self.keys:
            for index in range(len(key)):
                key[index] = 0
        os.close(self.frames.fd)
        quiet = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(quiet, fd)


def import_file(path):
    """Status and error of importing a file under the first name that leads to it."""
    import importlib
    import importlib.util

    parts = path[: -len(".py")].split("/")
    if parts[-1] == "__init__":
        parts = parts[:-1]
    if parts and parts[-1] != "__main__":
        for start in range(len(parts)):
            name = ".".join(parts[start:])
            if not all(part.isidentifier() for part in parts[start:]):
                continue
            try:
                spec = importlib.util.find_spec(name)
                if spec is None or spec.origin != os.path.join(WORK, path):
                    continue
                importlib.import_module(name)
                return ["imports", ""]
            except ModuleNotFoundError as error:
                if error.name in (name, name.split(".")[0]):
                    continue
                return ["fails", type(error).__name__]
            except MemoryError:
                return ["unknown", "it takes too much memory"]
            except BaseException as error:
                return ["fails", type(error).__name__[:100]]
    return ["unknown", "on no import path"]


def drained(out, seconds):
    """All that comes from a pipe before the time is up, at most 1 MiB; and why that was not all."""
    import select

    told, why = b"", ""
    deadline = time.monotonic() + seconds
    while len(told) <= 1024 * 1024:
        left = deadline - time.monotonic()
        if left <= 0:
            why = "it took longer than %g s" % seconds
            break
        if select.select([out], [], [], left)[0]:
            data = os.read(out, 65536)
            if not data:
                break
            told += data
    os.close(out)
    return told, why


def counters():
    """Of this network namespace: by its name, how far each counter is."""
    found = {}
    for file in ("/proc/net/snmp", "/proc/net/snmp6", "/proc/net/dev"):
        try:
            with open(file) as opened:
                lines = opened.read().splitlines()
        except OSError:
            continue
        if file.endswith("snmp"):
            for names, values in zip(lines[::2], lines[1::2]):
                kind = names.split(":")[0]
                found.update((kind + n, int(v)) for n, v in zip(names.split()[1:], values.split()[1:]))
        elif file.endswith("snmp6"):
            found.update((line.split()[0], int(line.split()[1])) for line in lines)
        else:
            for line in lines[2:]:
                name, _, numbers = line.partition(":")
                found["sent_" + name.strip()] = int(numbers.split()[9])
    wanted = ("IpOutNoRoutes", "Ip6OutNoRoutes", "UdpNoPorts", "Udp6NoPorts")
    return {n: v for n, v in found.items() if n in wanted or n.startswith("sent_")}


def written(limit):
    """Files on what can be written to besides the work tree: (path, size), at most `limit`; and whether there are more."""
    roots = []
    with open("/proc/self/mounts") as mounts:
        for line in mounts:
            _, where, kind, options = line.split()[:4]
            if kind in ("tmpfs", "mqueue") and where != WORK and "rw" in options.split(","):
                if os.access(where, os.W_OK):
                    roots.append(where)
    found = []
    folders = list(roots)
    while folders and len(found) < limit:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if len(found) >= limit:
                        break
                    if OF_THE_CLOCK.fullmatch(entry.path):
                        continue
                    if not entry.is_dir(follow_symlinks=False):
                        found.append((entry.path, entry.stat(follow_symlinks=False).st_size))
                    elif entry.path not in roots:
                        folders.append(entry.path)
        except OSError:
            continue  # gone meanwhile, or not ours to read
    return found, bool(folders) or len(found) >= limit
