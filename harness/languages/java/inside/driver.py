# Runs in a task's container as `python3 -c`, started by harness/languages/inside/command.py: compiles the modules of some
# tests by Maven or Gradle, then runs them on JUnit's platform (Recorder.java), and writes what they said and handed out
# (Handout.java) to descriptor 3, one JSON object a line. What the image knows of its modules is in project.json
# (miner/languages/java/tools/project.py and gradle.py).
import hashlib
import re
import shutil
import sys
import tempfile
import time

FAILED = re.compile(
    r"^\[ERROR\] (/[^\n:]+\.java):\[(\d+),(\d+)\] (.*(?:\n(?:\[ERROR\])? +(?:symbol|location|required|found|reason): .*)*)",
    re.M,
)
"""Maven tells each twice: as the compiler does, then with its own word before every line."""
FAILED_IN_KOTLIN = re.compile(
    r"^(?:e:|\[ERROR\]) (?:file://)?(/[^\n:]+\.kt): ?[\[(]?(\d+)[,:] ?(\d+)[\])]?:? (.*)", re.M
)
FAILED_IN_GROOVY = re.compile(
    r"^(?:\[ERROR\] )?(?:file:)?(/[^\n:]+\.groovy): (\d+): (.*)\n(?:\[ERROR\])? *@ line \d+, column (\d+)", re.M
)
FAILED_IN_GRADLE = re.compile(r"^(/[^\n:]+\.java):(\d+): error: (.*)\n(.*\n)??( *)\^\n((?:  .*\n)*)", re.M)
"""The same as javac itself tells it: with the line of the source, and a mark below it."""
ADDRESS = re.compile(r"(?:(?<=\$\$Lambda)[$/][\w$/]+)?@[0-9a-f]{5,8}(?![0-9A-Za-z])")
"""What a row's name has of an object that is shown as Java shows any: another in every run."""
WANTED = re.compile(
    r"symbol: +(?:method|class|variable|static|interface|enum) ([^\s(]+)"
    r"|package ([\w.]+) does not exist"
    r"|(?:constructor|method) (?:<\S+>)?(\w+) in \w+ \S+ cannot be applied"
    r"|no suitable (?:method|constructor) found for (\w+)\("
    r"|(\w+)(?:\([^)]*\))? (?:has private access|is not public|has protected access)"
    r"|does not override abstract method (\w+)\("
    r"|cannot find symbol: (\w+)"
    r"|cannot inherit from final ([\w.]+)"
    r"|Unresolved reference:? ['`]?(\w+)"
    r"|(?:No value passed for parameter|No parameter with name|Cannot find a parameter with this name:) ['`]?(\w+)"
    r"|(?:Too many arguments for|None of the following)[^\n]*?\bfun (\w+)"
    r"|unable to resolve class ([\w.]+)|Cannot find matching method [\w.]+#(\w+)"
    r"|(?:unreported )?exception ([\w.]+)(?:;| is never thrown)"
)
"""How the compiler tells which name, or which form of one, it misses."""
SYMBOL = "cannot find symbol"
"""What it says before the name, which old plugins of Maven leave out."""
DEREFERENCED = "void cannot be dereferenced"
"""What it says of the dot behind a call."""
UNBUILT = re.compile(r"(?:.*/)?src/(?:site|changes)/|(?!(?:.*/)?src/).*\.(?:md|adoc|rst|txt|ya?ml)$")
"""Files that no module is built from."""
BUILD_FILE = re.compile(r"(?:^|/)(?:pom\.xml|gradle\.properties)$|\.gradle(?:\.kts)?$|\.versions\.toml$")
ROUNDS = 4
"""How often tests are compiled, each time without the files that could not be."""
MODULE_INFO = "module-info.java"
"""What Maven and Gradle alone know how to compile."""
HANDOUT = "goldseam/Handout.java"
"""Below a folder of tests: what stripped ones are compiled against."""


