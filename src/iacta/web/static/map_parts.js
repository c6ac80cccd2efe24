// Small elements of several modules: buttons, fields, and the marks of players.

import { svg } from "./map_board.js";
import { findPlayer } from "./map_labels.js";
import { store } from "./map_store.js";
import { element } from "./redraw.js";

export const row = (...children) => element("p", { className: "row" }, ...children);

const makeButton = (properties, ...children) =>
  element("button", { type: "button", ...properties }, ...children);

export const button = (className, onclick, ...children) =>
  makeButton({ className, onclick }, ...children);

export const tool = (words, onclick, more = {}) =>
  makeButton({ className: "tool", onclick, ...more }, words);

/** Return an item of a list of choices: a button with a name, a figure and words. */
export function makeChoice(name, figure, words, isPressed, onclick) {
  const parts = [element("span", {}, name), element("strong", {}, figure)];
  const look = { className: "move", ariaPressed: String(isPressed), onclick };
  return element("li", { key: name }, makeButton(look, parts, element("small", {}, words)));
}

/** Return a field for a whole number. */
export const numberField = (id, size, more = {}) =>
  element("input", {
    id,
    type: "text",
    inputMode: "numeric",
    autocomplete: "off",
    size,
    required: true,
    pattern: "\\s*\\d+\\s*",
    title: "a whole number",
    ...more,
  });

/** Return a form. `send` is called with its fields, and returns whether to clear them. */
export function form(id, className, send, ...children) {
  async function onsubmit(event) {
    event.preventDefault();
    if (await send(event.target.elements)) event.target.reset();
  }
  return element("form", { id, className, onsubmit }, ...children);
}

export const readField = ({ value }) => Number(value);

export const listOptions = (pairs) =>
  pairs.map(([value, words]) => element("option", { value }, words));

/** Return the mark of a player: the player's shape in the player's colour. */
export function markPlayer(player) {
  const { shape, colour } = findPlayer(player);
  const size = { viewBox: "-1.4 -1.4 2.8 2.8", width: 16, height: 16 };
  const path = svg("path", { d: shape, fill: colour });
  return svg("svg", { class: "swatch", ...size, "aria-hidden": "true" }, path);
}

export const markName = (name) => markPlayer(store.state.players.indexOf(name));
