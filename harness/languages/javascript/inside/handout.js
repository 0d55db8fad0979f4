// Loaded before all else into each process of a test run (`--require`): what stripped tests hand out. A stripped assertion
// is `__goldseam__(SLOT, () => [operand, …])`. Whatever its body throws is caught, as that is one kind of value; one line is
// written for the driver to send on, and the test goes on. What is expected stays on the host, which compares.
// Everything that is called here was taken before code of the product is loaded.
const types_ = require("util").types || {};
const { openSync: open_, writeSync: write_ } = fs_;
const { stringify: stringify_ } = JSON;
const { getPrototypeOf: prototype_, getOwnPropertyDescriptor: own_, getOwnPropertyNames: names_, getOwnPropertySymbols: symbols_ } = Object;
const { isArray: isArray_ } = Array;
const { isView: isView_ } = ArrayBuffer;
const { is: is_ } = Object;
const [Object_, Error_, String_, Number_, Uint8Array_] = [Object, Error, String, Number, Uint8Array];
const TAG = Symbol.toStringTag;
const { keyFor: keyFor_ } = Symbol;
const uncurried = (method) => Function.prototype.call.bind(method);
const mapEach_ = uncurried(Map.prototype.forEach);
const setEach_ = uncurried(Set.prototype.forEach);
const time_ = uncurried(Date.prototype.getTime);
const symbolText_ = uncurried(Symbol.prototype.toString);
const push_ = uncurried(Array.prototype.push);
const indexOf_ = uncurried(Array.prototype.indexOf);
const [replace_, trim_] = [uncurried(String.prototype.replace), uncurried(String.prototype.trim)];
const [mapGet_, mapSet_] = [uncurried(Map.prototype.get), uncurried(Map.prototype.set)];
const [weakGet_, weakSet_] = [uncurried(WeakMap.prototype.get), uncurried(WeakMap.prototype.set)];
const regexpSource_ = uncurried(own_(RegExp.prototype, "source").get);
const regexpFlags_ = uncurried(own_(RegExp.prototype, "flags").get);
const LINKS = 40;
const ITEMS = 20000;
const LETTERS = 1 << 18;
const MATCHER = Symbol.for("jest.asymmetricMatcher");
const WELL_KNOWN = names_(Symbol).map((name) => Symbol[name]).filter((value) => typeof value === "symbol");

// -- values as JSON, by what they are

class TooMuch {}

function take(left, items, letters) {
  left.items -= items;
  left.letters -= letters;
  if (!(left.items >= 0 && left.letters >= 0)) throw new TooMuch(); // a length may be no number
}

function taken(left, text) {
  take(left, 0, text.length);
  return text;
}

// Of what a snapshot shows: an error is its text, and an object with `toJSON` what that gives.
class Shown {
  constructor(value) {
    this.value = value;
  }
}

function encoded(told) {
  try {
    const shown = told instanceof Shown;
    return ["js", within(shown ? told.value : told, [], { items: ITEMS, letters: LETTERS, shown })];
  } catch (error) {
    return ["js", ["x", error instanceof TooMuch ? "too large" : "it can't be read"]];
  }
}

function within(value, above, left) {
  take(left, 1, 0);
  if (value === null || value === true || value === false) return value;
  switch (typeof value) {
    case "undefined":
      return ["u"];
    case "number":
      return ["N", is_(value, -0) ? "-0" : String_(value)];
    case "bigint":
      return ["I", taken(left, String_(value))];
    case "string":
      return ["s", taken(left, value)];
    case "symbol":
      return symbol(value, left);
    case "function":
      return ["F", chainOf(value.prototype, left)];
  }
  const at = indexOf_(above, value);
  if (at >= 0) return ["r", above.length - at];
  if (above.length >= LINKS) return ["x", "too deep"];
  return ofObject(value, above.concat([value]), left);
}

function symbol(value, left) {
  const key = keyFor_(value);
  if (key !== undefined) return ["Y", taken(left, "for " + key)];
  return indexOf_(WELL_KNOWN, value) >= 0 ? ["Y", symbolText_(value)] : ["x", "a symbol"];
}

