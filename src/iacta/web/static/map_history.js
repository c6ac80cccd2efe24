// The history of a turn: a tree of its steps, of which any can be taken back, and what each was worth.
//
// The server remembers no game. The page sends the code of a turn and a step, and keeps the turn
// that follows; a link brings the steps, which are replayed at once.

import { posted } from "./ask.js";
import { codeOf } from "./map_state.js";

/** @typedef {import("./map_state.js").Board} Board */
/** @typedef {import("./map_state.js").State} State */
/** @typedef {import("./map_state.js").Step} Step */

/**
 * Where a turn is, as the server says it.
 * @typedef {object} TurnState
 * @property {string} code
 * @property {"place"|"attack"|"advance"|"fortify"|"over"} phase
 * @property {string} player
 * @property {string[]} owners
 * @property {number[]} armies
 * @property {number} new armies that are still to be placed
 * @property {{from: number, to: number, chance: number, words: string, dice: number,
 *   rolls: [number, number, number][]}[]} odds
 * @property {string} sentence
 * @property {string} [words] the step that led here
 * @property {string} [problem] why the step is not possible
 * @property {{from: number, to: number, least: number, most: number}} [advance]
 * @property {[number, number, number][]} [fortify]
 */

export class Tree {
  constructor() {
    this.key = "";
    /** @type {TurnState[]} */
    this.turns = [];
    this.waiting = null;
  }

  /**
   * Make the turns of a state known; return whether they are.
   * @param {Board} board
   * @param {State} state
   * @param {(error?: Error) => void} then is called once they are, or cannot be
   */
  ready(board, state, then) {
    const code = codeOf(board, state);
    if (this.key === code && this.turns.length > state.steps.length) return true;
    const asked = JSON.stringify([code, state.steps]);
    if (this.waiting === asked) return false;
    this.waiting = asked;
    const steps = state.steps.map(({ note, ...step }) => step);
    posted("api/v1/turn/replay", { code, board: board.board, steps }).then(
      ({ turns }) => {
        if (this.waiting !== asked) return;
        Object.assign(this, { key: code, turns, waiting: null });
        then();
      },
      (error) => {
        if (this.waiting === asked) then(error);
      },
    );
    return false;
  }

  /** Take a step from a turn: return the step as it is kept, and keep the turn that follows. */
  async take(board, state, step) {
    const before = this.turns[state.at];
    const after = await posted("api/v1/turn/step", { code: before.code, board: board.board, step });
    const kept = { after: state.at, ...result(step, before, after) };
    const same = state.steps.findIndex((each) => textOf(each) === textOf(kept));
    if (same >= 0) return { steps: state.steps, at: same + 1 };
    this.turns = [...this.turns.slice(0, state.steps.length + 1), after];
    return { steps: [...state.steps, kept], at: state.steps.length + 1 };
  }
}

const textOf = ({ note, ...step }) => JSON.stringify(step, Object.keys(step).sort());

/** Return a step whose dice have been thrown as what it came to; one roll with its number of dice. */
function result(step, before, after) {
  if (step.do !== "roll" && step.do !== "faces") return step;
  const { from, to } = step;
  const most = before.odds.find((way) => way.from === from && way.to === to)?.dice;
  const dice = step.do === "faces" ? { dice: step.mine.length } : step.once ? { dice: most } : {};
  const isTaken = after.owners[to] === after.player;
  const left = after.armies[from] + (isTaken ? after.armies[to] : 0);
  return { do: "attack", from, to, left, their_left: isTaken ? 0 : after.armies[to], ...dice };
}

/** Return the numbers of the steps that lead to a step, the first one first. */
export function pathTo(steps, at) {
  const path = [];
  for (let k = at; k > 0; k = steps[k - 1].after) path.unshift(k);
  return path;
}

/** Return the step that goes on from one, on the line that was looked at last; 0 if none does. */
export function next(steps, at) {
  const following = steps.flatMap(({ after }, k) => (after === at ? [k + 1] : []));
  return following.at(-1) ?? 0;
}

/** Return the line that goes through a step, to its end. */
export function lineThrough(steps, at) {
  const line = pathTo(steps, at);
  for (let k = next(steps, at); k; k = next(steps, k)) line.push(k);
  return line;
}

/**
 * Return the log of the line through a step, as `iacta review` reads it: a line for each turn, and
 * for each part of a turn that new armies begin.
 */
export function logOf(board, state, turns, goal) {
  const lines = [];
  let line = null;
  const begin = (turn) => {
    const named = lines.length || board.board === "classic" ? {} : { board: board.board };
    line = { turn: turn.code, ...named, goal, battles: [] };
    lines.push(line);
  };
  const end = (stops) => {
    if (line && !stops) line.stops = false;
    line = null;
  };
  for (const k of lineThrough(state.steps, state.at)) {
    const step = state.steps[k - 1];
    const [before, after] = [turns[step.after], turns[k]];
    if (step.do === "attack") {
      if (!line) begin(before);
      const names = { from: board.territories[step.from], to: board.territories[step.to] };
      const moved = after.advance ? { moved: after.advance.least } : {};
      const dice = step.dice ? { dice: step.dice } : {};
      line.battles.push({ ...names, left: step.left, their_left: step.their_left, ...moved, ...dice });
    }
    if (step.do === "advance") line.battles.at(-1).moved = step.armies;
    if (step.do === "get" || step.do === "place") end(false);
    if (step.do === "stop" || step.do === "next") {
      if (!line && before.phase === "attack") begin(before);
      end(true);
    }
  }
  end(false);
  return lines.map((each) => `${JSON.stringify(each)}\n`).join("");
}

/** Return the steps without one and all that follow it, and where that leaves the player. */
export function without(steps, gone) {
  const isGone = [false];
  const place = [0];
  const left = [];
  steps.forEach((step, k) => {
    isGone[k + 1] = k + 1 === gone || isGone[step.after];
    if (isGone[k + 1]) return;
    left.push({ ...step, after: place[step.after] });
    place[k + 1] = left.length;
  });
  return { steps: left, at: place[steps[gone - 1].after], kept: place };
}
