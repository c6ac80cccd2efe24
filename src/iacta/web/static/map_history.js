// The history of a turn: a tree of steps, in which every step can be undone.
//
// The server stores no games. The page sends the code of a turn and a step, and keeps the turn that
// follows. The steps in a link are replayed when the page opens. Each turn is the server's record:
// code, phase and sentence, owners and armies, odds at each border, and the step that led here in
// words, or the reason why the step is not possible.

import { posted } from "./ask.js";
import { codeOf } from "./map_state.js";

export class Tree {
  constructor() {
    this.key = "";
    this.texts = []; // the steps that led to the turns
    this.version = 0; // increases whenever the texts are replaced
    this.turns = [];
    this.waiting = null;
  }

  /**
   * Make sure that the turns of a state are known; return whether they are. If not, `then` is
   * called when they are, or when they cannot be found.
   */
  ready(board, state, then) {
    const code = codeOf(board, state);
    const texts = state.steps.map(textOf);
    if (this.key === code && this.turns.length && texts.every((text, k) => text === this.texts[k]))
      return true;
    const asked = JSON.stringify([code, texts]);
    if (this.waiting === asked) return false;
    this.waiting = asked;
    posted("api/v1/turn/replay", { code, board: board.board, steps: plain(state.steps) }).then(
      ({ turns }) => {
        if (this.waiting !== asked) return;
        Object.assign(this, { key: code, turns, texts, version: this.version + 1, waiting: null });
        then();
      },
      (error) => this.waiting === asked && then(error),
    );
    return false;
  }

  /** Take a step from a turn; keep the turn that follows, and return the step as it is stored. */
  async take(board, state, step) {
    const before = this.turns[state.at];
    const body = { code: before.code, board: board.board, step };
    const { step: recorded, ...after } = await posted("api/v1/turn/step", body);
    const kept = { after: state.at, ...recorded };
    const same = state.steps.findIndex((each) => textOf(each) === textOf(kept));
    if (same >= 0) return { steps: state.steps, at: same + 1 };
    const count = state.steps.length;
    if (this.texts.length > count) this.version += 1;
    this.turns = [...this.turns.slice(0, count + 1), after];
    this.texts = [...this.texts.slice(0, count), textOf(kept)];
    return { steps: [...state.steps, kept], at: count + 1 };
  }
}

/** Return the steps without comments and goals, as the server expects them. */
export const plain = (steps) => steps.map(({ note, goal, ...step }) => step);

const textOf = ({ note, goal, ...step }) => JSON.stringify(step, Object.keys(step).sort());

/** Return the numbers of the steps that lead to a step, in order. */
export function pathTo(steps, at) {
  const path = [];
  for (let k = at; k > 0; k = steps[k - 1].after) path.unshift(k);
  return path;
}

/** Return the next step on the line that was viewed last; 0 if there is none. */
export const next = (steps, at) => steps.findLastIndex(({ after }) => after === at) + 1;

/** Return the whole line of steps through a given step. */
export function lineThrough(steps, at) {
  const line = pathTo(steps, at);
  for (let k = next(steps, at); k; k = next(steps, k)) line.push(k);
  return line;
}

/**
 * Return the line of steps through a step as a log for `iacta review`: one line for each turn, and
 * for each part of a turn that begins with new armies. `findGoal` returns the goal of a step's
 * turn.
 */
export function logOf(board, state, turns, findGoal) {
  const lines = [];
  const corrected = [];
  let line = null;
  const begin = (turn, k) => {
    const named = lines.length || board.board === "classic" ? {} : { board: board.board };
    const goal = findGoal(k);
    line = { turn: turn.code, ...named, ...(goal && { goal }), battles: [] };
    if (corrected.length) line.corrected = corrected.splice(0);
    lines.push(line);
  };
  const end = (stops) => {
    if (line && !stops) line.stops = false;
    line = null;
  };
  const path = lineThrough(state.steps, state.at);
  for (const k of path) {
    const step = state.steps[k - 1];
    const [before, after] = [turns[step.after], turns[k]];
    if (step.do === "attack") {
      if (!line) begin(before, step.after);
      const names = { from: board.territories[step.from], to: board.territories[step.to] };
      const moved = after.advance ? { moved: after.advance.least } : {};
      const { do: _, after: __, from, to, note, goal, ...numbers } = step;
      line.battles.push({ ...names, ...numbers, ...moved });
    }
    if (step.do === "advance" && line) line.battles.at(-1).moved = step.armies;
    if (step.do === "correct") {
      end(false);
      corrected.push(...step.on.map(([t, ...held]) => [board.territories[t], ...held]));
    }
    if (step.do === "get" || step.do === "place") end(false);
    if (step.do === "stop" || step.do === "next") {
      if (!line && before.phase === "attack") begin(before, step.after);
      end(true);
    }
  }
  const last = path.at(-1) ?? 0;
  if (corrected.length && turns[last].phase === "attack") begin(turns[last], last);
  end(false);
  return lines.map((each) => `${JSON.stringify(each)}\n`).join("");
}

/** Remove a step and all steps after it; return the other steps, and the step before. */
export function without(steps, gone) {
  const [isGone, place, left] = [[false], [0], []];
  steps.forEach((step, k) => {
    isGone[k + 1] = k + 1 === gone || isGone[step.after];
    if (isGone[k + 1]) return;
    left.push({ ...step, after: place[step.after] });
    place[k + 1] = left.length;
  });
  return { steps: left, at: place[steps[gone - 1].after] };
}
