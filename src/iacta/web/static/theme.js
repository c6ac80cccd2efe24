// Sets the colours before the page is drawn: the visitor's choice, or the system's.

const system = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : system.matches;
}

/** Use `light`, `dark`, or, if neither is given, the colours of the system. */
function setTheme(theme) {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

try {
  setTheme(localStorage.theme);
} catch {} // the browser stores nothing

/** Switch to the other colours; store the choice only if it differs from the system's. */
// biome-ignore lint/correctness/noUnusedVariables: the modules of the page call it
function switchTheme() {
  const wanted = isDark() ? "light" : "dark";
  const isOfSystem = (wanted === "dark") === system.matches;
  setTheme(isOfSystem ? "" : wanted);
  try {
    if (isOfSystem) delete localStorage.theme;
    else localStorage.theme = wanted;
  } catch {}
  dispatchEvent(new Event("themechange"));
}

system.addEventListener("change", () => dispatchEvent(new Event("themechange")));
