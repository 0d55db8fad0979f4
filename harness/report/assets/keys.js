// One cell of the matrix is in the tab order; arrow keys move it. `/` searches, `j` and `k` go through the tasks, `?` helps.
const matrix = byId("_matrix");
let current = null;

function rove(next) {
  const shown = tasks.length ? [...matrix.tBodies].find((body) => !body.hidden) : null;
  const first = next || (shown ? shown.querySelector("th a") : null);
  if (current) current.tabIndex = -1;
  current = first;
  if (current) current.tabIndex = 0;
  if (next) next.focus();
}

function moveCell(event) {
  const cell = event.target.closest(".task > tr:first-child > *");
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (!cell || !step || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  let body = cell.closest("tbody");
  let column = cell.cellIndex;
  do {
    if (step[0] < 0) body = body.previousElementSibling;
    if (step[0] > 0) body = body.nextElementSibling;
    column += step[1];
    if (!body || !body.classList.contains("task") || !body.rows[0].cells[column]) return;
  } while (body.hidden || !body.rows[0].cells[column].querySelector("a"));
  rove(body.rows[0].cells[column].querySelector("a"));
}

function moveTask(by) {
  const shown = [...matrix.tBodies].filter((element) => !element.hidden);
  const at = shown.findIndex((element) => element.contains(document.activeElement));
  const next = shown[at === -1 ? (by > 0 ? 0 : -1) : at + by];
  if (!next) return;
  rove(next.querySelector("th a"));
  next.rows[0].scrollIntoView({ block: "nearest" });
}

const SHORTCUTS = {
  "/": () => byId("_search").focus(),
  j: () => moveTask(1),
  k: () => moveTask(-1),
  "?": () => byId("_help").showModal(),
};

matrix.addEventListener("keydown", moveCell);
document.addEventListener("keydown", (event) => {
  const action = SHORTCUTS[event.key];
  if (!action || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog")) return;
  event.preventDefault();
  action();
});
for (const link of matrix.querySelectorAll(".task > tr:first-child a")) link.tabIndex = -1;
byId("_keys").addEventListener("click", () => byId("_help").showModal());
byId("_keys").hidden = false;
byId("_close").addEventListener("click", () => byId("_help").close());
