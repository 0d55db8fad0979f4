const PLACE = path_.resolve(process.argv[process.argv.length - 1]);
const FILE = relative(PLACE);
const { running } = process.__goldseam__;
const titlesOf = (test) => [...(test.path || []), test.relativeTitle || test.title];
const statusOf = (test) => (test.err ? "failed" : test.skipped ? "skipped" : test.todo ? "todo" : "passed");

// lab tells a reporter of no test that begins: what runs it says so.
const watch = ({ tests, experiments }) => {
  for (const test of tests) {
    const { fn } = test;
    if (!fn) continue;
    test.fn = (...given) => {
      running.id = idOf(FILE, titlesOf(test), seen_);
      return fn(...given);
    };
  }
  experiments.forEach(watch);
};

module.exports = class {
  start() {
    const loaded = require.cache[PLACE];
    const script = loaded && loaded.exports.lab;
    if (script && script._root) watch(script._root);
    begun();
  }

  test(test) {
    report(FILE, titlesOf(test), statusOf(test), test.duration, messageOf(test.err), running.id || undefined);
    running.id = null;
  }

  end({ errors }) {
    for (const error of errors || []) console.error(messageOf(error));
  }
};
