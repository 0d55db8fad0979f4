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
  runner.on("test", (test) => (running.id = ids.get(test) || null));
  runner.on("test end", () => (running.id = null));
  runner.on("end", () => begun());
  runner.on("pass", (test) => tell(test, "passed", ""));
  runner.on("pending", (test) => tell(test, "skipped", ""));
  runner.on("fail", (test, error) => {
    const text = (error && (error.stack || error.message)) || String(error);
    if (test.type === "hook") {
      const inside = test.ctx && test.ctx.currentTest;
      if (inside) tell(inside, "failed", text);
    } else {
      told.delete(test);
      tell(test, "failed", text);
    }
  });
};
