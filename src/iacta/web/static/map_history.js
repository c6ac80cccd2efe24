// The history of a turn: a tree of steps, in which every step can be undone.
//
// The server stores no games. The page sends the code of a turn and a step, and receives the next
// turn. When the page opens, the server replays the steps in the link. Each turn is a record of the
// server: code, phase and sentence, owners and armies, the odds at each border, and the last step in
// words, or the reason why the step is impossible.

import { postJson } from "./ask.js";
import { writeCode } from "./map_state.js";

export class Tree {
  constructor() {
    this.key = "";
    this.texts = []; // the step before each turn, as text
    this.version = 0; // increases when existing texts are replaced
    this.turns = [];
    this.waiting = null;
  }

  /**
   * Return whether the turns of a state are loaded. If not, load them, and call `then` afterwards,
   * with an error if the request fails.
   */
  load(board, state, then) {
    const code = writeCode(board, state);
    const texts = state.steps.map(formatStep);
    if (this.key === code && this.turns.length && texts.every((text, k) => text === this.texts[k]))
      return true;
    const asked = JSON.stringify([code, texts]);
    if (this.waiting === asked) return false;
    this.waiting = asked;
    postJson("api/v1/turn/replay", {
      code,
      board: board.board,
      steps: stripNotes(state.steps),
    }).then(
      ({ turns }) => {
        if (this.waiting !== asked) return;
        Object.assign(this, { key: code, turns, texts, version: this.version + 1, waiting: null });
        then();
      },
      (error) => this.waiting === asked && then(error),
    );
    return false;
  }

  /** Take a step in the current turn; return the changed parts of the state: `steps` and `at`. */
  async take(board, state, step) {
    const before = this.turns[state.at];
    const body = { code: before.code, board: board.board, step };
    const { step: recorded, ...after } = await postJson("api/v1/turn/step", body);
    const kept = { after: state.at, ...recorded };
    const same = state.steps.findIndex((each) => formatStep(each) === formatStep(kept));
    if (same >= 0) return { steps: state.steps, at: same + 1 };
    const count = state.steps.length;
    if (this.texts.length > count) this.version += 1;
    this.turns = [...this.turns.slice(0, count + 1), after];
    this.texts = [...this.texts.slice(0, count), formatStep(kept)];
    return { steps: [...state.steps, kept], at: count + 1 };
  }
}

/** Return the steps without comments and goals, in the format of the server. */
export const stripNotes = (steps) => steps.map(({ note, goal, ...step }) => step);

const formatStep = ({ note, goal, ...step }) => JSON.stringify(step, Object.keys(step).sort());

/** Return the numbers of the steps on the path to a step, including this step. */
export function findPath(steps, at) {
  const path = [];
  for (let k = at; k > 0; k = steps[k - 1].after) path.unshift(k);
  return path;
}

/** Return the newest step after a step; 0 if there is no later step. */
export const findNextStep = (steps, at) => steps.findLastIndex(({ after }) => after === at) + 1;

/** Return the path to a step, continued by the newest later steps. */
export function findLine(steps, at) {
  const line = findPath(steps, at);
  for (let k = findNextStep(steps, at); k; k = findNextStep(steps, k)) line.push(k);
  return line;
}

/**
 * Return the current line of steps as a log for `iacta review`. A new line begins with each turn,
 * and with new armies during a turn. `findGoal` returns the goal of the turn of a step.
 */
export function makeLog(board, state, turns, findGoal) {
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
  const path = findLine(state.steps, state.at);
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

/** Remove a step and all later steps; return the other steps, and the number of the parent step. */
export function removeStep(steps, gone) {
  const [isGone, place, left] = [[false], [0], []];
  steps.forEach((step, k) => {
    isGone[k + 1] = k + 1 === gone || isGone[step.after];
    if (isGone[k + 1]) return;
    left.push({ ...step, after: place[step.after] });
    place[k + 1] = left.length;
  });
  return { steps: left, at: place[steps[gone - 1].after] };
}
