# Runs in a task's container as `python3 -c`, started by harness/languages/inside/command.py: has cargo compile the test
# programs of some files, then runs each of their tests in a process of its own, and writes what came of them to
# descriptor 3, one JSON object a line. Before it stand child.py and examples.py, in the same names.
import glob
import hashlib
import re
import select
import shutil
import socket
import stat
import struct
import sys
import tempfile
import time

LISTED = re.compile(r"^(.+): test$", re.MULTILINE)
LISTING = re.compile(r"^\d+ tests?, \d+ benchmarks?$", re.MULTILINE)
MOST_HANDED = 1 << 23
"""Bytes of what a test hands out: more than handout.rs writes in one process."""
ERRORS = 1 << 16
"""Characters of what the compiler says of a program."""
LIBRARIES = ("lib", "rlib", "dylib", "cdylib", "staticlib", "proc-macro")
BEHIND = (".rlib", ".rmeta", ".so")
"""What the compiler writes anew under another name and moves into place."""
INCREMENTAL = (".o", ".bin")
"""What it keeps for its next call, in files that it replaces and never writes to."""
WRITTEN = "thin-lto-past-keys.bin"
"""The one among them that it writes to, where tests are optimised."""
WANTED = re.compile(
    r"^(?:cannot find .*?|failed to resolve: .*?|no .+? named |no .+? found .*?|no field |unresolved imports? |"
    r"unresolved module or .*? |(?:struct|variant) .+? (?:has no field|does not have a field) named |"
    r"(?:associated |tuple )?(?:function|method|module|struct|enum|constant|trait|macro|field|static|variant)(?: constructor)? |"
    r"type alias |use of undeclared .*?|use of unresolved .*?|.+? doesn't implement )`([^`]+)`"
    r"|^the trait bound `(?:[^`:]|::)+: ([^`]+)` is not satisfied"
)
CALLED = re.compile(
    r"(?:fn|function|method|struct|enum|trait|variant) defined here.*?\n.*?\b(?:fn|struct|enum|trait) (\w+)",
    re.DOTALL,
)
"""How the compiler tells which name, or which form of one, it misses."""
METADATA = ["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"]
PANICKED = 101
PATIENCE = 0.005
"""Seconds in which most tests end: what one prints is looked at then, as each look takes as much as a small test."""
ODD = ("E0308", "E0038", "E0782")
"""Errors of a type that is another than it is asked to be, and of a trait that lacks what is called of it."""
COMPARED = re.compile(r"can't compare `|binary operation `[!=]=` cannot be applied")


def link_target(shared, own):
    """What the image has compiled, in a folder that cargo may write to; libraries and programs as links."""
    os.makedirs(own, exist_ok=True)
    with os.scandir(shared) as entries:
        for entry in entries:
            place = os.path.join(own, entry.name)
            if entry.is_dir(follow_symlinks=False):
                link_target(entry.path, place)
            elif not os.path.lexists(place):
                (os.symlink if is_replaced(entry) else shutil.copy2)(entry.path, place)


def is_replaced(entry):
    """Whether the compiler replaces a file of the target folder, if it makes it anew, and never writes to it."""
    if entry.name.endswith(BEHIND):
        return True
    if "/incremental/" in entry.path:
        return entry.name.endswith(INCREMENTAL) and entry.name != WRITTEN
    return "/out/" not in entry.path and bool(entry.stat().st_mode & stat.S_IXUSR)  # out: what a build script writes


def own_programs(own):
    """Copies in the place of links to programs that tests may start, which may ask where they are."""
    for folder, folders, names in os.walk(own):
        folders[:] = [name for name in folders if name not in ("build", "deps", "incremental", ".fingerprint")]
        for name in names:
            if not name.endswith(BEHIND):
                own_copy(os.path.join(folder, name))


def own_copy(place):
    """A copy in the place of a link."""
    if os.path.islink(place):
        source = os.path.realpath(place)
        os.unlink(place)
        shutil.copy2(source, place)


def begun(argv, folder=None):
    """A program of the toolchain, which runs on real time."""
    env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    return subprocess.Popen(
        argv, cwd=folder or ".", env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=2
    )


