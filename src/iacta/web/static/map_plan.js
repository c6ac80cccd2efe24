// The plan: what is asked for it, how it is asked, and how it is told.

import { percent } from "./map_board.js";
import { element, table } from "./map_table.js";

/** @typedef {import("./map_state.js").Board} Board */
/** @typedef {import("./map_state.js").State} State */

const DIFFERS = 0.1; // chances that differ by less are not shaded
const SELDOM = 0.1; // battles fought less often have no arrow, unless they are on the main line
const MOST_ARROWS = 30;
const MOST_LINES = 8;
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
 * Return the arrows of a plan: its main line, and other battles that are often fought.
 * @param {Board} board
 * @param {{steps: {from: string, to: string, reach_probability: number}[]}} record
 * @param {[string, string][]} way
 */
export function arrowsOf(board, record, way) {
  const number = new Map(board.territories.map((name, t) => [name, t]));
  const main = new Set(way.map((pair) => JSON.stringify(pair)));
  const others = record.steps.filter(
    ({ from, to, reach_probability: reached }) => !main.has(JSON.stringify([from, to])) && reached >= SELDOM,
  );
  const drawn = [...way, ...others.map(({ from, to }) => [from, to])];
  return drawn.slice(0, Math.max(MOST_ARROWS, way.length)).map(([from, to], k) => ({
    from: number.get(from),
    to: number.get(to),
    number: k + 1,
    isMain: k < way.length,
    isNext: false,
  }));
}

/**
 * Return the chances to own each territory at the end, where those that are attacked differ.
 * @param {number[]} owned
 * @param {{to: number}[]} arrows
 */
export function chancesOf(owned, arrows) {
  const attacked = arrows.map(({ to }) => owned[to]);
  return attacked.length && Math.max(...attacked) - Math.min(...attacked) > DIFFERS ? owned : null;
}

/**
 * Show a plan in words and tables.
 * @param {{told: HTMLElement, tables: HTMLElement}} places
 * @param {Board} board
 * @param {object} record
 * @param {string[]} sentences of the answer, the first of which says what the plan achieves
 * @param {ReturnType<typeof arrowsOf>} arrows
 */
export function showPlan({ told, tables }, board, record, sentences, arrows) {
  const isChance = record.win_probability !== null && !record.goal.goals;
  const value = isChance ? percent(record.win_probability, 2) : record.value.toFixed(2);
  const proof = record.proven ? "proven best" : "";
  told.replaceChildren(
    element("p", { className: "figure" }, element("strong", {}, value), " ", element("span", { className: "proof" }, proof)),
    ...sentences.map((text) => element("p", {}, text)),
  );
  const made = [];
  const chance = (number) => percent(number);
  const steps = new Map(record.steps.map((step) => [JSON.stringify([step.from, step.to]), step]));
  const rows = arrows.flatMap(({ from, to, number, isMain }) => {
    const names = [board.territories[from], board.territories[to]];
    const step = steps.get(JSON.stringify(names));
    if (!step) return [];
    const line = [`${number}. ${names.join(" to ")}`, chance(step.reach_probability), chance(step.conquer_probability)];
    return [[...line, step.conquer_probability ? step.expected_armies.toFixed(1) : "", isMain]];
  });
  const cells = (isMain) => rows.filter((row) => row[4] === isMain).map((row) => row.slice(0, 4));
  const heads = ["", "fought", "taken", "arriving"];
  if (cells(true).length) made.push(table("The main line", heads, cells(true)));
  if (cells(false).length) made.push(table("Other likely battles", heads, cells(false)));
  const ends = record.endings.filter(({ probability }) => probability >= 0.001).slice(0, MOST_LINES);
  if (ends.length && isChance) {
    made.push(table("Where it may fail", ["", "chance"], ends.map(({ from, to, probability }) => [`${from} to ${to}`, percent(probability, 1)])));
  }
  const ways = (record.alternatives ?? []).slice(0, MOST_LINES);
  if (ways.length) {
    const head = ["", "dice", isChance ? "chance" : "worth"];
    const told = ({ from, to, dice, value: worth }) => [`${from} to ${to}`, String(dice), isChance ? percent(worth, 2) : worth.toFixed(2)];
    made.push(table("Ways to begin", head, ways.map(told)));
  }
  const open = record.territories.filter(({ own_probability: own }) => own > 0.0005 && own < 1);
  if (open.length) {
    const cells = open.map(({ name, own_probability: own, expected_armies: armies }) => [name, percent(own, 2), armies.toFixed(1)]);
    made.push(table("At the end", ["", "chance", "armies"], cells));
  }
  tables.replaceChildren(...made.map((each) => element("div", { className: "scroll" }, each)));
  for (const each of tables.children) {
    each.tabIndex = 0;
    each.setAttribute("role", "region");
    each.setAttribute("aria-label", each.querySelector("caption").textContent);
  }
}
