// Draws the picture of an answer, with the width of its element and the colours of the page.

import { fit } from "./fit.js";

const SLACK = 16; // the maximum unused width beside a picture, in pixels
let theme = null; // the theme of all pictures
let shown = null; // the element and the specification of the current picture
let fitted = null; // the sizes of the last picture, reused for an element of the same width
let drawing = 0;

/** Load the drawing library and the theme once. */
function loadLibrary() {
  theme ??= Promise.all([
    fetch("theme.json").then((answer) => answer.json()),
    loadScript("static/vega.js"),
  ]).then(([read]) => read);
  return theme;
}

function loadScript(address) {
  return new Promise((resolve, reject) => {
    const made = document.createElement("script");
    Object.assign(made, { src: address, onload: resolve, onerror: reject });
    document.head.append(made);
  });
}

/** Draw a Vega-Lite specification into an element. A later call replaces an earlier call. */
export async function draw(place, spec) {
  const { light, dark: night, ...sizes } = await loadLibrary();
  shown = { place, spec };
  const mine = ++drawing;
  const config = structuredClone(isDark() ? night : light);
  const room = place.clientWidth;
  const sheet = document.createElement("div");
  sheet.className = isDark() ? "drawn dark" : "drawn";
  sheet.style.cssText = "position: absolute; visibility: hidden";
  place.style.position = "relative";
  place.append(sheet);
  const options = {
    ast: true,
    defaultStyle: false,
    mode: "vega-lite",
    tooltip: { disableDefaultStyle: true },
  };
  const isLate = () => mine !== drawing;
  const sized = await fit(sheet, spec, config, {
    room,
    sizes,
    slack: SLACK,
    options,
    fitted,
    isLate,
  });
  if (!sized) {
    sheet.remove();
    return;
  }
  fitted = sized;
  // Screen readers announce the picture as a whole, and not its marks.
  for (const mark of sheet.querySelectorAll("svg, svg [role]")) {
    for (const name of ["role", "aria-roledescription", "aria-label"]) mark.removeAttribute(name);
  }
  sheet.style.cssText = "";
  sheet.setAttribute("role", "img");
  sheet.setAttribute("aria-label", [spec.title?.text, spec.title?.subtitle].flat(2).join(" "));
  place.replaceChildren(sheet);
}

/** Show a picture drawn by the server, as a fallback for `draw`. */
export function show(place, address) {
  const src = isDark() ? `${address}&dark=true` : address;
  place.replaceChildren(Object.assign(document.createElement("img"), { src, alt: "" }));
}

const again = () => shown?.place.isConnected && draw(shown.place, shown.spec);
addEventListener("themechange", again);
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width) return; // browsers on phones change the height when they hide a bar
  width = innerWidth;
  again();
});
