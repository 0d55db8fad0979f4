"use strict";
// Runs in a task's container as `node -e`, started by harness/languages/inside/command.py: calls the project's own test
// runner on some files, with a reporter of ours that writes one JSON object a line to descriptor 3.
const fs = require("fs");
const os = require("os");
const path = require("path");
const { spawnSync } = require("child_process");

const asked = JSON.parse(process.argv[1]);
const top = process.cwd();
const root = path.resolve(asked.root);
const wanted = process.argv.slice(2);
const OF_TYPES = /\.(?:d|test-d|tst|type-test)\.[cm]?tsx?$/; // nothing of them runs, and most runners fail for them
const files = [...new Set(wanted.map((name) => name.split("::")[0]))].filter((file) => !OF_TYPES.test(file));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "runner-"));
const IDLE_SECONDS = 15;
const BEGUN = path.join(folder, "begun");
const VALUES = path.join(folder, "values");

// The folder of an installed package, as Node would look for it from the project's folder.
function installed(name) {
  for (let at = root; ; at = path.dirname(at)) {
    const place = path.join(at, "node_modules", name);
    if (fs.existsSync(path.join(place, "package.json"))) return place;
    if (at === path.dirname(at)) throw new Error("the test runner " + name + " is not installed");
  }
}

function manifest(name) {
  return JSON.parse(fs.readFileSync(path.join(installed(name), "package.json"), "utf8"));
}

function program(name, command = name) {
  const { bin } = manifest(name);
  return path.join(installed(name), typeof bin === "string" ? bin : bin[command]);
}

function major(name) {
  return Number(manifest(name).version.split(".")[0]);
}

const { framework, order } = asked;
const only = wanted.filter((name) => name.includes("::"));
const { dev, ino } = fs.fstatSync(3);
const facts = { frames: { dev, ino }, top, begun: BEGUN, exits: path.join(folder, "exits"), idled: path.join(folder, "idled"), values: VALUES, framework, only, files, order };
const PRELUDES = {
  ".cjs": 'const [fs_, path_, url_, module_] = ["fs", "path", "url", "module"].map(require);\n',
  ".mjs": 'import fs_ from "node:fs";\nimport path_ from "node:path";\n',
};

// What reporters share, for the driver itself, and what it calls of one.
const CALLED = { tap: "read", ava: "read", jest: "tellLost" };
const { say, ended, reordered, called } = new Function(
  "ASKED", "fs_", "path_", "module", asked.shared + (CALLED[framework] ? asked.reporter : "") + `\nreturn { say, ended, reordered, called: ${CALLED[framework] || null} };`,
)(facts, fs, path, {});

function written(name, ending, ...texts) {
  const place = path.join(folder, name + ending);
  fs.writeFileSync(place, [PRELUDES[ending], "const ASKED = ", JSON.stringify(facts), ";\n", ...texts].join(""));
  return place;
}

// Ends a process of tests that waits for nothing that will come: some runners set no limit to a test's time, nor to
// that of a server which a test left open.
// It notes as well that code ended the process of a file of tests well, though there was more to come.
const IDLE = `const { exit } = process;
let isMainThread = true;
try { ({ isMainThread } = require("worker_threads")); } catch (error) { /* Node 10 has none */ }
let [calm, used] = [0, 0];
if (isMainThread) setInterval(() => {
  const { user, system } = process.cpuUsage();
  const awaited = process.getActiveResourcesInfo ? process.getActiveResourcesInfo().includes("Timeout") : false;
  const works = user + system - used > 20000 || awaited || process._getActiveHandles().some((handle) => handle.constructor.name === "ChildProcess");
  [calm, used] = [works ? 0 : calm + 1, user + system];
  if (calm !== ${IDLE_SECONDS}) return;
  fs_.writeFileSync(ASKED.idled, "");
  exit();
}, 1000).unref();
let isDone = false;
const isOfTests = isMainThread && ASKED.files.includes(path_.relative(ASKED.top, path_.resolve(process.argv[1] || "")));
if (isOfTests) process.once("beforeExit", () => (isDone = true)).once("exit", (code) => {
  if (!isDone && !code) fs_.writeFileSync(ASKED.exits, "");
});`;

const inOrder = reordered(files);
const stops = asked.options.includes("--bail");
const isVaried = order !== undefined;
const reporterFile = (ending) => written("reporter", ending, asked.shared, asked.reporter);
const preloaded = [["handout", asked.handout], ...(asked.transpiler ? [["transpiler", asked.transpiler]] : [])];
if (["node:test", "tap", "uvu", "qunit"].includes(framework)) preloaded.push(["idle", IDLE]);
const preloads = preloaded.map(([name, text]) => "--require " + written(name, ".cjs", text)); // before 10 Node takes no "="
const env = Object.assign({}, process.env, { NODE_OPTIONS: [...preloads, process.env.NODE_OPTIONS || ""].join(" ").trim() });

