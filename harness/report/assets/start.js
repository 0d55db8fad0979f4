// A link to the place one is at already changes no hash, so clicks are followed too.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (!link) return;
  const element = link.closest("tbody.task");
  if (element && link.parentNode.tagName === "TH" && isOpen(element)) { event.preventDefault(); closeTask(element); return; }
  if (link.hash === location.hash) follow();
});
window.addEventListener("hashchange", follow);
tools.hidden = false;
apply();
if (tasks.length === 1 && !location.hash) openTask(tasks[0].id);
follow();
if (window.requestIdleCallback) requestIdleCallback(() => { if (!reading) readMore(); });
performance.mark("goldseam-ready");
