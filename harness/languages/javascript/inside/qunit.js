// How QUnit calls what is no test: an error between tests; before 2.19 also a file that it couldn't load.
const NO_TEST = /^global failure|^Failed to load the test file with error:/;
const FILE = relative(path_.resolve(process.argv[process.argv.length - 1]));
const STATUS = { passed: "passed", failed: "failed", skipped: "skipped", todo: "todo" };
const textOf = ({ errors }) => (errors || []).map(({ message, stack }) => (message || "") + "\n" + (stack || "")).join("\n");

exports.init = (QUnit) => {
  const { running } = process.__goldseam__;
  QUnit.on("testStart", (test) => (running.id = NO_TEST.test(test.name) ? null : idOf(FILE, test.fullName, seen_)));
  QUnit.on("testEnd", (test) => {
    if (NO_TEST.test(test.name)) {
      console.error(textOf(test));
      return;
    }
    begun();
    report(FILE, test.fullName, STATUS[test.status], test.runtime, textOf(test), running.id || undefined);
    running.id = null;
  });
  if (QUnit.onUncaughtException) QUnit.on("error", (error) => console.error((error && error.stack) || error));
};
