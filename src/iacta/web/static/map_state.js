// The state of the board page: immutable plain data. `changeState` returns a new state.
//
// Territories and players are numbers, in the order of the lists in the board and the state.

/**
 * A board from the server. `board` is sent back with questions, `code` identifies the board in
 * codes, `short` are the names of territories that fit on a map, and `scene` is the drawing, laid
 * out by `iacta.board.scene`.
 * @typedef {{board: string|object, name: string, short_name: string, code: string,
 *   territories: string[], short: string[], scene: object,
 *   remarks: {line: number|null, text: string}[]}} Board
 */

/**
 * A step of a turn. `after` is the number of the step before it (0 for the start, 1 for the first
 * step, and so on), `text` is the step as a short text of the server, and `note` is a comment.
 * @typedef {{after: number, text: string, note?: string}} Step
 *
 * @typedef {object} State
 * @property {string} code the code of the board in the URL; empty for the classic board
 * @property {string[]} players the names of all owners, in the order of play
 * @property {number[]} neutral the owners who have no turns
 * @property {number} mover the player to move
 * @property {number[]} owners the owner of each territory; -1 for nobody
 * @property {number[]} armies
 * @property {string} rules
 * @property {Record<number, number>} keep the territories with larger garrisons
 * @property {number[]} stay the territories that may not attack
 * @property {number} fresh the number of new armies to place first
 * @property {Record<string, string>} fields further fields of the turn, such as a victory condition
 * @property {string} goal the goal at the start, as the text of a step; "" for none
 * @property {boolean} played whether the turn is analysed, rather than set up
 * @property {Step[]} steps the tree of steps
 * @property {number} at the number of the step that the page shows
 * @property {string[]} seats of a game: "person", "resigned" with the number of a step, or the name
 *   of an AI for each player; otherwise []
 * @property {number} asked how often the players of a game asked for help
 * @property {number} rounds the number of rounds of a game that ended before the position
 * @property {number} limit the number of rounds after which a game offers to count territories;
 *   0 for the usual number
 * @property {number|null} counted the step at which the territories were counted
 * @property {boolean} hasOwnDice whether the players of a game roll their own dice
 * @property {object|null} draft the wishes for a game while persons pick territories or capitals
 */

/** The parts of a state that the server reads as the position. */
const SETUP = ["players", "neutral", "mover", "owners", "armies"];
const CONSTRAINTS = ["rules", "keep", "stay", "fresh", "fields"];

const NO_GAME = {
  ...{ seats: [], asked: 0, rounds: 0, limit: 0, counted: null, id: "" },
  ...{ hasOwnDice: false, draft: null },
};

/** Return a state without seats: the game as an analysis. */
export const leaveGame = (state) => ({ ...state, ...NO_GAME });

/** Return the position of a state, as the server reads it. */
export const makeSetup = (state) =>
  Object.fromEntries([...SETUP, ...CONSTRAINTS].map((name) => [name, state[name]]));

/**
 * Return the initial state: the first player has one territory, and another player all others.
 */
export function makeState(board, code, names) {
  const size = board.territories.length;
  return {
    code,
    ...{ players: names.slice(0, 2), neutral: [], mover: 0 },
    owners: Array.from({ length: size }, (_, t) => (t ? 1 : 0)),
    armies: Array.from({ length: size }, (_, t) => (t ? 2 : 12)),
    ...{ rules: "classic", keep: {}, stay: [], fresh: 0, fields: {}, goal: "" },
    ...{ played: false, steps: [], at: 0, ...NO_GAME },
  };
}

/** Replace parts of a state. A change of the position removes all steps and seats. */
export function changeState(state, parts) {
  const isOther = Object.keys(parts).some((name) => name === "code" || name in makeSetup(state));
  const start = { steps: [], at: 0, ...NO_GAME, goal: state.goal && setPrice(state.goal, null) };
  return { ...state, ...(isOther && start), ...parts };
}