// Sends on what assertions handed out: a runner has processes that do not share its descriptor.
function sendValues() {
  if (!fs.existsSync(VALUES)) return;
  const from = fs.openSync(VALUES, "r");
  const chunk = Buffer.alloc(1 << 16);
  for (let size; (size = fs.readSync(from, chunk, 0, chunk.length, null)) > 0; ) {
    for (let at = 0; at < size; ) at += fs.writeSync(3, chunk, at, size - at);
  }
}

// The first of some packages that is installed; the last where none is.
function oneOf(...names) {
  const isThere = (name) => {
    try {
      return Boolean(installed(name));
    } catch (error) {
      return false;
    }
  };
  return names.find(isThere) || names[names.length - 1];
}

// One call of a runner; 0 where it says that all is well, else 1: some runners end with the number of failures.
// A signal that ends it ends the driver as well, where nothing tells of the tests that it took along.
function call(argv, options, tell) {
  const ran = spawnSync(process.execPath, argv, Object.assign({ cwd: root, env, stdio: ["ignore", 2, 2, 3] }, options));
  while (ran.error && ran.error.code === "ENOBUFS") fs.writeSync(2, ran.stdout.slice(0, 1 << 20)); // until the flood is ended
  if (ran.error) throw ran.error;
  if (ran.signal && !tell) process.kill(process.pid, ran.signal);
  const lost = tell ? tell() : 0;
  return { code: ran.status === 0 && !lost ? 0 : 1, stdout: ran.stdout, stderr: ran.stderr };
}

const absolute = (file) => path.join(top, file);

const LETTERS = 3500;
const PIPES = { stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 27, encoding: "utf8" };

// Of each file alone: one that can't be loaded must not lose the others. That one is called again, for what it prints.
function eachFile(argvOf) {
  let worst = 0;
  for (const file of inOrder) {
    if (fs.existsSync(BEGUN)) fs.unlinkSync(BEGUN);
    const { code } = call(argvOf(absolute(file)));
    worst = Math.max(worst, code);
    const state = fs.existsSync(BEGUN) ? fs.readFileSync(BEGUN, "utf8") : "none";
    if (state === "unfinished" || (state === "none" && code === 0 && framework !== "uvu")) {
      ended(file);
      worst = 1;
    } else if (state === "none") {
      const { stdout, stderr } = call(argvOf(absolute(file)), PIPES);
      say("collect_error", { id: file, text: "the file could not be loaded\n" + (stderr + stdout).slice(0, LETTERS) });
      worst = 1;
    }
  }
  return worst;
}

