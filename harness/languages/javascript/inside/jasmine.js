const FILE = relative(process.argv[process.argv.length - 1]);
const STATUS = { passed: "passed", failed: "failed", pending: "skipped", excluded: "skipped", disabled: "skipped" };
const { running } = process.__goldseam__;
const textOf = (result) => (result.failedExpectations || []).map(({ message, stack }) => message + "\n" + (stack || "")).join("\n");

module.exports = class {
  constructor() {
    this.titles = [];
  }

  jasmineStarted() {
    begun();
  }

  suiteStarted(result) {
    this.titles.push(result.description);
  }

  specStarted(result) {
    running.id = idOf(FILE, [...this.titles, result.description], seen_);
  }

  specDone(result) {
    report(FILE, [...this.titles, result.description], STATUS[result.status] || "failed", result.duration, textOf(result), running.id || undefined);
    running.id = null;
  }

  suiteDone(result) {
    if (textOf(result)) report(FILE, this.titles, "failed", 0, textOf(result));
    this.titles.pop();
  }

  jasmineDone(result) {
    if (textOf(result)) say("internal_error", { text: textOf(result).slice(0, 4000) });
  }
};
