// The state of the board page: immutable plain data. `changeState` returns a new state.
//
// Territories, players and continents are numbers, in the order of the lists in the board and the
// state.

/**
 * A board from the server. `board` is sent back with questions, `code` identifies the board in
 * codes, and `scene` is the drawing, laid out by `iacta.board.scene`.
 * @typedef {{board: string|object, name: string, code: string, territories: string[],
 *   remarks: {line: number|null, text: string}[], scene: object,
 *   continents: {name: string, bonus: number, territories: number[]}[]}} Board
 */

/**
 * A step of a turn in the form that the server expects; `after` is the number of the step before it
 * (0 for the start, 1 for the first step, and so on), and `note` is a comment. A step to the next
 * player may also have the goal of that player.
 * @typedef {{after: number, do: string, note?: string, goal?: Partial<State>}} Step
 *
 * @typedef {object} State
 * @property {string} code the code of the board in the URL; empty for the classic board
 * @property {string[]} players
 * @property {number} mover the player to move
 * @property {number[]} owners the owner of each territory; -1 for nobody
 * @property {number[]} armies
 * @property {string} rules
 * @property {""|"win"|"now"|"continent"|"all"|"any"|"eliminate"|"worth"} goal empty until a goal
 *   is chosen; it concerns a `continent`, a player (`victim`) or territories (`targets`)
 * @property {boolean} hold whether conquests must also be held
 * @property {Partial<State>} [began] the goal of the first turn; `goal` and the properties with it
 *   describe the turn of step `at`
 * @property {Record<number, number>} keep the territories with larger garrisons
 * @property {number[]} stay the territories that may not attack
 * @property {number} fresh the number of new armies to place first
 * @property {string} victory the victory condition as in a code; empty if the last survivor wins
 * @property {boolean} played whether the turn is analysed, rather than set up
 * @property {Step[]} steps the tree of steps
 * @property {number} at the number of the step that the page shows
 */

const OF_POSITION = [
  "code",
  "players",
  "mover",
  "owners",
  "armies",
  "rules",
  "keep",
  "stay",
  "fresh",
  "victory",
];
export const MAX_ARMIES = 1e9;
export const NAMES = ["red", "blue", "green", "yellow", "purple", "orange", "black", "white"];
/**
 * Return the initial state: the first player has one territory, and another player all others.
 */
export function makeState(board, code = "") {
  const size = board.territories.length;
  return {
    code,
    players: NAMES.slice(0, 2),
    mover: 0,
    owners: Array.from({ length: size }, (_, t) => (t ? 1 : 0)),
    armies: Array.from({ length: size }, (_, t) => (t ? 2 : 12)),
    ...{ rules: "classic", goal: "", continent: 0, victim: 1, targets: [], hold: false },
    ...{ keep: {}, stay: [], fresh: 0, victory: "", played: false, steps: [], at: 0 },
  };
}

// Goals belong to turns. A turn is identified by the step that begins it; 0 is the first turn.

const NO_GOAL = { goal: "", continent: 0, victim: 1, targets: [], hold: false };

/** Return the number of the step that begins the turn of a step. */
export function findTurnStart(steps, k) {
  while (k > 0 && steps[k - 1].do !== "next") k = steps[k - 1].after;
  return k;
}

/** Return the goal of a turn, given the step that begins the turn, as parts of a state. */
export const findGoalOfTurn = (state, start) => ({
  ...NO_GOAL,
  ...(start ? state.steps[start - 1].goal : state.began),
});

/** Store the goal of the current turn in the step that begins the turn, or in `began`. */
export function storeGoal(state) {
  const start = findTurnStart(state.steps, state.at);
  const { goal, continent, victim, targets, hold } = state;
  const parts = goal ? { goal, continent, victim, targets, hold } : undefined;
  if (!start) return { ...state, began: parts };
  const steps = state.steps.map((step, k) => (k === start - 1 ? { ...step, goal: parts } : step));
  return { ...state, steps };
}

/** Return a changed state with the goal of its turn, if it shows another turn than before. */
export function switchGoal(before, state) {
  const [old, start] = [before, state].map(({ steps, at }) => findTurnStart(steps, at));
  const isSame = old === start || !state.steps.length;
  return storeGoal(isSame ? state : { ...state, ...findGoalOfTurn(state, start) });
}

/** Replace parts of a state. A change of the position removes all steps. */
export function changeState(state, parts) {
  const isOther = Object.keys(parts).some((name) => OF_POSITION.includes(name));
  return { ...state, ...(isOther ? { steps: [], at: 0 } : {}), ...parts };
}

/**
 * Return a state in which a territory has another owner or another number of armies.
 * @param {number} territory
 * @param {{owner?: number, armies?: number}} holding
 */
