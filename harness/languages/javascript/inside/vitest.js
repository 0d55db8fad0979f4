const STATE = { pass: "passed", passed: "passed", fail: "failed", failed: "failed" };
const textOf = (errors) => (errors || []).map(messageOf).join("\n");

function tell(file, tasks, titles) {
  for (const task of tasks || []) {
    const names = [...titles, task.name];
    const result = task.result || {};
    if (task.type === "suite") {
      if (result.state === "fail" && textOf(result.errors)) report(file, names, "failed", 0, textOf(result.errors));
      tell(file, task.tasks, names);
    } else {
      const status = task.mode === "todo" ? "todo" : task.mode === "skip" ? "skipped" : STATE[result.state] || "skipped";
      report(file, names, status, result.duration, textOf(result.errors || (result.error && [result.error])));
    }
  }
}

function tellAll(files, unhandled) {
  for (const file of files || []) {
    const name = relative(file.filepath);
    const text = textOf((file.result || {}).errors || ((file.result || {}).error ? [file.result.error] : []));
    if (text && !(file.tasks || []).length && !/No test suite found/.test(text)) {
      say("collect_error", { id: name, text: text.slice(0, 4000) });
    }
    tell(name, file.tasks, []);
  }
  const ofFile = (error) => files_.has(relative(path_.resolve(error.VITEST_TEST_PATH || "/")));
  // what no test waits for fails none, though vitest tells in whose file it came up: it is a test of its own there
  for (const error of (unhandled || []).filter(ofFile)) {
    report(relative(path_.resolve(error.VITEST_TEST_PATH)), ["unhandled error"], "failed", 0, textOf([error]));
  }
  const others = (unhandled || []).filter((error) => !ofFile(error));
  if (others.length) say("internal_error", { text: textOf(others).slice(0, 4000) });
}

let told = false;

export default class {
  // tests of types, which its root leaves out, its projects have nevertheless
  onInit({ config, projects }) {
    if (config.typecheck && config.typecheck.enabled) return;
    for (const { config: own } of projects || []) if (own.typecheck) own.typecheck.enabled = false;
  }

  onFinished(files, errors) {
    if (!told) tellAll(files, errors);
    told = true;
  }

  onTestRunEnd(modules, errors) {
    if (!told) tellAll(modules.map((module) => module.task), errors);
    told = true;
  }
}
