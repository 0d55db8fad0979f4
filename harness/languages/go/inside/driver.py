# Runs in a task's container as `python3 -c`, started by harness/languages/inside/command.py: compiles the test programs
# of some packages, then runs them, and writes what their tests said to descriptor 3, one JSON object a line. Before it
# stand child.py and overlay.py, in the same names.
import json
import os
import re
import subprocess
import sys
import tempfile
import time

TESTS = re.compile(r"^func ((?:Test|Example|Fuzz)\w*)\(", re.MULTILINE)
MISSING = re.compile(
    r"undefined: (?:\w+\.)?(\w+)"
    r"|\.(\w+) undefined \("
    r"|unknown field '?(\w+)"
    r"|missing method (\w+)"
    r"|package \S*?(\w+) is not in std"
    r"|no required module provides package \S*?(\w+)[;:]"
)
"""How the compiler tells which name it misses."""
UNFIT = re.compile(
    r"(?:too many|not enough) arguments in call to (?:[^\s]*\.)?(\w+)"
    r"|in argument to (?:[^\s]*\.)?(\w+)"
    r"|cannot use .* as (?:[^\s]*\.)?(\w+) value in (?!argument)"
    r"|assignment mismatch: .* but (?:[^\s(]*\.)?(\w+)(?:\(\S*\))? returns"
)
"""How it tells of which name it misses another form, which what is missing may be the cause of."""


def link_cache(shared, own):
    """What the image has compiled, as links, in a folder that the compiler may write to."""
    for entry in os.listdir(shared) if os.path.isdir(shared) else ():
        there, here = os.path.join(shared, entry), os.path.join(own, entry)
        if os.path.isdir(there):
            os.makedirs(here, exist_ok=True)
            for name in os.listdir(there):
                if not os.path.lexists(os.path.join(here, name)):
                    os.symlink(os.path.join(there, name), os.path.join(here, name))
    os.makedirs(own, exist_ok=True)


class Package(object):
    """A package with the tests that are asked for."""

    def __init__(self, folder, wanted):
        self.folder = folder
        self.files = list(dict.fromkeys(name.split("::")[0] for name in wanted))
        self.file_of = {}
        names = []
        for path in sorted(self.files):  # as the compiler has them, so that tests run in this order
            with open(path, encoding="utf-8", errors="replace") as file:
                found = [name for name in TESTS.findall(file.read()) if name != "TestMain"]
            for name in found:
                self.file_of.setdefault(name, path)
            alone = [name.split("::")[1] for name in wanted if name.startswith(path + "::")]
            tops = {re.split(r"[/\[ ]", name)[0] for name in alone}
            names += [name for name in found if path in wanted or name in tops]
        self.names = list(dict.fromkeys(names))
        self.count = {}

    def id_of(self, name):
        test_id = "%s::%s" % (self.file_of[top(name)], name)
        self.count[test_id] = self.count.get(test_id, 0) + 1
        return test_id if self.count[test_id] == 1 else "%s #%d" % (test_id, self.count[test_id])


def top(name):
    return name.split("/")[0]


