# Runs inside a task's container, after harness/languages/python/inside/suites.py and in the same names: what unittest tells of each test,
# as the frames that pytest's recorder writes.
import os
import time
import unittest


def make_result(run):
    frames = run.frames

    class Result(unittest.TestResult):
        """What unittest tells of each test, as frames."""

        def __init__(self):
            super(Result, self).__init__()
            self.running, self.told, self.began = None, set(), 0.0
            self.last = []

        def startTest(self, test):
            super(Result, self).startTest(test)
            self.running, self.began = run.id_of(test), time.monotonic()
            run.current[0] = self.running

        def stopTest(self, test):
            super(Result, self).stopTest(test)
            test_id = run.id_of(test)
            self.close(test_id, test, time.monotonic() - self.began)
            self.running = None

        def close(self, test_id, test, seconds=0.0):
            self.report(test_id, "teardown", "passed", seconds=seconds)
            self.told.add(test_id)
            self.last.append((test_id, test))

        def addSuccess(self, test):
            super(Result, self).addSuccess(test)
            self.say(test, "passed")

        def addError(self, test, err):
            super(Result, self).addError(test, err)
            self.say(test, "failed", error=err[1])

        def addFailure(self, test, err):
            super(Result, self).addFailure(test, err)
            self.say(test, "failed", error=err[1])

        def addSubTest(self, test, subtest, err):
            super(Result, self).addSubTest(test, subtest, err)
            if err is None:
                self.say(subtest, "passed")
            else:
                self.say(subtest, "failed", error=err[1])

        def addSkip(self, test, reason):
            super(Result, self).addSkip(test, reason)
            self.say(test, "skipped", text=str(reason)[:2000])

        def addExpectedFailure(self, test, err):
            super(Result, self).addExpectedFailure(test, err)
            self.say(test, "skipped", xfail=True, text=words_of(err[1]))

        def addUnexpectedSuccess(self, test):
            super(Result, self).addUnexpectedSuccess(test)
            self.say(test, "failed", text="Unexpected success")

        def say(self, test, outcome, xfail=False, error=None, text=""):
            if outcome == "failed":
                run.failed = True
            when = "part" if hasattr(test, "test_case") else "call"
            test = getattr(test, "test_case", test)  # of a subtest, the test that it is in
            whole = group_of(test)
            if whole:
                self.say_of_many(whole, outcome, error, text)
                return
            test_id = run.id_of(test)
            if test_id == self.running:
                self.report(test_id, when, outcome, xfail, error, text)
            elif test_id in self.told:  # Django tidies up behind a test once it is over
                self.report(test_id, "teardown", outcome, xfail, error, text)
            else:  # and lays out its world before it begins
                self.report(test_id, "setup", outcome, xfail, error, text)
                self.close(test_id, test)

        def say_of_many(self, whole, outcome, error, text):
            """A class or a module that could not be set up takes its tests along; one that ends badly, its last."""
            step, name = whole
            if step.startswith("setUp"):
                for test in run.tests:
                    test_id = run.id_of(test)
                    if name in owners_of(test) and test_id not in self.told:
                        self.report(test_id, "setup", outcome, False, error, text)
                        self.close(test_id, test)
                return
            for test_id, test in reversed(self.last):
                if name in owners_of(test):
                    self.report(test_id, "teardown", outcome, False, error, text)
                    return

        def report(self, test_id, when, outcome, xfail=False, error=None, text="", seconds=0.0):
            if error is not None and not text:
                text = words_of(error)
            frames.send(
                "report",
                id=test_id,
                when=when,
                outcome=outcome,
                xfail=xfail,
                seconds=round(seconds, 6),
                text=text if outcome != "passed" else "",
                raised=chain_of(error) if outcome == "failed" and error is not None else [],
            )

    return Result()


def group_of(test):
    """Of what unittest puts in the place of a test where a class or a module fails: the step and the name."""
    if type(test).__name__ != "_ErrorHolder":
        return None
    step, _, name = test.id().partition(" (")
    return step, name.rstrip(")")


def owners_of(test):
    """What the class and the module of a test are called where they fail as a whole."""
    kind = type(test)
    return ("%s.%s" % (kind.__module__, kind.__qualname__), kind.__module__)


def words_of(error):
    """What a failure says, in the form of pytest's short tracebacks, less the middle of a long one."""
    try:
        text = "\n".join(lines_of(error))
    except Exception:
        text = type(error).__name__
    return text if len(text) <= 6000 else text[:2000] + "\n[…]\n" + text[-4000:]


def lines_of(error, depth=0):
    import traceback

    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    found = lines_of(before, depth + 1) + [""] if before is not None and depth < 3 else []
    for frame in traceback.extract_tb(error.__traceback__):
        if "__unittest" not in frame.name and os.path.basename(os.path.dirname(frame.filename)) != "unittest":
            found.append("%s:%s: in %s" % (place_of(frame.filename) or frame.filename, frame.lineno, frame.name))
            found.append("    %s" % frame.line)
    said = "".join(traceback.format_exception_only(type(error), error)).rstrip("\n")
    return found + ["E   %s" % line for line in said.split("\n")]
