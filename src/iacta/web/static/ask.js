// Requests to the server: pages, JSON, and streams of improving answers.

const MAX_RETRIES = 60;
const PAUSE = 2000; // milliseconds before a retry if the server is busy

/** The server refused a request. The message is the server's reason. */
export class Refused extends Error {
  constructor(words) {
    super(words.charAt(0).toUpperCase() + words.slice(1));
  }
}

/** The server does not respond. */
export class Unreachable extends Refused {}

/** The server is too busy to answer. */
class Busy extends Refused {}

const makeRefusal = ({ status, detail }) =>
  status === 503 ? new Busy(detail) : new Refused(detail);

/**
 * Return the server's response, or throw a `Refused` error. An HTML page with a problem (status
 * 422) counts as a response.
 */
async function fetchResponse(address, options) {
  let found;
  try {
    found = await fetch(address, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Unreachable("The server does not respond. Is it still running?");
  }
  const isPage = found.headers.get("Content-Type")?.startsWith("text/html");
  if (found.ok || (found.status === 422 && isPage)) return found;
  const problem = await found.json().catch(() => null);
  throw makeRefusal(
    problem ?? { detail: `The server responded with ${found.status}.`, status: found.status },
  );
}

/** Make a request, and retry it while the server is busy, until `signal` aborts it. */
async function retryWhileBusy(ask, signal, waiting = () => {}) {
  for (let times = 0; ; times++) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Busy) || times >= MAX_RETRIES) throw error;
      waiting(error.message);
      await new Promise((done) => setTimeout(done, PAUSE));
      signal?.throwIfAborted();
    }
  }
}

const makeJsonRequest = (body, headers = {}) => ({
  method: "POST",
  headers: { "Content-Type": "application/json", ...headers },
  body: JSON.stringify(body),
});

/**
 * Request a page, and retry while the server is busy.
 * @param {string} address
 * @param {{body?: object, signal?: AbortSignal, waiting?: (sentence: string) => void}} how `body`
 *   is posted as JSON if present; `waiting` is called with the reason for a delay
 * @returns {Promise<Document>}
 */
export function fetchPage(address, { body, signal, waiting } = {}) {
  return retryWhileBusy(
    async () => {
      const found = await fetchResponse(address, { ...(body && makeJsonRequest(body)), signal });
      return new DOMParser().parseFromString(await found.text(), "text/html");
    },
    signal,
    waiting,
  );
}

/**
 * Post JSON and return the server's answer; retry while the server is busy.
 * @param {string} address
 * @param {object} body
 * @param {AbortSignal} [signal]
 */
export function postJson(address, body, signal) {
  return retryWhileBusy(async () => {
    const found = await fetchResponse(address, { ...makeJsonRequest(body), signal });
    return found.json().catch((error) => {
      if (signal?.aborted) throw error;
      throw new Unreachable("The server stopped before the end of its answer.");
    });
  }, signal);
}

/**
 * Request an answer that improves until its time limit, or until `signal` aborts it.
 * @param {string} address
 * @param {object} body
 * @param {{progress?: (doing: string, part: number|null) => void, answer: (found: object) => void,
 *   signal?: AbortSignal}} handlers `answer` is called for each improved answer
 */
export function streamAnswers(address, body, { progress, answer, signal }) {
  return retryWhileBusy(async () => {
    const found = await fetchResponse(address, {
      ...makeJsonRequest(body, { Accept: "application/x-ndjson" }),
      signal,
    });
    const reader = found.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read().catch((error) => {
        if (signal?.aborted) throw error;
        throw new Unreachable("The server ended the search.");
      });
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines.map((text) => JSON.parse(text))) {
        if (line.progress) progress?.(line.progress.doing, line.progress.part);
        if (line.answer) answer(line.answer);
        if (line.problem) throw makeRefusal(line.problem);
      }
    }
  }, signal);
}

/**
 * Share a file with a text where the browser can share files; otherwise save it.
 * @param {string} name
 * @param {BlobPart} content
 * @param {string} type the media type
 * @param {string} text
 */
export async function shareFile(name, content, type, text) {
  const files = [new File([content], name, { type })];
  if (!navigator.canShare?.({ files })) return saveFile(name, content, type);
  try {
    await navigator.share({ files, text });
  } catch (error) {
    if (error.name !== "AbortError") saveFile(name, content, type); // the person did not cancel
  }
}

export function saveFile(name, content, type = "text/plain") {
  const link = Object.assign(document.createElement("a"), { download: name });
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
