// `#<instance_id>` opens a task, `#<instance_id>/<model>` a model's patch, `#?outcome=…` the tasks that a filter leaves.

function openTask(id, model) {
  const element = byId(id);
  if (!element || !fills.has(element)) return;
  if (element.hidden) { setFilter({}); apply(); }
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
  const hash = location.hash.slice(1);
  if (!hash) return;
  if (hash.startsWith("?")) {
    setFilter(Object.fromEntries(new URLSearchParams(hash.slice(1))));
    apply();
    byId("_matrix-title").scrollIntoView();
    return;
  }
  try {
    const [id, model] = hash.split("/").map(decodeURIComponent);
    openTask(id, model);
  } catch (error) { if (!(error instanceof URIError)) throw error; }
}

function address(hash) {
  try { history.replaceState(null, "", hash || location.pathname + location.search); }
  catch { return; } // some browsers keep the address of pages from disk as it is
}
