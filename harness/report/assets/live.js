// A report of `goldseam view`: asks whether its runs have changed, and shows the new results where nothing is open.
const EVERY = 2000; // milliseconds
const REST = 15000; // between two reloads
const begun = performance.now();

async function lookAgain() {
  const line = byId("_live");
  try {
    const answer = await fetch(index.live);
    if (!answer.ok) throw new Error((await answer.text()).trim());
    const state = await answer.json();
    line.textContent = state.scored < state.total ? `${state.scored} of ${state.total} scored` : "";
    if (state.version !== index.version) {
      const busy = tasks.some(isOpen) || document.activeElement?.closest("input, select, dialog");
      if (!busy && performance.now() - begun > REST) { location.reload(); return; }
      const link = make(line, "a", "", " Show new results");
      link.href = location.href;
      link.addEventListener("click", (event) => { event.preventDefault(); location.reload(); });
    }
  } catch (error) { line.textContent = error instanceof TypeError ? "goldseam view has ended." : error.message; }
  setTimeout(lookAgain, EVERY);
}
setTimeout(lookAgain, EVERY);
