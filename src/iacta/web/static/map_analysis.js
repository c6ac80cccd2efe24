// Searches that run in the background and keep their answers.

import { asked, Refused } from "./ask.js";

const MOST_KEPT = 300;

/**
 * A question to the server whose answer improves with time. `better` chooses between two answers;
 * by default the later answer is kept.
 * @typedef {{address: string, body: object, seconds: number, read?: (answered: object) => object, better?: (before: object, found: object) => object}} Job
 *
 * The answer so far, the progress of the search, and the seconds of the longest finished search.
 * @typedef {{found: object|null, soFar: {words: string, value: number|null}|null, seconds: number, wrong: string}} Entry
 */

/** Runs searches one at a time. */
export class Searches {
  /** @param {() => void} changed called when there is something new to show */
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

  /** Forget all answers, because another board is used. */
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
   * Run the search of the first job that has no final answer, and end any other search.
   * @param {Job[]} jobs
   */
  want(jobs) {
    if (this.job && this.isDone(this.job)) return; // the search is about to end and will call this function again
    const first = jobs.find((job) => !this.isDone(job));
    if (first && this.isSearching(first)) return;
    this.end();
    if (first) this.search(first);
  }

  /** End the current search, and keep its answer so far. */
  end() {
    this.control?.abort();
    Object.assign(this, { job: null, control: null });
  }

  /** Forget the error of a job, so that it can be searched again. */
  clearError(job) {
    const entry = this.of(job);
    if (entry) entry.wrong = "";
  }

  /** End the search for a job permanently. */
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
        // A chance never gets worse, because the earlier plan is still possible.
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
 * Return the better of two answers about a goal. A chance to hold is an estimate, so the longer
 * search is better. Any other value must not get worse unless it is uncertain.
 */
export function better(before, found, hold) {
  if (found.proven || hold || found.low >= before.low) return found;
  if (before.placement) return before; // this bound only holds for the placement of the new answer
  return { ...before, upper_bound: Math.min(before.upper_bound, found.upper_bound) };
}
