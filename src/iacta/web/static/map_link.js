// Links: a state as the fragment of a URL, which can be shared, reloaded and reached by the back
// button.
//
// Each part of the state that differs from the default is a short parameter. Since version 2, a
// link begins with its version `v` and the number of its steps `n`, each step ends with a check
// letter, and the parameter `e` ends the link. These marks reveal whether a program has truncated
// the link; all complete steps are restored. Links of version 1 have no such marks. The goal in a
// link belongs to the current turn; each parameter `q` contains the goal of another turn.

import { canAim, findGoalOfTurn, findTurnStart, MAX_ARMIES, makeState } from "./map_state.js";

const VERSION = 2;
const GOALS = ["win", "continent", "all", "any", "eliminate", "worth", "now"];
export const MAX_NOTE = 200; // characters
const MAX_VICTORY = 2000; // characters
const LOST_STEPS = "Cannot read all steps of the link; the end of the link may be missing.";
const NO_POSITION = "Cannot read the position in the address; it may be incomplete.";
const OPTIONAL = ["dice", "their_dice"]; // the numbers that may be omitted
// For each kind of step, its letter and the names of its numbers.
const LETTERS = {
  attack: ["a", "from", "to", "left", "their_left", ...OPTIONAL],
  advance: ["m", "armies"],
  get: ["g", "armies"],
  fortify: ["f", "from", "to", "armies"],
  place: ["p"],
  correct: ["c"],
  stop: ["s"],
  next: ["n"],
};

/** Return the link to a state, as the fragment of a URL. */
export function writeLink(state) {
  const parts = [];
  const add = (name, value) => parts.push(`${name}=${encodeURIComponent(value)}`);
  add("v", VERSION);
  if (state.steps.length) add("n", state.steps.length);
  if (state.code) add("b", state.code);
  for (const name of state.players) add("p", name);
  if (state.mover) add("m", state.mover);
  add("h", writeHoldings(state));
  if (state.rules !== "classic") add("r", state.rules);
  if (state.goal) add("g", state.goal);
  if (state.goal === "continent") add("t", state.continent);
  if (state.goal === "eliminate") add("t", state.victim);
  if (canAim(state)) add("t", state.targets.join("."));
  const keep = Object.entries(state.keep).map(([t, count]) => `${t}-${count}`);
  if (keep.length) add("k", keep.join("."));
  if (state.stay.length) add("s", state.stay.join("."));
  if (state.fresh) add("f", state.fresh);
  if (state.victory) add("w", state.victory);
  if (state.hold) add("o", 1);
  if (state.played) add("go", 1);
  if (state.at) add("i", state.at);
  if (state.steps.length) add("x", state.steps.map((step) => writeStep(step, state)).join("."));
  for (const [k, { note }] of state.steps.entries()) if (note) add("z", `${k + 1}-${note}`);
  const present = findTurnStart(state.steps, state.at);
  const starts = [0, ...state.steps.flatMap((step, k) => (step.do === "next" ? [k + 1] : []))];
  for (const start of starts) {
    const goal = findGoalOfTurn(state, start);
    if (goal.goal && start !== present) add("q", writeGoal(start, goal));
  }
  add("e", 1);
  return `#${parts.join("&")}`;
}

/**
 * Return the state in a link, and a sentence about any parts of the link that are lost. Without a
 * readable position, the board is empty.
 * @param {string} fragment the link
 * @param {import("./map_state.js").Board} board
 * @param {number} maxSteps further steps are ignored
 * @returns {{state: import("./map_state.js").State, problem: string}}
 */
