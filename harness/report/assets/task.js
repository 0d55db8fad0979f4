// One task, opened: its statement, and each prediction with patch, tests, signals and timings.
const index = JSON.parse(byId("_index").textContent);
const numbers = new Map(index.tasks.map((task, number) => [task.id, number]));
const name = (column) => index.models[column];

// One line a task, parsed when it is first needed: all of them together may be many megabytes.
const lines = byId("_data").textContent.split("\n");
function detailsOf(number) {
  return JSON.parse(lines[number]);
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
  heading(parent, "Test results");
  if (others.length) resultTable(parent, named, others, "Tests that did not pass");
  if (passed.length) {
    const more = make(parent, "details", "more");
    make(more, "summary", "", `${passed.length} passed`);
    lazily(more, () => resultTable(more, named, passed, "Tests that passed"));
  }
  if (prediction.more) make(parent, "p", "fine", `${prediction.more} further tests are not listed; those that did not pass come first.`);
}

function listUnder(parent, title, lines) {
  if (!lines.length) return;
  heading(parent, title);
  const list = make(parent, "ul");
  for (const line of lines) make(list, "li", "", line);
}

function label(p, task) {
  const several = task.predictions.some((other) => other.column === p.column && other.sample !== p.sample);
  return name(p.column) + (several || p.sample ? ` #${p.sample}` : "");
}

function fillPrediction(parent, p, task) {
  make(parent, "p", "why", p.reason);
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
  listUnder(parent, "Look at this before believing a pass", p.flags.map(([path, sign]) => `${human(sign)} in ${path}`));
  listUnder(parent, "Looked at what judges it while the tests ran", p.tripwires.map(([path, kind]) => human(kind) + (path ? ` in ${path}` : "")));
  listUnder(parent, "Left out of the patch before it was applied", p.dropped);
  signalsView(parent, p.signals);
  heading(parent, "Patch", p.patch);
  if (p.patch) {
    const others = task.gold ? [{ label: "Gold patch", cut: task.gold, first: true }] : [];
    for (const other of task.predictions) if (other !== p && other.patch) others.push({ label: label(other, task), cut: other.patch });
    patchView(parent, { label: label(p, task), cut: p.patch }, others);
  } else make(parent, "p", "fine", p.note);
  if (p.tests && p.tests.length) results(parent, p, task.tests);
  for (const note of p.notes || []) block(parent, [note], "Note");
  if (p.output && p.output[1]) {
    heading(parent, "Test output", p.output);
    const pre = block(parent, p.output, "Test output");
    pre.scrollTop = pre.scrollHeight;
  }
}

function predictionElement(parent, task, p) {
  const element = make(parent, "details", "pred");
  element.dataset.model = name(p.column);
  const line = make(element, "summary");
  make(line, "span", "who", label(p, task));
  const chip = make(line, "span", "chip o-" + p.outcome);
  icon(chip, p.outcome);
  chip.append(index.words[p.outcome] || "not scored yet");
  if (p.class && p.class !== p.outcome) make(line, "span", "fine", human(p.class));
  make(line, "span", "fine", `F2P ${p.f2p} · P2P ${p.p2p}`);
  if (p.timings.tests) make(line, "span", "fine", `tests ${p.timings.tests.toFixed(2)} s`);
  for (const [what, value] of p.usage.slice(0, 1)) make(line, "span", "fine", `${what} ${value}`);
  element.fill = lazily(element, () => fillPrediction(make(element, "div", "in"), p, task));
  return element;
}

function fillTask(details) {
  const task = detailsOf(details.dataset.number);
  const body = details.querySelector(".body");
  if (task.facts.length) facts(body, task.facts);
  if (task.statement) {
    heading(body, "Problem statement", task.statement);
    block(body, task.statement, "Problem statement", "prose");
  }
  if (task.predictions.length) heading(body, "Predictions");
  const made = task.predictions.map((p) => predictionElement(body, task, p));
  if (made.length === 1) { made[0].open = true; made[0].fill(); }
  for (const [title, cut] of [["Gold patch", task.gold], ["Hidden test patch", task.test]]) {
    if (!cut) continue;
    const more = make(body, "details", "pred");
    make(make(more, "summary"), "span", "who", title);
    lazily(more, () => { const inside = make(more, "div", "in"); cutNote(inside, cut); diff(inside, cut, title); });
  }
}

const tasks = [...document.querySelectorAll("details.task")];
const fills = new Map(tasks.map((element) => [element, lazily(element, () => fillTask(element))]));
const rows = [...document.querySelectorAll("#_matrix tbody tr")];