// Of each file alone, by the TAP that it prints.
function eachByTap(argvOf) {
  let worst = 0;
  for (const file of inOrder) {
    const { code, stdout, stderr } = call(argvOf(absolute(file)), PIPES);
    fs.writeSync(2, stderr);
    if (code === 0 && !stdout.trim() && !/["']@?(tap|ava)\b/.test(fs.readFileSync(absolute(file), "utf8"))) continue; // a helper
    fs.writeSync(2, stdout);
    worst = Math.max(worst, code, called(file, stdout, stderr.slice(0, LETTERS), code) ? 0 : 1);
  }
  return worst;
}

// Loads a module of ours where the name of a package is asked for; import has hooks of its own from Node 18.19 on.
const IN_PLACE = `const resolve_ = module_._resolveFilename;
module_._resolveFilename = function (name, ...rest) { return name === ASKED.name ? ASKED.place : resolve_.call(this, name, ...rest); };
if (module_.register) module_.register("data:text/javascript," + encodeURIComponent(
  "export const resolve = (name, context, next) => name === " + JSON.stringify(ASKED.name) +
  " ? { url: " + JSON.stringify(url_.pathToFileURL(ASKED.place).href) + ", shortCircuit: true } : next(name, context);"));
`;

// Options that have Node load one of these first.
function preload(name, told, text) {
  return ["--require", written(name, ".cjs", "Object.assign(ASKED, ", JSON.stringify(told), ");\n", text)];
}

// Has QUnit tell the reporter where a file starts it itself, whichever package it comes from.
const AT_LOAD = `const load_ = module_._load;
let isTold = false;
module_._load = function (name, ...rest) {
  const loaded = load_.call(this, name, ...rest);
  if (!isTold && /\\bqunit/.test(name) && loaded && loaded.config && typeof loaded.on === "function") {
    isTold = true;
    load_.call(this, ASKED.reporter, module, false).init(loaded);
  }
  return loaded;
};
`;

// Tells of files that a runner began none of, as it could not start: it is called again, for what it prints.
function tellUnstarted(argv) {
  const { stdout, stderr } = call(argv, PIPES);
  const text = "the runner could not start\n" + (stderr + stdout).slice(0, LETTERS);
  if (!/No tests found/.test(text)) for (const file of files) say("collect_error", { id: file, text });
}

const SEQUENCER = `module.exports = class {
  sort(tests) {
    const place = ({ path }) => ASKED.inOrder.indexOf(path_.relative(ASKED.top, path));
    return [...tests].sort((one, other) => place(one) - place(other));
  }
  shard(tests) { return tests; }
  allFailedTests(tests) { return tests; }
  cacheResults() {}
};`;

function jestOrder() {
  if (!isVaried || major("jest") < 25) return [];
  const [, minor] = manifest("jest").version.split(".").map(Number);
  const randomize = major("jest") > 29 || (major("jest") === 29 && minor >= 6) ? ["--randomize", "--seed=" + order] : [];
  return ["--testSequencer=" + written("sequencer", ".cjs", "ASKED.inOrder = ", JSON.stringify(inOrder), ";", SEQUENCER), ...randomize];
}

// Whether mocha finds a configuration: a file of its own here or in a folder above, or a field of the nearest manifest.
function isMochaConfigured() {
  try {
    for (let [at, manifest] = [root, null]; ; at = path.dirname(at)) {
      const entries = fs.readdirSync(at);
      if (entries.some((entry) => entry.startsWith(".mocharc"))) return true;
      if (manifest === null && entries.includes("package.json")) {
        manifest = JSON.parse(fs.readFileSync(path.join(at, "package.json"), "utf8"));
        if (manifest.mocha) return true;
      }
      if (at === path.dirname(at)) return false;
    }
  } catch (error) {
    return true; // mocha itself tells what is wrong
  }
}

// Beside the files that it is given mocha runs those that its configuration names: that is given without them.
function mochaOptions() {
  const at = asked.options.findIndex((option) => /^(--config|-c)(=|$)/.test(option));
  const [named, value] = at < 0 ? [] : asked.options[at].split("=");
  const size = at < 0 ? 0 : value === undefined ? 2 : 1;
  if (at < 0 && !isMochaConfigured()) return asked.options; // what reads it takes as long to load as mocha's own start
  process.chdir(root);
  try {
    const { loadRc, loadPkgRc } = require(path.join(installed("mocha"), "lib", "cli", "options.js"));
    const config = value === undefined && named ? asked.options[at + 1] : value;
    const options = Object.assign({}, loadPkgRc({}), loadRc(config ? { config } : {}));
    if (!options.spec) return asked.options;
    delete options.spec;
    const place = path.join(folder, "mocharc.json");
    fs.writeFileSync(place, JSON.stringify(options));
    return [...asked.options.filter((_, number) => number < at || number >= at + size), "--no-package", "--config", place];
  } catch (error) {
    return asked.options; // mocha itself tells what is wrong
  } finally {
    process.chdir(top);
  }
}

// What tap is told by .taprc or the manifest of how its files are run: `before`, `node-arg` and `test-env`.
function tapConfiguration() {
  const [manifest, own] = ["package.json", ".taprc"].map((name) => path.join(root, name));
  const told = fs.existsSync(own) ? {} : Object.assign({}, JSON.parse(fs.readFileSync(manifest, "utf8")).tap);
  let list = [];
  for (const line of fs.existsSync(own) ? fs.readFileSync(own, "utf8").split("\n") : []) {
    const [, name, item, value] = /^(?:([\w-]+):|\s*(-))\s*["']?(.*?)["']?\s*(?:\s#.*)?$/.exec(line) || [];
    if (name) told[name] = list = value ? [value] : [];
    else if (item) list.push(value);
  }
  return ["before", "node-arg", "test-env"].map((name) => [].concat(told[name] || []));
}

// What Node is given before a file of tap: from 18 on tap's plugins have loaders, of TypeScript among them.
function tapOptions() {
  if (!fs.existsSync(path.join(root, "package.json"))) return [];
  const [before, options, variables] = tapConfiguration();
  for (const variable of variables) env[variable.split("=")[0]] = variable.split("=").slice(1).join("=");
  try {
    if (major("tap") < 18) throw new Error("it has no plugins");
    const own = Object.assign({}, env, { NODE_OPTIONS: "" });
    const { stdout } = spawnSync(process.execPath, [program("tap"), "node-options"], { cwd: root, env: own, encoding: "utf8" });
    const loaders = (stdout.match(/"(?:[^"\\]|\\.)*"/g) || []).map((word) => JSON.parse(word));
    options.unshift(...loaders.filter((option) => !option.includes("@tapjs/processinfo"))); // which is for coverage
    if (!env.TS_NODE_TRANSPILE_ONLY) env.TS_NODE_TRANSPILE_ONLY = "1"; // as tap itself has it
  } catch (error) {
    // an earlier tap, or tape alone
  }
  for (const file of before) call([...options, path.resolve(root, file)]);
  return options;
}

// From 21 on Node takes what it is to run for patterns.
function asPattern(file) {
  return Number(process.versions.node.split(".")[0]) < 21 ? file : file.replace(/[[\]*?]/g, "[$&]");
}

const RUNNERS = {
  jest() {
    // a process of its own keeps a test that ends it from taking those of other files along
    const memory = files.length > 1 && major("jest") >= 29 ? ["--workerIdleMemoryLimit=4GB"] : [];
    const fixed = ["--ci", "--coverage=false", "--maxWorkers=1", "--forceExit", "--reporters=" + reporterFile(".cjs")].concat(memory);
    const [first = "", ...rest] = asked.options;
    const through = first.startsWith("--through=") ? first.slice("--through=".length) : "";
    const command = through ? [program(through), "test", ...rest] : [program("jest"), ...asked.options];
    const argv = [...command, ...fixed, ...jestOrder(), "--runTestsByPath", ...files.map(absolute)];
    const { code } = call(argv, {}, called);
    if (code && !fs.existsSync(BEGUN)) tellUnstarted(argv);
    return code;
  },
  vitest() {
    const own = major("vitest") >= 1 ? ["--coverage.enabled=false", "--bail=0"] : [];
    const fixed = ["run", "--reporter=" + reporterFile(".mjs"), ...own];
    const varied = isVaried ? ["--sequence.shuffle", "--sequence.seed=" + (order + 1)] : [];
    return call([program("vitest"), ...fixed, ...asked.options, ...varied, ...files.map((file) => path.relative(root, absolute(file)))]).code;
  },
  mocha() {
    const own = [[4, "--exit"], [6, stops ? "" : "--no-bail"], [8, "--no-parallel"]]; // each since a version; whatever is configured
    const fixed = own.filter(([since, option]) => option && major("mocha") >= since).map(([, option]) => option);
    const options = [...mochaOptions(), ...fixed, "--reporter", reporterFile(".cjs")];
    return eachFile((file) => [program("mocha"), ...options, file]);
  },
  "node:test"() {
    // one at a time: of a test that a helper declares Node tells the helper's file alone
    const codes = inOrder.map((file) => {
      facts.files = [file];
      for (const note of [BEGUN, facts.exits, facts.idled]) if (fs.existsSync(note)) fs.unlinkSync(note);
      const fixed = ["--test", "--test-reporter=" + reporterFile(".mjs"), "--test-reporter-destination=stderr"];
      const { code } = call([...asked.options, ...fixed, asPattern(absolute(file))]);
      return fs.existsSync(BEGUN) ? 1 : code;
    });
    return Math.max(...codes);
  },
  tap() {
    const options = [...asked.options, ...tapOptions()];
    return eachByTap((file) => [...options, file]);
  },
  ava() {
    return eachByTap((file) => [program("ava"), "--tap", "--serial", "--timeout=10m", ...asked.options, path.relative(root, file)]);
  },
  uvu() {
    return eachFile((file) => {
      facts.files = [path.relative(top, file)];
      return [...preload("in-place", { name: "uvu", place: reporterFile(".cjs") }, IN_PLACE), ...asked.options, file];
    });
  },
  qunit() {
    const seed = isVaried ? ["--seed=" + (order + 1)] : [];
    const name = oneOf("qunit", "qunitjs"); // the second until 2.5
    const reporter = reporterFile(".cjs");
    return eachFile((file) => {
      const starts = /\bQUnit\.start\(/.test(fs.readFileSync(file, "utf8"));
      if (starts) return [...preload("at-load", { reporter }, AT_LOAD), ...asked.options, file];
      return [program(name, "qunit"), ...asked.options, ...seed, "--reporter=" + reporter, path.relative(root, file)];
    });
  },
  lab() {
    const name = oneOf("lab", "@hapi/lab");
    return eachFile((file) => [program(name, "lab"), "--leaks", ...asked.options, "--reporter", reporterFile(".cjs"), file]);
  },
  jasmine() {
    const random = isVaried ? ["--random=true", "--seed=" + (order + 1)] : ["--random=false"];
    const fixed = [...random, "--reporter=" + reporterFile(".cjs")];
    return eachFile((file) => [program("jasmine"), ...asked.options, ...fixed, file]);
  },
};

process.exitCode = files.length ? RUNNERS[framework]() : 0; // given none, runners run all there are
sendValues();
