// Background searches, with a cache of their answers.

import { Refused, streamAnswers, Unreachable } from "./ask.js";

const MAX_KEPT = 300;
const RETRY = 4000; // milliseconds until a search is repeated that did not reach the server

/**
 * A question to the server whose answer improves with time; `read` converts an answer.
 * @typedef {{address: string, body: object, seconds: number, read?: (answered: object) => object}} Job
 *
 * The best answer, the progress of the search, and the time limit of the longest finished search.
 * @typedef {{found: object|null, soFar: {words: string, value: number|null}|null, seconds: number, wrong: string}} Entry
 */

/** Runs searches one at a time. */
export class Searches {
  /** @param {() => void} changed a callback for new answers, progress or errors */
  constructor(changed) {
    this.changed = changed;
    this.known = new Map();
    this.job = null;
    this.control = null;
  }

  makeKey({ address, body: { board, ...asked } }) {
    const { code, position, ...more } = asked;
    return `${address};${code ?? position};${JSON.stringify(more)}`;
  }

  /** Clear the cache, because the board has changed. */
  forget() {
    this.end();
    this.known.clear();
  }

  find(job) {
    return (job && this.known.get(this.makeKey(job))) ?? null;
  }

  isSearching(job) {
    return Boolean(job && this.job) && this.makeKey(this.job) === this.makeKey(job);
  }

  isDone(job) {
    const entry = this.find(job);
    const isLast = ({ found }) => found?.proven || found?.is_complete;
    return (
      Boolean(entry) &&
      (entry.wrong || isLast(entry) || entry.isStopped || entry.seconds >= job.seconds)
    );
  }

  /**
   * Run the search of the first job that has no final answer, and end any other search.
   * @param {Job[]} jobs
   */
  run(jobs) {
    if (this.job && this.isDone(this.job)) return; // the search will call this function when it ends
    const first = jobs.find((job) => !this.isDone(job));
    if (first && this.isSearching(first)) return;
    this.end();
    if (first) this.search(first);
  }

  /** End the current search, and keep its best answer. */
  end() {
    this.control?.abort();
    Object.assign(this, { job: null, control: null });
  }

  /** Clear the error of a job, so that `run` can search again. */
  clearError(job) {
    const entry = this.find(job);
    if (entry) entry.wrong = "";
  }

  /** Clear an error of the connection; the page then runs the search again. */
  retry(entry) {
    entry.wrong = "";
    this.changed();
  }

  /** End the search for a job, and do not resume it. */
  stop(job) {
    Object.assign(this.find(job), { isStopped: true, soFar: null });
    this.end();
    this.changed();
  }

  async search(job) {
    const key = this.makeKey(job);
    const control = new AbortController();
    const entry = this.known.get(key) ?? { found: null, seconds: 0, soFar: null };
    Object.assign(entry, { wrong: "", isStopped: false });
    Object.assign(this, { job, control });
    this.known.delete(key);
    this.known.set(key, entry);
    if (this.known.size > MAX_KEPT) this.known.delete(this.known.keys().next().value);
    const before = entry.found; // stays until the end of a repeated search, which begins anew
    let latest = before;
    const handlers = {
      progress: (words, value) => {
        if (control.signal.aborted) return;
        // Ignore smaller chances, because the earlier plan is still possible.
        const known = (entry.found?.is_chance ? entry.found.value : null) ?? -1;
        if (value === null || value < Math.max(known, entry.soFar?.value ?? -1)) return;
        entry.soFar = { words, value };
        this.changed();
      },
      answer: (answered) => {
        latest = job.read ? job.read(answered) : answered;
        if (before) return;
        entry.found = latest;
        this.changed();
      },
      signal: control.signal,
    };
    try {
      await streamAnswers(job.address, { ...job.body, time_limit: job.seconds }, handlers);
      entry.found = latest;
      entry.seconds = Math.max(entry.seconds, job.seconds);
    } catch (error) {
      if (control.signal.aborted) {
        entry.soFar = null;
        if (!entry.found && this.known.get(key) === entry) this.known.delete(key);
        return;
      }
      if (!(error instanceof Refused)) console.error(error);
      entry.wrong = error.message;
      if (error instanceof Unreachable) setTimeout(() => this.retry(entry), RETRY);
    }
    entry.soFar = null;
    if (this.control === control) Object.assign(this, { job: null, control: null });
    this.changed();
  }
}

/** Replace the names of territories in an answer to `plan` by numbers, for the map. */
export function readPlan(board, found) {
  const findNumber = (name) => board.territories.indexOf(name);
  const { hold, reinforce } = found;
  const placement = Object.entries(reinforce?.placement ?? {});
  return {
    ...found,
    value: hold ? hold.win_probability : found.value,
    interval: (hold ?? found).interval,
    upper_bound: hold ? (hold.interval?.high ?? hold.win_probability) : found.upper_bound,
    proven: found.proven && !hold,
    moves: (found.moves ?? []).map((move) => ({
      ...move,
      from: findNumber(move.from),
      to: findNumber(move.to),
      name: `${move.from} to ${move.to}`,
    })),
    placement: reinforce && placement.map(([name, armies]) => [findNumber(name), armies]),
  };
}
