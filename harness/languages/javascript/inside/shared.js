// What all reporters share: a test's id is its file, the titles around it and its own, and, where several have the same,
// which of these it is.
const [write_, stringify_] = [fs_.writeSync, JSON.stringify]; // before code of the product is loaded
const frames_ = framesHere();
const seen_ = new Map();
const only_ = new Set(ASKED.only);
const files_ = new Set(ASKED.files);
const whole_ = new Set(ASKED.files.filter((file) => !ASKED.only.some((id) => id.startsWith(file + "::"))));

// Descriptor 3 where it is the driver's, else the file that it sends on: a runner that starts Node anew does not hand it down.
function framesHere() {
  try {
    const { dev, ino } = fs_.fstatSync(3);
    if (dev === ASKED.frames.dev && ino === ASKED.frames.ino) return 3;
  } catch (error) {
    if (error.code !== "EBADF") throw error;
  }
  return fs_.openSync(ASKED.values, "a");
}

// An id as earlier versions asked for it: without what is behind a bracket in its titles.
function cut_(file, id) {
  return file + id.slice(file.length).split("[")[0];
}

function relative(file) {
  return path_.relative(ASKED.top, file);
}

// No id has a character that no argument of a process can hold: a control character, half of a surrogate pair.
const unprintable_ = /[\0-\x1f\x7f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const escaped_ = (character) => "\\u" + character.charCodeAt(0).toString(16).padStart(4, "0");

function idOf(file, titles, count) {
  const plain = titles.map((title) => String(title).replace(/\s+/g, " ").replace(unprintable_, escaped_));
  const id = file + "::" + plain.join(" > ");
  const number = (count.get(id) || 0) + 1;
  count.set(id, number);
  return number > 1 ? id + " #" + number : id;
}

function say(kind, fields) {
  const line = stringify_(Object.assign({ t: kind }, fields)) + "\n";
  const bytes = Buffer.from(line);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += write_(frames_, bytes, at);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

// What an error says, and what is behind it: of "fetch failed" the host that has no address.
function messageOf(error) {
  const messages = [];
  for (let each = error; each && messages.length < 4; each = each.cause || (each.errors || [])[0]) {
    messages.push(String(each.stack || each.message || each));
  }
  return messages.join("\ncaused by: ");
}

// `state` is "unfinished" until all of a file's tests have ended, where the runner's reporter tells that.
function begun(state = "") {
  fs_.writeFileSync(ASKED.begun, state);
}

// Tells of a file in whose process code ended that before its tests were done, or that was ended as it waited.
function ended(file, text = "its process ended before its tests did") {
  if (fs_.existsSync(ASKED.idled)) say("collect_error", { id: file, text: "its process waited for nothing that would come" });
  else say("collect_error", { id: file, text, raised: [{ names: ["ProcessExit"] }] });
}

function report(file, titles, status, milliseconds, text, id = idOf(file, titles, seen_)) {
  if (!files_.has(file) || !(whole_.has(file) || only_.has(id) || only_.has(cut_(file, id)))) return;
  say("report", { id, status, seconds: (milliseconds || 0) / 1000, text: String(text || "").slice(0, 6000) });
}

// Some things in the order that a run of a proof asks for: 0 turns them round, another number shuffles them, alike each time.
function reordered(things) {
  if (ASKED.order === undefined) return things;
  if (ASKED.order === 0) return [...things].reverse();
  const drawn = things.map((thing, place) => [(((place + 1) * 2654435761) ^ (ASKED.order * 40503)) % 1009, place, thing]);
  return drawn.sort((one, other) => one[0] - other[0] || one[1] - other[1]).map(([, , thing]) => thing);
}
