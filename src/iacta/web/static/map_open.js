// Opens boards and positions: from the server, from files, and from this browser.

import { postJson } from "./ask.js";
import { shortenName } from "./map_board.js";
import { writeLink } from "./map_link.js";
import { makePositionState } from "./map_state.js";
import { pack, unpack } from "./pack.js";

export const EXAMPLES = [
  {
    words: "Take Asia with red’s 42 armies",
    file: "asia.toml",
    goal: { goal: "continent" },
    continent: "Asia",
  },
  {
    words: "Eliminate blue with four stacks",
    file: "eliminate-blue.json",
    goal: { goal: "eliminate" },
    victim: "blue",
  },
  {
    words: "Two stacks against one border",
    file: "break-off.json",
    goal: { goal: "all", targets: [2, 3] },
  },
];
const MOST_RECENT = 5;
const RECENT = "iacta-recent";
let classic = null;

/** Return the code of a board for a URL; empty for the classic board. */
const packBoard = ({ board }) => (board === "classic" ? "" : pack(JSON.stringify(board)));

export async function loadBoard(code) {
  if (code) return postJson("api/v1/board/read", { name: "board", text: await unpack(code) });
  classic ??= await (await fetch("api/v1/board")).json();
  return classic;
}

/** Return the board and the state of an example. */
export async function loadExample({ file, goal, continent, victim }) {
  const text = await (await fetch(`static/examples/${file}`)).text();
  const board = await postJson("api/v1/position/read", { text });
  const state = { ...makePositionState(board, await packBoard(board), board.position), ...goal };
  if (continent) state.continent = board.continents.findIndex(({ name }) => name === continent);
  if (victim) state.victim = state.players.indexOf(victim);
  return { board, state };
}

/**
 * Read a text as a board, a position or a code. Return the board, its code, and the state (null for
 * a board). `beside` is the board of a position without its own board.
 */
export async function readText(text, name, beside) {
  const isCode = /^\s*1;/.test(text);
  if (!isCode && !/^\s*["']?player["']?\s*[:=]/m.test(text) && !/[{,]\s*"player"\s*:/.test(text)) {
    const board = await postJson("api/v1/board/read", { text, name });
    return { board, code: await packBoard(board), state: null };
  }
  const board = await postJson("api/v1/position/read", { text, board: beside.board });
  const { rules, keep, stay, fresh, victory } = board;
  const code = await packBoard(board);
  return {
    board,
    code,
    state: {
      ...makePositionState(board, code, board.position),
      ...(isCode && rules && { rules, keep, stay, fresh }),
      victory,
    },
  };
}

/** Return the positions that were recently analysed in this browser. */
export function listRecent() {
  try {
    return JSON.parse(localStorage.getItem(RECENT) ?? "[]").slice(0, MOST_RECENT);
  } catch {
    return [];
  }
}

/** Store a position among the recent positions of this browser. */
export function remember(board, state) {
  const mine = state.armies.reduce(
    (sum, count, t) => sum + (state.owners[t] === state.mover ? count : 0),
    0,
  );
  const words = `${shortenName(state.players[state.mover])}, ${mine} armies, on ${shortenName(board.name)}`;
  const fragment = writeLink({ ...state, steps: [], at: 0, played: false });
  const all = [{ words, fragment }, ...listRecent().filter((each) => each.fragment !== fragment)];
  try {
    localStorage.setItem(RECENT, JSON.stringify(all.slice(0, MOST_RECENT)));
  } catch {
    // The storage is full or forbidden.
  }
}

/** Return a position in the format of files. */
export function makePosition(board, state) {
  const held = board.territories.flatMap((name, t) =>
    state.owners[t] < 0
      ? []
      : [[name, { owner: state.players[state.owners[t]], armies: state.armies[t] }]],
  );
  return {
    board: board.board,
    player: state.players[state.mover],
    territories: Object.fromEntries(held),
    ...(state.victory && { win: state.victory }),
  };
}
