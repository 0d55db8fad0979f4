// Tabs: one is shown at a time, and filled when it is first shown. An entry is {key, label, fill}; `label` fills its button.

function tabs(parent, entries, name, vertical) {
  const list = make(parent, "div", vertical ? "tabs side-tabs" : "tabs");
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", name);
  if (vertical) list.setAttribute("aria-orientation", "vertical");
  const panels = make(parent, "div", "panels");
  const parts = entries.map((entry) => {
    const tab = make(list, "button", "tab");
    tab.type = "button";
    tab.setAttribute("role", "tab");
    entry.label(tab);
    const panel = make(panels, "div", "panel");
    panel.setAttribute("role", "tabpanel");
    panel.tabIndex = 0;
    panel.hidden = true;
    const id = "_t" + (tabs.number += 1);
    tab.id = id;
    panel.setAttribute("aria-labelledby", id);
    tab.dataset.key = entry.key;
    return { entry, tab, panel, filled: false };
  });
  const choose = (key) => {
    const part = parts.find((each) => each.entry.key === key) || parts[0];
    for (const each of parts) {
      const chosen = each === part;
      each.tab.setAttribute("aria-selected", String(chosen));
      each.tab.tabIndex = chosen ? 0 : -1;
      each.panel.hidden = !chosen;
    }
    if (!part.filled) { part.filled = true; part.inside = part.entry.fill(part.panel); }
    return part;
  };
  list.addEventListener("click", (event) => {
    const part = parts.find((each) => each.tab.contains(event.target));
    if (part) { choose(part.entry.key); if (part.entry.chosen) part.entry.chosen(); }
  });
  list.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const at = parts.findIndex((each) => each.tab === document.activeElement);
    if (!by || at === -1) return;
    event.preventDefault();
    event.stopPropagation();
    const next = parts[(at + by + parts.length) % parts.length];
    next.tab.focus();
    next.tab.click();
  });
  return choose;
}
tabs.number = 0;
