# Stands before driver.py, in the same names: examples in documentation (doctests), which a file of their own holds. rustdoc
# lists and compiles them for a library, each as a program of its own; the driver runs these as it does test programs. What
# rustdoc prints decides nothing.
import re
import tempfile
import time

NAMED = re.compile(r"^.+? - (.*?) ?\(line (\d+)\)$")
"""How rustdoc calls an example: the file, what it documents, the line of its fence."""
FENCE = re.compile(r"^\s*//[/!]\s*(?:`{3,}|~{3,})(.*)$")
WRAPPER = """\
#!%s -ISB
import json, os, sys
with open(%r, "w") as file:
    json.dump([sys.argv[1:], dict(os.environ), os.getcwd()], file)
"""
"""In the place of rustdoc: keeps how cargo calls it."""
UNSTABLE = ["-Z", "unstable-options"]
ALONE = "--merge-doctests=no"
FAILING = (1, 101)
"""Exit codes of a main function that gives an error, and of one that panics."""


class Example(object):
    """One example, by its name in rustdoc's list and its file as rustdoc has it; `lines` are those of the file."""

    def __init__(self, name, place, lines):
        self.name = name
        self.documented, line = NAMED.match(name).groups()
        self.line = int(line)
        self.program = re.sub(r"[^A-Za-z0-9]", "_", place) + "_%d_0/rust_out" % self.line
        fence = FENCE.match(lines[self.line - 1])
        self.words = re.split(r"[\s,{}]+", fence.group(1)) if fence else []
        self.test_id, self.stamp = "", None


class Examples(object):
    """The examples of a file: all of them, or those whose ids are asked for."""

    def __init__(self, target, path):
        self.target, self.path, self.asked, self.found = target, path, [], []

    @property
    def chosen(self):
        return [example for example in self.found if {self.path, example.test_id}.intersection(self.asked)]

    def compile(self, options, work):
        """Have rustdoc list and compile them; True if it could. Nothing of them runs."""
        if not os.path.isfile(self.path):
            say("collect_error", id=self.path, text="there is no such file")
            return False
        self.folder, call = tempfile.mkdtemp(dir=work), os.path.join(work, "rustdoc.json")
        wrapper = os.path.join(work, "rustdoc")
        with open(wrapper, "w", encoding="utf-8") as file:
            file.write(WRAPPER % (sys.executable, call))
        os.chmod(wrapper, 0o700)
        if os.path.exists(call):
            os.unlink(call)
        os.environ["RUSTDOC"] = wrapper
        messages = cargo_test([self.target], options, ["--doc"])[1]
        del os.environ["RUSTDOC"]
        if not os.path.exists(call):
            lose(self.target, messages)
            return False
        with open(call, encoding="utf-8") as file:
            words, self.env, self.folder_of_call = json.load(file)
        told = dict(zip(words, words[1:]))  # before 1.72 examples run where rustdoc does
        self.run_in = told.get("--test-run-directory", self.folder_of_call)
        place = os.path.relpath(self.path, os.path.relpath(self.folder_of_call))
        root = os.path.realpath(self.target.root)
        words = [place if os.path.realpath(os.path.join(self.folder_of_call, word)) == root else word for word in words]
        if ALONE.partition("=")[0] in output_of(["rustdoc", "--help", "-v"])[1]:
            words += [ALONE]
        elif "--edition=2024" in words:
            say("collect_error", id=self.path, text="this rustdoc makes one program of all examples of edition 2024")
            return False
        self.rustdoc = ["rustdoc"] + words + UNSTABLE
        with open(self.path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        self.found = named(self.path, [Example(name, place, lines) for name in self.listed()])
        if self.chosen:
            self.printed = self.ask("--persist-doctests", self.folder, "--no-run")
        for example in self.found:
            program = os.path.join(self.folder, example.program)
            if os.path.isfile(program):
                example.stamp = stamp(program)
        return True

    def ask(self, *words):
        """What rustdoc prints: on a stable toolchain it has these options by its own variable, and it alone."""
        env = dict(self.env, RUSTC_BOOTSTRAP="1")
        env.pop("LD_PRELOAD", None)  # it runs on real time
        child = subprocess.Popen(
            self.rustdoc + list(words),
            cwd=self.folder_of_call,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=2,
        )
        return child.communicate()[0].decode("utf-8", "replace")

    def listed(self, *words):
        arguments = [word for name in ("--list",) + words for word in ("--test-args", name)]
        return [name for name in LISTED.findall(self.ask(*arguments)) if NAMED.match(name)]

    def run(self, env, handed):
        """Run those that are asked for, each alone; True if all is well."""
        libraries = ":".join(filter(None, (env["LD_LIBRARY_PATH"], self.env.get("LD_LIBRARY_PATH"))))
        env = dict(self.env, **dict(env, LD_LIBRARY_PATH=libraries))
        ignored = set(self.listed("--ignored"))
        say("collected", ids=[example.test_id for example in self.chosen])
        well = True
        for example in self.chosen:
            program = os.path.join(self.folder, example.program)
            if example.name in ignored:
                say("report", id=example.test_id, status="skipped", seconds=0.0, text="")
            elif example.stamp is None or {"no_run", "compile_fail"}.intersection(example.words):
                well = self.tell_compiled(example, "compile_fail" not in example.words) and well
            else:
                handed.empty()
                loaded = Program(program, example.stamp, self.run_in, env)
                ran = Copy(loaded).wait()
                loaded.end()
                well = tell(example.test_id, ran, handed, FAILING, "should_panic" in example.words) and well
        return well

    def tell_compiled(self, example, is_to_compile):
        """The result of an example that is only compiled, or could not be."""
        well = is_to_compile is (example.stamp is not None)
        text = self.printed.partition("---- %s " % example.name)[2].partition("\n")[2].partition("\n----")[0]
        fields = {} if well else {"raised": [{"names": ["CompileError"]}]}
        status = "passed" if well else "failed"
        say("report", id=example.test_id, status=status, seconds=0.0, text="" if well else text[:ERRORS], **fields)
        return well


def named(path, examples):
    """With ids: what each documents, and which of several it is."""
    times = {}
    for example in sorted(examples, key=lambda example: example.line):
        name = "%s::%s" % (path, example.documented)
        times[name] = times.get(name, 0) + 1
        example.test_id = name + ("#%d" % times[name] if times[name] > 1 else "")
    return examples
