// Links: a state as the fragment of a URL, which can be shared, reloaded and reached by the back
// button.
//
// Each part of the state that differs from the default is a short parameter. Since version 2, a
// link begins with its version `v` and the number of its steps `n`, each step ends with a check
// letter, and the parameter `e` ends the link. These marks reveal whether a program has truncated
// the link; all complete steps are restored. Links of version 1 have no such marks.
//
// Since version 3, `g` is the goal at the start, as the text of a step, and each later choice of a
// goal is a step. Up to version 2, a link had one goal for each turn: `g` with `t` and `o` for the
// turn on the screen, and a parameter `q` for each other turn. Up to version 2, `w` is the victory
// condition of a code; since version 3, `c` has all further fields as in a code.
//
// In a game, `y` has the seats, and `l` how often players asked for help, and the number of earlier
// rounds, and the number of rounds after which the game offers to count territories. `own` says that
// the players roll their own dice, and `counted` has the step at which they counted territories.
// `draft` has the wishes for a game in JSON while persons pick territories or capitals. `j` has the
// id of the game in the browser in which it is played.
//
// A long link has its steps compressed, as `d` instead of `x`. If a game is too long for that, its
// link has only the present turn: its start as the `code` of a turn, and in `j` also the number of
// the step that begins it, and a checksum of the steps up to there.
//
// The server writes and reads the texts of steps and goals. Cards and missions are among the further
// fields; `d` and `t` are the letters of steps that draw and trade cards. They are not encrypted.

import { findPath, findTurnStart, insertGoal } from "./map_history.js";
import { makeState } from "./map_state.js";

const VERSION = 3;
const MAX_NOTE = 200; // characters
const MAX_PLAYERS = 100;
const FIRST_LETTER = 97; // the owners are the letters from `a`; after `z`, numbers in brackets
const LETTERS = 26;
const LOST_STEPS = "Cannot read all steps of the link; the end of the link may be missing.";
const NO_POSITION = "Cannot read the position in the address; it may be incomplete.";

// The kinds of goals up to version 2, by their number; the wish to win the game was no goal of a turn.
const KINDS = ["win", "continent", "all", "any", "eliminate", "worth", "now"];

/**
 * Return the link to a state, as the fragment of a URL.
 * @param {import("./map_state.js").State} state
 * @param {string} [packed] the compressed text of `writeSteps`
 */
export function writeLink(state, packed = "") {
  const parts = [];
  const add = (name, value) => parts.push(`${name}=${encodeURIComponent(value)}`);
  add("v", VERSION);
  if (state.steps.length) add("n", state.steps.length);
  if (state.code) add("b", state.code);
  for (const name of state.players) add("p", name);
  if (state.neutral.length) add("u", state.neutral.join("."));
  if (state.mover) add("m", state.mover);
  if (state.turn) add("code", state.turn.code);
  else add("h", writeHoldings(state));
  if (state.rules !== "classic") add("r", state.rules);
  if (state.goal) add("g", state.goal);
  const keep = Object.entries(state.keep).map(([t, count]) => `${t}-${count}`);
  if (keep.length) add("k", keep.join("."));
  if (state.stay.length) add("s", state.stay.join("."));
  if (state.fresh) add("f", state.fresh);
  const fields = Object.entries(state.fields).map((field) => field.join("="));
  if (fields.length) add("c", fields.join(";"));
  if (state.seats.length) add("y", state.seats.join("."));
  const counts = [state.asked, state.rounds, ...(state.limit ? [state.limit] : [])];
  if (counts.some(Boolean)) add("l", counts.join("."));
  if (state.counted !== null) add("counted", state.counted);
  if (state.hasOwnDice) add("own", 1);
  if (state.id) add("j", [state.id, ...(state.turn?.place ?? [])].join("."));
  if (state.draft) add("draft", JSON.stringify(state.draft));
  if (state.played) add("go", 1);
  if (state.at) add("i", state.at);
  if (packed) add("d", packed);
  else if (state.steps.length) add("x", state.steps.map(writeStep).join("."));
  for (const [k, { note }] of state.steps.entries()) if (note) add("z", `${k + 1}-${note}`);
  add("e", 1);
  return `#${parts.join("&")}`;
}

