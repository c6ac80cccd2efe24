// Sets the colours before the page is drawn: the user's choice, or the setting of the system.

const system = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : system.matches;
}

/** Use the theme `light` or `dark`; for any other value, the theme of the system. */
function setTheme(theme) {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

try {
  setTheme(localStorage.theme);
} catch {} // the browser forbids storage

/** Switch between light and dark; store the choice only if it differs from the system's theme. */
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
