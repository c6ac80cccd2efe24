// What turns are worth: searches that go on in the background, what they found, and what each step
// was worth.

import { Refused, asked } from "./ask.js";

const MOST_KEPT = 300;
const LEAST = 0.0005; // a loss below it is no loss
const ROUGH = 0.002; // differences whose errors are larger are said to be rough

/**
 * What the server says of a goal in a turn.
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

/**
 * Something to ask the server, which answers better as there is more time; `better` says which of
 * two answers is kept, by default the later one.
 * @typedef {{address: string, body: object, seconds: number, better?: (before: object, found: object) => object}} Job
 *
 * What is known of it, how far the search is, and how many seconds were searched to the end.
 * @typedef {{found: object|null, soFar: {words: string, value: number|null}|null, seconds: number, wrong: string}} Entry
 */

/** Searches, one at a time. */
export class Searches {
  /** @param {() => void} changed is called when something new is known */
  constructor(changed) {
    this.changed = changed;
    /** @type {Map<string, Entry>} */
    this.known = new Map();
    this.current = null;
    this.control = null;
  }

  key({ address, body }) {
    return JSON.stringify([address, body]);
  }

  /** @param {Job|null} job @returns {Entry|null} */
  of(job) {
    return (job && this.known.get(this.key(job))) ?? null;
  }

  isSearching(job) {
    return Boolean(job) && this.current === this.key(job);
  }

  isDone(job) {
    const entry = this.of(job);
    const isLast = ({ found }) => found?.is_proven || found?.is_complete;
    return Boolean(entry) && (entry.wrong || isLast(entry) || entry.isStopped || entry.seconds >= job.seconds);
  }

  /**
   * Search what is not known yet, the first job first; what is not wanted any more ends.
   * @param {Job[]} jobs
   */
  want(jobs) {
    const first = jobs.find((job) => !this.isDone(job));
    if (first && this.isSearching(first)) return;
    this.end();
    if (first) this.search(first);
  }

  /** End the search; what is known stays. */
  end() {
    this.control?.abort();
    Object.assign(this, { current: null, control: null });
  }

  /** End the search of a job for good. */
  stop(job) {
    Object.assign(this.of(job), { isStopped: true, soFar: null });
    this.end();
    this.changed();
  }

  async search(job) {
    const key = this.key(job);
    const control = new AbortController();
    const entry = this.known.get(key) ?? { found: null, seconds: 0, soFar: null };
    Object.assign(entry, { wrong: "", isStopped: false });
    Object.assign(this, { current: key, control });
    this.known.delete(key);
    this.known.set(key, entry);
    if (this.known.size > MOST_KEPT) this.known.delete(this.known.keys().next().value);
    const handlers = {
      progress: (words, value) => {
        if (control.signal.aborted) return;
        // A chance never gets worse: what was found before is still there.
        const before = (entry.found?.is_chance ? entry.found.value : null) ?? -1;
        if (value === null || value < Math.max(before, entry.soFar?.value ?? -1)) return;
        entry.soFar = { words, value };
        this.changed();
      },
      answer: (found) => {
        entry.found = entry.found && job.better ? job.better(entry.found, found) : found;
        this.changed();
      },
      signal: control.signal,
    };
    try {
      await asked(job.address, { ...job.body, time_limit: job.seconds }, handlers);
      entry.seconds = Math.max(entry.seconds, job.seconds);
    } catch (error) {
      if (control.signal.aborted) {
        entry.soFar = null;
        if (!entry.found && this.known.get(key) === entry) this.known.delete(key);
        return;
      }
      if (!(error instanceof Refused)) console.error(error);
      entry.wrong = error.message;
    }
    entry.soFar = null;
    if (this.current === key) Object.assign(this, { current: null, control: null });
    this.changed();
  }
}

/**
 * Return which of two answers on a goal is kept: a chance to hold is estimated, and the longer
 * search knows it better; any other value never gets worse.
 */
export function better(before, found, hold) {
  if (found.is_proven || hold || found.value >= before.value) return found;
  return { ...before, bound: Math.min(before.bound, found.bound) };
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
  } else if (step.do === "place" || step.do === "stop") cost = Math.max(-change, 0);
  if (cost === null) return { change, luck: null, cost: null, isCostly: false, isRough };
  const luck = step.do === "attack" ? change + cost : 0;
  return { change, luck, cost, isCostly: cost > Math.max(error, LEAST), isRough };
}
