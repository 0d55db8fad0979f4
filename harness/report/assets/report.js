"use strict";
(() => {
  const data = JSON.parse(document.getElementById("_data").textContent);
  const byId = (id) => document.getElementById(id);
  const INVISIBLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\u{e0000}-\u{e007f}]/gu;

  // Text is only ever added as text nodes: nothing here reads HTML.
  function put(parent, text) {
    let at = 0;
    for (const found of text.matchAll(INVISIBLE)) {
      if (found.index > at) parent.append(text.slice(at, found.index));
      const code = found[0].codePointAt(0);
      const byte = code >= 0xdc80 && code <= 0xdcff;
      const name = byte ? "0x" + (code - 0xdc00).toString(16) : code.toString(16).padStart(4, "0");
      make(parent, "span", "ctl").append(byte ? "0x" + name.slice(2).toUpperCase() : "U+" + name.toUpperCase());
      at = found.index + found[0].length;
    }
    if (at < text.length) parent.append(text.slice(at));
    return parent;
  }

  function make(parent, tag, classes, text) {
    const element = document.createElement(tag);
    if (classes) element.className = classes;
    if (text !== undefined) put(element, String(text));
    if (parent) parent.append(element);
    return element;
  }

  function icon(parent, kind) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
    svg.setAttribute("class", "icon");
    svg.setAttribute("aria-hidden", "true");
    use.setAttribute("href", "#_i-" + kind);
    svg.append(use);
    parent.append(svg);
  }

  function size(bytes) {
    if (bytes < 1024) return bytes + " bytes";
    return bytes < 1048576 ? (bytes / 1024).toFixed(1) + " kB" : (bytes / 1048576).toFixed(1) + " MB";
  }

  function heading(parent, text, cut, which) {
    const element = make(parent, "h3", "", text);
    if (cut && cut[2] < cut[1]) make(element, "small", "", `cut: the ${which} ${size(cut[2])} of ${size(cut[1])}`);
    return element;
  }

  function diff(parent, text) {
    const pre = make(parent, "pre", "diff");
    pre.tabIndex = 0;
    let inHunk = false;
    for (const line of text.replace(/\n$/, "").split("\n")) {
      let kind = "";
      if (line.startsWith("diff --git")) { kind = " file"; inHunk = false; }
      else if (line.startsWith("@@")) { kind = " at"; inHunk = true; }
      else if (!inHunk) kind = " meta";
      else if (line.startsWith("+")) kind = " add";
      else if (line.startsWith("-")) kind = " del";
      else if (line.startsWith("\\")) kind = " meta";
      make(pre, "span", "l" + kind, line + "\n");
    }
  }

  function block(parent, text, classes) {
    const pre = make(parent, "pre", classes, text);
    pre.tabIndex = 0;
    return pre;
  }

  function resultTable(parent, tests) {
    const table = make(make(parent, "div", "scroll"), "table", "results");
    const row = make(make(table, "thead"), "tr");
    for (const name of ["List", "Status", "Seconds", "Test"]) make(row, "th", "", name).scope = "col";
    const body = make(table, "tbody");
    for (const [group, status, id, seconds, text] of tests) {
      const line = make(body, "tr");
      make(line, "td", "", group || "–");
      make(line, "td", status === "PASSED" ? "o-resolved" : "o-unresolved", status);
      make(line, "td", "num", seconds === null ? "–" : seconds.toFixed(3));
      const cell = make(line, "td", "test", id);
      if (text) block(cell, text[0] + (text[2] < text[1] ? `\n(cut: ${size(text[1])} in all)` : ""));
    }
  }

  function results(parent, prediction) {
    const passed = prediction.tests.filter((test) => test[1] === "PASSED");
    const others = prediction.tests.filter((test) => test[1] !== "PASSED");
    heading(parent, "Test results");
    if (others.length) resultTable(parent, others);
    if (passed.length) {
      const more = make(parent, "details", "passed");
      make(more, "summary", "", `${passed.length} passed`);
      lazily(more, () => resultTable(more, passed));
    }
    if (prediction.more) make(parent, "p", "fine", `${prediction.more} further tests are not listed; those that did not pass come first.`);
  }

  function facts(parent, pairs) {
    const list = make(parent, "dl", "facts");
    for (const [name, value] of pairs) {
      const pair = make(list, "div");
      make(pair, "dt", "", name);
      make(pair, "dd", "", value);
    }
  }

  function fillPrediction(parent, p) {
    make(parent, "p", "why", p.reason);
    const timings = Object.entries(p.timings).filter(([, value]) => value).map(([name, value]) => `${name} ${value.toFixed(2)} s`);
    facts(parent, [
      ...(p.class ? [["failure class", p.class]] : []),
      ["FAIL_TO_PASS", p.f2p], ["PASS_TO_PASS", p.p2p],
      ...(timings.length ? [["timings", timings.join(", ")]] : []),
      ...(p.cpu ? [["CPU", p.cpu.toFixed(2) + " s"]] : []),
      ...(p.rss ? [["peak memory", size(p.rss * 1024)]] : []),
      ...(p.trust ? [["trust", p.trust]] : []),
      ...(p.attempts > 1 ? [["attempts", p.attempts]] : []),
      ...(p.repairs.length ? [["repaired", p.repairs.join(", ")]] : []),
    ]);
    if (p.dropped.length) {
      heading(parent, "Left out of the patch before it was applied");
      const list = make(parent, "ul");
      for (const part of p.dropped) make(list, "li", "", part);
    }
    heading(parent, "Patch", p.patch, "first");
    if (p.patch) diff(parent, p.patch[0]);
    else make(parent, "p", "fine", p.note);
    if (p.tests && p.tests.length) results(parent, p);
    for (const note of p.notes || []) block(parent, note);
    if (p.output && p.output[1]) {
      heading(parent, "End of the test output", p.output, "last");
      const pre = block(parent, p.output[0]);
      pre.scrollTop = pre.scrollHeight;
    }
  }

  function lazily(details, fill) {
    let done = false;
    const run = () => { if (!done && details.open) { done = true; fill(); } };
    details.addEventListener("toggle", run);
    return run;
  }

  function predictionElement(parent, task, p) {
    const element = make(parent, "details", "pred");
    element.dataset.model = data.models[p.column];
    const line = make(element, "summary");
    make(line, "span", "who", data.models[p.column] + (p.sample ? ` #${p.sample}` : ""));
    const chip = make(line, "span", "chip o-" + p.outcome);
    icon(chip, p.outcome);
    chip.append(data.words[p.outcome] || "not scored yet");
    if (p.class && p.class !== p.outcome) make(line, "span", "fine", p.class.replaceAll("_", " "));
    make(line, "span", "fine", `F2P ${p.f2p} · P2P ${p.p2p}`);
    if (p.timings.tests) make(line, "span", "fine", `tests ${p.timings.tests.toFixed(2)} s`);
    element.fill = lazily(element, () => fillPrediction(make(element, "div", "in"), p));
    return element;
  }

  function fillTask(details) {
    const task = data.tasks[details.dataset.task];
    const body = details.querySelector(".body");
    if (task.facts.length) facts(body, task.facts);
    if (task.statement) {
      heading(body, "Problem statement", task.statement, "first");
      block(body, task.statement[0], "prose");
    }
    if (task.predictions.length) heading(body, "Predictions");
    const made = task.predictions.map((p) => predictionElement(body, task, p));
    if (made.length === 1) { made[0].open = true; made[0].fill(); }
    for (const [name, cut] of [["Gold patch", task.gold], ["Hidden test patch", task.test]]) {
      if (!cut) continue;
      const more = make(body, "details", "pred");
      make(make(more, "summary"), "span", "who", name);
      lazily(more, () => { const inside = make(more, "div", "in"); heading(inside, name, cut, "first"); diff(inside, cut[0]); });
    }
  }

  const details = [...document.querySelectorAll("details.task")];
  const fills = new Map(details.map((element) => [element, lazily(element, () => fillTask(element))]));
  const rows = [...document.querySelectorAll("#_matrix tbody tr")];

  function openTask(id, model) {
    const element = byId(id);
    if (!element || !fills.has(element)) return;
    if (element.hidden) { byId("_tools").reset(); apply(); }
    element.open = true;
    fills.get(element)();
    let target = element;
    for (const part of element.querySelectorAll(".pred")) {
      if (model === undefined || part.dataset.model !== model) continue;
      part.open = true;
      part.fill();
      if (target === element) target = part;
    }
    target.scrollIntoView();
    target.querySelector("summary").focus({ preventScroll: true });
  }

  function follow() {
    const [id, model] = location.hash.slice(1).split("/");
    if (!id) return;
    try { openTask(decodeURIComponent(id), model === undefined ? undefined : decodeURIComponent(model)); }
    catch (error) { if (!(error instanceof URIError)) throw error; }
  }

  // A link to the place one is at already changes no hash, so clicks are followed too.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.hash === location.hash) follow();
  });
  window.addEventListener("hashchange", follow);
  for (const element of details) {
    element.querySelector("summary").addEventListener("click", () => {
      if (!element.open) history.replaceState(null, "", "#" + encodeURIComponent(element.id));
    });
  }

  const words = new Map();
  function haystack(id) {
    if (!words.has(id)) {
      const task = data.tasks[id];
      const texts = [id, task.statement ? task.statement[0] : ""];
      for (const p of task.predictions) texts.push(p.reason, p.class, p.patch ? p.patch[0] : "");
      words.set(id, texts.join("\n").toLowerCase());
    }
    return words.get(id);
  }

  function matches(id, solved, wanted) {
    const task = data.tasks[id];
    const model = byId("_model").value;
    const some = task.predictions.filter((p) => !model || p.column === Number(model));
    const kind = byId("_outcome").value;
    if (model && !some.length) return false;
    if (kind === "*nobody") { if (solved > 0) return false; }
    else if (kind === "*differ") { if (new Set(task.predictions.map((p) => p.outcome === "resolved")).size < 2) return false; }
    else if (kind && !some.some((p) => p.outcome === kind)) return false;
    return wanted.every((word) => haystack(id).includes(word));
  }

  function apply() {
    const wanted = byId("_search").value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    const verdict = new Map();
    for (const element of [...rows, ...details]) {
      const id = element.dataset.task;
      if (!verdict.has(id)) { verdict.set(id, matches(id, Number(element.dataset.solved), wanted)); shown += verdict.get(id); }
      element.hidden = !verdict.get(id);
    }
    byId("_shown").value = shown === details.length ? `${shown} task${shown === 1 ? "" : "s"}` : `${shown} of ${details.length} tasks`;
    byId("_nothing").hidden = shown > 0;
    rove(null);
  }

  function sort() {
    const how = byId("_sort").value;
    const sign = how === "easy" ? -1 : 1;
    for (const list of [rows, details]) {
      const order = [...list.entries()];
      if (how !== "id") order.sort((a, b) => sign * (a[1].dataset.solved - b[1].dataset.solved) || a[0] - b[0]);
      const parent = list[0] && list[0].parentNode;
      for (const [, element] of order) parent.append(element);
    }
  }

  // One cell of the matrix is in the tab order; arrow keys move it.
  let current = null;
  function rove(next) {
    const first = next || rows.filter((row) => !row.hidden).map((row) => row.querySelector("a"))[0] || null;
    if (current) current.tabIndex = -1;
    current = first;
    if (current) current.tabIndex = 0;
    if (next) next.focus();
  }
  const matrix = byId("_matrix");
  for (const link of matrix.querySelectorAll("tbody a")) link.tabIndex = -1;
  matrix.addEventListener("keydown", (event) => {
    const cell = event.target.closest("tbody td, tbody th");
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!cell || !step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    let row = cell.parentNode;
    let column = cell.cellIndex;
    do {
      if (step[0] < 0) row = row.previousElementSibling;
      if (step[0] > 0) row = row.nextElementSibling;
      column += step[1];
      if (!row || !row.cells[column]) return;
    } while (row.hidden || !row.cells[column].querySelector("a"));
    rove(row.cells[column].querySelector("a"));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, select, textarea")) return;
    event.preventDefault();
    byId("_search").focus();
  });

  const themes = { system: "light dark", light: "light", dark: "dark" };
  const button = byId("_theme");
  function theme(name) {
    document.documentElement.style.colorScheme = themes[name];
    button.textContent = "Theme: " + name;
    button.dataset.name = name;
  }
  function remembered(name) {
    try {
      if (name) localStorage.setItem("goldseam-theme", name);
      return localStorage.getItem("goldseam-theme");
    } catch { return null; } // some browsers give pages from disk no storage
  }
  button.addEventListener("click", () => {
    const names = Object.keys(themes);
    const next = names[(names.indexOf(button.dataset.name) + 1) % names.length];
    theme(next);
    remembered(next);
  });
  theme(themes[remembered()] ? remembered() : "system");
  button.hidden = false;

  const tools = byId("_tools");
  tools.hidden = false;
  let timer = 0;
  byId("_search").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(apply, 120); });
  for (const id of ["_outcome", "_model"]) byId(id).addEventListener("change", apply);
  byId("_sort").addEventListener("change", sort);
  tools.addEventListener("reset", () => setTimeout(() => { sort(); apply(); }));
  tools.addEventListener("submit", (event) => event.preventDefault());
  apply();
  if (details.length === 1) { details[0].open = true; fills.get(details[0])(); }
  follow();
})();