// The name of the class that a prototype belongs to; null where it tells none.
function classOf(proto) {
  const made = proto && own_(proto, "constructor");
  const named = made && typeof made.value === "function" && own_(made.value, "name");
  const isOther = named && named.value === "Object" && prototype_(proto) !== null; // a class of that name
  return named && typeof named.value === "string" && !isOther ? named.value : null;
}

function chainOf(proto, left) {
  const chain = [];
  for (let at = proto; at && chain.length < LINKS; at = prototype_(at)) push_(chain, taken(left, classOf(at) || ""));
  return chain.length > 1 && chain[chain.length - 1] === "Object" ? chain.slice(0, -1) : chain;
}

// As `instanceof Error`, but for chains that never end.
function inheritsError(proto) {
  let left = LINKS;
  for (let at = proto; at && left > 0; at = prototype_(at), left -= 1) if (at === Error_.prototype) return true;
  return false;
}

function properties(value, above, left, skipped) {
  const pairs = [];
  for (const key of names_(value)) {
    const told = own_(value, key);
    if (told && told.enumerable && !skipped(key)) {
      take(left, 0, key.length);
      push_(pairs, [["s", key], within(value[key], above, left)]);
    }
  }
  for (const key of symbols_(value)) {
    const told = own_(value, key);
    if (told && told.enumerable) push_(pairs, [symbol(key, left), within(value[key], above, left)]);
  }
  return pairs;
}

const isObject = (value) => typeof value === "object" && value !== null;
const isThenable = (value) => (isObject(value) || typeof value === "function") && typeof value.then === "function";

function isMatcher(value) {
  const kind = isObject(value) && own_(value, "$$typeof");
  return Boolean(kind) && kind.value === MATCHER;
}

const none = () => false;
const isIndex = (key) => /^(?:0|[1-9]\d{0,9})$/.test(key) && Number_(key) < 4294967295; // beyond it is a name as any other
const BOXES = [
  ["Number", types_.isNumberObject, uncurried(Number.prototype.valueOf)],
  ["String", types_.isStringObject, uncurried(String.prototype.valueOf)],
  ["Boolean", types_.isBooleanObject, uncurried(Boolean.prototype.valueOf)],
];

function ofObject(value, above, left) {
  const proto = prototype_(value);
  const name = proto === null ? null : taken(left, classOf(proto) || "");
  const inner = (part) => within(part, above, left);
  const props = (skipped) => properties(value, above, left, skipped || none);
  if (isMatcher(value)) return ofMatcher(value, name, inner);
  if (typeof value.asymmetricMatch === "function") return ["x", "it compares itself"];
  if (left.shown && !types_.isDate(value) && typeof value.toJSON === "function") return inner(value.toJSON());
  if (isArray_(value)) return ["a", name, items(value, inner, left), props(isIndex)];
  if (types_.isMap(value)) {
    const pairs = [];
    mapEach_(value, (to, key) => push_(pairs, [inner(key), inner(to)]));
    return ["M", name, pairs, props()];
  }
  if (types_.isSet(value)) {
    const members = [];
    setEach_(value, (member) => push_(members, inner(member)));
    return ["S", name, members, props()];
  }
  if (types_.isDate(value)) return ["D", name, String_(time_(value)), props()];
  if (types_.isRegExp(value)) {
    const place = value.lastIndex === 0 ? [] : [[["s", "lastIndex"], inner(value.lastIndex)]]; // which is not enumerable
    return ["R", name, taken(left, regexpSource_(value)), regexpFlags_(value), [...props(), ...place]];
  }
  if (types_.isNativeError(value) || inheritsError(proto)) return ofError(value, proto, inner, props, left);
  if (types_.isAnyArrayBuffer(value) || isView_(value)) return ["T", name, numbers(value, left), props(isIndex)];
  for (const [kind, test, unboxed] of BOXES) if (test && test(value)) return ["B", kind, inner(unboxed(value)), props(isIndex)];
  if (isHostObject(value, proto, name)) return ["x", name];
  const told = ofPrototypes(value, proto, left);
  const hidden = hiddenNames(value, left);
  return ["O", name, props(), ...(told.length > 1 || told[0] || hidden.length ? [told] : []), ...(hidden.length ? [hidden] : [])];
}

// The names of an object's own properties that are not among those told.
function hiddenNames(value, left) {
  const names = names_(value).filter((key) => !(own_(value, key) || { enumerable: true }).enumerable);
  for (const text of names) take(left, 1, text.length);
  return names;
}

