const STATUS = { passed: "passed", failed: "failed", pending: "skipped", skipped: "skipped", disabled: "skipped", todo: "todo" };

function tell(file, test) {
  const titles = [...test.ancestorTitles, test.title];
  report(file, titles, STATUS[test.status] || "failed", test.duration, (test.failureMessages || []).join("\n"));
}

module.exports = class {
  constructor() {
    this.begun = new Map(); // of each file, the tests that have begun, and what became of them
  }

  onTestCaseStart({ path }, { ancestorTitles, title }) {
    if (!this.begun.has(path)) this.begun.set(path, []);
    this.begun.get(path).push({ ancestorTitles, title, status: "failed", failureMessages: ["it did not end"] });
  }

  onTestCaseResult({ path }, result) {
    const begun = this.begun.get(path) || [];
    if (begun.length) begun[begun.length - 1] = result;
  }

  onTestResult(_test, result) {
    const file = relative(result.testFilePath);
    if (!result.testResults.length && (result.testExecError || result.failureMessage)) {
      for (const test of this.begun.get(result.testFilePath) || []) tell(file, test); // its process ended in the last
      const text = result.failureMessage || String(result.testExecError.message);
      if (!/must contain at least one test/.test(text)) say("collect_error", { id: file, text: text.slice(0, 4000) });
    }
    for (const test of result.testResults) tell(file, test);
  }
};