class Module(object):
    """A module with the tests that are asked for."""

    javac = parts_javac = test_javac = sources = tasks = ()  # of images from before trials called the compiler
    archive = ""

    def __init__(self, folder, facts):
        self.folder = folder
        for name, value in facts.items():
            setattr(self, name, value)
        self.types_of, self.alone = {}, {}

    def root_of(self, path):
        return next((root for root in self.test_sources if path.startswith(root + "/")), None)

    def ask(self, path, name):
        root = self.root_of(path)
        if root is None:
            return False
        self.types_of[path] = types_in(path) or [path[len(root) + 1 :].rpartition(".")[0].replace("/", ".")]
        self.alone.setdefault(path, []).append(re.sub(r"\[[^\]]*\]", "", name))
        return True

    def selection(self):
        """Lines that tell the recorder which classes to run, and of which of them only some tests."""
        for path, names in self.types_of.items():
            for name in names:
                yield "class %s\n" % name
                if "" not in self.alone[path]:
                    for test in self.alone[path]:
                        yield "only %s %s\n" % (name, test)


def types_in(path):
    """The classes that a file of Kotlin or Groovy declares; none of another file, or of one that is not there."""
    if not path.endswith((".kt", ".groovy")) or not os.path.isfile(path):
        return []
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    package = re.search(r"^package\s+([\w.`]+)", text, re.M)
    names = re.findall(r"^(?:@\S+\s+)*(?:(?:public|internal|open|abstract|final|data)\s+)*class\s+(\w+)", text, re.M)
    prefix = package.group(1).replace("`", "") + "." if package else ""
    return [prefix + name for name in names]


def modules_of(project, names):
    """The modules of the files that are asked for, and whether each has one; a file of none is told as lost."""
    modules, well = {}, True
    for name in names:
        path, _, test = name.partition("::")
        tested = {folder: facts for folder, facts in project["modules"].items() if "runner" in facts}
        folder = module_with(path, tested, "test_sources")
        if folder is not None and folder not in modules:
            modules[folder] = Module(folder, project["modules"][folder])
        if folder is None or not modules[folder].ask(path, test):
            say("collect_error", id=path, text="it is in no folder that the build compiles tests of")
            well = False
    return [module for module in modules.values() if module.types_of], well


def module_with(path, modules, places):
    """The folder of the first module that has a file in some of its places, else of the module around it; None if none."""
    having = [folder for folder, facts in modules.items() if inside(path, facts.get(places, ()))]
    around = [folder for folder in modules if not folder or path.startswith(folder + "/")]
    return (having or sorted(around, key=len, reverse=True) or [None])[0]


def differing(pristine):
    """Files that are not those of the image, by their paths."""

    def stats(root):
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if name != ".git"]
            for name in names:
                path = os.path.join(folder, name)
                stat = os.lstat(path)
                yield os.path.relpath(path, root), (stat.st_size, stat.st_mtime)

    before, now = dict(stats(pristine)), dict(stats("."))
    return {path for path in set(before) | set(now) if before.get(path) != now.get(path)}


def compile_modules(project, modules, changed):
    """Compile sources and tests, without files that can't be; each of these is told as lost. True if all could be."""
    well = True
    for root in dict.fromkeys(module.root for module in modules):
        reactor = [module for module in modules if module.root == root]
        beside = {}
        for path in changed:
            if not UNBUILT.match(path) and not any(inside(path, module.test_sources) for module in reactor):
                beside.setdefault(module_with(path, project["modules"], "sources"), []).append(path)
        if not compile_what_is_asked(project, root, reactor, beside):
            stale(project, beside)
            for module in reactor:
                shutil.rmtree(module.test_output, ignore_errors=True)
            well = compile_all(project, root, reactor) and well
    return well


def stale(project, beside):
    """Remove the classes of modules of which more than tests has changed."""
    for folder, paths in beside.items():
        if folder is not None and not all("/src/test/" in "/" + path for path in paths):
            shutil.rmtree(project["modules"][folder]["output"], ignore_errors=True)


def compile_what_is_asked(project, root, modules, beside):
    """Compile only the test files that are asked for and what they need, as Maven's compiler would; True if that worked.

    What else there is of tests stays as the image has it, and nothing is compiled against that: sources go before it.
    `beside` has what has changed beside these, by its module; Maven goes first unless that is one module's code alone.
    """
    changed = [module for module in modules if module.folder in beside]
    in_java = all(path.endswith(".java") for module in modules for path in module.types_of)
    if len(changed) < len(beside) or not in_java or not all(module.test_javac for module in modules):
        return False
    if len(changed) < 2 and all(is_source(module, path) for module in changed for path in beside[module.folder]):
        well = all(compile_changed(module, beside[module.folder]) or compile_product(module) for module in changed)
    else:
        stale(project, beside)
        well = build(project, root, modules, "process-test-resources")[0] == 0
    return well and all(compiled(m.test_javac, [os.path.abspath(path) for path in m.types_of]) for m in modules)


