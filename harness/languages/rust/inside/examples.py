# Stands before driver.py, in the same names: examples in the documentation of a library (doctests). rustdoc finds and compiles
# them, each a program of its own; the driver runs these as it does test programs. What rustdoc prints decides nothing.

import re
import tempfile
import time

EXAMPLES = "(doctest)"
"""What is asked for behind a file, and begins the names of its examples."""
NAMED = re.compile(r"^(.+?) - (.*?) ?\(line (\d+)\)$")
"""How rustdoc calls an example: the file, what it documents (nothing for the crate), the line of its fence."""
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
    """One example, by its name in rustdoc's list."""

    def __init__(self, name, folder):
        self.name = name
        place, self.documented, line = NAMED.match(name).groups()
        self.line = int(line)
        self.path = os.path.relpath(os.path.join(folder, place))
        self.program = re.sub(r"[^A-Za-z0-9]", "_", place) + "_%d_0/rust_out" % self.line
        self.test_id, self.stamp = "", None

    @property
    def words(self):
        """What is said behind its fence; nothing of one that a macro or another file has brought."""
        try:
            with open(self.path, encoding="utf-8", errors="replace") as file:
                lines = file.read().split("\n")
        except OSError:
            return []
        fence = FENCE.match(lines[self.line - 1]) if self.line <= len(lines) else None
        return re.split(r"[\s,{}]+", fence.group(1)) if fence else []


class Examples(object):
    """The examples of one library that are asked for: all of some files, or some by their ids."""

    def __init__(self, target):
        self.target, self.asked, self.found = target, [], []

    def is_asked(self, example):
        return any(example.path == path and name in (example.test_id, "") for path, name in self.asked)

    def compile(self, options, work):
        """Have rustdoc list and compile them; True if it could. Nothing of them runs."""
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
            words, self.env, self.place = json.load(file)
        self.run_in = next(after for word, after in zip(words, words[1:]) if word == "--test-run-directory")
        help_text = output_of(["rustdoc", "--help", "-v"], None)[1]
        if ALONE.partition("=")[0] in help_text:
            words += [ALONE]
        elif "--edition=2024" in words:
            say(
                "collect_error",
                id=self.target.root,
                text="this rustdoc makes one program of all examples of edition 2024",
            )
            return False
        self.rustdoc = ["rustdoc"] + words + UNSTABLE
        for path in sorted({path for path, _ in self.asked}):
            name = os.path.relpath(path, os.path.relpath(self.place))
            self.rustdoc += ["--test-args", name]  # only what this is a part of is compiled
        self.found = named([Example(name, self.place) for name in self.listed()])
        if any(map(self.is_asked, self.found)):
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
            cwd=self.place,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=2,
        )
        return child.communicate()[0].decode("utf-8", "replace")

    def listed(self, *words):
        arguments = [word for name in ("--list",) + words for word in ("--test-args", name)]
        return [name for name in LISTED.findall(self.ask(*arguments)) if NAMED.match(name)]

    def run(self, word, env, handed):
        """Run those that are asked for, each alone; True if all is well."""
        libraries = ":".join(filter(None, (env["LD_LIBRARY_PATH"], self.env.get("LD_LIBRARY_PATH"))))
        env = dict(self.env, **dict(env, LD_LIBRARY_PATH=libraries))
        ignored = set(self.listed("--ignored"))
        well = True
        for example in filter(self.is_asked, self.found):
            words, program = example.words, os.path.join(self.folder, example.program)
            if example.name in ignored:
                say("report", id=example.test_id, status="skipped", seconds=0.0, text="")
            elif example.stamp is None or {"no_run", "compile_fail"}.intersection(words):
                well = self.tell_compiled(example, "compile_fail" not in words) and well
            else:
                handed.empty()
                if stamp(program) != example.stamp:
                    say("forged")
                began = time.monotonic()
                ran = Run([program], self.run_in, word, word + "\n", env)
                seconds = time.monotonic() - began
                well = tell(example.test_id, ran, seconds, handed, FAILING, "should_panic" in words) and well
        return well

    def tell_compiled(self, example, is_to_compile):
        """The result of an example that is only compiled, or could not be."""
        well = is_to_compile is (example.stamp is not None)
        text = (
            ""
            if well
            else self.printed.partition("---- %s " % example.name)[2].partition("\n")[2].partition("\n----")[0]
        )
        fields = {} if well else {"raised": [{"names": ["CompileError"]}]}
        status = "passed" if well else "failed"
        say("report", id=example.test_id, status=status, seconds=0.0, text=text[:ERRORS], **fields)
        return well


def named(examples):
    """With ids that hold although lines move: by what each documents, and which of several it is."""
    times = {}
    for example in sorted(examples, key=lambda example: (example.path, example.line)):
        name = "%s::%s %s" % (example.path, EXAMPLES, example.documented)
        times[name] = times.get(name, 0) + 1
        example.test_id = name.rstrip() + ("#%d" % times[name] if times[name] > 1 else "")
    return examples
