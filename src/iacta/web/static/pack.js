// Compresses texts for URLs, to characters that need no escaping.

const MAX_BYTES = 1e6;

/** Compress a text. */
export async function pack(text) {
  const small = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(small).arrayBuffer());
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Return the beginning of a text from a damaged result of `pack`, up to the last full stop. */
export async function unpackStart(code) {
  let text = "";
  try {
    return await unpack(code, (part) => {
      text += part;
    });
  } catch {
    return text.slice(0, Math.max(text.lastIndexOf("."), 0));
  }
}

/**
 * Decompress the result of `pack`; refuse texts of more than `MAX_BYTES`. `see` is called with each
 * part of the text.
 */
export async function unpack(code, see = () => {}) {
  const binary = atob(code.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
  const large = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const parts = [];
  let size = 0;
  for (const reader = large.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts).text();
    size += value.length;
    if (size > MAX_BYTES) throw new RangeError("the text in the address is too large");
    parts.push(value);
    see(new TextDecoder().decode(value));
  }
}

/** Return the URL of the review of a log; the URL contains the log. */
export const makeReviewLink = async (log) => `review#log=${await pack(log)}`;