def output_of(argv, folder=None):
    """Exit code and standard output of a program of the toolchain."""
    child = begun(argv, folder)
    text = child.communicate()[0].decode("utf-8", "replace")
    return child.returncode, text


class Target(object):
    """A test program of a package: of its library, a binary, or a file of tests."""

    def __init__(self, package, workspace, facts):
        self.package, self.folder = package, os.path.dirname(package["manifest_path"])
        self.workspace = workspace
        self.root = os.path.relpath(facts["src_path"])
        self.kind, self.name = facts["kind"][0], facts["name"]
        self.is_documented = self.kind in LIBRARIES and facts.get("doctest", True)
        self.asked, self.program, self.stamp, self.sources = [], None, None, set()

    @property
    def flags(self):
        return ["--lib"] if self.kind in LIBRARIES else ["--" + self.kind, self.name]

    def is_of(self, artifact):
        facts = artifact.get("target", {})
        kinds = facts.get("kind") or [""]
        return (facts.get("name"), kinds[0]) == (self.name, self.kind)

    def take(self, program):
        """A program with the files that it is compiled of, as the compiler has written them down."""
        own_copy(program)
        self.program, self.stamp = program, stamp(program)
        with open(program + ".d", encoding="utf-8", errors="replace") as file:
            names = re.split(r"(?<!\\)\s+", file.read().replace("\\\n", ""))
        places = (os.path.join(self.workspace, name.rstrip(":").replace("\\ ", " ")) for name in names if name)
        self.sources = {os.path.relpath(place) for place in places}

    def chosen(self, tests):
        """Of all tests of the program those that are asked for: all where a file is that it is compiled of."""
        if any(not name and path in self.sources for path, name in self.asked):
            return tests
        names = {name for _, name in self.asked}
        return [test for test in tests if test in names]

    def env(self):
        version = self.package["version"].split("-")[0].split("+")[0].split(".")
        package = {"NAME": self.package["name"], "VERSION": self.package["version"]}
        package.update(zip(("VERSION_MAJOR", "VERSION_MINOR", "VERSION_PATCH"), version))
        package["VERSION_PRE"] = self.package["version"].partition("+")[0].partition("-")[2]
        return dict(
            os.environ,
            CARGO=shutil.which("cargo"),
            CARGO_MANIFEST_DIR=self.folder,
            CARGO_MANIFEST_PATH=self.package["manifest_path"],
            **{"CARGO_PKG_" + name: value for name, value in package.items()},
        )


def stamp(path):
    """What no process of this user can set back, once the file is another."""
    facts = os.stat(path)
    return facts.st_ino, facts.st_size, facts.st_ctime_ns


def package_folder(path):
    folder = os.path.dirname(path)
    while folder and not os.path.exists(os.path.join(folder, "Cargo.toml")):
        folder = os.path.dirname(folder)
    return folder


def targets_of(names, examples, metadata):
    """The test programs that may hold the files that are asked for, and libraries with examples; a file of none is lost.

    `metadata` are calls that list the targets of the packages, by their folders.
    """
    packages = {folder: read_package(folder, listing) for folder, listing in metadata.items()}
    chosen, documented = [], {}
    for name in names:
        path, _, test = name.partition("::")
        package = packages[package_folder(path)]
        targets = candidates(package, path)
        if os.path.basename(path) == examples:
            targets = [target for target in package if target.is_documented]
            for target in targets:
                documented.setdefault(path, Examples(target, path)).asked.append(name)
        else:
            for target in targets:
                target.asked.append((path, test))
                if target not in chosen:
                    chosen.append(target)
        if not targets:
            say("collect_error", id=path, text="cargo has no package with a target that it could be part of")
    return chosen, list(documented.values())


def place_modules(targets):
    """Take files that no program is compiled of for modules of the library, or else the binary, that they may be of.

    Where a fix declares them, and has their tests, the other tests of that program are to hold before it as well.
    """
    placed = {path for target in targets for path in target.sources}
    asking = {path: [] for target in targets for path, _ in target.asked if path not in placed}
    for path, programs in asking.items():
        programs += [target for target in targets if target.program and path in dict(target.asked)]
        libraries = [target for target in programs if target.kind in LIBRARIES]
        for target in libraries or [target for target in programs if target.kind == "bin"]:
            target.sources.add(path)


