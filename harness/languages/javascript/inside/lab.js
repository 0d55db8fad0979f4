const FILE = relative(path_.resolve(process.argv[process.argv.length - 1]));
const statusOf = (test) => (test.err ? "failed" : test.skipped ? "skipped" : test.todo ? "todo" : "passed");

module.exports = class {
  start() {
    begun();
  }

  test(test) {
    report(FILE, [...(test.path || []), test.relativeTitle || test.title], statusOf(test), test.duration, messageOf(test.err));
  }

  end({ errors }) {
    for (const error of errors || []) console.error(messageOf(error));
  }
};
