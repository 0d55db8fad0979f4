// uvu as its tests load it: the same functions, with a result for each test. uvu itself prints dots, and no names.
// Loaded in place of the package `uvu`; what its files ask of `uvu/assert` and others they get from the package.
const HOOKS = ["before", "after", "bEach", "aEach"];
const queue = [];

async function each(hooks, state) {
  for (const hook of hooks) await hook(state);
}

const { running } = process.__goldseam__;

async function runTest({ title, body }, hooks, state, id) {
  state.__test__ = title;
  running.id = id;
  const began = Date.now();
  let [status, text] = ["passed", ""];
  try {
    await each(hooks.bEach, state);
    await body(state);
    await each(hooks.aEach, state);
  } catch (error) {
    [status, text] = ["failed", messageOf(error) || String(error)];
    await each(hooks.aEach, state);
  }
  running.id = null;
  process.exitCode = process.exitCode || Number(status === "failed");
  return [status, Date.now() - began, text];
}

async function runSuite(name, { tests, hooks, state }) {
  const only = tests.some((test) => test.kind === "only");
  const titles = (test) => (name ? [name, test.title] : [test.title]);
  try {
    await each(hooks.before, state);
    for (const test of tests) {
      const isSkipped = test.kind === "skip" || (only && test.kind !== "only");
      const id = idOf(ASKED.files[0], titles(test), seen_);
      const [status, milliseconds, text] = isSkipped ? ["skipped", 0, ""] : await runTest(test, hooks, state, id);
      report(ASKED.files[0], [], status, milliseconds, text, id);
    }
  } catch (error) {
    process.exitCode = 1;
    say("internal_error", { text: (messageOf(error) || String(error)).slice(0, 4000) });
  } finally {
    state.__test__ = "";
    await each(hooks.after, state);
  }
}

async function runAll() {
  begun();
  while (queue.length) await queue.shift()();
}

function suite(name = "", state = {}) {
  const fresh = () => ({ tests: [], hooks: Object.fromEntries(HOOKS.map((hook) => [hook, []])), state: { ...state, __suite__: name } });
  let context = fresh();
  const adds = (kind) => (title, body) => context.tests.push({ kind, title, body });
  const hooks = (hook) => (body) => context.hooks[hook].push(body);
  const test = adds("plain");
  Object.assign(test, { only: adds("only"), skip: adds("skip"), before: hooks("before"), after: hooks("after") });
  test.before.each = hooks("bEach");
  test.after.each = hooks("aEach");
  test.run = () => {
    const ready = context;
    context = fresh();
    if (!queue.length) setTimeout(runAll);
    queue.push(() => runSuite(name, ready));
  };
  return test;
}

exports.suite = suite;
exports.test = suite();
exports.exec = runAll;
