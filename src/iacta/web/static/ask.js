// Requests to the server: pages, JSON, and answers in lines that improve.

const MOST_TIMES = 60;
const PAUSE = 2000; // milliseconds until a busy server is asked again

/** A refusal of the server, in its words. */
export class Refused extends Error {
  constructor(words) {
    super(words.charAt(0).toUpperCase() + words.slice(1));
  }
}

/** A server that has too much to do. */
class Busy extends Refused {}

const refusal = ({ status, detail }) => (status === 503 ? new Busy(detail) : new Refused(detail));

/** Return the response of the server, or throw its refusal; a page with a problem is a response. */
async function response(address, options) {
  let found;
  try {
    found = await fetch(address, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Refused("The server does not respond. Is it still running?");
  }
  const isPage = found.headers.get("Content-Type")?.startsWith("text/html");
  if (found.ok || (found.status === 422 && isPage)) return found;
  const problem = await found.json().catch(() => null);
  throw refusal(
    problem ?? { detail: `The server responded with ${found.status}.`, status: found.status },
  );
}

/** Return the result of a request; repeat it while the server is busy, until `signal` ends it. */
async function patiently(ask, signal, waiting = () => {}) {
  for (let times = 0; ; times++) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Busy) || times >= MOST_TIMES) throw error;
      waiting(error.message);
      await new Promise((done) => setTimeout(done, PAUSE));
      signal?.throwIfAborted();
    }
  }
}

const json = (body, headers = {}) => ({
  method: "POST",
  headers: { "Content-Type": "application/json", ...headers },
  body: JSON.stringify(body),
});

/**
 * Return a page of the server; a busy server is asked again.
 * @param {string} address
 * @param {{body?: object, signal?: AbortSignal, waiting?: (sentence: string) => void}} how
 *   `body` is posted as JSON, if there is one; `waiting` is called with why it takes longer
 * @returns {Promise<Document>}
 */
export function page(address, { body, signal, waiting } = {}) {
  return patiently(
    async () => {
      const found = await response(address, { ...(body && json(body)), signal });
      return new DOMParser().parseFromString(await found.text(), "text/html");
    },
    signal,
    waiting,
  );
}

/**
 * Return the server's answer to JSON; a busy server is asked again.
 * @param {string} address
 * @param {object} body
 * @param {AbortSignal} [signal]
 */
export function posted(address, body, signal) {
  return patiently(async () => (await response(address, { ...json(body), signal })).json(), signal);
}

/**
 * Ask for an answer that improves, until its time is over or the signal ends it.
 * @param {string} address
 * @param {object} body
 * @param {{progress?: (doing: string, part: number|null) => void, answer: (found: object) => void,
 *   signal?: AbortSignal}} handlers `answer` is called again whenever there is a better one
 */
export function asked(address, body, { progress, answer, signal }) {
  return patiently(async () => {
    const found = await response(address, {
      ...json(body, { Accept: "application/x-ndjson" }),
      signal,
    });
    const reader = found.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read().catch((error) => {
        if (signal?.aborted) throw error;
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

export function saved(name, text) {
  const link = Object.assign(document.createElement("a"), { download: name });
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