def read_package(folder, listing):
    """The targets of the package in a folder that cargo compiles tests of, by the call that lists them."""
    text = listing.communicate()[0]
    if listing.returncode != 0:
        return []
    facts = json.loads(text.decode("utf-8", "replace"))
    manifest = os.path.realpath(os.path.join(folder, "Cargo.toml"))
    return [
        Target(package, facts["workspace_root"], target)
        for package in facts["packages"]
        if os.path.realpath(package["manifest_path"]) == manifest
        for target in package["targets"]
        if target["kind"] != ["custom-build"]
    ]


def candidates(targets, path):
    """Targets whose root a file is, else those in whose folder it lies, the deepest."""
    exact = [target for target in targets if target.root == path]
    if exact:
        return exact
    own = [target for target in targets if path.startswith(target.root[: -len(".rs")] + "/")]
    if own:
        return own
    around = [target for target in targets if path.startswith(os.path.join(os.path.dirname(target.root), ""))]
    deepest = max((len(os.path.dirname(target.root)) for target in around), default=0)
    return [target for target in around if len(os.path.dirname(target.root)) == deepest]


def compile_targets(targets, options):
    """Compile the programs of one package; those that can't be are told as lost. True if all could be."""
    code, messages = cargo_test(targets, options, flags_of(targets))
    elsewhere = any(is_error(message) and not any(target.is_of(message) for target in targets) for message in messages)
    if code != 0 and len(targets) > 1 and not elsewhere:
        return all([compile_targets([target], options) for target in targets])
    for target in targets:
        programs = [
            message["executable"]
            for message in messages
            if message.get("reason") == "compiler-artifact" and target.is_of(message) and message.get("executable")
        ]
        if code == 0 and programs:
            target.take(programs[-1])
        else:
            lose(target, messages)
    return code == 0


def flags_of(targets):
    flags = [flag for target in targets for flag in target.flags]
    return ["--no-run"] + list(dict.fromkeys(flags) if flags == ["--lib"] else flags)


def cargo_test(targets, options, flags):
    argv = ["cargo", "test", "--offline", "--message-format=json"] + features(options, targets[0].package)
    code, text = output_of(argv + flags, targets[0].folder)
    messages = []
    for line in text.splitlines():
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if isinstance(message, dict):
            messages.append(message)
    return code, messages


def features(options, package):
    """Options without features that a package lacks; those of one that it depends on stay."""
    usable = []
    for word in options:
        names = [name for name in word.split(",") if name in package["features"] or "/" in name]
        if word.startswith("--") or names:
            usable.append(word if word.startswith("--") else ",".join(names))
        else:
            usable.pop()
    return usable


def is_error(message):
    return message.get("reason") == "compiler-message" and message["message"].get("level") == "error"


def lose(target, messages):
    """Tell a program that can't be compiled as lost, with the name that it misses."""
    errors = [message["message"] for message in messages if is_error(message)]
    text = "\n".join(error.get("rendered") or error["message"] for error in errors)
    os.write(2, text.encode("utf-8", "replace"))
    matches = [WANTED.match(error["message"]) for error in errors]
    names = [match.group(1) or match.group(2) for match in matches if match]
    names += [name for error in errors for name in CALLED.findall(error.get("rendered") or "")]
    names += [name for error in errors if not error.get("code") for name in marked(error)]
    names += [name for error in errors if (error.get("code") or {}).get("code") in ODD for name in called(error)]
    names += ["PartialEq" for error in errors if COMPARED.match(error["message"])]
    says = re.split(r"::", re.sub(r"<.*|\(.*|!$", "", names[0]))[-1] if names else ""
    raised = {"names": ["CompileError"], "says": says}
    say("collect_error", id=target.root, text=text[:ERRORS] or "cargo has compiled no program", raised=[raised])


def marked(error):
    """The names that a macro's own error marks in a source: what it refuses."""
    for span in error.get("spans", []):
        if span["is_primary"] and len(span["text"]) == 1:
            [line] = span["text"]
            yield from re.findall(
                r"[A-Za-z_]\w*", line["text"][line["highlight_start"] - 1 : line["highlight_end"] - 1]
            )


