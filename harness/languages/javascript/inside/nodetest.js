const { fileURLToPath } = await import("node:url");
const plain = (file) => (file && file.startsWith("file:") ? fileURLToPath(file) : file || "");

// The file that is run, also of a test that another one declares.
const fileOf = ({ file }) => (files_.has(relative(plain(file))) ? plain(file) : path_.join(ASKED.top, ASKED.files[0]));

const textOf = (error) => messageOf((error && error.cause) || error);

// The tests of a file that have begun and not ended, as they were begun: each with the titles around it.
function begin(under, at, { name, nesting }) {
  if (!under.has(at)) under.set(at, []);
  const around = [...under.get(at)].reverse().find((test) => test.nesting === nesting - 1);
  under.get(at).push({ name, nesting, titles: [...(around ? around.titles : []), name] });
}

function finish(tests = [], { name, nesting }) {
  const place = tests.findIndex((test) => test.name === name && test.nesting === nesting);
  if (place >= 0) tests.splice(place, 1);
}

// Of a file whose process ended before them: those that no other is below.
function unfinished(tests, at) {
  const own = tests.filter(({ name }) => name !== at && relative(name) !== relative(at)).map(({ titles }) => titles);
  return own.filter((titles) => !own.some((other) => other.length > titles.length && titles.every((title, place) => other[place] === title)));
}

export default async function* (source) {
  const [around, printed, under, lost] = [new Map(), new Map(), new Map(), new Map()];
  let isTold = false;
  for await (const { type, data } of source) {
    if (type === "test:stdout" || type === "test:stderr") process.stderr.write(data.message); // a flood is seen there
    if (type === "test:stderr") printed.set(plain(data.file), ((printed.get(plain(data.file)) || "") + data.message).slice(0, 4000));
    if (type === "test:dequeue") begin(under, fileOf(data), data);
    if (type !== "test:start" && type !== "test:pass" && type !== "test:fail") continue;
    const at = fileOf(data);
    const file = relative(at);
    if (!around.has(at)) around.set(at, []);
    const titles = around.get(at);
    titles.length = data.nesting;
    titles.push(data.name);
    if (type === "test:start") continue;
    finish(under.get(at), data);
    const isFile = data.nesting === 0 && (data.name === at || data.name === file || files_.has(relative(data.name)));
    if (isFile) {
      const name = files_.has(relative(data.name)) ? relative(data.name) : file;
      const error = data.details.error;
      const text = () => (textOf(error) + "\n" + (printed.get(at) || printed.get(plain(data.name)) || "")).slice(0, 4000);
      if (type === "test:fail") lost.set(at, { name, text: text(), isEnded: Boolean(error.signal) });
      continue;
    }
    const isSuite = data.details.type === "suite";
    const failedBelow = type === "test:fail" && /subtests? failed|failureType.*subtestsFailed/.test(String(textOf(data.details.error)));
    if (isSuite && (type === "test:pass" || failedBelow)) continue;
    const status = data.skip !== undefined ? "skipped" : data.todo !== undefined ? "todo" : type === "test:pass" ? "passed" : "failed";
    isTold = true;
    report(file, [...titles], status, data.details.duration_ms, type === "test:fail" ? textOf(data.details.error) : "");
  }
  const exited = new Set();
  for (const [at, tests] of under) {
    const names = unfinished(tests, at);
    for (const titles of names) report(relative(at), titles, "failed", 0, "it did not end");
    if (names.length) exited.add(at);
  }
  if (fs_.existsSync(ASKED.exits) && !isTold) exited.add(path_.join(ASKED.top, ASKED.files[0]));
  for (const [at, { name, text, isEnded }] of lost) {
    if (isEnded || exited.has(at)) ended(name, text);
    else say("collect_error", { id: name, text });
  }
  for (const at of exited) if (!lost.has(at)) ended(relative(at));
  if (exited.size) begun();
}
