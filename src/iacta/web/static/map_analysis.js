// Searches: they go on in the background, and keep their answers.

import { asked, Refused } from "./ask.js";

const MOST_KEPT = 300;

/**
 * Something to ask the server, which answers better as there is more time; `better` says which of
 * two answers is kept, by default the later one.
 * @typedef {{address: string, body: object, seconds: number, read?: (answered: object) => object, better?: (before: object, found: object) => object}} Job
 *
 * The answer so far, the progress of the search, and the seconds of the longest finished search.
 * @typedef {{found: object|null, soFar: {words: string, value: number|null}|null, seconds: number, wrong: string}} Entry
 */

/** Searches, one at a time. */
export class Searches {
  /** @param {() => void} changed is called when something new is known */
  constructor(changed) {
    this.changed = changed;
    this.known = new Map();
    this.job = null;
    this.control = null;
  }

  key({ address, body: { board, ...asked } }) {
    const { code, position, ...more } = asked;
    return `${address};${code ?? position};${JSON.stringify(more)}`;
  }

  /** Forget all, as another board is used. */
  forget() {
    this.end();
    this.known.clear();
  }

  of(job) {
    return (job && this.known.get(this.key(job))) ?? null;
  }

  isSearching(job) {
    return Boolean(job && this.job) && this.key(this.job) === this.key(job);
  }

  isDone(job) {
    const entry = this.of(job);
    const isLast = ({ found }) => found?.proven || found?.is_complete;
    return (
      Boolean(entry) &&
      (entry.wrong || isLast(entry) || entry.isStopped || entry.seconds >= job.seconds)
    );
  }

  /**
   * Search for the first job without a final answer; end a search that is no longer wanted.
   * @param {Job[]} jobs
   */
  want(jobs) {
    if (this.job && this.isDone(this.job)) return; // it is about to end, and to call this again
    const first = jobs.find((job) => !this.isDone(job));
    if (first && this.isSearching(first)) return;
    this.end();
    if (first) this.search(first);
  }

  /** End the search; its answer so far stays. */
  end() {
    this.control?.abort();
    Object.assign(this, { job: null, control: null });
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
    Object.assign(this, { job, control });
    this.known.delete(key);
    this.known.set(key, entry);
    if (this.known.size > MOST_KEPT) this.known.delete(this.known.keys().next().value);
    const handlers = {
      progress: (words, value) => {
        if (control.signal.aborted) return;
        // A chance never gets worse: the earlier play is still possible.
        const before = (entry.found?.is_chance ? entry.found.value : null) ?? -1;
        if (value === null || value < Math.max(before, entry.soFar?.value ?? -1)) return;
        entry.soFar = { words, value };
        this.changed();
      },
      answer: (answered) => {
        const found = job.read ? job.read(answered) : answered;
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
    if (this.control === control) Object.assign(this, { job: null, control: null });
    this.changed();
  }
}

/**
 * Return which of two answers on a goal is kept: a chance to hold is estimated, and the longer
 * search knows it better; any other value never gets worse, as far as it is sure.
 */
export function better(before, found, hold) {
  if (found.proven || hold || found.low >= before.low) return found;
  if (before.placement) return before; // the bound is that of plays with its new armies
  return { ...before, upper_bound: Math.min(before.upper_bound, found.upper_bound) };
}
