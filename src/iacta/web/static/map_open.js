// Opens boards and positions: from the server, from files, and from this browser.

import { postJson, Refused } from "./ask.js";
import { writeLink } from "./map_link.js";
import { makeSetup, makeState } from "./map_state.js";
import { look, store } from "./map_store.js";
import { pack, unpack } from "./pack.js";

export const EXAMPLES = [
  { words: "Take Asia with red’s 42 armies", file: "asia.toml", goal: "o1-0-0-4" },
  { words: "Eliminate blue with four stacks", file: "eliminate-blue.json", goal: "o4-0-0-1" },
  { words: "Two stacks against one border", file: "break-off.json", goal: "o2-0-0-2-3" },
];
const MAX_RECENT = 5;
const RECENT = "iacta-recent";

/** Return the code of a board for a URL; empty for the classic board. */
export const packBoard = ({ board }) => (board === "classic" ? "" : pack(JSON.stringify(board)));

export async function loadBoard(code) {
  if (code) return postJson("api/v1/board/read", { name: "board", text: await unpack(code) });
  store.classic ??= await (await fetch("api/v1/board")).json();
  return store.classic;
}

/** Return the board and the state of an example. */
export async function loadExample({ file, goal }) {
  const text = await (await fetch(`static/examples/${file}`)).text();
  const { board, state } = await readText(text, file);
  return { board, state: { ...state, goal } };
}

/** Return the number of new armies that the rules give to the player to move. */
export async function countNewArmies(board, state) {
  const setup = { ...makeSetup(state), fresh: 0 };
  const { turns, problem } = await postJson("api/v1/turn/replay", { setup, board: board.board });
  if (problem) throw new Refused(problem);
  return turns[0].usual;
}

/**
 * Read a text as a board, a position or a code. Return the board and the state; `isPosition` tells
 * whether the text has a position. `beside` is the board of a position without its own board.
 */
export async function readText(text, name, beside = "classic") {
  const { setup, ...board } = await postJson("api/v1/board/read", { text, name, board: beside });
  const state = makeState(board, await packBoard(board), look.names);
  return { board, state: { ...state, ...setup }, isPosition: Boolean(setup) };
}

/** Return the position at the start of the turn of a link, with the players of the link. */
export async function readTurnStart({ code, players }, board) {
  const { state } = await readText(code, "code", board.board);
  const number = (player) => (player < 0 ? player : players.indexOf(state.players[player]));
  const { armies, rules, keep, stay, fresh, fields } = state;
  return {
    ...{ players, armies, rules, keep, stay, fresh, fields },
    owners: state.owners.map(number),
    mover: number(state.mover),
    neutral: state.neutral.map(number),
  };
}

/** Return the positions that were recently analysed in this browser. */
export function listRecent() {
  try {
    return JSON.parse(localStorage.getItem(RECENT) ?? "[]").slice(0, MAX_RECENT);
  } catch {
    return [];
  }
}

/** Store a position among the recent positions of this browser. */
export function remember(board, state) {
  const mine = state.armies.filter((_, t) => state.owners[t] === state.mover);
  const count = mine.reduce((sum, armies) => sum + armies, 0);
  const words = `${state.players[state.mover]}, ${count} armies, on ${board.short_name}`;
  const fragment = writeLink({ ...state, steps: [], at: 0, played: false });
  const others = listRecent().filter((recent) => recent.fragment !== fragment);
  try {
    const kept = [{ words, fragment }, ...others].slice(0, MAX_RECENT);
    localStorage.setItem(RECENT, JSON.stringify(kept));
  } catch {
    // The storage is full or forbidden.
  }
}
