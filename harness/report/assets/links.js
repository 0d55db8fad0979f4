// `#<instance_id>` opens a task, `#<instance_id>/<model>` a prediction, `#<instance_id>/<model>/<tab>` one of its tabs,
// `#?outcome=…` filters the tasks.

function openTask(id, model, tab) {
  const element = byId(id);
  if (!tasks.includes(element)) return;
  if (element.hidden) { setFilter({}); apply(); }
  const { row, choose } = drawer(element);
  row.hidden = false;
  element.querySelector("th a").setAttribute("aria-expanded", "true");
  const part = choose(model || "");
  if (tab && part.inside) part.inside(tab);
  // Going to a place takes the focus away, and the keyboard would begin anew at the top.
  if (model) part.tab.focus({ preventScroll: true });
  else rove(element.querySelector("th a"));
  element.scrollIntoView();
}

function follow() {
  const hash = location.hash.slice(1);
  if (!hash) return;
  if (hash.startsWith("?")) {
    setFilter(Object.fromEntries(new URLSearchParams(hash.slice(1))));
    apply();
    byId("_matrix-title").scrollIntoView();
    return;
  }
  try {
    openTask(...hash.split("/").map(decodeURIComponent));
  } catch (error) { if (!(error instanceof URIError)) throw error; }
}

function address(hash) {
  try { history.replaceState(null, "", hash || location.pathname + location.search); }
  catch { return; } // some browsers keep the address of pages from disk as it is
}
