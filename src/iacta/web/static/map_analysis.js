// What a goal is worth, turn by turn: searches that go on in the background, what they found, and
// what each step was worth.

import { Refused, patiently, searched } from "./map_server.js";

const FIRST = 1; // seconds of a short look
const SECOND = 9;
const LONGEST = 20;
const MOST_KEPT = 300;
const LEAST = 0.0005; // a loss below it is no loss
const ROUGH = 0.002; // differences whose errors are larger are said to be rough

/**
 * What the server says of a turn.
 * @typedef {object} Analysis
 * @property {number|null} value null where no game was played
 * @property {number|null} low
 * @property {number|null} high
 * @property {number} bound
 * @property {boolean} is_proven
 * @property {boolean} is_chance
 * @property {string} figure
 * @property {string[]} sentences
 * @property {{from: number, to: number, name: string, dice: number, loss: number,
 *   by_dice: {dice: number, loss: number, results: [number, number][]}[], words: string, figure: string, success: string|null}[]} moves
 * @property {[number, number][]|null} [placement]
 * @property {[number, number][]} [advances]
 * @property {number} [best]
 * @property {{title: string, parts: (string|object)[]}[]} [sections]
 * @property {import("./map_state.js").Moving} [scene]
 */

export class Analyst {
  /** @param {() => void} changed is called when something new is known */
  constructor(changed) {
    this.changed = changed;
    /** @type {Map<string, {found: Analysis|null, seconds: number, so_far: {words: string, value: number|null}|null, wrong: string}>} */
    this.known = new Map();
    this.current = null;
    this.control = null;
    this.stop = null;
  }

  key(code, goal) {
    return JSON.stringify([code, goal]);
  }

  /** @returns what is known of a turn */
  of(code, goal) {
    return this.known.get(this.key(code, goal)) ?? null;
  }

  /** Whether a turn is being searched. */
  isLookingAt(code, goal) {
    return this.current !== null && this.current === this.key(code, goal);
  }

  /**
   * Look at a turn, unless that is done or being done; return whether there is something to do.
   * @param {{isBeside?: boolean}} [how] beside the turn that is shown, a short look is enough
   */
  look(board, code, goal, { isBeside = false } = {}) {
    const key = this.key(code, goal);
    if (this.current === key) return true;
    const known = this.known.get(key);
    const isDone = known && !known.so_far && (known.wrong || known.found?.is_proven || known.seconds >= SECOND || known.isStopped);
    if (isDone) return false;
    if (isBeside && this.current !== null && !this.isBeside) return true;
    this.end();
    this.isBeside = isBeside;
    this.search(board, code, goal, isBeside ? FIRST : SECOND);
    return true;
  }

  /** Search longer than usual. */
  longer(board, code, goal) {
    this.end();
    const known = this.known.get(this.key(code, goal));
    if (known) known.isStopped = false;
    this.search(board, code, goal, LONGEST);
  }

  /** End the search; what is known stays. */
  end() {
    this.control?.abort();
    Object.assign(this, { current: null, control: null, stop: null, isBeside: false });
  }

  async search(board, code, goal, seconds) {
    const key = this.key(code, goal);
    const control = new AbortController();
    const entry = this.known.get(key) ?? { found: null, seconds: 0, so_far: null, wrong: "" };
    entry.wrong = "";
    Object.assign(this, { current: key, control });
    this.known.delete(key);
    this.known.set(key, entry);
    if (this.known.size > MOST_KEPT) this.known.delete(this.known.keys().next().value);
    const handlers = {
      progress: (words, value) => {
        if (goal.hold || control.signal.aborted) return; // this is the chance to take, not to hold
        // It never gets worse: what was found before is still there.
        const before = (entry.found?.is_chance ? entry.found.value : null) ?? -1;
        if (value === null || value < Math.max(before, entry.so_far?.value ?? -1)) return;
        entry.so_far = { words, value };
        this.changed();
      },
      answer: (found) => {
        // A chance to hold is estimated: the longer search knows it better, be it more or less.
        if (!entry.found || found.is_proven || goal.hold || found.value >= entry.found.value) entry.found = found;
        else entry.found = { ...entry.found, bound: Math.min(entry.found.bound, found.bound) };
        this.stop = () => {
          Object.assign(entry, { isStopped: true, so_far: null });
          this.end();
          this.changed();
        };
        this.changed();
      },
      signal: control.signal,
    };
    try {
      const asked = { code, board: board.board, ...goal, time_limit: seconds };
      await patiently(() => searched(asked, handlers), () => control.signal.throwIfAborted());
      entry.seconds = Math.max(entry.seconds, seconds);
    } catch (error) {
      entry.so_far = null;
      if (control.signal.aborted) {
        if (!entry.found && this.known.get(key) === entry) this.known.delete(key);
        return;
      }
      if (!(error instanceof Refused)) console.error(error);
      entry.wrong = error.message;
    }
    entry.so_far = null;
    if (this.current === key) Object.assign(this, { current: null, control: null, stop: null });
    this.changed();
  }
}

/**
 * Return what a step was worth: what the dice changed, what the choice cost, and whether that is
 * more than the search may err; null where something is not known.
 * @param {import("./map_state.js").Step} step
 * @param {number[]} armies of each territory before it
 * @param {Analysis|null} before
 * @param {Analysis|null} after
 */
export function split(step, armies, before, after) {
  if ((before?.value ?? null) === null || (after?.value ?? null) === null) return null;
  const change = after.value - before.value;
  const error = (before.high - before.low) / 2;
  const isRough = error + (after.high - after.low) / 2 > ROUGH * (before.is_chance ? 1 : Math.abs(before.value));
  let cost = null;
  if (step.do === "attack") {
    const move = before.moves.find(({ from, to }) => from === step.from && to === step.to);
    const [lost, killed] = [armies[step.from] - step.left, armies[step.to] - step.their_left];
    const fits = ({ dice, results }) => (step.dice ? dice === step.dice : results.some(([a, d]) => a === lost && d === killed));
    const losses = move?.by_dice.filter(fits).map(({ loss }) => loss) ?? [];
    cost = losses.length ? Math.min(...losses) : (move?.loss ?? null); // the best dice that fit, else the best of all
  } else if (step.do === "advance") {
    const near = [...(before.advances ?? [])].sort((a, b) => Math.abs(a[0] - step.armies) - Math.abs(b[0] - step.armies));
    cost = near.length ? Math.max(before.value - near[0][1], 0) : null;
  } else if (step.do === "place") cost = Math.max(-change, 0);
  if (cost === null) return { change, luck: null, cost: null, isCostly: false, isRough };
  const luck = step.do === "attack" ? change + cost : 0;
  return { change, luck, cost, isCostly: cost > Math.max(error, LEAST), isRough };
}