export function setHolding(state, territory, { owner, armies }) {
  const owners = [...state.owners];
  const counts = [...state.armies];
  if (armies !== undefined) {
    counts[territory] = Math.min(Math.max(Math.round(armies), 0), MAX_ARMIES);
    if (!counts[territory]) owners[territory] = -1;
    else if (owners[territory] < 0) owners[territory] = state.mover;
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
  const other = (k) => (k > player ? k - 1 : k);
  const owners = state.owners.map((owner) => (owner === player ? -1 : other(owner)));
  const armies = state.armies.map((count, t) => (owners[t] < 0 ? 0 : count));
  const mover = state.mover === player ? 0 : other(state.mover);
  const victim = state.victim === player ? (mover ? 0 : 1) : other(state.victim);
  return changeState(state, {
    players: state.players.filter((_, k) => k !== player),
    owners,
    armies,
    mover,
    victim,
  });
}

/**
 * Return a state with the position from a file.
 * @param {{player: string, territories: Record<string, {owner: string, armies: number}>}} position
 */
export function makePositionState(board, code, position) {
  const { territories } = position;
  const holdings = board.territories.map(
    (name) => Object.hasOwn(territories, name) && territories[name],
  );
  const names = new Set([position.player]);
  for (const each of holdings) if (each) names.add(each.owner);
  const players = [...names];
  for (const name of NAMES) if (players.length < 2 && !names.has(name)) players.push(name);
  return {
    ...makeState(board, code),
    players,
    owners: holdings.map((each) => (each ? players.indexOf(each.owner) : -1)),
    armies: holdings.map((each) => (each ? each.armies : 0)),
  };
}

/**
 * Return a state in which territories are dealt at random. Players get equal numbers of armies,
 * placed at random.
 */
export function dealTerritories(state, each) {
  const order = state.owners
    .map((_, t) => [Math.random(), t])
    .sort(([a], [b]) => a - b)
    .map(([, t]) => t);
  const owners = order.map((_, t) => order.indexOf(t) % state.players.length);
  const armies = owners.map(() => 1);
  state.players.forEach((_, player) => {
    const mine = order.filter((t) => owners[t] === player);
    for (let k = mine.length; mine.length && k < each; k++)
      armies[mine[Math.floor(Math.random() * mine.length)]] += 1;
  });
  return changeState(state, { owners, armies, goal: "", targets: [], keep: {}, stay: [] });
}

/** Return a state in which a player owns all empty territories, with `count` armies on each. */
export function fillTerritories(state, count, player) {
  const owners = state.owners.map((owner) => (owner < 0 ? player : owner));
  const armies = state.armies.map((old, t) => (state.owners[t] < 0 ? count : old));
  return changeState(state, { owners, armies });
}

/** Return the colour of each player; a player named after a colour gets that colour. */
export function findColours(players, { named, tones }) {
  const own = players.map((name) =>
    Object.hasOwn(named, name.toLowerCase()) ? named[name.toLowerCase()] : null,
  );
  const free = tones.filter((tone) => !own.includes(tone));
  const found = {};
  [...players].sort().forEach((name) => {
    const tone = own[players.indexOf(name)];
    const isTaken = tone === null || Object.values(found).includes(tone);
    found[name] = isTaken
      ? (free.shift() ?? tones[Object.keys(found).length % tones.length])
      : tone;
  });
  return players.map((name) => found[name]);
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

/** Whether the player selects the territories of the goal one by one. */
export const canAim = ({ goal }) => goal === "all" || goal === "any";

/** Return the code of the turn that is set up. */
export function writeCode(board, state) {
  const escaped = (name) => name.replace(/[%,:;=\s]/g, encodeURIComponent);
  const holdings = board.territories.flatMap((name, t) =>
    state.owners[t] < 0
      ? []
      : [[name, state.players[state.owners[t]], String(state.armies[t])].map(escaped).join(":")],
  );
  const keep = Object.entries(state.keep).map(
    ([t, count]) => `${escaped(board.territories[t])}:${count}`,
  );
  const stay = state.stay.map((t) => escaped(board.territories[t]));
  // By default, the order of play in a code is the order of the players' first territories.
  const usual = [...new Set(state.owners.filter((owner) => owner >= 0))];
  const order = [...usual].sort((a, b) => a - b);
  const options = [
    String(order) !== String(usual) &&
      `players=${order.map((p) => escaped(state.players[p])).join(",")}`,
    state.rules !== "classic" && `rules=${escaped(state.rules)}`,
    state.fresh && `place=${state.fresh}`,
    keep.length && `keep=${keep.join(",")}`,
    stay.length && `stay=${stay.join(",")}`,
    state.victory && `win=${state.victory}`,
  ].filter(Boolean);
  const parts = ["1", board.code, escaped(state.players[state.mover]), holdings.join(",")];
  return [...parts, state.fresh ? "place" : "attack", ...options].join(";");
}

/**
 * Return the goal of a state as parameters of `plan`; null until a goal and its territories are
 * chosen.
 */
export function makeGoalParameters(board, state) {
  const names = state.targets.map((t) => board.territories[t]).join(", ");
  const hold = state.hold && state.goal !== "worth" ? { hold: true } : {};
  if (state.goal === "continent")
    return { take: board.continents[state.continent]?.name ?? "", ...hold };
  if (state.goal === "eliminate") return { eliminate: state.players[state.victim], ...hold };
  if (state.goal === "worth") return { worth: true };
  if (state.goal === "now") return { win: true };
  if (!canAim(state) || !names) return null;
  return { [state.goal === "all" ? "take" : "take_any"]: names, ...hold };
}
