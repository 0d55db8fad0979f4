const STATUS = { passed: "passed", failed: "failed", pending: "skipped", skipped: "skipped", disabled: "skipped", todo: "todo" };

module.exports = class {
  onTestResult(_test, result) {
    const file = relative(result.testFilePath);
    if (!result.testResults.length && (result.testExecError || result.failureMessage)) {
      const text = result.failureMessage || String(result.testExecError.message);
      if (!/must contain at least one test/.test(text)) say("collect_error", { id: file, text: text.slice(0, 4000) });
    }
    for (const test of result.testResults) {
      const titles = [...test.ancestorTitles, test.title];
      report(file, titles, STATUS[test.status] || "failed", test.duration, (test.failureMessages || []).join("\n"));
    }
  }
};
