// What a page asks the server beside its own address: JSON, and answers in lines that improve.

const MOST_TIMES = 60;
const PAUSE = 2000; // milliseconds until a busy server is asked again

/** A refusal of the server, in its words. */
export class Refused extends Error {}

/** A server that has too much to do. */
class Busy extends Refused {}

/** Return the error that a problem document describes. */
const refusal = ({ status, detail }) => (status === 503 ? new Busy(detail) : new Refused(detail));

/** Return the response of the server to JSON, or throw its refusal. */
async function response(address, body, { signal, headers = {} } = {}) {
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

/** Return what is asked for; while the server is busy, ask again, unless `signal` has ended it. */
async function patiently(ask, signal) {
  for (let times = 0; ; times++) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Busy) || times >= MOST_TIMES) throw error;
      await new Promise((done) => setTimeout(done, PAUSE));
      signal?.throwIfAborted();
    }
  }
}

/**
 * Return what the server answers to JSON; a busy server is asked again.
 * @param {string} address
 * @param {object} body
 */
export function posted(address, body) {
  return patiently(async () => (await response(address, body)).json());
}

/**
 * Ask for an answer that improves, until its time is over or the signal ends it.
 * @param {string} address
 * @param {object} body
 * @param {{progress?: (doing: string, part: number|null) => void, answer: (found: object) => void,
 *   signal: AbortSignal}} handlers `answer` is called again whenever there is a better one
 */
export function asked(address, body, { progress, answer, signal }) {
  return patiently(async () => {
    const found = await response(address, body, { signal, headers: { Accept: "application/x-ndjson" } });
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
      for (const line of lines.map((text) => JSON.parse(text))) {
        if (line.progress) progress?.(line.progress.doing, line.progress.part);
        if (line.answer) answer(line.answer);
        if (line.problem) throw refusal(line.problem);
      }
    }
  }, signal);
}
