// Light, dark, or as the system has it.
const THEMES = ["system", "light", "dark"];
const button = byId("_theme");

function theme(which) {
  document.documentElement.dataset.theme = which;
  button.textContent = "Theme: " + which;
}

function remembered(which) {
  try {
    if (which) localStorage.setItem("goldseam-theme", which);
    return localStorage.getItem("goldseam-theme");
  } catch { return null; } // some browsers give pages from disk no storage
}

button.addEventListener("click", () => {
  const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length];
  theme(next);
  remembered(next);
});
theme(THEMES.includes(remembered()) ? remembered() : "system");
button.hidden = false;