/** Return whether the rules of a state let players leave a territory without armies. */
const canBeEmpty = ({ rules }) => rules.startsWith("{") && JSON.parse(rules).garrison === 0;

/**
 * Return a state in which a territory has another owner or another number of armies.
 * @param {number} territory
 * @param {{owner?: number, armies?: number}} holding
 */
export function setHolding(state, territory, { owner, armies }) {
  const owners = [...state.owners];
  const counts = [...state.armies];
  if (armies !== undefined) {
    counts[territory] = Math.max(Math.round(armies), 0);
    if (!counts[territory] && !canBeEmpty(state)) owners[territory] = -1;
    else if (counts[territory] && owners[territory] < 0) owners[territory] = state.mover;
  }
  if (owner !== undefined) {
    owners[territory] = owner;
    if (owner < 0) counts[territory] = 0;
    else counts[territory] ||= 1;
  }
  return changeState(state, { owners, armies: counts });
}

/** Return a state without a player, whose territories then belong to nobody. */
export function removePlayer(state, player) {
  const renumber = (k) => (k > player ? k - 1 : k);
  const owners = state.owners.map((owner) => (owner === player ? -1 : renumber(owner)));
  return changeState(state, {
    players: state.players.filter((_, k) => k !== player),
    neutral: state.neutral.filter((k) => k !== player).map(renumber),
    owners,
    armies: state.armies.map((count, t) => (owners[t] < 0 ? 0 : count)),
    mover: state.mover === player ? 0 : renumber(state.mover),
    goal: "",
  });
}

/** Return a state in which all territories are empty, without goals and constraints. */
export function emptyTerritories(state) {
  const empty = { owners: state.owners.map(() => -1), armies: state.armies.map(() => 0) };
  return changeState(state, { ...empty, goal: "", keep: {}, stay: [] });
}

/** Return a state in which a player owns all empty territories, with `count` armies on each. */
export function fillTerritories(state, count, player) {
  const owners = state.owners.map((owner) => (owner < 0 ? player : owner));
  const armies = state.armies.map((old, t) => (state.owners[t] < 0 ? count : old));
  return changeState(state, { owners, armies });
}

/** Return the letter key that selects each player on the map. */
export function findLetters(players) {
  const found = [];
  for (const name of players) {
    const own = name.toLowerCase().replace(/[^a-z]/g, "");
    const all = `${own}abcdefghijklmnopqrstuvwxyz`;
    found.push([...all].find((letter) => !found.includes(letter)) ?? "");
  }
  return found;
}

// A goal is a text `kind.hold.numbers`; only the server knows the kinds. As a step it is a text
// `o` and `kind-hold-price-numbers`, with 1 + the price of a lost army in billionths; 0 if unknown.

const BILLION = 1e9;

/** Return the goal of the text of a step; "" for none. */
export function readGoal(text) {
  const [kind, hold, , ...numbers] = text.slice(1).split("-");
  return kind && [kind, hold, ...numbers].join(".");
}

/** Return the price of a lost army in the text of a goal step, as a part of a goal in questions. */
export function readPrice(text) {
  const price = Number(text.split("-")[2] ?? 0);
  return price ? { price: (price - 1) / BILLION } : {};
}

/** Return the text of a goal step with a price. */
export const setPrice = (text, price) =>
  text
    .split("-")
    .with(2, price === null ? 0 : 1 + Math.round(price * BILLION))
    .join("-");

/** Return the text of a goal that must also be held, or need not be held. */
export const setHold = (goal, isHeld) => goal.split(".").with(1, Number(isHeld)).join(".");

/** Return the text of a goal that lists one more, or one less, territory. */
export function toggleTarget(goal, t) {
  const [kind, hold, ...targets] = goal.split(".");
  const isIn = targets.includes(String(t));
  const others = targets.filter((target) => target !== String(t));
  return [kind, hold, ...(isIn ? others : [...targets, t].sort((a, b) => a - b))].join(".");
}
