// The history of a turn: a tree of steps, in which every step can be undone.
//
// The server stores no games. The page sends a position and its steps, and receives the turns after
// them: code, phase and sentence, owners and armies, the odds at each border, and the last step in
// words, or the reason why the step or the position is impossible.

import { postJson, Refused, Unreachable } from "./ask.js";
import { makeSetup, readPrice } from "./map_state.js";

const MAX_SENT = 500; // the maximum number of steps in a request
const MAX_KEPT = 300; // the number of the latest turns whose odds are kept

export class Tree {
  constructor() {
    this.key = ""; // the position of the turns
    this.texts = []; // the step before each turn but the first, as text
    this.version = 0; // increases when existing texts are replaced
    this.turns = [];
    this.error = null; // the reason why the position has no turn
    this.isWaiting = false;
    this.isCut = false; // whether the step after the last turn is unreadable
  }

  /**
   * Return whether the turns of a state are loaded. If not, load them, and call `done` then, or
   * `wait` with the error if the server does not respond.
   */
  load(board, state, done, wait) {
    const { steps, at } = state;
    const key = makeKey(board, state);
    if (this.key !== key) Object.assign(this, { key, texts: [], turns: [], error: null });
    const first = this.texts.findIndex((text, k) => steps[k] && text !== joinText(steps[k]));
    if (first >= 0) {
      this.turns.length = first + 1; // the later turns belong to other steps
      this.texts.length = first;
      this.version += 1;
    }
    if (this.turns.length > steps.length) this.isCut = false;
    this.#addImpossible(steps);
    const isWhole = this.turns.length > steps.length || (this.isCut && this.turns.length > 0);
    if (this.error) return false;
    if (isWhole && !this.turns[Math.min(at, this.turns.length - 1)].is_brief) return true;
    if (this.isWaiting) return false; // `done` will call this function when the answer is here
    this.isWaiting = true;
    const request = this.#makeRequest(board, state, isWhole);
    const store = ({ turns = [], problem, error = problem ? new Refused(problem) : null }) => {
      this.isWaiting = false;
      if (error instanceof Unreachable) return wait(error);
      const isSame = this.key === key && this.texts.length === request.count;
      if (this.key === key && error) this.error = error;
      else if (isSame) this.#add(turns, request, state);
      done();
    };
    postJson("api/v1/turn/replay", request.body).then(store, (error) => store({ error }));
    return false;
  }

  /** Add steps that are impossible because their step before is impossible. */
  #addImpossible(steps) {
    for (let k = this.texts.length; this.turns.length && k < steps.length; k++) {
      const { problem } = this.turns[steps[k].after];
      if (!problem) return;
      this.turns.push(readOwners({ problem, step: {} }, []));
      this.texts.push(joinText(steps[k]));
    }
  }

  /** Return whether the turns of a state are loaded. */
  isOf(board, state) {
    const { steps } = state;
    const isKnown = this.key === makeKey(board, state) && this.turns.length > steps.length;
    return isKnown && steps.every((step, k) => this.texts[k] === joinText(step));
  }

  /**
   * Return the request for the next turns of a state, or for the missing parts of the turn that the
   * page shows: its `body`, the number of the step `from` which the steps begin, and the `count` of
   * the steps that are known.
   */
  #makeRequest(board, { steps, at, players, seats, ...setup }, isWhole) {
    const count = this.texts.length;
    const last = Math.min(at, this.turns.length - 1); // the steps after it cannot be read
    const from = isWhole ? last : (steps[count]?.after ?? 0);
    const sent = [];
    for (let k = count; !isWhole && k < steps.length && sent.length < MAX_SENT; k++) {
      const after = steps[k].after === from ? 0 : steps[k].after - count;
      if (after < 0 || (after === 0 && steps[k].after !== from)) break;
      sent.push({ after, text: steps[k].text });
    }
    const start = this.turns.length
      ? { code: this.turns[from].code }
      : { setup: makeSetup({ players, ...setup }) };
    const computers = players.filter((_, k) => seats[k] && seats[k] !== "person");
    const shown = isWhole || at === from ? 0 : at - count;
    const body = { ...start, board: board.board, players, computers, steps: sent };
    body.shown = shown >= 0 && shown <= sent.length ? [shown] : [];
    return { body, from, count, sent };
  }

  /** Add the turns of an answer to a request. */
  #add(turns, { from, count, sent }, { players, steps }) {
    const [start, ...later] = turns.map((turn) => readOwners(turn, players));
    // The start of a later request has no step of its own.
    if (!this.turns[from] || !start.is_brief) this.turns[from] = { ...this.turns[from], ...start };
    this.turns = [...this.turns.slice(0, count + 1), ...later];
    this.texts.push(...steps.slice(count, count + later.length).map(joinText));
    this.isCut = later.length < sent.length;
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
    const old = this.turns[count - MAX_KEPT];
    if (old?.odds) this.turns[count - MAX_KEPT] = { ...old, odds: null, is_brief: true };
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

  /** Return a step in the format of questions, with the price of its goal. */
  recordStep(k, { text }) {
    const { step } = this.turns[k];
    return { ...step, ...(step.goal && { goal: { ...step.goal, ...readPrice(text) } }) };
  }
}

/** Add the numbers of the owners and of the player to move to a turn of the server. */
function readOwners(turn, players) {
  turn.holders = turn.owners?.map((name) => players.indexOf(name));
  turn.mover = players.indexOf(turn.player);
  return turn;
}

const makeKey = (board, state) => JSON.stringify([board.code, makeSetup(state)]);
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
