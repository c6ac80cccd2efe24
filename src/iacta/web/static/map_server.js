// What the map page asks the server, and how.

/** @typedef {import("./map_state.js").Board} Board */
/** @typedef {import("./map_state.js").State} State */

const MOST_TIMES = 60;
const PAUSE = 2000; // milliseconds until a busy server is asked again

/**
 * Return a position as questions and files have it.
 * @param {Board} board
 * @param {State} state
 * @param {{owners: number[], armies: number[]}} holdings
 */
export function positionOf(board, state, holdings) {
  const territories = {};
  board.territories.forEach((name, t) => {
    if (holdings.owners[t] < 0) return;
    // A name such as __proto__ is a name too.
    Object.defineProperty(territories, name, {
      value: { owner: state.players[holdings.owners[t]], armies: holdings.armies[t] },
      enumerable: true,
    });
  });
  return { board: board.board, player: state.players[state.mover], territories };
}

/**
 * Return the code of the turn that is set up, one line that all of iacta reads.
 * @param {Board} board
 * @param {State} state
 */
export function codeOf(board, state) {
  const escaped = (name) => name.replace(/[%,:;=\s]/g, encodeURIComponent);
  const holdings = board.territories.flatMap((name, t) =>
    state.owners[t] < 0 ? [] : [[name, state.players[state.owners[t]], String(state.armies[t])].map(escaped).join(":")],
  );
  const keep = Object.entries(state.keep).map(([t, count]) => `${escaped(board.territories[t])}:${count}`);
  const stay = state.stay.map((t) => escaped(board.territories[t]));
  // By the rules of a code, the players' turns come in the order of their first territories.
  const usual = [...new Set(state.owners.filter((owner) => owner >= 0))];
  const order = [...usual].sort((a, b) => a - b);
  const options = [
    String(order) !== String(usual) && `players=${order.map((p) => escaped(state.players[p])).join(",")}`,
    state.rules !== "classic" && `rules=${escaped(state.rules)}`,
    state.fresh && `place=${state.fresh}`,
    keep.length && `keep=${keep.join(",")}`,
    stay.length && `stay=${stay.join(",")}`,
  ].filter(Boolean);
  const parts = ["1", board.code, escaped(state.players[state.mover]), holdings.join(",")];
  return [...parts, state.fresh ? "place" : "attack", ...options].join(";");
}

/**
 * Return the goal of a state, as the server takes it; null while no territory is chosen.
 * @param {Board} board
 * @param {State} state
 */
export function goalOf(board, state) {
  if ((state.goal === "all" || state.goal === "any") && !state.targets.length) return null;
  const names = (some) => some.map((t) => board.territories[t]).join(", ");
  const hold = state.hold && state.goal !== "worth" ? { hold: true } : {};
  if (state.goal === "continent") return { take: board.continents[state.continent]?.name ?? "", ...hold };
  if (state.goal === "all") return { take: names(state.targets), ...hold };
  if (state.goal === "any") return { take_any: names(state.targets), ...hold };
  if (state.goal === "eliminate") return { eliminate: state.players[state.victim], ...hold };
  return { worth: true };
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
 * @param {(sentence: string) => void} waiting is called with why it takes longer
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
 * Return the response of the server to JSON, or throw its refusal.
 * @param {string} address
 * @param {object} body
 * @param {AbortSignal} [signal]
 * @param {object} [headers]
 */
async function response(address, body, signal, headers = {}) {
  let found;
  try {
    found = await fetch(address, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refused("The server does not respond.");
  }
  if (found.ok) return found;
  const problem = await found.json().catch(() => null);
  throw refusal(problem ?? { detail: `The server responded with ${found.status}.`, status: found.status });
}

/**
 * Return what the server answers to JSON.
 * @param {string} address
 * @param {object} body
 */
export async function posted(address, body) {
  return (await response(address, body)).json();
}

/**
 * Search a turn until the time is over or the signal ends it.
 * @param {object} asked as `api/v1/turn/analyse` takes it
 * @param {{progress: (doing: string, part: number|null) => void, answer: (found: object) => void,
 *   signal: AbortSignal}} handlers `answer` is called again whenever there is a better one
 */
export async function searched(asked, { progress, answer, signal }) {
  const found = await response("api/v1/turn/analyse", asked, signal, { Accept: "application/x-ndjson" });
  const reader = found.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read().catch((error) => {
      if (signal.aborted) throw error;
      throw new Refused("The server ended the search.");
    });
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines.map(JSON.parse)) {
      if (line.progress) progress(line.progress.doing, line.progress.part);
      if (line.answer) answer(line.answer);
      if (line.problem) throw refusal(line.problem);
    }
  }
}

/** Save a text as a file. */
export function saved(name, text) {
  const link = Object.assign(document.createElement("a"), { download: name });
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