def is_source(module, path):
    is_code = path.endswith(".java") and os.path.basename(path) != MODULE_INFO
    return bool(module.javac) and is_code and inside(path, module.sources)


def compile_product(module):
    for place, _, names in os.walk(module.output):
        for name in names:
            if name.endswith(".class") and name not in ("module-info.class", "package-info.class"):
                os.unlink(os.path.join(place, name))
    paths = [
        os.path.abspath(os.path.join(place, name))
        for root in module.sources
        for place, _, names in os.walk(root)
        for name in names
        if name.endswith(".java") and name not in (MODULE_INFO, "package-info.java")
    ]
    return compiled(module.javac, paths)


def compiled(argv, paths):
    ran = subprocess.Popen(argv + paths, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    ran.communicate()
    return ran.returncode == 0


def compile_all(project, root, modules):
    well, lacked = True, {}
    for _ in range(ROUNDS):
        left = [module for module in modules if module.types_of]
        if not left:
            return well
        code, text = build(project, root, left, "test-compile")
        if code == 0:
            return well
        errors = {}
        for place, line, column, message in failures(text):
            path = os.path.relpath(place)
            name = missing_name(message) or find(message)(path, line, column)
            text_of = "%s:%s:%s: %s" % (os.path.basename(path), line, column, message)
            errors.setdefault(path, []).append((text_of, lacked.get(name, name)))
        tests = {path for path in errors if any(path in m.types_of or inside(path, m.test_sources) for m in left)}
        if errors and tests == set(errors):
            for path in tests:  # whoever needs its class, lacks what it lacks
                lacked[os.path.basename(path).partition(".")[0]] = next((name for _, name in errors[path] if name), "")
                os.unlink(path)
                well = not lose(left, path, text, errors[path]) and well
        else:
            well = False
            every = [error for of_file in errors.values() for error in of_file]
            for path in [path for module in left for path in module.types_of]:
                lose(left, path, text, every)
    return False


def lay(modules, stub):
    """Put what stripped tests call into the folders of their sources."""
    for root in {module.root_of(path) for module in modules for path in module.types_of if is_stripped(path)}:
        place = os.path.join(root, HANDOUT)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="utf-8") as file:
            file.write(stub)


def is_stripped(path):
    if not os.path.isfile(path):
        return False
    with open(path, encoding="utf-8", errors="replace") as file:
        return "goldseam.Handout." in file.read()


def inside(path, roots):
    return any(path.startswith(root + "/") for root in roots)


def build(project, root, modules, phase):
    """Call Maven up to a phase, or Gradle for what comes to the same; its exit code and what it said."""
    env = dict(os.environ)
    if "gradle" in project:
        env["GRADLE_USER_HOME"] = home = os.path.join(tempfile.mkdtemp(prefix="gradle-"), "home")
        writable(project["home"], home)
        tasks = [task for module in modules for task in module.tasks[phase]]
        argv = project["gradle"] + ["--offline", "--quiet"] + tasks
    else:
        folders = [os.path.relpath(module.folder or ".", root or ".") for module in modules]
        chosen = [] if folders == ["."] else ["-pl", ",".join(folders), "-am"]
        argv = project["maven"] + ["--offline", "--quiet"] + chosen + [phase]
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    ran = subprocess.Popen(argv, cwd=root or ".", env=env, **streams)
    text = ran.communicate()[0].decode("utf-8", "replace")
    os.write(2, text.encode("utf-8", "replace"))
    return ran.returncode, text


def writable(home, copy):
    """Copy Gradle's user home, of which it locks files: all but the libraries, to which a link leads."""
    linked = "files-2.1"
    shutil.copytree(home, copy, ignore=shutil.ignore_patterns(linked))
    for place, folders, _ in os.walk(home):
        if linked in folders:
            folders.remove(linked)
            os.symlink(os.path.join(place, linked), os.path.join(copy, os.path.relpath(place, home), linked))


