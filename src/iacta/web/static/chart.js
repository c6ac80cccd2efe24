// Draws the picture of an answer, as wide as its place and in the colours of the page.

import { fit } from "./fit.js";

const SLACK = 16; // width that may remain unused beside a picture, in pixels
let theme = null; // the theme of all pictures
let shown = null; // the place and the specification of the current picture
let fitted = null; // the sizes that fitted the last picture, for places of the same width
let drawing = 0;

/** Load the drawing library; the first picture waits for it. */
function prepare() {
  theme ??= Promise.all([
    fetch("theme.json").then((answer) => answer.json()),
    script("static/vega.js"),
  ]).then(([read]) => read);
  return theme;
}

function script(address) {
  return new Promise((resolve, reject) => {
    const made = document.createElement("script");
    Object.assign(made, { src: address, onload: resolve, onerror: reject });
    document.head.append(made);
  });
}

/** Draw a Vega-Lite specification into an element. A later call replaces an earlier one. */
export async function draw(place, spec) {
  const { light, dark: night, ...sizes } = await prepare();
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
  // The picture as a whole has a name for screen readers; its marks need no names.
  for (const mark of sheet.querySelectorAll("svg, svg [role]")) {
    for (const name of ["role", "aria-roledescription", "aria-label"]) mark.removeAttribute(name);
  }
  sheet.style.cssText = "";
  sheet.setAttribute("role", "img");
  sheet.setAttribute("aria-label", [spec.title?.text, spec.title?.subtitle].flat(2).join(" "));
  place.replaceChildren(sheet);
}

/** Show a picture drawn by the server, for browsers that cannot draw it. */
export function show(place, address) {
  const src = isDark() ? `${address}&dark=true` : address;
  place.replaceChildren(Object.assign(document.createElement("img"), { src, alt: "" }));
}

const again = () => shown?.place.isConnected && draw(shown.place, shown.spec);
addEventListener("themechange", again);
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width) return; // a phone's browser hides and shows its bars
  width = innerWidth;
  again();
});
