// One task, opened below its row: its statement, and each prediction with patch, tests, output, transcript and signals.
const index = JSON.parse(byId("_index").textContent);
const numbers = new Map(index.tasks.map((task, number) => [task.id, number]));
const name = (column) => index.models[column];

// One line a task, parsed when it is first needed: all of them together may be many megabytes.
const lines = byId("_data").textContent.split("\n");
function detailsOf(number) {
  return JSON.parse(lines[number]);
}

// Markdown comes as a tree, [tag, attributes, children…], of which only these elements are made.
const ELEMENTS = new Set(["p", "ul", "ol", "li", "blockquote", "table", "thead", "tbody", "tr", "th", "td", "em", "strong",
  "s", "br", "hr", "code", "pre", "h4", "h5", "h6", "a", "span"]);
function grow(parent, nodes) {
  for (const node of nodes) {
    if (typeof node === "string") { put(parent, node); continue; }
    const [tag, attributes, ...children] = node;
    const element = make(parent, ELEMENTS.has(tag) ? tag : "span");
    if (tag === "a" && /^https?:\/\//i.test(attributes.href)) {
      element.href = attributes.href;
      element.title = attributes.href;
      element.rel = "noopener noreferrer nofollow";
      element.target = "_blank";
    }
    if (tag === "ol" && attributes) element.start = Number(attributes.start);
    if (tag === "pre") scrollable(element, "Code");
    grow(element, children);
  }
  return parent;
}

function wordsOf(nodes) {
  return nodes.map((node) => (typeof node === "string" ? node : wordsOf(node.slice(2)))).join(" ");
}

// A result is [number of the test, seconds], and where it did not pass, its status and text.
function resultTable(parent, named, results, label) {
  const body = table(parent, label, ["List", "Status", "Seconds", "Test"]);
  for (const [number, seconds, status, text] of results) {
    const [id, group] = named[number];
    const line = make(body, "tr");
    make(line, "td", "", group || "–");
    make(line, "td", status ? "o-unresolved" : "o-resolved", status || "PASSED");
    make(line, "td", "num", seconds === null ? "–" : seconds.toFixed(3));
    const cell = make(line, "td", "test", id);
    if (text) block(cell, text, "Output of " + id);
    cutNote(cell, text);
  }
}

function results(parent, prediction, named) {
  const passed = prediction.tests.filter((test) => !test[2]);
  const others = prediction.tests.filter((test) => test[2]);
  if (others.length) resultTable(parent, named, others, "Tests that did not pass");
  if (passed.length) {
    const more = make(parent, "details", "more");
    make(more, "summary", "", `${passed.length} passed`);
    lazily(more, () => resultTable(more, named, passed, "Tests that passed"));
  }
  if (prediction.more) make(parent, "p", "fine", `${prediction.more} further tests are not listed; those that did not pass come first.`);
  for (const note of prediction.notes || []) block(parent, [note], "Note");
}

function listUnder(parent, title, lines) {
  if (!lines.length) return;
  heading(parent, title);
  const list = make(parent, "ul");
  for (const line of lines) make(list, "li", "", line);
}

function label(p, task) {
  const several = task.predictions.some((other) => other.column === p.column && other.sample !== p.sample);
  return index.names[p.column] + (several || p.sample ? ` #${p.sample}` : "");
}

function turn(parent, [role, text, calls]) {
  const element = make(parent, "div", "turn t-" + (["system", "user", "assistant", "tool"].includes(role) ? role : "user"));
  make(element, "div", "role", role);
  const inside = make(element, "div", "said");
  if (text[0]) make(inside, "pre", "prose", text[0]);
  cutNote(inside, text);
  for (const [tool, given] of calls) {
    make(inside, "div", "call", tool);
    scrollable(make(inside, "pre", "", given[0]), "Arguments of " + tool);
    cutNote(inside, given);
  }
}

function transcriptView(parent, transcript) {
  for (const each of transcript.first) turn(parent, each);
  if (transcript.more) make(parent, "p", "gap", `${transcript.more} messages left out here`);
  for (const each of transcript.last) turn(parent, each);
}

function overview(parent, p) {
  const timings = Object.entries(p.timings).filter(([, value]) => value);
  facts(parent, [
    ...(p.class ? [["failure class", human(p.class)]] : []),
    ["FAIL_TO_PASS", p.f2p], ["PASS_TO_PASS", p.p2p], ...p.usage,
    ...(timings.length ? [["timings", timings.map(([step, value]) => `${human(step)} ${value.toFixed(2)} s`).join(", ")]] : []),
    ...(p.cpu ? [["CPU", p.cpu.toFixed(2) + " s"]] : []),
    ...(p.rss ? [["peak memory", size(p.rss * 1024)]] : []),
    ...(p.place ? [["judged", p.place]] : []),
    ...(p.replay ? [["replay", p.replay]] : []),
    ...(p.attempts > 1 ? [["attempts", p.attempts]] : []),
    ...(p.repairs.length ? [["repaired", p.repairs.join(", ")]] : []),
  ]);
}

function patchTab(panel, p, task) {
  cutNote(panel, p.patch);
  const others = task.gold ? [{ label: "Gold patch", cut: task.gold, first: true }] : [];
  for (const other of task.predictions) if (other !== p && other.patch) others.push({ label: label(other, task), cut: other.patch });
  patchView(panel, { label: label(p, task), cut: p.patch }, others);
}