// What an object calls itself, and what a loop over its names finds besides its own, as prototypes have it.
function ofPrototypes(value, proto, left) {
  const tag = attempted(() => value[TAG]);
  const told = [typeof tag === "string" ? tag : ""];
  let links = LINKS;
  for (let at = proto; at && at !== Object_.prototype && links > 0; at = prototype_(at), links -= 1) {
    for (const key of names_(at)) if (own_(at, key).enumerable && !own_(value, key) && indexOf_(told, key, 1) < 0) push_(told, key);
  }
  for (const text of told) take(left, 1, text.length);
  return told;
}

function items(value, inner, left) {
  const list = [];
  for (let index = 0; index < value.length; index += 1) {
    if (own_(value, index) !== undefined) push_(list, inner(value[index]));
    else {
      take(left, 1, 0);
      push_(list, ["h"]);
    }
  }
  return list;
}

function numbers(value, left) {
  const isList = isView_(value) && value.length !== undefined;
  const list = isList ? value : isView_(value) ? new Uint8Array_(value.buffer, value.byteOffset, value.byteLength) : new Uint8Array_(value);
  const [size, texts] = [Number_(list.length), []]; // of its own, it may change
  take(left, size, 0);
  for (let index = 0; index < size; index += 1) push_(texts, is_(list[index], -0) ? "-0" : String_(list[index]));
  return texts;
}

// `expect.any(Number)` and its like, among what is kept: the host takes them from nowhere else.
function ofMatcher(value, name, inner) {
  const told = (key) => (own_(value, key) ? inner(value[key]) : null);
  return ["m", name, value.inverse === true, told("sample"), told("precision")];
}

function ofError(value, proto, inner, props, left) {
  const [name, message] = [value.name, value.message].map((told) => (typeof told === "string" ? told : ""));
  take(left, 0, message.length + name.length);
  if (left.shown) return ["E", chainOf(proto, left), name, message, [], []];
  const more = [];
  for (const key of ["cause", "errors"]) if (own_(value, key)) push_(more, [["s", key], inner(value[key])]);
  const skipped = (key) => key === "stack" || key === "message" || key === "name" || key === "cause" || key === "errors";
  const [told, ofClasses] = [props(skipped), inherited(value, proto, inner)];
  return ["E", chainOf(proto, left), name, message, told, more, ...(ofClasses.length ? [ofClasses] : [])];
}

// What an error has of its classes where that is a plain value, by a getter or not: `code`, `status` and their like.
function inherited(value, proto, inner) {
  const [pairs, seen] = [[], ["constructor", "name", "message", "stack"]];
  let left = LINKS;
  for (let at = proto; at && left > 0; at = prototype_(at), left -= 1) {
    for (const key of names_(at)) {
      if (own_(value, key) || indexOf_(seen, key) >= 0) continue;
      push_(seen, key);
      const told = attempted(() => value[key]);
      if (typeof told === "string" || typeof told === "number" || typeof told === "boolean") push_(pairs, [["s", key], inner(told)]);
    }
  }
  return pairs;
}

function attempted(get) {
  try {
    return get();
  } catch (error) {
    return undefined;
  }
}

// What keeps its state elsewhere than in its properties: classes of Node and of V8 that are not told above, DOM nodes.
function isHostObject(value, proto, name) {
  if (types_.isPromise(value) || types_.isWeakMap(value) || types_.isWeakSet(value) || types_.isGeneratorObject(value)) return true;
  if (types_.isSymbolObject(value) || (types_.isBigIntObject && types_.isBigIntObject(value)) || types_.isArgumentsObject(value)) return true;
  if (types_.isMapIterator(value) || types_.isSetIterator(value) || (types_.isExternal && types_.isExternal(value))) return true;
  if (typeof value.nodeType === "number" && typeof value.nodeName === "string") return true;
  if (typeof value[Symbol.iterator] === "function") return true;
  return name !== null && name !== "Object" && proto !== null && own_(global, name) !== undefined && global[name] === proto.constructor;
}

// -- which test runs

const collapsed = (title) => replace_(String_(title), /\s+/g, " ");
const idOf = (path, titles) => path + "::" + titles.map(collapsed).join(" > ");

const running = { id: null };

