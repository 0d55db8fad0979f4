// A link to the place one is at already changes no hash, so clicks are followed too.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (link && link.hash === location.hash) follow();
});
window.addEventListener("hashchange", follow);
for (const element of tasks) {
  element.querySelector("summary").addEventListener("click", () => {
    if (!element.open) address("#" + encodeURIComponent(element.id));
  });
}
tools.hidden = false;
apply();
if (tasks.length === 1) { tasks[0].open = true; fills.get(tasks[0])(); }
follow();
if (window.requestIdleCallback) requestIdleCallback(() => { if (!reading) readMore(); });
performance.mark("goldseam-ready");