def compile_tests(package, program, overlay, word):
    """Whether there is a program now; where not, each file is told as one that is lost, with what is missing."""
    flags = ["-vet=off", "-overlay=" + overlay, "-ldflags=-s -w -X testing.goldseamWord=" + word, "-o", program]
    for more in ([], ["-gcflags=-e"]):  # with all complaints, not the first ten
        ran = subprocess.Popen(
            ["go", "test", "-c"] + flags + more + ["."],
            cwd=package.folder or ".",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        text = ran.communicate()[0].decode("utf-8", "replace")
        if ran.returncode == 0:
            return os.path.exists(program)
    os.write(2, text.encode("utf-8", "replace"))
    names = [next(filter(None, found)) for form in (MISSING, UNFIT) for found in form.findall(text)]
    raised = {"names": ["CompileError"], "says": names[0] if names else ""}
    for path in package.files:
        say("collect_error", id=path, text=text[:TAIL], raised=[raised])
    return False


class Told(Run):
    """A start of a program that tells of each test as it ends, with its subtests: a later one may never do so."""

    def __init__(self, package, *program):
        self.package, self.ended, self.untold, self.count = package, set(), [], 0
        Run.__init__(self, *program)

    def take(self, data):
        Run.take(self, data)
        new, self.count = self.frames[self.count :], len(self.frames)
        names = {frame["name"] for frame in new if frame["t"] == "report"}
        self.ended.update(name for name in names if name == top(name))
        self.untold += new
        if any(top(frame["name"]) in self.ended for frame in self.untold):
            tell(self.package, [frame for frame in self.untold if top(frame["name"]) in self.ended], "")
            self.untold = [frame for frame in self.untold if top(frame["name"]) not in self.ended]


def run_tests(package, program, word, options):
    """Run a package's tests, those that a crash has kept from running once more; True if all is well."""
    say("collected", ids=["%s::%s" % (package.file_of[name], name) for name in package.names])
    well = True
    batches = [package.names]
    while batches:
        names = batches.pop(0)
        asked = ["-test.run=^(%s)$" % "|".join(names), "-test.timeout=0", "-test.paniconexit0"]
        ran = Told(package, [program] + asked + options, package.folder or ".", word, "", None)
        well = well and ran.code == 0 and ran.done
        if ran.forged:
            say("forged")
        began = {top(frame["name"]) for frame in ran.frames if frame["t"] == "start"}.intersection(names)
        open_ones = [name for name in names if name in began - ran.ended]
        if not ran.done and len(open_ones) > 1:  # which of them it was shows when each is alone
            batches += [[name] for name in open_ones]
            tell(package, [frame for frame in ran.untold if top(frame["name"]) not in open_ones], "")
        else:
            tell(package, ran.untold, ran.tail.decode("utf-8", "replace"))
        unseen = [name for name in names if name not in began]
        if not ran.done and began and unseen:
            batches.append(unseen)
    return well


def tell(package, frames, tail):
    """A result for each test that has begun, and what it handed out; one without an end has failed with the program."""
    names = set()
    tell_values(package, frames)
    for frame in frames:
        if top(frame["name"]) in package.file_of and frame["t"] == "report":
            names.add(frame["name"])
            fields = {name: frame[name] for name in ("status", "seconds", "text")}
            say("report", id=package.id_of(frame["name"]), **fields)
    for name in dict.fromkeys(frame["name"] for frame in frames if frame["t"] == "start"):
        if name not in names and top(name) in package.file_of:
            say(
                "report",
                id=package.id_of(name),
                status="crashed",
                seconds=0.0,
                text=tail,
                raised=[{"names": ["panic"]}],
            )


def tell_values(package, frames):
    """What each test handed out, and its subtests by name, as it passes only if they do."""
    begun = {frame["name"] for frame in frames if frame["t"] == "start"}
    times = {}
    for frame in sorted((frame for frame in frames if frame["t"] == "value"), key=lambda frame: frame["name"]):
        parts = frame["name"].split("/")
        for name in ("/".join(parts[:count]) for count in range(len(parts), 0, -1)):
            if name in begun and parts[0] in package.file_of:
                key = name, frame["slot"]
                times[key] = times.get(key, -1) + 1
                test_id = "%s::%s" % (package.file_of[parts[0]], name)
                fields = {field: frame[field] for field in ("slot", "values", "raised")}
                say("value", id=test_id, n=times[key], **fields)


def main(asked, wanted):
    shut()
    work = tempfile.mkdtemp(prefix="go-tests-")
    link_cache(asked["cache"], os.environ["GOCACHE"])
    overlay = overlaid(work, os.environ["GOROOT"], asked["sources"])
    word = os.urandom(16).hex()
    folders = {}
    for name in wanted:
        folders.setdefault(os.path.dirname(name.split("::")[0]), []).append(name)
    well, programs = True, []
    began = time.monotonic()
    for folder, names in folders.items():  # all are compiled before anything of the product runs
        package = Package(folder, names)
        program = os.path.join(work, "%d.test" % len(programs))
        compiled = compile_tests(package, program, overlay, word)
        programs.append((package, program if compiled and package.names else None))
        well = well and compiled
    say("compiled", seconds=round(time.monotonic() - began, 6))
    for package, program in programs:
        if program:
            well = run_tests(package, program, word, asked["run"]) and well
    return 0 if well else 1


sys.exit(main(json.loads(sys.argv[1]), sys.argv[2:]))
