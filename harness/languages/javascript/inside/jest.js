const STATUS = { passed: "passed", failed: "failed", pending: "skipped", skipped: "skipped", disabled: "skipped", todo: "todo" };

function tell(file, test) {
  const titles = [...test.ancestorTitles, test.title];
  report(file, titles, STATUS[test.status] || "failed", test.duration, (test.failureMessages || []).join("\n"));
}

// What has begun stands in a file: the process of this reporter may be the one that a test ends.
function note(path, fields) {
  fs_.appendFileSync(ASKED.begun, stringify_(Object.assign({ path }, fields)) + "\n");
}

// Tells of files that have begun and given no results: their tests that have begun, and what is known of their end; how many.
function tellLost() {
  if (!fs_.existsSync(ASKED.begun)) return 0;
  const lost = new Map();
  for (const line of fs_.readFileSync(ASKED.begun, "utf8").split("\n").filter(Boolean)) {
    const { path, test, error, ended } = JSON.parse(line);
    if (!lost.has(path)) lost.set(path, { tests: new Map(), text: "" });
    if (test) lost.get(path).tests.set(stringify_([test.ancestorTitles, test.title]), test);
    if (error) lost.get(path).text = error;
    if (ended) lost.delete(path);
  }
  for (const [path, { tests, text }] of lost) {
    for (const test of tests.values()) tell(relative(path), test);
    if (text) say("collect_error", { id: relative(path), text: text.slice(0, 4000) });
    else ended(relative(path));
  }
  return lost.size;
}

module.exports = class {
  onTestStart({ path }) {
    note(path);
  }

  onTestCaseStart({ path }, { ancestorTitles, title }) {
    note(path, { test: { ancestorTitles, title, status: "failed", failureMessages: ["it did not end"] } });
  }

  onTestCaseResult({ path }, { ancestorTitles, title, status, duration, failureMessages }) {
    note(path, { test: { ancestorTitles, title, status, duration, failureMessages } });
  }

  onTestResult(_test, { testFilePath, testResults, testExecError, failureMessage }) {
    const error = failureMessage || (testExecError && String(testExecError.message)) || "";
    const isLost = !testResults.length && error && !/must contain at least one test/.test(error);
    note(testFilePath, isLost ? { error } : { ended: true });
    for (const test of testResults) tell(relative(testFilePath), test);
  }
};