def called(error):
    """The functions that are called on a line with an error: one of them is what it is about."""
    lines = []
    for span in error["spans"]:
        place = span
        while place.get("expansion"):
            place = place["expansion"]["span"]
        lines += [line["text"] for line in place["text"] if span["is_primary"]]
    return re.findall(r"\b([a-z_]\w*)(?:::<[^()]*>)?\(", "\n".join(lines))


class Handed(object):
    """What tests hand out: a file that each process of one finds by its environment."""

    def __init__(self, path):
        self.path = path

    def remove(self):
        if os.path.isdir(self.path) and not os.path.islink(self.path):
            shutil.rmtree(self.path)
        elif os.path.lexists(self.path):
            os.unlink(self.path)

    def empty(self):
        self.remove()
        with open(self.path, "xb"):
            pass

    def put_aside(self):
        """What is there, so that the next test can hand out."""
        aside = Handed(self.path + ".before")
        aside.remove()
        if os.path.lexists(self.path):
            os.rename(self.path, aside.path)
        return aside

    def tell(self, test_id):
        """Tell what a test has handed out, in order; true if nothing else is there."""
        times = {}
        try:
            place = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)  # a pipe would never end
        except OSError:
            return False
        with os.fdopen(place, "rb") as file:
            if not stat.S_ISREG(os.fstat(place).st_mode):
                return False
            lines = file.read(MOST_HANDED + 1).split(b"\n")
        for line in lines[:-1]:
            try:
                fields = json.loads(line.decode("utf-8"))
                slot, values, raised = fields["slot"], fields["values"], fields["raised"]
            except (ValueError, KeyError, TypeError, RecursionError):
                return False
            if type(slot) is not int or not isinstance(values, list) or not isinstance(raised, (list, type(None))):
                return False
            times[slot] = times.get(slot, -1) + 1
            say("value", id=test_id, slot=slot, n=times[slot], values=values, raised=raised)
        return not lines[-1]


class Program(object):
    """A test program, loaded once, of which each test has a copy: recorder.c."""

    def __init__(self, path, stamp, folder, env):
        self.path, self.stamp, self.call, self.child = path, stamp, ([path], folder, env), None

    def load(self):
        self.asks, stdin = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.child, self.source = start(*self.call + (stdin,))
        stdin.close()

    def end(self):
        if self.child:
            self.asks.close()
            os.close(self.source)
            self.code = self.child.wait()
            self.child.stdout.close()
            self.child = None


class Copy(Output):
    """A run of a copy with some arguments."""

    def __init__(self, program, *arguments):
        word = os.urandom(16).hex()
        Output.__init__(self, word)
        self.program, self.code, self.began = program, None, time.monotonic()
        if stamp(program.path) != program.stamp:
            say("forged")
        if not program.child:
            program.load()
        try:
            program.asks.send("".join(text + "\0" for text in (word,) + arguments).encode("utf-8"))
        except OSError:
            pass  # what it has ended by shows below

    def wait(self):
        """The same, once it has ended."""
        program = self.program
        stdout, asks = program.child.stdout.fileno(), program.asks.fileno()
        if select.select([asks], [], [], PATIENCE)[0]:
            self.end(piece(asks))
        sources = {program.source: self.take, stdout: self.show, asks: self.end}
        self.follow(sources, lambda: self.code is not None or program.child.poll() is not None)
        if self.code is None:  # the program itself has ended
            program.end()
            self.code = program.code
        self.seconds = time.monotonic() - self.began
        return self

    def end(self, data):
        if len(data) == struct.calcsize("i"):
            status = struct.unpack("i", data)[0]
            self.code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


class Listing(Copy):
    """A run whose whole output is kept."""

    def show(self, data):
        self.tail = (self.tail + data)[:LONGEST]


def run_target(target, env, handed):
    """Run the tests of a program that are asked for, each alone; True if all is well."""
    program = Program(target.program, target.stamp, target.folder, dict(target.env(), **env))
    try:
        return run_tests(target, program, handed)
    finally:
        program.end()


