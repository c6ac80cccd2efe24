// "Your games": the last games of this browser, each with its whole history.
//
// Each game has an id, which its links contain. A tab keeps a game under its id. If another tab went
// on with the same game in another way, the game of this tab gets an id of its own, so that neither
// game is lost.

import { findPath } from "./map_history.js";
import { hashSteps, readLink, writeLink } from "./map_link.js";

const MAX_GAMES = 20;
const LIST = "iacta-games";
const KEY = "iacta-game-";
const TAB = makeId(); // distinguishes the tabs of the browser

/** Return an id that no other tab uses. */
function makeId() {
  const [number] = crypto.getRandomValues(new Uint32Array(1));
  return Date.now().toString(36) + number.toString(36);
}

/**
 * Return the games of this browser, the latest first. `steps` and `hash` describe the tree of steps,
 * `dots` the small map: the place and the colour of each territory.
 * @returns {{id: string, tab: string, time: number, words: string, steps: number, hash: string,
 *   frame: number[], dots: [number, number, string][]}[]}
 */
export function listKept() {
  try {
    return JSON.parse(localStorage.getItem(LIST) ?? "[]");
  } catch {
    return [];
  }
}

/** Return the link to a whole game of this browser; "" if it has none. */
export function findKept(id) {
  try {
    return localStorage.getItem(KEY + id) ?? "";
  } catch {
    return "";
  }
}

/**
 * Keep a game. Return its state, with another id if another tab went on with the game in another
 * way; `isKept` tells whether the browser could store it, and `isForked` whether the id is new.
 */
export function keepGame(state, about) {
  const games = listKept();
  const before = games.find(({ id }) => id === state.id);
  const isForked = Boolean(before) && before.tab !== TAB && !isContinued(before, state.steps);
  const id = state.id && !isForked ? state.id : makeId();
  const kept = { ...state, id };
  const { length } = state.steps;
  const entry = { ...about, id, tab: TAB, steps: length, hash: hashSteps(state.steps, length) };
  const others = games.filter((game) => game.id !== id);
  try {
    for (const { id: old } of others.splice(MAX_GAMES - 1)) localStorage.removeItem(KEY + old);
    localStorage.setItem(KEY + id, writeLink(kept));
    localStorage.setItem(LIST, JSON.stringify([entry, ...others]));
    return { state: kept, isForked, isKept: true };
  } catch {
    return { state: kept, isForked, isKept: false }; // the storage is full or forbidden
  }
}

const isContinued = ({ steps: count, hash }, steps) =>
  count <= steps.length && hash === hashSteps(steps, count);

/** Whether this browser has a state of a game that is not among the steps of another state. */
export function isLater({ id, steps }) {
  const game = listKept().find((each) => each.id === id);
  return Boolean(game) && !isContinued(game, steps);
}

/** Remove a game from this browser. */
export function forgetGame(id) {
  try {
    localStorage.removeItem(KEY + id);
    localStorage.setItem(LIST, JSON.stringify(listKept().filter((game) => game.id !== id)));
  } catch {
    // The storage is forbidden.
  }
}

/**
 * Return the whole game of a link that contains only the present turn, with the steps of the link;
 * null if this browser does not have the game.
 * @param {{id: string, start: number, hash: string, steps: object[]}} given the parts of the link
 */
export function completeGame({ id, start, hash, steps }, board, look) {
  const link = findKept(id);
  if (!link) return null;
  const { state } = readLink(link, board, look);
  const path = findPath(state.steps, Math.min(start, state.steps.length));
  if (hash !== hashSteps(path.map((k) => state.steps[k - 1])) || start > state.steps.length)
    return null;
  const all = [...state.steps];
  let at = start;
  for (const { text } of steps) {
    const known = all.findIndex((step) => step.after === at && step.text === text);
    if (known < 0) all.push({ after: at, text });
    at = known < 0 ? all.length : known + 1;
  }
  return { ...state, steps: all, at };
}
