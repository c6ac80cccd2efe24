// Draws the picture of an answer: as wide as its place, in the colours of the page.

const LEAST = 160;    // no plot is narrower
const MARGIN = 110;   // the usual room of axes and padding beside the plot
const NARROW = 480;   // narrower places have smaller letters in their titles
const SLACK = 16;     // this much room may remain beside a picture
let theme = null;     // the same for all pictures
let shown = null;     // the place and the specification on the screen
let fitted = null;    // the sizes of the last picture, for a place of that width
let drawing = 0;

/** Loads what draws; the first picture waits for it. */
function prepare() {
  theme ??= Promise.all([fetch("theme.json").then(answer => answer.json()), script("static/vega.js")])
    .then(([read]) => read);
  return theme;
}

function script(address) {
  return new Promise((resolve, reject) => {
    const made = document.createElement("script");
    Object.assign(made, {src: address, onload: resolve, onerror: reject});
    document.head.append(made);
  });
}

/** Draws a Vega-Lite specification into an element; later calls win. */
export async function draw(place, spec) {
  const {light, dark: night, width: widest, narrow, padding} = await prepare();
  shown = {place, spec};
  const mine = ++drawing;
  const config = structuredClone(isDark() ? night : light);
  const room = place.clientWidth;
  let width = Math.min(widest, room - MARGIN);
  if (room < NARROW) {
    Object.assign(config.title, {fontSize: 13, subtitleFontSize: 11});
    config.legend.columns = 2;
  }
  if (fitted?.room === room) {
    width = fitted.width;
    Object.assign(config.title, fitted.title);
  }
  const sheet = document.createElement("div");
  sheet.className = isDark() ? "drawn dark" : "drawn";
  sheet.style.cssText = "position: absolute; visibility: hidden";
  place.style.position = "relative";
  place.append(sheet);
  const options = {
    renderer: "svg", actions: false, ast: true, defaultStyle: false, mode: "vega-lite",
    tooltip: {disableDefaultStyle: true},
  };
  // How much room the labels beside the plot take is known only once they are drawn.
  for (let round = 0; round < 3; ++round) {
    config.view.continuousWidth = config.view.discreteWidth = width = Math.max(LEAST, width);
    // Maps have two sizes, for which the places of their labels are computed.
    const isFixed = spec.usermeta?.narrow?.vconcat;
    const isNarrow = isFixed ? room < widest + padding : width < narrow;
    const form = isNarrow ? {...spec, ...spec.usermeta?.narrow} : spec;
    await vegaEmbed(sheet, {...form, config}, options);
    if (mine !== drawing) {
      sheet.remove();
      return;
    }
    const wide = selector => Math.max(0, ...Array.from(
      sheet.querySelectorAll(selector), each => each.getBoundingClientRect().width));
    const words = wide(".role-title-text, .role-title-subtitle");
    const excess = wide("svg") - room;
    if (isFixed || (excess < 1 && (excess > -SLACK || width >= widest))) break;
    if (words > room - padding) {
      config.title.fontSize *= (room - padding) / words;
      config.title.subtitleFontSize *= (room - padding) / words;
    }
    width = Math.min(widest, width - excess);
  }
  const {fontSize, subtitleFontSize} = config.title;
  fitted = {room, width, title: {fontSize, subtitleFontSize}};
  // The picture as a whole has a name, and its marks need none.
  for (const mark of sheet.querySelectorAll("svg, svg [role]")) {
    for (const name of ["role", "aria-roledescription", "aria-label"]) mark.removeAttribute(name);
  }
  sheet.style.cssText = "";
  sheet.setAttribute("role", "img");
  sheet.setAttribute("aria-label", [spec.title?.text, spec.title?.subtitle].flat(2).join(" "));
  place.replaceChildren(sheet);
}

/** Shows the picture that the server draws, where this browser cannot. */
export function show(place, address) {
  const src = isDark() ? `${address}&dark=true` : address;
  place.replaceChildren(Object.assign(document.createElement("img"), {src, alt: ""}));
}

const again = () => shown?.place.isConnected && draw(shown.place, shown.spec);
addEventListener("themechange", again);
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width) return;  // a phone's bars come and go
  width = innerWidth;
  again();
});
