const titlesOf = (runnable) => (runnable.parent && !runnable.parent.root ? [...titlesOf(runnable.parent), runnable.title] : [runnable.title]);

module.exports = function (runner) {
  const fileOf = (test) => {
    for (let at = test; at; at = at.parent) if (at.file) return relative(at.file);
    return "";
  };
  const told = new Set();
  const tell = (test, status, text) => {
    if (told.has(test)) return;
    told.add(test);
    if (told.size === ids.size) begun(); // a hook after them may end the process
    report(fileOf(test), titlesOf(test), status, test.duration, text, ids.get(test));
  };
  const { running } = process.__goldseam__;
  const ids = new Map();
  const collect = (suite, count) => {
    for (const test of suite.tests) ids.set(test, idOf(fileOf(test), titlesOf(test), count));
    for (const inner of suite.suites) collect(inner, count);
  };
  const vary = (suite) => {
    suite.tests = reordered(suite.tests);
    suite.suites = reordered(suite.suites);
    suite.suites.forEach(vary);
  };
  runner.on("start", () => {
    collect(runner.suite, new Map());
    vary(runner.suite);
    begun(ids.size ? "unfinished" : "");
    say("collected", { ids: [...ids.values()].filter((id) => files_.has(id.split("::")[0])) });
  });
  // A test that passed is told of when the hooks after it have, too: what they assert is its own.
  let passed = null;
  const settle = () => {
    if (passed) tell(passed, "passed", "");
    [passed, running.id] = [null, null];
  };
  runner.on("test", (test) => {
    settle();
    running.id = ids.get(test) || null;
  });
  runner.on("hook", (hook) => /^"(?:before|after) all"/.test(hook.title) && settle());
  runner.on("suite end", settle);
  runner.on("end", () => begun());
  process.on("exit", settle);
  runner.on("pass", (test) => (passed = test));
  runner.on("pending", (test) => tell(test, "skipped", ""));
  runner.on("fail", (test, error) => {
    const text = messageOf(error) || String(error);
    if (test.type === "hook") {
      const inside = test.ctx && test.ctx.currentTest;
      if (inside === passed) passed = null;
      if (inside) tell(inside, "failed", text);
    } else {
      if (test === passed) passed = null;
      told.delete(test);
      tell(test, "failed", text);
    }
  });
};