export function readLink(fragment, board, maxSteps) {
  // The last escape sequence may be truncated.
  const given = new URLSearchParams(fragment.replace(/^#|%.?$/g, ""));
  const defaults = makeState(board, given.get("b") ?? "");
  const isTerritory = (t) => t < board.territories.length;
  const pickNumber = (number, count, fallback) =>
    number !== null && number < count ? number : fallback;
  const names = given.getAll("p").slice(0, 100);
  const players = names.length > 1 ? names : defaults.players;
  const position = readHoldings(given.get("h"), board, players);
  const goal = GOALS.includes(given.get("g")) ? given.get("g") : defaults.goal;
  const target = readNumber(given.get("t"));
  const keep = {};
  for (const pair of (given.get("k") ?? "").split(".")) {
    const [t, count] = pair.split("-").map(readNumber);
    if (t !== null && (count ?? null) !== null && isTerritory(t)) keep[t] = count;
  }
  const steps = readSteps(given, players).slice(0, maxSteps);
  const at = readNumber(given.get("i")) ?? 0;
  const state = {
    ...defaults,
    players,
    mover: pickNumber(readNumber(given.get("m")), players.length, 0),
    ...(position ?? {
      owners: board.territories.map(() => -1),
      armies: board.territories.map(() => 0),
    }),
    rules: (given.get("r") ?? "classic").slice(0, 100),
    goal,
    continent: goal === "continent" ? pickNumber(target, board.continents.length, 0) : 0,
    victim: goal === "eliminate" ? pickNumber(target, players.length, 1) : 1,
    targets: canAim({ goal }) ? readNumbers(given.get("t")).filter(isTerritory) : [],
    keep,
    stay: readNumbers(given.get("s")).filter(isTerritory),
    fresh: Math.min(readNumber(given.get("f")) ?? 0, 1000),
    victory: (given.get("w") ?? "").slice(0, MAX_VICTORY),
    hold: given.get("o") === "1",
    played: position !== null && (given.has("go") || steps.length > 0),
    steps,
    at: Math.min(at, steps.length),
  };
  const problem = position ? describeLoss(given, steps, at, maxSteps) : NO_POSITION;
  return { state: readGoals(given, state), problem };
}

/** Return a sentence about the steps that a link has lost, or "". */
function describeLoss(given, steps, at, maxSteps) {
  const version = readNumber(given.get("v") ?? "1");
  if (version === null || version > VERSION) {
    return "The link is from a newer version of iacta, and may be incomplete.";
  }
  if (version === 1) {
    const isWhole = steps.length === Math.min(countSteps(given), maxSteps) && at <= steps.length;
    return isWhole ? "" : LOST_STEPS;
  }
  const missing = Math.min(readNumber(given.get("n")) ?? 0, maxSteps) - steps.length;
  if (missing > 0) {
    const words = missing === 1 ? "One step is" : `${missing} steps are`;
    return given.has("e")
      ? `${words} missing: the link is damaged.`
      : `${words} missing at the end of the link.`;
  }
  return given.has("e") ? "" : "The end of the link is missing.";
}

function writeGoal(start, { goal, continent, victim, targets, hold }) {
  const numbers = { continent: [continent], eliminate: [victim], all: targets, any: targets };
  return [start, GOALS.indexOf(goal), Number(hold), ...(numbers[goal] ?? [])].join(".");
}

/** Return a state with the goals of its other turns, read from a link; ignore unreadable goals. */
function readGoals(given, state) {
  const steps = [...state.steps];
  let { began } = state;
  for (const text of given.getAll("q")) {
    const [start, kind, hold, ...numbers] = text.split(".").map(readNumber);
    const goal = GOALS[kind];
    if (!goal || hold === null || numbers.includes(null)) continue;
    const parts = { goal, continent: 0, victim: 1, targets: [], hold: hold === 1 };
    if (goal === "continent") parts.continent = numbers[0] ?? 0;
    else if (goal === "eliminate") parts.victim = numbers[0] ?? 1;
    else parts.targets = numbers.filter((t) => t < state.owners.length);
    if (start === 0) {
      began = parts;
    } else if (steps[start - 1]?.do === "next") {
      steps[start - 1] = { ...steps[start - 1], goal: parts };
    }
  }
  return began ? { ...state, steps, began } : { ...state, steps };
}

function writeHoldings({ owners, armies }) {
  const runs = [];
  owners.forEach((owner, t) => {
    const text = owner < 0 ? "-" : String.fromCharCode(97 + owner) + armies[t];
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
    const parts = /^(?:-|([a-z])(\d{1,10}))(?:x(\d{1,5}))?$/.exec(run);
    if (!parts) return [];
    const owner = parts[1] ? parts[1].charCodeAt(0) - 97 : -1;
    return Array(Math.min(Number(parts[3] ?? 1), size)).fill([owner, Number(parts[2] ?? 0)]);
  });
  if (holdings.length !== size || holdings.some(([owner]) => owner >= players.length)) return null;
  return {
    owners: holdings.map(([owner]) => owner),
    armies: holdings.map(([, count]) => Math.min(count, MAX_ARMIES)),
  };
}

function writeStep({ after, do: name, on, goal, ...numbers }, { players }) {
  const [letter, ...keys] = LETTERS[name];
  const flat = on
    ?.flat()
    .map((part) => (typeof part === "string" ? players.indexOf(part) + 1 : part));
  const parts = flat ?? keys.flatMap((key) => numbers[key] ?? []);
  const text = `${after}${letter}${parts.join("-")}`;
  return text + findCheckLetter(text);
}

/** Return a check letter, which detects almost every change of the text. */
function findCheckLetter(text) {
  const number = [...text].reduce((sum, letter) => (31 * sum + letter.charCodeAt(0)) % 26, 0);
  return String.fromCharCode(97 + number);
}

const countSteps = (given) => (given.has("x") ? given.get("x").split(".").length : 0);

/** Return the steps in a link up to the first unreadable step, with their comments. */
function readSteps(given, players) {
  const texts = given.has("x") ? given.get("x").split(".") : [];
  const hasCheckLetters = given.has("v");
  const steps = [];
  for (const text of texts) {
    const body = hasCheckLetters ? text.slice(0, -1) : text;
    const isIntact = !hasCheckLetters || text.at(-1) === findCheckLetter(body);
    const step = isIntact ? readStep(body, players) : null;
    if (!step || step.after > steps.length) break;
    steps.push(step);
  }
  for (const text of given.getAll("z")) {
    const [, k, note] = /^(\d{1,4})-(.*)$/s.exec(text) ?? [];
    if (!steps[k - 1]) continue;
    const whole = note.replace(/\uFFFD$/, ""); // a character of several bytes may be truncated
    steps[k - 1] = { ...steps[k - 1], note: whole.slice(0, MAX_NOTE) };
  }
  return steps;
}

/** Return the step in a text; null for an unreadable text. */
function readStep(text, players) {
  const [, after, letter, rest] = /^(\d{1,4})([a-z])([\d-]*)$/.exec(text) ?? [];
  const known = Object.entries(LETTERS).find(([, [each]]) => each === letter);
  const numbers = rest ? rest.split("-").map(readNumber) : [];
  if (!known || numbers.includes(null)) return null;
  const [name, [, ...keys]] = known;
  const step = { after: Number(after), do: name };
  const size = { place: 2, correct: 3 }[name]; // the length of each row; owners are numbered from 1
  if (size) {
    const on = [];
    for (let k = 0; k + size <= numbers.length; k += size) on.push(numbers.slice(k, k + size));
    if (name === "correct") for (const row of on) row[1] = players[row[1] - 1] ?? "";
    return { ...step, on };
  }
  const isLong = numbers.length > keys.length;
  const missing = keys.splice(numbers.length);
  if (isLong || !missing.every((key) => OPTIONAL.includes(key))) return null;
  return { ...step, ...Object.fromEntries(keys.map((key, k) => [key, numbers[k]])) };
}

const readNumber = (text) => (/^\d{1,10}$/.test(text ?? "") ? Number(text) : null);

function readNumbers(text) {
  const numbers = (text ?? "").split(".").map(readNumber);
  return numbers.filter((each) => each !== null);
}