def run_tests(target, program, handed):
    handed.empty()
    listing = Listing(program, "--list").wait()
    text = listing.tail.decode("utf-8", "replace")
    if not LISTING.search(text):  # a program with a main function of its own
        return tell("%s::main" % target.root, listing, handed)
    ignored = set(LISTED.findall(Listing(program, "--list", "--ignored").wait().tail.decode("utf-8", "replace")))
    well, ended = True, None
    chosen = {"%s::%s" % (target.root, test): test for test in target.chosen(list(dict.fromkeys(LISTED.findall(text))))}
    say("collected", ids=list(chosen))
    for test_id, test in chosen.items():
        if test in ignored:
            say("report", id=test_id, status="skipped", seconds=0.0, text="")
            continue
        handed.empty()
        copy = Copy(program, "--exact", test)
        if ended:  # told while the next one runs
            well = tell(*ended) and well
        ended = test_id, copy.wait(), handed.put_aside()
    return (tell(*ended) and well) if ended else well


def tell(test_id, ran, handed, failing=(PANICKED,), panics=False):
    """The result of one test: it has passed if the program's main function ended well, or panicked as it is to."""
    if not handed.tell(test_id) or ran.forged:
        say("forged")
    well = ran.code == PANICKED if panics else ran.code == 0 and ran.done
    text = "" if well else ran.tail.decode("utf-8", "replace")[-TAIL:]
    status = "passed" if well else "failed" if ran.code in failing or (panics and ran.done) else "crashed"
    raised = "AssertionError" if "assertion " in text else "panic"
    fields = {} if well else {"raised": [{"names": [raised]}]}
    say("report", id=test_id, status=status, seconds=round(ran.seconds, 6), text=text, **fields)
    return well


def recorder(settings, work):
    """The recorder, compiled: the image's, if it is of the same source."""
    name = hashlib.sha256(settings["recorder"].encode("utf-8")).hexdigest()[:16] + ".so"
    built, library = os.path.join(settings["kept"], name), os.path.join(work, name)
    if os.path.exists(built):
        return built
    argv = ["cc", "-shared", "-fPIC", "-O1", "-x", "c", "-o", library, "-", "-ldl"]
    child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=2)
    child.communicate(settings["recorder"].encode("utf-8"))
    return library


def libraries():
    """Where the toolchain has what programs load of it, for each target; rustc itself would take 20 ms to tell."""
    root = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("rustc"))))
    return ":".join(glob.glob(os.path.join(root, "lib", "rustlib", "*", "lib")))


def main(settings, names):
    shut()
    folders = dict.fromkeys(package_folder(name.partition("::")[0]) for name in names)
    metadata = {folder: begun(METADATA, folder) for folder in folders}
    link_target(settings["warm"], os.environ["CARGO_TARGET_DIR"])
    work = tempfile.mkdtemp(prefix="rust-tests-")
    library, handed = recorder(settings, work), Handed(os.path.join(work, "values"))
    with open(settings["handout"], "w", encoding="utf-8") as file:
        file.write(settings["source"])
    preload = " ".join([library] + os.environ.get("LD_PRELOAD", "").split())
    targets, documented = targets_of(names, settings["examples"], metadata)
    well, began = True, time.monotonic()
    for folder in dict.fromkeys(target.folder for target in targets):  # all are compiled before any test runs
        well = compile_targets([target for target in targets if target.folder == folder], settings["options"]) and well
    place_modules(targets)
    compiled = [examples for examples in documented if examples.compile(settings["options"], work)]
    well = well and len(compiled) == len(documented)
    say("compiled", seconds=round(time.monotonic() - began, 6))
    own_programs(os.environ["CARGO_TARGET_DIR"])
    env = {"LD_PRELOAD": preload, "LD_LIBRARY_PATH": libraries(), "GOLDSEAM_VALUES": handed.path}
    for target in targets:
        if target.program:
            well = run_target(target, env, handed) and well
    for examples in compiled:
        well = examples.run(env, handed) and well
    return 0 if well else 1


sys.exit(main(json.loads(sys.argv[1]), sys.argv[2:]))