// The titles of a test and of what it stands in, but for the outermost, which is the file.
const titlesOf = (test) => (test.parent ? [...titlesOf(test.parent), test.name] : []);
const named = (path, test) => idOf(path, titlesOf(test));

const ids_ = new WeakMap();
const alike_ = new Map();

// The id of a test: with its place among those that are called the same, as reporters write it.
function idAmong(test, tests, idOfTest) {
  if (!weakGet_(ids_, test)) {
    for (const other of tests()) {
      if (weakGet_(ids_, other)) continue;
      const id = idOfTest(other);
      const count = (mapGet_(alike_, id) || 0) + 1;
      mapSet_(alike_, id, count);
      weakSet_(ids_, other, count > 1 ? id + " #" + count : id);
    }
  }
  return weakGet_(ids_, test) || idOfTest(test);
}

const tests_ = [];
const testOf_ = new WeakMap();

// node:test keeps no public record of the test that runs; each of its tests is an asynchronous resource.
function watchNode() {
  const { createHook, executionAsyncResource } = require("async_hooks");
  if (!executionAsyncResource) return;
  createHook({
    init(_id, type, _trigger, resource) {
      const isTest = type === "Test";
      const test = isTest ? resource : weakGet_(testOf_, executionAsyncResource());
      if (isTest) push_(tests_, resource);
      if (test) weakSet_(testOf_, resource, test);
    },
  }).enable();
  watchNode.resource = executionAsyncResource;
}

const isSuite = (test) => test.reportedType === "suite" || (test.constructor && test.constructor.name === "Suite");

// A test that has tests of its own passes only if they do, so what these hand out is handed out for it as well.
function ofNode(path) {
  const tests = () => tests_.filter((test) => !isSuite(test));
  const ids = [];
  let test = watchNode.resource && weakGet_(testOf_, watchNode.resource());
  for (; test && test.parent; test = test.parent) {
    if (!isSuite(test)) push_(ids, idAmong(test, tests, (other) => named(path, other)));
  }
  return ids;
}

// The tests of a tree, in order.
function testsBelow(block, list, isBlock, below) {
  for (const child of below(block)) {
    if (isBlock(child)) testsBelow(child, list, isBlock, below);
    else push_(list, child);
  }
  return list;
}

function ofVitest(path, scope) {
  const worker = scope.__vitest_worker__ || global.__vitest_worker__;
  const test = worker && worker.current;
  if (!test) return [];
  const all = () => (test.file ? testsBelow(test.file, [], (task) => task.type === "suite", (task) => task.tasks) : []);
  const isRoot = (task) => !task || task.filepath !== undefined || (task.type === "suite" && task.name === ""); // in vitest 0 and 1
  const titles = (task) => (isRoot(task) ? [] : [...titles(task.suite), task.name]);
  return [idAmong(test, all, (task) => idOf(path, titles(task)))];
}

// jest-circus has a state of its own; jest-jasmine2 only tells all titles in one text.
function ofJest(path, scope) {
  const key = symbols_(scope).find((symbol) => /JEST_STATE_SYMBOL/.test(symbolText_(symbol)));
  const state = key && scope[key];
  const test = state && state.currentlyRunningTest;
  if (test) {
    const isBlock = (child) => child.type === "describeBlock";
    const all = () => testsBelow(state.rootDescribeBlock, [], isBlock, (block) => block.children || block.tests || []);
    return [idAmong(test, all, (other) => named(path, other))];
  }
  const told = !key && scope.expect && scope.expect.getState && scope.expect.getState().currentTestName;
  return told ? [path + "::" + collapsed(told)] : [];
}

// tape and tap hand each test an object of its own; what is printed of it is its name alone, in tap that of the outermost.
// What stands in no test of tap is in one without a name, which is the file.
function ofTape(path, _scope, counter) {
  let test = counter;
  if (test && test.name === "TAP" && typeof test.bailout === "function") return [path + "::"];
  while (test && test.parent && test.parent.parent) test = test.parent;
  return test ? [idAmong(test, () => [test], ({ name }) => idOf(path, [name]))] : [];
}

// ava's has the title itself, which no two tests of a file share.
const ofAva = (path, _scope, counter) => (counter && typeof counter.title === "string" ? [idOf(path, [counter.title])] : []);