def failures(text):
    """File, line, column and message of each error of the compiler."""
    for path, line, column, message in FAILED.findall(text) + FAILED_IN_KOTLIN.findall(text):
        yield path, int(line), int(column), message
    for path, line, message, column in FAILED_IN_GROOVY.findall(text):
        yield path, int(line), int(column), message
    for path, line, message, _, before, details in FAILED_IN_GRADLE.findall(text):
        yield path, int(line), len(before) + 1, (message + "\n" + details).rstrip()


def missing_name(message):
    """The name that the compiler misses, by what it says; empty where it tells none."""
    match = WANTED.search(message)
    return next(filter(None, match.groups())).rpartition(".")[2] if match else ""


def lines_to(path, line):
    """The lines of a source up to one."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().split("\n")[:line]


def find(message):
    """How the name is found that the compiler points to, and does not tell."""
    return pointed if SYMBOL in message else dereferenced if DEREFERENCED in message else called


def places(path, line, column):
    """Where in a source, from its last lines on, the compiler may point to, likeliest first.

    Old plugins of Maven count from 0, and a tab as one.
    """
    lines = lines_to(path, line)
    raw = "\n".join(lines[-9:])
    wide = "\n".join(text.expandtabs(8) for text in lines[-9:])
    for text, at in ((wide, column - 1), (raw, column), (raw, column - 1)):
        yield text, max(text.rfind("\n") + 1 + at, 0)


def pointed(path, line, column):
    """The name at a place in a source, or behind its dot."""
    for form in (r"\.\s*([A-Za-z_$]\w*)", r"\b([A-Za-z_$]\w*)"):
        for text, at in places(path, line, column):
            match = re.compile(form).match(text, at)
            if match:
                return match.group(1)
    return ""


def dereferenced(path, line, column):
    """The method whose call ends before the dot at a place in a source."""
    texts = (text[:at].rstrip() for text, at in places(path, line, column) if text[at : at + 1] == ".")
    return around(next(texts, ""), ended=True)


def called(path, line, column):
    """The method whose call is around a place in a source, of which the compiler says that it is given what it can't take."""
    text, at = next(places(path, line, column))
    return around(text[:at])


def around(text, ended=False):
    """The method whose call is open where a text ends, or of one that has `ended` there."""
    closed = 0
    for match in reversed(list(re.finditer(r"(\w*)\s*(?:<[\w\s.,?<>\[\]]*>\s*)?\(|\)", text))):
        if match.group() == ")":
            closed += 1
        elif closed:
            closed -= 1
            if ended and not closed:
                return match.group(1)
        elif match.group(1):
            return match.group(1)
    return ""


def lose(modules, path, text, errors):
    """Tell a file that can't be compiled as lost, with the name that it misses; False if it is not asked for."""
    lost = [module.types_of.pop(path, None) for module in modules]
    if any(lost):
        names = [name for _, name in errors if name]
        raised = {"names": ["CompileError"], "says": names[0] if names else ""}
        messages = "\n".join(message for message, _ in errors)
        say("collect_error", id=path, text=(messages or text)[-TAIL:], raised=[raised])
    return any(lost)


def recorder(settings, modules, work):
    """The folder of the compiled recorder: the image's, if it is of the same source."""
    text = "".join(settings["recorder"].values())
    compiled = os.path.join(settings["kept"], hashlib.sha256(text.encode("utf-8")).hexdigest()[:16])
    if os.path.isdir(compiled):
        return compiled
    sources = [os.path.join(work, name) for name in settings["recorder"]]
    for source in sources:
        with open(source, "w", encoding="utf-8") as file:
            file.write(settings["recorder"][os.path.basename(source)])
    path = os.pathsep.join(modules[0].runner)
    subprocess.check_call(["javac", "-proc:none", "-nowarn", "-cp", path, "-d", work] + sources, stdout=2)
    return work