/**
 * Return the state in a link, and a sentence about any parts of the link that are lost. Without a
 * readable position, the board is empty.
 * @param {string} fragment the link
 * @param {import("./map_state.js").Board} board
 * @param {{names: string[]}} look the names of new players
 * @param {string} [text] the decompressed steps of the link
 * @returns {{state: import("./map_state.js").State, problem: string}}
 */
export function readLink(fragment, board, { names }, text = "") {
  // The last escape sequence may be truncated.
  const given = new URLSearchParams(fragment.replace(/^#|%.?$/g, ""));
  const defaults = makeState(board, given.get("b") ?? "", names);
  const isTerritory = (t) => t < board.territories.length;
  const named = given.getAll("p").slice(0, MAX_PLAYERS);
  const players = named.length > 1 ? named : defaults.players;
  const position = readHoldings(given.get("h"), board, players);
  const mover = readNumber(given.get("m")) ?? 0;
  const keep = {};
  for (const pair of (given.get("k") ?? "").split(".")) {
    const [t, count] = pair.split("-").map(readNumber);
    if (t !== null && (count ?? null) !== null && isTerritory(t)) keep[t] = count;
  }
  const steps = given.has("d") ? parseSteps(text) : readSteps(given);
  const at = readNumber(given.get("i")) ?? 0;
  const victory = given.get("w");
  const isNew = Number(given.get("v")) >= VERSION;
  const goal = given.get("g") ?? "";
  const seats = (given.get("y") ?? "").split(".").filter((seat) => /^[a-z]+\d*$/.test(seat));
  const [asked = 0, rounds = 0, limit = 0] = readNumbers(given.get("l"));
  const state = {
    ...defaults,
    players,
    neutral: readNumbers(given.get("u")).filter((k) => k < players.length),
    mover: mover < players.length ? mover : 0,
    ...(position ?? {
      owners: board.territories.map(() => -1),
      armies: board.territories.map(() => 0),
    }),
    rules: given.get("r") ?? "classic",
    keep,
    stay: readNumbers(given.get("s")).filter(isTerritory),
    fresh: readNumber(given.get("f")) ?? 0,
    fields: readFields(given.get("c") ?? (victory ? `win=${victory}` : "")),
    goal: isNew && /^o[\d-]*$/.test(goal) ? goal : "",
    played: position !== null && (given.has("go") || steps.length > 0),
    steps,
    at: Math.min(at, steps.length),
    ...(seats.length === players.length && { seats, asked, rounds, limit, ...readGame(given) }),
  };
  const problem = position ? describeLoss(given, steps.length, at) : NO_POSITION;
  return { state: isNew ? state : readOldGoals(state, given), problem };
}

/** Return how a game is played and ends, and the wishes of a game that has not begun. */
function readGame(given) {
  const counted = readNumber(given.get("counted"));
  const [id] = (given.get("j") ?? "").split(".");
  const game = { hasOwnDice: given.has("own"), counted, id };
  try {
    return { ...game, draft: JSON.parse(given.get("draft")) };
  } catch {
    return game; // the link is truncated
  }
}

/** Return the state of a link before version 3, with a step for the goal of each turn. */
function readOldGoals(state, given) {
  const hold = given.get("o") === "1" ? 1 : 0;
  const shown = [given.get("g"), hold, ...readNumbers(given.get("t"))].join(".");
  const goals = { [findTurnStart(state.steps, state.at)]: shown };
  for (const text of given.getAll("q")) {
    const [, turn, goal] = /^(\d+)\.([a-z_\d.]+)$/.exec(text) ?? [];
    if (goal) goals[turn] = goal;
  }
  const starts = Object.keys(goals)
    .map(Number)
    .filter((k) => k <= state.steps.length);
  return starts.reverse().reduce((before, k) => {
    const [kind, held, ...numbers] = goals[k].split(".");
    const number = KINDS.includes(kind) ? KINDS.indexOf(kind) : (readNumber(kind) ?? 0);
    return number ? insertGoal(before, k, `o${[number, held, 0, ...numbers].join("-")}`) : before;
  }, state);
}

/** Return the fields `key=value` of a text; a value without a key is the phase. */
function readFields(text) {
  const fields = text.split(";").map((field) => /^(?:([a-z]+)=)?(.*)$/s.exec(field) ?? []);
  return Object.fromEntries(
    fields.flatMap(([, key, value]) => (key || value ? [[key ?? "phase", value]] : [])),
  );
}

/** Return a sentence about the steps that a link has lost, or "". */
function describeLoss(given, count, at) {
  const version = readNumber(given.get("v") ?? "1");
  if (version === null || version > VERSION) {
    return "The link is from a newer version of iacta, and may be incomplete.";
  }
  if (version === 1) {
    const isWhole = count === listTexts(given).length && at <= count;
    return isWhole ? "" : LOST_STEPS;
  }
  const missing = (readNumber(given.get("n")) ?? 0) - count;
  if (missing > 0) {
    const words = missing === 1 ? "One step is" : `${missing} steps are`;
    return given.has("e")
      ? `${words} missing: the link is damaged.`
      : `${words} missing at the end of the link.`;
  }
  return given.has("e") ? "" : "The end of the link is missing.";
}

/** Return a state without the steps that the server cannot read, and a sentence about them. */
export function dropUnreadable(state, count) {
  const steps = state.steps.slice(0, count);
  return [{ ...state, steps, at: Math.min(state.at, count) }, LOST_STEPS];
}

function writeHoldings({ owners, armies }) {
  const runs = [];
  owners.forEach((owner, t) => {
    const letter = owner < LETTERS ? String.fromCharCode(FIRST_LETTER + owner) : `(${owner})`;
    const text = owner < 0 ? "-" : letter + armies[t];
    const last = runs.at(-1);
    if (last?.text === text) last.count += 1;
    else runs.push({ text, count: 1 });
  });
  return runs.map(({ text, count }) => (count > 1 ? `${text}x${count}` : text)).join(".");
}

/** Return the owners and armies of all territories; null if the text does not fit the board. */
function readHoldings(text, board, players) {
  const size = board.territories.length;
  const holdings = (text ?? "").split(".").flatMap((run) => {
    const [, letter, number, count, times] =
      /^(?:-|(?:([a-z])|\((\d{1,3})\))(\d{1,10}))(?:x(\d{1,5}))?$/.exec(run) ?? [];
    if (!run || (run[0] !== "-" && !count)) return [];
    const owner = letter ? letter.charCodeAt(0) - FIRST_LETTER : Number(number ?? -1);
    return Array(Math.min(Number(times ?? 1), size)).fill([owner, Number(count ?? 0)]);
  });
  if (holdings.length !== size || holdings.some(([owner]) => owner >= players.length)) return null;
  return {
    owners: holdings.map(([owner]) => owner),
    armies: holdings.map(([, count]) => count),
  };
}

function writeStep({ after, text }) {
  const whole = `${after}${text}`;
  return whole + findCheckLetter(whole);
}

/** Return steps as a text to compress; a step after the step before it has no number. */
export const writeSteps = (steps) =>
  steps.map(({ after, text }, k) => (after === k ? text : `${after}${text}`)).join(".");

/** Return the steps of a text of `writeSteps`, up to the first unreadable step. */
function parseSteps(text) {
  const steps = [];
  for (const whole of text.split(".")) {
    const [, number = steps.length, step] = /^(\d{1,5})?([a-z][\d-]*)$/.exec(whole) ?? [];
    if (!step || Number(number) > steps.length) break;
    steps.push({ after: Number(number), text: step });
  }
  return steps;
}

/** Return a checksum of the first `count` steps. */
export function hashSteps(steps, count = steps.length) {
  let hash = 0;
  for (const letter of writeSteps(steps.slice(0, count))) {
    hash = (Math.imul(31, hash) + letter.charCodeAt(0)) | 0;
  }
  return (hash >>> 0).toString(36);
}

/**
 * Return the present turn of a game as a state for `writeLink`.
 * @param {import("./map_state.js").State} state
 * @param {string} code the code of the start of the turn
 * @param {number} rounds the number of rounds that ended before
 */
export function cutToTurn(state, code, rounds) {
  const start = findTurnStart(state.steps, state.at);
  const path = findPath(state.steps, state.at);
  const last = path.filter((k) => k > start).map((k) => state.steps[k - 1]);
  const before = path.filter((k) => k <= start).map((k) => state.steps[k - 1]);
  const steps = last.map((step, k) => ({ ...step, after: k }));
  return {
    ...makeEmpty(state),
    ...{ rounds, steps, at: steps.length },
    seats: state.seats.map((seat) => seat.replace(/\d+$/, "")), // the step of a resignation
    turn: { code, place: [start, hashSteps(before)] },
  };
}

/** Return a state without what the code of a turn contains. */
const makeEmpty = (state) => ({
  ...state,
  ...{ mover: 0, rules: "classic", keep: {}, stay: [], fresh: 0, fields: {}, goal: "" },
  counted: null,
});

/** Return the parts of a link to the present turn of a game; null for another link. */
export function readTurnLink(fragment) {
  const given = new URLSearchParams(fragment.replace(/^#|%.?$/g, ""));
  const [id, start, hash] = (given.get("j") ?? "").split(".");
  if (!given.has("code") || !hash) return null;
  const players = given.getAll("p");
  return {
    code: given.get("code"),
    id,
    start: Number(start),
    hash,
    players,
    steps: readSteps(given),
  };
}

/** Return a check letter, which detects almost every change of the text. */
function findCheckLetter(text) {
  const number = [...text].reduce((sum, letter) => (31 * sum + letter.charCodeAt(0)) % 26, 0);
  return String.fromCharCode(FIRST_LETTER + number);
}

/** Return a comment, shortened to the length that links keep. */
export const cutNote = (note) => note.slice(0, MAX_NOTE);

const listTexts = (given) => (given.has("x") ? given.get("x").split(".") : []);

/** Return the steps in a link up to the first damaged step, with their comments. */
function readSteps(given) {
  const hasCheckLetters = given.has("v");
  const steps = [];
  for (const whole of listTexts(given)) {
    const body = hasCheckLetters ? whole.slice(0, -1) : whole;
    const isIntact = !hasCheckLetters || whole.at(-1) === findCheckLetter(body);
    const [, after, text] = /^(\d{1,5})([a-z][\d-]*)$/.exec(body) ?? [];
    if (!isIntact || !text || Number(after) > steps.length) break;
    steps.push({ after: Number(after), text });
  }
  for (const comment of given.getAll("z")) {
    const [, k, note] = /^(\d{1,5})-(.*)$/s.exec(comment) ?? [];
    if (!steps[k - 1]) continue;
    const intact = note.replace(/\uFFFD$/, ""); // a character of several bytes may be truncated
    steps[k - 1] = { ...steps[k - 1], note: cutNote(intact) };
  }
  return steps;
}

const readNumber = (text) => (/^\d{1,10}$/.test(text ?? "") ? Number(text) : null);

function readNumbers(text) {
  const numbers = (text ?? "").split(".").map(readNumber);
  return numbers.filter((number) => number !== null);
}