function outputTab(panel, p) {
  cutNote(panel, p.output[3] ? null : p.output);
  const pre = block(panel, p.output, "Test output");
  pre.scrollTop = pre.scrollHeight;
}

function titled(text, small) {
  return (tab) => { put(tab, text); if (small) make(tab, "small", "", small); };
}

function fillPrediction(parent, p, task) {
  const line = make(parent, "div", "verdict-line");
  make(line, "h3", "", label(p, task));
  const chip = make(line, "span", "chip o-" + p.outcome);
  icon(chip, p.outcome);
  chip.append(index.words[p.outcome] || "not scored yet");
  make(parent, "p", "why", p.reason);
  overview(parent, p);
  listUnder(parent, "Review before you trust this pass", p.flags.map(([path, sign]) => `${human(sign)} in ${path}`));
  listUnder(parent, "The patch inspected what judges it while the tests ran", p.tripwires.map(([path, kind]) => human(kind) + (path ? ` in ${path}` : "")));
  listUnder(parent, "Removed from the patch before it was applied", p.dropped);
  if (!p.patch) make(parent, "p", "fine", p.note);
  const entries = [];
  if (p.patch) entries.push({ key: "patch", label: titled("Patch", size(p.patch[1])), fill: (panel) => patchTab(panel, p, task) });
  if ((p.tests && p.tests.length) || (p.notes && p.notes.length)) entries.push({ key: "tests", label: titled("Tests", String(p.tests.length + (p.more || 0))), fill: (panel) => results(panel, p, task.tests) });
  if (p.output && p.output[1]) entries.push({ key: "output", label: titled("Test output", size(p.output[1])), fill: (panel) => outputTab(panel, p) });
  if (p.transcript) entries.push({ key: "transcript", label: titled("Transcript", String(p.transcript.first.length + p.transcript.more + p.transcript.last.length)), fill: (panel) => transcriptView(panel, p.transcript) });
  if (Object.keys(p.signals).some((each) => each !== "schema_version")) entries.push({ key: "signals", label: titled("Signals"), fill: (panel) => signalsView(panel, p.signals) });
  if (!entries.length) return null;
  const choose = tabs(parent, entries, "Evidence of " + label(p, task));
  choose(entries[0].key);
  return choose;
}

function fillStatement(panel, task) {
  if (!task.statement) { make(panel, "p", "fine", "Give --dataset to see the problem statement."); return; }
  heading(panel, "Problem statement", task.statement);
  grow(make(panel, "div", "markdown"), task.statement[0]);
}

function drawerEntries(task, id) {
  const entries = [{ key: "", label: titled("Statement"), fill: (panel) => fillStatement(panel, task), chosen: () => address("#" + encodeURIComponent(id)) }];
  for (const p of task.predictions) {
    const several = task.predictions.filter((other) => other.column === p.column).length > 1;
    entries.push({
      key: name(p.column) + (several && p.sample ? "#" + p.sample : ""),
      chosen: () => address(`#${encodeURIComponent(id)}/${encodeURIComponent(name(p.column))}`),
      label: (tab) => {
        make(tab, "b", "letter", index.letters[p.column]);
        make(tab, "span", "name", label(p, task));
        const mark = make(tab, "span", "o-" + p.outcome);
        icon(mark, p.outcome);
        make(mark, "span", "sr", index.words[p.outcome] || "not scored yet");
      },
      fill: (panel) => fillPrediction(panel, p, task),
    });
  }
  for (const [title, cut] of [["Gold patch", task.gold], ["Hidden test patch", task.test]]) {
    if (cut) entries.push({ key: "*" + title, label: titled(title), fill: (panel) => { cutNote(panel, cut); diff(panel, cut, title); } });
  }
  return entries;
}

// The drawer of a task: a row below its own, made when it is first opened.
const drawers = new Map();
function drawer(element) {
  if (drawers.has(element)) return drawers.get(element);
  const number = Number(element.dataset.number);
  const task = detailsOf(number);
  const { id, title } = index.tasks[number];
  const row = make(element, "tr", "drawer");
  const cell = make(row, "td");
  cell.colSpan = element.rows[0].cells.length;
  const sheet = make(cell, "div", "sheet");
  const top = make(sheet, "div", "sheet-top");
  make(top, "h3", "", title || id);
  make(top, "code", "id", id);
  const close = make(top, "button", "quiet", "Close");
  close.type = "button";
  close.addEventListener("click", () => { closeTask(element); element.querySelector("th a").focus(); });
  if (task.facts.length) facts(sheet, task.facts);
  const choose = tabs(make(sheet, "div", "pair"), drawerEntries(task, id), "Statement and predictions", true);
  drawers.set(element, { row, choose });
  return drawers.get(element);
}

const isOpen = (element) => drawers.has(element) && !drawers.get(element).row.hidden;
function closeTask(element) {
  if (!isOpen(element)) return;
  drawers.get(element).row.hidden = true;
  element.querySelector("th a").setAttribute("aria-expanded", "false");
  address("");
}

const tasks = [...document.querySelectorAll("tbody.task")];
for (const element of tasks) element.querySelector("th a").setAttribute("aria-expanded", "false");
