// The history of a turn: a tree of steps, in which every step can be undone.
//
// The server stores no games. The page sends a position and its steps, and receives the turns after
// them: code, phase and sentence, owners and armies, the odds at each border, and the last step in
// words, or the reason why the step or the position is impossible.

import { postJson, Refused } from "./ask.js";
import { makeSetup, readPrice } from "./map_state.js";

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
    const { steps, players, seats } = state;
    const computers = players.filter((_, k) => seats[k] && seats[k] !== "person");
    const key = JSON.stringify([board.code, makeSetup(state)]);
    const texts = steps.map(joinText);
    const isSame = this.key === key && texts.every((text, k) => text === this.texts[k]);
    if (isSame && (this.turns.length || this.error)) return !this.error;
    Object.assign(this, { turns: [], error: null }); // they belong to another state
    if (this.isWaiting) return false; // `done` will call this function when the answer is here
    this.isWaiting = true;
    const sent = steps.map(({ after, text }) => ({ after, text }));
    const body = { setup: makeSetup(state), board: board.board, players, computers, steps: sent };
    const store = ({ turns = [], problem, error = problem ? new Refused(problem) : null }) => {
      const isSame = this.key === key && this.texts.every((text, k) => text === texts[k]);
      if (!isSame) this.version += 1; // not if steps are added
      Object.assign(this, { key, texts, turns, error, isWaiting: false });
      for (const turn of turns) readOwners(turn, players);
      done();
    };
    postJson("api/v1/turn/replay", body).then(store, (error) => store({ error }));
    return false;
  }

  /** Choose a goal as step `k`, which does not change the turn. */
  putGoal(k, { after, text }, goal) {
    if (k <= this.texts.length) this.version += 1;
    this.turns[k] = { ...this.turns[after], words: "", luck: null, step: { do: "goal", goal } };
    this.texts[k - 1] = joinText({ after, text });
  }

  /** Replace the text of a step that stays the same, except for the price of its goal. */
  setText({ after }, k, text) {
    this.texts[k - 1] = joinText({ after, text });
  }

  /** Forget an error, so that `load` asks again. */
  forgetError() {
    this.error = null;
  }

  /** Take a step in the current turn; return the changed parts of the state: `steps` and `at`. */
  async take(board, { steps, at, players }, step) {
    const body = { code: this.turns[at].code, board: board.board, step, players };
    const turn = await postJson("api/v1/turn/step", body);
    const same = steps.findIndex(({ after, text }) => after === at && text === turn.text);
    if (same >= 0) return { steps, at: same + 1 };
    return { steps: this.append({ steps, at, players }, [turn]), at: steps.length + 1 };
  }

  /** Append the turns of the server after some steps to the current turn; return all steps. */
  append({ steps, at, players }, turns) {
    const count = steps.length;
    const taken = turns.map(({ text }, n) => ({ after: n ? count + n : at, text }));
    for (const turn of turns) readOwners(turn, players);
    if (this.texts.length > count) this.version += 1;
    this.turns = [...this.turns.slice(0, count + 1), ...turns];
    this.texts = [...this.texts.slice(0, count), ...taken.map(joinText)];
    return [...steps, ...taken];
  }

  /** Remove a step and all later steps; return the changed parts of the state. */
  remove({ steps }, gone) {
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
    return { steps: left, at: numbers[steps[gone - 1].after] };
  }

  /** Return the steps in the format of questions, with the prices of their goals. */
  listSteps(steps) {
    return steps.map(({ after, text }, k) => {
      const { step } = this.turns[k + 1];
      const goal = step.goal && { goal: { ...step.goal, ...readPrice(text) } };
      return { after, ...step, ...goal };
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

const beginsTurn = ({ text }) => text === "n";
export const isGoalStep = (step) => step?.text[0] === "o";

/** Return the number of the step that begins the turn of a step; 0 for the first turn. */
export function findTurnStart(steps, k) {
  while (k > 0 && !beginsTurn(steps[k - 1])) k = steps[k - 1].after;
  return k;
}

/** Return the number of the step at which the goal of a step was chosen; 0 for the start. */
export function findGoalStart(steps, k) {
  while (k > 0 && !beginsTurn(steps[k - 1]) && !isGoalStep(steps[k - 1])) k = steps[k - 1].after;
  return k;
}

/** Return a state in which a goal is chosen after a step, also for all later steps. */
export function insertGoal({ steps, at, ...state }, after, text) {
  if (!after) return { ...state, steps, at, goal: text };
  const move = (k) => (k >= after ? k + 1 : k);
  const later = steps.slice(after).map((step) => ({ ...step, after: move(step.after) }));
  return { ...state, steps: [...steps.slice(0, after), { after, text }, ...later], at: move(at) };
}

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
