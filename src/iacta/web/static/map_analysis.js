// The queue of requests: one search at a time, the most important first, with their answers.

import { Refused, streamAnswers, Unreachable } from "./ask.js";

const MAX_KEPT = 500;
const MAX_SECONDS = 20; // the server's limit; a level that takes longer is not reached
const RETRY = 4000; // milliseconds until a search is repeated that did not reach the server
const MAX_SEARCHES = 5; // a search that a busy server did not finish is repeated this often

/**
 * A question to the server whose answer improves with time. `known` is what the page knows already;
 * `take` is called with each answer, and `isLast` tells whether an answer is final.
 * @typedef {{address: string, body: object, known?: () => object, take?: (found: object) => void,
 *   isLast?: (found: object) => boolean, isRepeated?: boolean}} Job
 *
 * The best answer to a job, its progress in words, and the reason of a failure.
 * @typedef {{found: object|null, soFar: string, isDone: boolean, wrong: string,
 *   searches: number}} Entry
 */

/** Runs searches one at a time. */
export class Queue {
  /** @param {() => void} changed a callback for new answers, progress or errors */
  constructor(changed) {
    this.changed = changed;
    this.entries = new Map();
    this.job = null;
    this.control = null;
  }

  makeKey = ({ address, body: { board, ...asked } }) => `${address} ${JSON.stringify(asked)}`;

  /** Clear all answers, because the board has changed. */
  forget() {
    this.end();
    this.entries.clear();
  }

  find = (job) => (job && this.entries.get(this.makeKey(job))) ?? null;

  isSearching = (job) => Boolean(job && this.job) && this.makeKey(this.job) === this.makeKey(job);

  isDone(job) {
    const { isDone, wrong } = this.find(job) ?? {};
    return Boolean(isDone || wrong);
  }

  /** Run the first of some jobs that has no final answer, and end any other search. */
  run(jobs) {
    if (this.job && this.isDone(this.job)) return; // `changed` is called when the search ends
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

  /** End the search for a job, and do not resume it. */
  stop(job) {
    const entry = this.find(job) ?? { found: null, wrong: "" };
    this.entries.set(this.makeKey(job), { ...entry, isDone: true, soFar: "" });
    if (this.isSearching(job)) this.end();
    this.changed();
  }

  async search(job) {
    const key = this.makeKey(job);
    const control = new AbortController();
    const entry = {
      found: null,
      soFar: "",
      isDone: false,
      searches: 0,
      ...this.entries.get(key),
      wrong: "",
    };
    entry.searches += 1;
    Object.assign(this, { job, control });
    this.entries.delete(key);
    this.entries.set(key, entry);
    if (this.entries.size > MAX_KEPT) this.entries.delete(this.entries.keys().next().value);
    const handlers = {
      progress: (words) => {
        if (control.signal.aborted) return;
        entry.soFar = `${words} …`;
        this.changed();
      },
      answer: (found) => {
        entry.found = found;
        entry.isDone = job.isLast?.(found) ?? false;
        job.take?.(found);
        this.changed();
      },
      signal: control.signal,
    };
    try {
      await streamAnswers(
        job.address,
        { ...job.body, ...job.known?.(), time_limit: MAX_SECONDS },
        handlers,
      );
      entry.isDone ||= !job.isRepeated || entry.searches >= MAX_SEARCHES;
    } catch (error) {
      entry.soFar = "";
      if (control.signal.aborted) return;
      if (!(error instanceof Refused)) console.error(error);
      entry.wrong = error.message;
      if (error instanceof Unreachable) {
        setTimeout(() => {
          entry.wrong = "";
          this.changed(); // the page runs the search again
        }, RETRY);
      }
    }
    entry.soFar = "";
    if (this.control === control) Object.assign(this, { job: null, control: null });
    this.changed();
  }
}

/** Replace the names of territories in the record of a plan by numbers, for the map. */
export function readPlan(board, found) {
  const findNumber = (name) => board.territories.indexOf(name);
  const { hold, reinforce } = found;
  const placement = Object.entries(reinforce?.placement ?? {});
  return {
    ...found,
    chance: hold ? hold.win_probability : found.value,
    interval: (hold ?? found).interval,
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