def run_tests(module, program, word, order):
    """Run a module's tests, those that a crash has kept from running once more; True if all is well."""
    file_of = {name: path for path, names in module.types_of.items() for name in names}
    lines = list(module.selection())
    lines += [] if order is None else ["order %d\n" % order]
    language = os.environ.get("LANGUAGE")  # a proof's, which the virtual machine takes from no image without its locale
    options = ["-Duser.language=" + language] if language else []
    options += module.options
    if module.archive and os.path.isfile(program + ".jar"):
        program += ".jar"
        options += ["-XX:SharedArchiveFile=" + module.archive, "-Xlog:cds=off", "-Xlog:cds+dynamic=off"]
    argv = ["java"] + options + ["-cp", os.pathsep.join([program] + module.classpath), "goldseam.Recorder"]
    begun, counts, well = {}, {}, True
    while True:
        stdin = "".join([word + "\n"] + lines + ["past %s\n" % test for test in begun])
        env = dict(os.environ, **module.env)
        ran = Told(file_of, counts, argv, module.folder or ".", word, stdin, env)
        if ran.forged:
            say("forged")
        well = well and ran.code == 0 and ran.done
        ran.tell_open()
        new = ran.begun.keys() - begun.keys()
        begun.update(ran.begun)
        if ran.done or not new:
            break
    return well


class Told(Run):
    """One start of the recorder, each test of which is told as it ends, with what it handed out."""

    def __init__(self, file_of, counts, *call):
        self.file_of, self.numbers = file_of, counts
        self.begun, self.open = {}, {}
        """By the recorder's id: a test's own, None if its file is not asked for; of `open` ones what they handed out."""
        self.times = {}
        Run.__init__(self, *call)

    def add(self, frame):
        if frame["t"] == "value":
            self.hand(frame)
            return
        path = self.file_of.get(frame["class"])
        if frame["t"] == "lost":
            if path is not None:
                say("collect_error", id=path, text=frame["text"])
            return
        if frame["id"] not in self.begun:
            self.begun[frame["id"]] = test_id = path and self.named(path, frame["name"])
            self.open[frame["id"]] = []
            if test_id and frame["t"] == "start":
                say("begun", id=test_id)
        if frame["t"] == "report":
            self.tell(
                frame["id"], {name: frame[name] for name in ("status", "seconds", "text", "raised") if name in frame}
            )

    def named(self, path, name):
        """A test's id, numbered where others have the same."""
        test_id = "%s::%s" % (path, ADDRESS.sub("@...", name))
        self.numbers[test_id] = self.numbers.get(test_id, 0) + 1
        return test_id if self.numbers[test_id] == 1 else "%s #%d" % (test_id, self.numbers[test_id])

    def hand(self, frame):
        key = frame["id"], frame["slot"]
        self.times[key] = self.times.get(key, -1) + 1
        fields = dict({name: frame[name] for name in ("slot", "values", "raised")}, n=self.times[key])
        if frame["id"] in self.open:
            self.open[frame["id"]].append(fields)
        elif not frame["id"]:  # of no test
            say("value", id="", **fields)

    def tell(self, name, fields):
        """The result of a test, and what it handed out."""
        test_id, handed = self.begun[name], self.open.pop(name, [])
        if test_id:
            say("report", id=test_id, **fields)
            for value in handed:
                say("value", id=test_id, **value)

    def tell_open(self):
        """A test without an end has ended the program."""
        raised, text = [{"names": ["SystemExit"]}], self.tail.decode("utf-8", "replace")
        for name in list(self.open):
            self.tell(name, {"status": "crashed", "seconds": 0.0, "text": text, "raised": raised})


def main(settings, names):
    shut()
    work = tempfile.mkdtemp(prefix="java-tests-")
    with open(settings["project"], encoding="utf-8") as file:
        project = json.load(file)
    changed = differing(settings["pristine"])
    if any(BUILD_FILE.search(path) for path in changed):
        for folder, facts in project.get("fixed", {}).items():
            project["modules"].get(folder, {}).update(facts)
    modules, well = modules_of(project, names)
    lay(modules, settings["stub"])
    began = time.monotonic()
    well = compile_modules(project, modules, changed) and well  # before anything of the product runs as a test
    say("compiled", seconds=round(time.monotonic() - began, 6))
    modules = [module for module in modules if module.types_of]
    if modules:
        program, word = recorder(settings, modules, work), os.urandom(16).hex()
        for module in modules:
            well = run_tests(module, program, word, settings["order"]) and well
    return 0 if well else 1


sys.exit(main(json.loads(sys.argv[1]), sys.argv[2:]))
