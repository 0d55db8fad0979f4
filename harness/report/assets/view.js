// The list of runs: asked for again every two seconds, so that new runs and their progress show by themselves.
const EVERY = 2000; // milliseconds
const shownRuns = new Map();
const waiting = [];

async function ask(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.json();
}

function runRow(run) {
  const row = make(null, "tr");
  const box = make(make(row, "td"), "input");
  box.type = "checkbox";
  box.name = "run";
  box.value = run.name;
  box.setAttribute("aria-label", "Compare " + run.name);
  const head = make(row, "th");
  head.scope = "row";
  make(head, "a", "", run.name).href = "report?run=" + encodeURIComponent(run.name);
  const parts = { row, box, tag: make(head, "span"), started: make(row, "td"), dataset: make(row, "td"), version: "" };
  const scored = make(row, "td");
  parts.count = make(scored, "span");
  parts.bar = make(scored, "progress");
  parts.bar.setAttribute("aria-label", "Scored predictions of " + run.name);
  parts.rates = make(row, "td");
  return parts;
}

function fillRow(parts, run) {
  if (parts.version === run.version) return;
  parts.version = run.version;
  parts.tag.className = run.sealed ? "tag" : "";
  parts.tag.textContent = run.sealed ? "sealed" : "";
  parts.started.textContent = run.started ? run.started.replace("T", " ").replace(/:\d\dZ$/, " UTC") : "–";
  parts.dataset.replaceChildren();
  put(parts.dataset, run.dataset || "–");
  parts.count.textContent = `${run.scored} of ${run.total}`;
  parts.bar.max = run.total || 1;
  parts.bar.value = run.scored;
  parts.bar.hidden = run.scored === run.total;
  if (!waiting.includes(run.name)) waiting.push(run.name);
}

async function rates() {
  while (waiting.length) {
    const run = waiting.shift();
    const parts = shownRuns.get(run);
    if (!parts) continue;
    try {
      const models = await ask("summary.json?run=" + encodeURIComponent(run));
      parts.rates.replaceChildren();
      const list = make(parts.rates, "ul");
      for (const model of models) {
        const line = make(list, "li", model.control ? "control" : "");
        make(line, "span", "rate", model.rate);
        make(line, "span", "bounds", model.interval);
        make(line, "span", "", model.name).title = model.model;
      }
    } catch (error) {
      parts.rates.replaceChildren();
      make(parts.rates, "span", "fine", error.message);
    }
  }
}

function chosen() {
  byId("_compare").disabled = [...shownRuns.values()].filter((parts) => parts.box.checked).length < 2;
}

async function look() {
  try {
    const runs = await ask("runs.json");
    const names = new Set(runs.map((run) => run.name));
    for (const [name, parts] of shownRuns) if (!names.has(name)) { parts.row.remove(); shownRuns.delete(name); }
    runs.forEach((run, place) => {
      if (!shownRuns.has(run.name)) shownRuns.set(run.name, runRow(run));
      const parts = shownRuns.get(run.name);
      const list = byId("_runs");
      if (list.rows[place] !== parts.row) list.insertBefore(parts.row, list.rows[place] || null);
      fillRow(parts, run);
    });
    byId("_none").hidden = runs.length > 0;
    byId("_about").textContent = `${runs.length} run${runs.length === 1 ? "" : "s"}`;
    chosen();
    await rates();
  } catch (error) {
    byId("_about").textContent = error instanceof TypeError ? "goldseam view has ended." : error.message;
  }
  setTimeout(look, EVERY);
}

byId("_runs").addEventListener("change", chosen);
look();