const asReported = () => (running.id === null ? [] : [running.id]);
const CURRENT = { "node:test": ofNode, tap: ofTape, vitest: ofVitest, jest: ofJest, ava: ofAva };

// -- handing out

const MOST_VALUES = 5000;
let descriptor = null;
const counts = new Map();

function send(tests, slot, values, raised) {
  if (descriptor === null) descriptor = open_(ASKED.values, "a");
  for (const id of tests.length ? tests : [""]) {
    const key = slot + " " + id;
    const n = mapGet_(counts, key) || 0;
    mapSet_(counts, key, n + 1);
    if (n > MOST_VALUES) continue; // it is not judged on the host, and one more says so
    write_(descriptor, stringify_({ t: "value", id, slot, n, values, raised }) + "\n");
  }
}

// One assertion more that passed, where the library counts.
const counted = (counter) => {
  if (typeof counter === "function") counter(0).toBe(0); // `expect`
  else if (typeof counter.pass === "function") counter.pass();
  else (counter.assert || counter).ok(true);
};

// What a stripped file calls; `scope` is its own global object.
function handOut(scope, path) {
  const current = CURRENT[ASKED.framework] || asReported;
  const site = (slot, body, kept, counter, gives) => {
    const tests = current(path, scope, counter);
    const all = (list, same) => list.map((value) => (value instanceof Same ? encoded(value.of(same)) : value));
    const told = (value) => (value instanceof Same ? value : encoded(value));
    const values = kept ? kept().map(told) : [];
    const tell = (list, raised) => {
      send(tests, slot, list, raised);
      if (counter) counted(counter);
    };
    const end = (given) => tell(all(values.concat(given.map(told)), given[0]), null);
    const fail = (error) => {
      tell(all(values, error && error.message), encoded(error));
      return gives ? error : undefined;
    };
    let given;
    try {
      given = body();
      if (isArray_(given)) return end(given);
    } catch (error) {
      return fail(error);
    }
    return given.then(end, fail);
  };
  return Object.assign(site, { linted: linting(site), tried, reason, settled, fulfilled, fulfilledOf, rejected, shown, same: new Same(), sameBut: (matchers) => new Same(matchers), either, keysOf, textOf, valueOf });
}

// The keys of an object as chai has them: with symbols.
const keysOf = (value) => [...Object.keys(value), ...symbols_(value).filter((key) => own_(value, key).enumerable)];

// Calls what is to throw: libraries refuse what is no function, and call it of no object.
function tried(body) {
  if (typeof body === "function") body();
}

// What a promise is rejected with.
async function reason(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it was not rejected");
}

// Of datasets from before: what a promise, or the function that makes it, comes to.
const settled = (made) => (typeof made === "function" ? made() : made);

// What a promise comes to: no library takes anything else where one is asked for.
function fulfilled(promise) {
  if (!isThenable(promise)) throw new Error_("it was no promise");
  return promise;
}

// The same of what may be a function that makes it.
const fulfilledOf = (made) => fulfilled(settled(made));

// What a promise, or the function that makes it, is rejected with. What is thrown before there is one is no rejection.
async function rejected(make) {
  let made;
  try {
    made = settled(make());
  } catch (error) {
    return;
  }
  if (isThenable(made)) await made;
}

const shown = (value) => new Shown(value);

// In a recording, what a snapshot in a file is of once more: the first value, or the message of what was thrown.
// Matchers of properties stand where they do in a snapshot.
class Same {
  constructor(matchers) {
    this.matchers = matchers;
  }

  of(value) {
    return this.matchers ? new Shown(but(value.value, this.matchers)) : value;
  }
}

function but(value, matchers) {
  if (!isObject(value) || !isObject(matchers) || isMatcher(matchers)) return isMatcher(matchers) ? matchers : value;
  const copy = isArray_(value) ? [...value] : Object.assign(Object.create(prototype_(value)), value);
  for (const key of Object.keys(matchers)) copy[key] = but(value[key], matchers[key]);
  return copy;
}

// What jest-dom's matchers look at: whether an element is so or is not (null: neither), its text, its value.
const passes = (check, element) => {
  try {
    check(element);
    return true;
  } catch (error) {
    return false;
  }
};
const either = (is, isNot, element) => {
  const yes = passes(is, element);
  return yes === passes(isNot, element) ? null : yes;
};
const textOf = (element) => trim_(replace_(element.textContent, /\s+/g, " "));

