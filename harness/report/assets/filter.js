// Filter, search and sort: a task goes with its drawer.
const FIELDS = { q: "_search", outcome: "_outcome", class: "_class", model: "_model", group: "_group", sort: "_sort" };
const DEFAULTS = { sort: "id" };
const BAD_FIRST = ["tampered", "needs_review", "apply_failed", "empty_patch", "unresolved", "pending", "infra_error", "resolved"];

function setFilter(fields) {
  for (const [field, id] of Object.entries(FIELDS)) {
    const element = byId(id);
    element.value = fields[field] || DEFAULTS[field] || "";
    if (element.selectedIndex === -1) element.value = DEFAULTS[field] || "";
  }
}

function getFilter() {
  const found = Object.entries(FIELDS).map(([field, id]) => [field, byId(id).value]);
  return Object.fromEntries(found.filter(([field, value]) => value && value !== (DEFAULTS[field] || "")));
}

// What is searched: id and title at once; statements, reasons and patches are read bit by bit, as they may be many
// megabytes. A search that comes before all is read shows what it found so far, and the rest as it is found.
const words = index.tasks.map((task) => `${task.id}\n${task.name}\n${task.title}`.toLowerCase());
const SLICE = 15; // milliseconds
let read = 0;
let reading = false;

function readMore() {
  reading = true;
  const until = performance.now() + SLICE;
  while (read < index.tasks.length && performance.now() < until) {
    const task = detailsOf(read);
    const texts = [task.statement ? wordsOf(task.statement[0]) : ""];
    for (const p of task.predictions) texts.push(p.reason, p.class, p.patch ? p.patch[0] : "");
    words[read] += "\n" + texts.join("\n").toLowerCase();
    read += 1;
  }
  if (read < index.tasks.length) setTimeout(readMore);
  else if (getFilter().q) apply();
}

const OF_TASK = {
  "*nobody": (task) => task.predictions.some((p) => counts(p)) && !task.predictions.some((p) => counts(p) && p[1] === "resolved"),
  "*differ": (task) => new Set(task.predictions.filter(counts).map((p) => p[1] === "resolved")).size > 1,
};
const competes = new Set(index.competitors);
function counts(p) {
  return competes.has(p[0]) && p[1] !== "infra_error" && p[1] !== "pending";
}

function matches(number, filter, wanted) {
  const task = index.tasks[number];
  const asked = filter.outcome;
  const some = task.predictions.filter((p) => (!filter.model || name(p[0]) === filter.model) && (!filter.class || p[2] === filter.class));
  if (filter.group && !task.groups.includes(filter.group)) return false;
  if ((filter.model || filter.class) && !some.length) return false;
  if (OF_TASK[asked] && !OF_TASK[asked](task)) return false;
  if (asked === "*flagged" && !some.some((p) => p[3] && p[1] === "resolved")) return false;
  if (asked && !asked.startsWith("*") && !some.some((p) => p[1] === asked)) return false;
  return wanted.every((word) => words[number].includes(word));
}

function apply() {
  const filter = getFilter();
  const wanted = (filter.q || "").toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length && !reading) setTimeout(readMore);
  const verdicts = index.tasks.map((_, number) => matches(number, filter, wanted));
  for (const element of tasks) {
    const hide = !verdicts[element.dataset.number];
    if (element.hidden !== hide) element.hidden = hide;
  }
  const shown = verdicts.filter(Boolean).length;
  const soFar = wanted.length && read < index.tasks.length ? " so far" : "";
  byId("_shown").value = (shown === tasks.length ? `${shown} task${shown === 1 ? "" : "s"}` : `${shown} of ${tasks.length} tasks`) + soFar;
  byId("_nothing").hidden = shown > 0;
  sort(filter.sort || "id");
  rove(null);
}

function badness(number, model) {
  const found = index.tasks[number].predictions.filter((p) => name(p[0]) === model).map((p) => BAD_FIRST.indexOf(p[1]));
  return found.length ? Math.min(...found) : BAD_FIRST.length;
}

let sorted = "id";
function sort(how) {
  if (how === sorted) return;
  sorted = how;
  const solved = (number) => Number(tasks[number].dataset.solved);
  const keys = { id: () => 0, hard: solved, easy: (number) => -solved(number) };
  const key = keys[how] || ((number) => badness(number, how.replace(/^model:/, "")));
  const order = index.tasks.map((_, number) => [key(number), number]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  if (tasks.length) tasks[0].parentNode.append(...order.map(([, number]) => tasks[number]));
}

const tools = byId("_tools");
let timer = 0;
function changed() {
  apply();
  const filter = new URLSearchParams(getFilter()).toString();
  address(filter ? "#?" + filter : "");
  performance.mark("goldseam-filtered");
}
byId("_search").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(changed, 80); });
for (const id of Object.values(FIELDS).slice(1)) byId(id).addEventListener("change", changed);
tools.addEventListener("reset", () => setTimeout(changed));
tools.addEventListener("submit", (event) => event.preventDefault());
