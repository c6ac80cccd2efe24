// The plan: what is asked for it, how it is asked, and how its words and tables are shown.

import { element, table } from "./map_table.js";

/** @typedef {import("./map_state.js").Board} Board */
/** @typedef {import("./map_state.js").State} State */

const MOST_TIMES = 60;
const PAUSE = 2000; // milliseconds until a busy server is asked again

/**
 * Return a position as questions and files have it.
 * @param {Board} board
 * @param {State} state
 * @param {{owners: number[], armies: number[]}} held
 */
export function positionOf(board, state, held) {
  const territories = {};
  board.territories.forEach((name, t) => {
    if (held.owners[t] < 0) return;
    // A name such as __proto__ is a name too.
    Object.defineProperty(territories, name, {
      value: { owner: state.players[held.owners[t]], armies: held.armies[t] },
      enumerable: true,
    });
  });
  return { board: board.board, player: state.players[state.mover], territories };
}

/**
 * Return the code of a position, one line that all of iacta reads.
 * @param {Board} board
 * @param {State} state
 */
export function codeOf(board, state) {
  const escaped = (name) => name.replace(/[%,:;=\s]/g, encodeURIComponent);
  const held = board.territories.flatMap((name, t) =>
    state.owners[t] < 0 ? [] : [[name, state.players[state.owners[t]], String(state.armies[t])].map(escaped).join(":")],
  );
  return ["1", board.code, escaped(state.players[state.mover]), held.join(",")].join(";");
}

/**
 * Return the question that a state asks, as `POST /api/plan` takes it.
 * @param {Board} board
 * @param {State} state
 */
export function questionOf(board, state) {
  const names = (some) => some.map((t) => board.territories[t]).join(", ");
  const question = { position: positionOf(board, state, state) };
  if (state.goal === "continent") question.take = board.continents[state.continent]?.name ?? "";
  if (state.goal === "all") question.take = names(state.targets);
  if (state.goal === "any") question.take_any = names(state.targets);
  if (state.goal === "eliminate") question.eliminate = state.players[state.victim];
  if (state.goal === "worth") question.worth = true;
  if (state.rules !== "classic") question.rules = state.rules;
  const keep = Object.entries(state.keep);
  if (keep.length) question.keep = Object.fromEntries(keep.map(([t, count]) => [board.territories[t], count]));
  if (state.stay.length) question.stay = names(state.stay);
  if (state.fresh) question.reinforce = state.fresh;
  if (state.need && state.goal !== "worth") question.need = `${state.need}%`;
  if (state.ways) question.alternatives = true;
  question.time_limit = Number(state.limit);
  return question;
}

/** A refusal of the server, in its words. */
export class Refused extends Error {}

/** A server that has too much to do. */
class Busy extends Refused {}

/** Return the error that a problem document tells. */
function refusal(problem) {
  return problem.status === 503 ? new Busy(problem.detail) : new Refused(problem.detail);
}

/**
 * Return what is asked for; while the server is busy, ask again.
 * @template T
 * @param {() => Promise<T>} ask
 * @param {(sentence: string) => void} waiting is told why it takes longer
 * @returns {Promise<T>}
 */
export async function patiently(ask, waiting = () => {}) {
  for (let times = 0; ; times++) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Busy) || times >= MOST_TIMES) throw error;
      waiting(error.message);
      await new Promise((done) => setTimeout(done, PAUSE));
    }
  }
}

/**
 * Return what the server answers to JSON.
 * @param {string} address
 * @param {object} body
 * @param {AbortSignal} [signal]
 */
export async function posted(address, body, signal) {
  let response;
  try {
    response = await fetch(address, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refused("The server does not respond.");
  }
  if (response.ok) return response.json();
  const problem = await response.json().catch(() => null);
  throw refusal(problem ?? { detail: `The server responded with ${response.status}.`, status: response.status });
}

/**
 * Ask for a plan, with progress and a way to stop early where the server can be listened to.
 * @param {object} question
 * @param {{progress: (doing: string, part: number|null) => void, signal: AbortSignal,
 *   stoppable: (stop: () => void) => void}} told
 * @returns {Promise<object>} the plan at its start, as `/api/plan/follow` answers
 */
export function planned(question, { progress, signal, stoppable }) {
  return new Promise((done, failed) => {
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/live/plan`);
    let isOpen = false;
    let isDone = false;
    const close = () => {
      isDone = true;
      socket.close();
    };
    signal.addEventListener("abort", () => {
      close();
      failed(new DOMException("stopped", "AbortError"));
    });
    socket.addEventListener("open", () => {
      isOpen = true;
      socket.send(JSON.stringify(question));
      stoppable(() => socket.send(JSON.stringify({ stop: true })));
    });
    socket.addEventListener("message", ({ data }) => {
      const told = JSON.parse(data);
      if (told.progress) progress(told.progress.doing, told.progress.part);
      if (told.answer) {
        close();
        done(told.answer);
      }
      if (told.problem) {
        close();
        failed(refusal(told.problem));
      }
    });
    socket.addEventListener("close", () => {
      if (isDone) return;
      isDone = true;
      if (isOpen) failed(new Refused("The server ended the search."));
      else posted("/api/plan/follow", { question }, signal).then(done, failed);
    });
  });
}

/**
 * Show a plan in words and tables.
 * @param {{told: HTMLElement, tables: HTMLElement}} places
 * @param {{figure: string, sentences: string[],
 *   sections: {title: string, parts: (string|{columns: string[], rows: string[][]})[]}[]}} shown
 */
export function showPlan({ told, tables }, { figure, sentences, sections }) {
  told.replaceChildren(
    element("p", { className: "figure" }, element("strong", {}, figure)),
    ...sentences.map((text) => element("p", {}, text)),
  );
  const made = ({ title, parts }) =>
    parts.map((part) => {
      if (typeof part === "string") return element("p", {}, part);
      const region = element("div", { className: "scroll", tabIndex: 0, aria: title }, table(part.columns, part.rows));
      region.setAttribute("role", "region");
      return region;
    });
  tables.replaceChildren(
    ...sections.flatMap((section) => [...(section.title ? [element("h3", {}, section.title)] : []), ...made(section)]),
  );
}