function valueOf(element) {
  if (element.tagName !== "SELECT" || !element.multiple) {
    const isNumber = element.tagName === "INPUT" && element.type === "number";
    return isNumber ? (element.value === "" ? null : Number_(element.value)) : element.value;
  }
  return [...element.options].filter((option) => option.selected).map((option) => option.value);
}

// -- cases of ESLint's RuleTester

const BOM = "\uFEFF";
const byRange = (one, other) => one.fix.range[0] - other.fix.range[0] || one.fix.range[1] - other.fix.range[1];

// What fixes make of a text, as ESLint applies them: in order, without those that overlap one before.
function fixed(source, problems) {
  const mark = source.startsWith(BOM) ? BOM : "";
  const text = source.slice(mark.length);
  let [output, last] = [mark, -Infinity];
  for (const { fix } of problems.filter((problem) => problem.fix).sort(byRange)) {
    const [start, end] = fix.range;
    if (last >= start || start > end) continue;
    if ((start < 0 && end >= 0) || (start === 0 && fix.text.startsWith(BOM))) output = "";
    output += text.slice(Math.max(0, last), Math.max(0, start)) + fix.text;
    last = end;
  }
  return output + text.slice(Math.max(0, last));
}

// What a linter said of a case, by what its test may ask for.
function heard(messages, { name, rule, code }) {
  const templates = (rule && rule.meta && rule.meta.messages) || {};
  const called = ({ messageId }) => ({ messageId, template: typeof messageId === "string" ? templates[messageId] : undefined });
  const suggested = (one) => Object.assign(called(one), { desc: one.desc, output: fixed(code, [one]) });
  const told = (one) =>
    Object.assign(called(one), {
      own: one.ruleId === name || one.ruleId === "rule-to-test/" + name,
      fatal: one.fatal === true,
      ...{ message: one.message, type: one.nodeType, line: one.line, column: one.column },
      ...{ endLine: one.endLine, endColumn: one.endColumn, suggestions: (one.suggestions || []).map(suggested) },
    });
  const output = fixed(code, messages);
  return { messages: messages.map(told), output, isFixed: output !== code };
}

const NOTHING = { ruleId: null, severity: 1, message: "", line: 1, column: 1, nodeType: null };

// `linted(SLOT, tester, name, rule, cases)` has a tester run its cases. What its linter says of one is handed out, and the
// tester is told what it takes for right: nothing, or one message where the case is among the invalid ones.
function linting(site) {
  let asked = null;
  const watch = (linter) => {
    const { verify } = linter;
    linter.verify = function (...given) {
      const about = asked;
      asked = null;
      if (about === null || about.linter !== linter || about.code !== given[0]) return verify.apply(this, given);
      site(about.slot, () => [heard(verify.apply(this, given), about), ...about.kept]);
      return about.isInvalid ? [Object.assign({}, NOTHING)] : [];
    };
  };
  return (slot, tester, name, rule, cases, isRecording) => {
    const { linter } = tester;
    if (!isObject(linter) || typeof linter.verify !== "function" || !isObject(cases)) return tester.run(name, rule, cases);
    watch(linter);
    const since = parseInt(linter.version || linter.constructor.version, 10);
    const prepared = (list, isInvalid) => (isArray_(list) ? list.map((one) => prepare(one, isInvalid)) : list);
    const prepare = (one, isInvalid) => {
      const item = Object.assign({}, typeof one === "string" ? { code: one } : one);
      const { code, output } = item;
      const expected = Object.assign({ since, errors: isInvalid ? item.errors : 0 }, output === undefined ? {} : { output });
      const about = { linter, slot, name, rule, code, isInvalid, kept: isRecording ? [expected] : [] };
      delete item.errors;
      delete item.output;
      if (isInvalid) item.errors = 1;
      return Object.defineProperty(item, "code", { enumerable: true, get: () => ((asked = about), code) });
    };
    return tester.run(name, rule, { valid: prepared(cases.valid, false), invalid: prepared(cases.invalid, true) });
  };
}

handOut.running = running;
process.__goldseam__ = handOut;
if (ASKED.framework === "node:test") watchNode();
