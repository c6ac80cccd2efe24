// Saves or shares the map as a picture with its sentence and battles, in the colours of the page.

import { shareFile } from "./ask.js";

const SVG = "http://www.w3.org/2000/svg";
const TYPE = "image/svg+xml";
const MARGIN = 12; // pixels around the sentence
const FONT = 17; // the size of the sentence in pixels
const LIST_FONT = 15; // the size of the list of battles in pixels
const MIN_WIDTH = 1600; // the minimum width of a PNG in pixels
const LOOK = [
  ...["fill", "fill-opacity", "stroke", "stroke-dasharray", "stroke-linecap", "stroke-linejoin"],
  ...["stroke-opacity", "stroke-width", "opacity", "paint-order", "vector-effect", "visibility"],
  ...["font-family", "font-size", "font-weight", "dominant-baseline", "text-anchor"],
];
const OF_PAGE = /^(class|id|role|style|tabindex|aria-.*|data-.*)$/; // attributes that only the page uses

/** Return a colour in a form that every program for pictures can read. */
function simplifyColour(value) {
  const found = /^color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)/.exec(value);
  return found ? `rgb(${found.slice(1).map((part) => Math.round(255 * part))})` : value;
}

/** Return a copy of an SVG element in which attributes replace the style sheet. */
function copyWithLook(root) {
  const copy = root.cloneNode(true);
  const copies = [copy, ...copy.querySelectorAll("*")];
  for (const [k, each] of [root, ...root.querySelectorAll("*")].entries()) {
    const look = getComputedStyle(each);
    const made = copies[k];
    if (look.display === "none") made.remove();
    for (const { name } of [...made.attributes]) if (OF_PAGE.test(name)) made.removeAttribute(name);
    for (const name of LOOK) made.setAttribute(name, simplifyColour(look.getPropertyValue(name)));
  }
  return copy;
}

/** Split a sentence into lines that fit a width in pixels. */
function wrap(sentence, font, width) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = font;
  const lines = [];
  for (const word of sentence.split(" ")) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && context.measureText(longer).width <= width)
      lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function makeNode(name, attributes, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/**
 * Return lines of text below a height, and the height below them.
 * @returns {[SVGElement, number]}
 */
function drawText(lines, top, look) {
  const size = look["font-size"];
  const spans = lines.map((line, k) =>
    makeNode("tspan", { x: MARGIN, y: top + size * (1 + 1.3 * k) }, line),
  );
  return [makeNode("text", look, ...spans), top + 1.3 * size * lines.length];
}

/** Return the map below a sentence and a list of battles, as SVG. */
function drawMap(map, sentence, battles) {
  const page = getComputedStyle(document.body);
  const [width, height] = ["width", "height"].map((name) => Number(map.getAttribute(name)));
  const look = { fill: simplifyColour(page.color), "font-family": page.fontFamily };
  const fit = (text, weight, size) =>
    wrap(text, `${weight} ${size}px ${page.fontFamily}`, width - 2 * MARGIN);
  const bold = { ...look, "font-size": FONT, "font-weight": 600 };
  const [title, below] = drawText(fit(sentence, 600, FONT), MARGIN, bold);
  const rows = battles.flatMap((battle) => fit(battle, 400, LIST_FONT));
  const [list, end] = drawText(rows, below + (rows.length && MARGIN / 2), {
    ...look,
    "font-size": LIST_FONT,
  });
  const top = Math.ceil(end + MARGIN);
  const ground = simplifyColour(getComputedStyle(map.parentElement).backgroundColor);
  const drawn = copyWithLook(map);
  drawn.setAttribute("y", top);
  const all = makeNode(
    "svg",
    { width, height: top + height, viewBox: `0 0 ${width} ${top + height}` },
    makeNode("title", {}, sentence),
    makeNode("rect", { width, height: top, fill: simplifyColour(page.backgroundColor) }),
    makeNode("rect", { y: top, width, height, fill: ground }),
    title,
    ...(rows.length ? [list] : []),
    drawn,
  );
  return new XMLSerializer().serializeToString(all);
}

/** Convert an SVG picture to PNG, with at least twice as many pixels in each direction. */
async function convertToPng(text) {
  const picture = new Image();
  const address = URL.createObjectURL(new Blob([text], { type: TYPE }));
  picture.src = address;
  await picture.decode();
  const scale = Math.max(2, MIN_WIDTH / picture.width);
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(scale * picture.width);
  canvas.height = Math.round(scale * picture.height);
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(address);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

/**
 * Share the map with a sentence, or save it.
 * @param {SVGElement} map
 * @param {string} sentence
 * @param {string[]} battles the lines of a list of battles
 * @param {boolean} isSvg whether to make an SVG file instead of a PNG file
 */
export async function shareMap(map, sentence, battles, isSvg) {
  const text = drawMap(map, sentence, battles);
  if (isSvg) await shareFile("map.svg", text, TYPE, sentence);
  else await shareFile("map.png", await convertToPng(text), "image/png", sentence);
}
