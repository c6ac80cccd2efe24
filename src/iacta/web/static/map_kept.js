// "Your games": the last games of this browser, each with its whole history.
//
// Each game has an id, which its links contain. If a game goes on from an earlier state, or in two
// tabs, so that its steps are not those that this browser has, it gets another id, and both are kept.

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
 * Return the games of this browser, the latest first; `dots` is the small map: the place and the
 * colour of each territory.
 * @returns {{id: string, tab: string, time: number, words: string, frame: number[],
 *   dots: [number, number, string][]}[]}
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
 * Keep a game. Return its state, and `isForked` if the state has got another id, because this browser
 * has the game with other steps; `isLater` if it has the game with more steps, and keeps those;
 * `isKept` unless the browser cannot store the game.
 * @param {import("./map_state.js").State} state
 * @param {object} about the other properties of the game in the list
 * @param {boolean} isUndone whether a player has just taken steps back
 */
export function keepGame(state, about, isUndone) {
  const games = listKept();
  const before = games.find(({ id }) => id === state.id);
  const isOwn = isUndone && before?.tab === TAB;
  const [old, now] = [readTexts(before ? findKept(state.id) : ""), readTexts(writeLink(state))];
  const isContinued = now.startsWith(old);
  if (!isContinued && !isOwn && old.startsWith(now)) return { state, isLater: true, isKept: true };
  const isForked = !isContinued && !isOwn;
  const id = state.id && !isForked ? state.id : makeId();
  const kept = { ...state, id };
  const others = games.filter((game) => game.id !== id);
  try {
    for (const { id: gone } of others.splice(MAX_GAMES - 1)) localStorage.removeItem(KEY + gone);
    localStorage.setItem(KEY + id, writeLink(kept));
    localStorage.setItem(LIST, JSON.stringify([{ ...about, id, tab: TAB }, ...others]));
    return { state: kept, isForked, isKept: true };
  } catch {
    return { state: kept, isForked, isKept: false }; // the storage is full or forbidden
  }
}

/** Return the steps of a link as a text, without the prices of goals, which change later. */
function readTexts(link) {
  const [, texts = ""] = /&x=([^&]*)/.exec(link) ?? [];
  return texts && `${texts.replaceAll(/o[\d-]*[a-z]/g, "o")}.`;
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
