// The history of a turn: a tree of steps, in which every step can be undone.
//
// The server stores no games. The page sends a position and its steps, and receives the turns after
// them: code, phase and sentence, owners and armies, the odds at each border, and the last step in
// words, or the reason why the step or the position is impossible.

import { postJson, Refused } from "./ask.js";
import { makeSetup } from "./map_state.js";

export class Tree {
  constructor() {
    this.key = ""; // the position of the turns
    this.texts = []; // the step before each turn, as text
    this.version = 0; // increases when existing texts are replaced
    this.turns = [];
    this.error = null; // the reason why the position has no turn
    this.isWaiting = false;
  }

  /** Return whether the turns of a state are loaded. If not, load them, and call `done` then. */
  load(board, state, done) {
    const { steps, players } = state;
    const key = JSON.stringify([board.code, makeSetup(state)]);
    const texts = steps.map(joinText);
    const isSame = this.key === key && texts.every((text, k) => text === this.texts[k]);
    if (isSame && (this.turns.length || this.error)) return !this.error;
    Object.assign(this, { turns: [], error: null }); // they belong to another state
    if (this.isWaiting) return false; // `done` will call this function when the answer is here
    this.isWaiting = true;
    const sent = steps.map(({ after, text }) => ({ after, text }));
    const body = { setup: makeSetup(state), board: board.board, players, steps: sent };
    const store = ({ turns = [], problem, error = problem ? new Refused(problem) : null }) => {
      Object.assign(this, { key, texts, turns, error, isWaiting: false });
      this.version += 1;
      for (const turn of turns) readOwners(turn, players);
      done();
    };
    postJson("api/v1/turn/replay", body).then(store, (error) => store({ error }));
    return false;
  }

  /** Forget an error, so that `load` asks again. */
  forgetError() {
    this.error = null;
  }

  /** Take a step in the current turn; return the changed parts of the state: `steps` and `at`. */
  async take(board, { steps, at, players }, step) {
    const body = { code: this.turns[at].code, board: board.board, step, players };
    const turn = readOwners(await postJson("api/v1/turn/step", body), players);
    const same = steps.findIndex(({ after, text }) => after === at && text === turn.text);
    if (same >= 0) return { steps, at: same + 1 };
    const count = steps.length;
    const taken = { after: at, text: turn.text };
    if (this.texts.length > count) this.version += 1;
    this.turns = [...this.turns.slice(0, count + 1), turn];
    this.texts = [...this.texts.slice(0, count), joinText(taken)];
    return { steps: [...steps, taken], at: count + 1 };
  }

  /** Remove a step and all later steps; return the changed parts of the state. */
  remove({ steps, goals }, gone) {
    const [isGone, numbers, left] = [[false], [0], []];
    steps.forEach((step, k) => {
      isGone[k + 1] = k + 1 === gone || isGone[step.after];
      if (isGone[k + 1]) return;
      left.push({ ...step, after: numbers[step.after] });
      numbers[k + 1] = left.length;
    });
    this.turns = this.turns.filter((_, k) => !isGone[k]);
    this.texts = left.map(joinText);
    this.version += 1;
    const kept = Object.entries(goals).filter(([k]) => !isGone[k]);
    return {
      steps: left,
      at: numbers[steps[gone - 1].after],
      goals: Object.fromEntries(kept.map(([k, goal]) => [numbers[k], goal])),
    };
  }

  /** Return the number of the step that begins the turn of a step; 0 for the first turn. */
  findTurnStart(steps, k) {
    while (k > 0 && !this.turns[k]?.begins_turn) k = steps[k - 1].after;
    return k;
  }

  /**
   * Return the steps in the format of questions. `goals` has the parameters of the goal of each
   * turn, by the step that begins the turn.
   */
  listSteps(steps, goals) {
    return steps.map(({ after }, k) => {
      const goal = this.turns[k + 1].begins_turn && goals[k + 1];
      return { after, ...this.turns[k + 1].step, ...(goal && { goal }) };
    });
  }
}

/** Add the numbers of the owners and of the player to move to a turn of the server. */
function readOwners(turn, players) {
  turn.holders = turn.owners?.map((name, t) => (turn.armies[t] ? players.indexOf(name) : -1));
  turn.mover = players.indexOf(turn.player);
  return turn;
}

const joinText = ({ after, text }) => `${after}${text}`;

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
