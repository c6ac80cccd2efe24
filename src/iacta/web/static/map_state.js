// The state of the map page, and the address that holds all of it.
//
// A state is plain data and is never changed: `changed` returns another one. Territories, players
// and continents are numbers, in the order in which the board and the state list them. The fragment
// of the address has one short parameter for each part that is not as usual, so that a link can be
// shared, reloaded and gone back to.

/**
 * A board as the server sends it: what is sent back in questions as `board`, how codes name it, and
 * what is drawn, as `iacta.board.scene` lays it out.
 * @typedef {{board: string|object, name: string, code: string, territories: string[],
 *   remarks: {line: number|null, text: string}[], scene: object,
 *   continents: {name: string, bonus: number, territories: number[]}[]}} Board
 */

/**
 * A step of a turn, as the server takes it; the step that it follows (0 for the start, 1 for the
 * first step, ...), and what somebody has written about it.
 * @typedef {{after: number, do: string, note?: string}} Step
 *
 * @typedef {object} State
 * @property {string} code the board in the address; empty for the classic one
 * @property {string[]} players
 * @property {number} mover whose turn it is
 * @property {number[]} owners of each territory, -1 for nobody
 * @property {number[]} armies
 * @property {string} rules
 * @property {""|"win"|"continent"|"all"|"any"|"eliminate"|"worth"} goal empty while none is chosen;
 *   it is about a `continent`, a player as `victim`, or territories as `targets`
 * @property {boolean} hold whether what is taken is to be held, too
 * @property {Record<number, number>} keep larger garrisons
 * @property {number[]} stay territories that may not attack
 * @property {number} fresh new armies to place first
 * @property {boolean} played whether the turn is analysed, and not set up
 * @property {Step[]} steps the tree of the turn
 * @property {number} at where the player is in it
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
];
const MOST_ARMIES = 1e9;
export const NAMES = ["red", "blue", "green", "yellow", "purple", "orange", "black", "white"];
const GOALS = ["win", "continent", "all", "any", "eliminate", "worth"];
const MOST_STEPS = 500;
const MOST_NOTE = 200; // letters
// How each step is written in an address: a letter, and its numbers; that of the dice may be missing.
const LETTERS = {
  attack: ["a", "from", "to", "left", "their_left", "dice"],
  advance: ["m", "armies"],
  get: ["g", "armies"],
  fortify: ["f", "from", "to", "armies"],
  place: ["p"],
  stop: ["s"],
  next: ["n"],
};

/** Return a state in which the first player has one stack and another one all else. */
export function begun(board, code = "") {
  const size = board.territories.length;
  return {
    code,
    players: NAMES.slice(0, 2),
    mover: 0,
    owners: Array.from({ length: size }, (_, t) => (t ? 1 : 0)),
    armies: Array.from({ length: size }, (_, t) => (t ? 2 : 12)),
    ...{ rules: "classic", goal: "", continent: 0, victim: 1, targets: [], hold: false },
    ...{ keep: {}, stay: [], fresh: 0, played: false, steps: [], at: 0 },
  };
}

/** Return a state with other parts; where the position changes, the turn begins anew. */
export function changed(state, parts) {
  const isOther = Object.keys(parts).some((name) => OF_POSITION.includes(name));
  return { ...state, ...(isOther ? { steps: [], at: 0 } : {}), ...parts };
}

/**
 * Return a state in which a territory has another owner or other armies.
 * @param {number} territory
 * @param {{owner?: number, armies?: number}} holding
 */
export function withHolding(state, territory, { owner, armies }) {
  const owners = [...state.owners];
  const counts = [...state.armies];
  if (armies !== undefined) {
    counts[territory] = Math.min(Math.max(Math.round(armies), 0), MOST_ARMIES);
    if (!counts[territory]) owners[territory] = -1;
    else if (owners[territory] < 0) owners[territory] = state.mover;
  }
  if (owner !== undefined) {
    owners[territory] = owner;
    if (owner < 0) counts[territory] = 0;
    else counts[territory] ||= 1;
  }
  return changed(state, { owners, armies: counts });
}

/** Return a state without a player, whose territories are nobody's then. */
export function without(state, player) {
  const other = (k) => (k > player ? k - 1 : k);
  const owners = state.owners.map((owner) => (owner === player ? -1 : other(owner)));
  const armies = state.armies.map((count, t) => (owners[t] < 0 ? 0 : count));
  const mover = state.mover === player ? 0 : other(state.mover);
  const victim = state.victim === player ? (mover ? 0 : 1) : other(state.victim);
  return changed(state, {
    players: state.players.filter((_, k) => k !== player),
    owners,
    armies,
    mover,
    victim,
  });
}

/**
 * Return a state with a position that a file holds.
 * @param {{player: string, territories: Record<string, {owner: string, armies: number}>}} position
 */
export function placed(board, code, position) {
  const { territories } = position;
  const holdings = board.territories.map(
    (name) => Object.hasOwn(territories, name) && territories[name],
  );
  const names = new Set([position.player]);
  for (const each of holdings) if (each) names.add(each.owner);
  const players = [...names];
  for (const name of NAMES) if (players.length < 2 && !names.has(name)) players.push(name);
  return {
    ...begun(board, code),
    players,
    owners: holdings.map((each) => (each ? players.indexOf(each.owner) : -1)),
    armies: holdings.map((each) => (each ? each.armies : 0)),
  };
}

/** Return a state in which territories are dealt at random, with as many armies for each player, placed at random. */
export function dealt(state, each) {
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
  return changed(state, { owners, armies, goal: "", targets: [], keep: {}, stay: [] });
}

/** Return a state in which a player gets each empty territory, with the same number of armies on each. */
export function filled(state, count, player) {
  const owners = state.owners.map((owner) => (owner < 0 ? player : owner));
  const armies = state.armies.map((old, t) => (state.owners[t] < 0 ? count : old));
  return changed(state, { owners, armies });
}

/** Return the colour of each player: its own if it is named after one. */
export function colours(players, { named, tones }) {
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

/** Return the letter that chooses each player on the map. */
export function letters(players) {
  const found = [];
  for (const name of players) {
    const own = name.toLowerCase().replace(/[^a-z]/g, "");
    const all = `${own}abcdefghijklmnopqrstuvwxyz`;
    found.push([...all].find((letter) => !found.includes(letter)) ?? "");
  }
  return found;
}

// What the server is asked.

/** Whether territories are chosen one by one for the goal. */
export const canAim = ({ goal }) => goal === "all" || goal === "any";

/** Return the code of the turn that is set up, one line that all of iacta reads. */
export function codeOf(board, state) {
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
  // By the rules of a code, the players' turns come in the order of their first territories.
  const usual = [...new Set(state.owners.filter((owner) => owner >= 0))];
  const order = [...usual].sort((a, b) => a - b);
  const options = [
    String(order) !== String(usual) &&
      `players=${order.map((p) => escaped(state.players[p])).join(",")}`,
    state.rules !== "classic" && `rules=${escaped(state.rules)}`,
    state.fresh && `place=${state.fresh}`,
    keep.length && `keep=${keep.join(",")}`,
    stay.length && `stay=${stay.join(",")}`,
  ].filter(Boolean);
  const parts = ["1", board.code, escaped(state.players[state.mover]), holdings.join(",")];
  return [...parts, state.fresh ? "place" : "attack", ...options].join(";");
}

/** Return the goal of a state, as the server takes it; null while no goal or no territory is chosen. */
export function goalOf(board, state) {
  const names = state.targets.map((t) => board.territories[t]).join(", ");
  const hold = state.hold && state.goal !== "worth" ? { hold: true } : {};
  if (state.goal === "continent")
    return { take: board.continents[state.continent]?.name ?? "", ...hold };
  if (state.goal === "eliminate") return { eliminate: state.players[state.victim], ...hold };
  if (state.goal === "worth") return { worth: true };
  if (!canAim(state) || !names) return null;
  return { [state.goal === "all" ? "take" : "take_any"]: names, ...hold };
}

// The address.

const heldText = (owner, armies) => (owner < 0 ? "-" : String.fromCharCode(97 + owner) + armies);

/** Return the fragment that holds a state. */
export function written(state) {
  const parts = [];
  const add = (name, value) => parts.push(`${name}=${encodeURIComponent(value)}`);
  if (state.code) add("b", state.code);
  for (const name of state.players) add("p", name);
  if (state.mover) add("m", state.mover);
  const runs = [];
  state.owners.forEach((owner, t) => {
    const text = heldText(owner, state.armies[t]);
    const last = runs.at(-1);
    if (last && last.text === text) last.count += 1;
    else runs.push({ text, count: 1 });
  });
  add("h", runs.map(({ text, count }) => (count > 1 ? `${text}x${count}` : text)).join("."));
  if (state.rules !== "classic") add("r", state.rules);
  if (state.goal) add("g", state.goal);
  if (state.goal === "continent") add("t", state.continent);
  if (state.goal === "eliminate") add("t", state.victim);
  if (canAim(state)) add("t", state.targets.join("."));
  const keep = Object.entries(state.keep).map(([t, count]) => `${t}-${count}`);
  if (keep.length) add("k", keep.join("."));
  if (state.stay.length) add("s", state.stay.join("."));
  if (state.fresh) add("f", state.fresh);
  if (state.hold) add("o", 1);
  if (state.played) add("go", 1);
  if (state.at) add("i", state.at); // before the steps, so that it shows if some are cut off
  if (state.steps.length) add("x", state.steps.map(stepText).join("."));
  for (const [k, { note }] of state.steps.entries()) if (note) add("z", `${k + 1}-${note}`);
  return `#${parts.join("&")}`;
}

function stepText({ after, do: name, on, ...numbers }) {
  const [letter, ...keys] = LETTERS[name];
  const parts = name === "place" ? on.flat() : keys.flatMap((key) => numbers[key] ?? []);
  return `${after}${letter}${parts.join("-")}`;
}

/** Return the step of a text, null if it is none. */
function readStep(text) {
  const [, after, letter, rest] = /^(\d{1,4})([a-z])([\d-]*)$/.exec(text) ?? [];
  const [name, [, ...keys]] = Object.entries(LETTERS).find(([, each]) => each[0] === letter) ?? [
    null,
    [],
  ];
  if (!name) return null;
  const numbers = rest ? rest.split("-").map(whole) : [];
  if (numbers.includes(null)) return null;
  if (name === "place") {
    const on = [];
    for (let k = 0; k + 1 < numbers.length; k += 2) on.push(numbers.slice(k, k + 2));
    return { after: Number(after), do: name, on };
  }
  if (keys.at(numbers.length) === "dice") keys.pop();
  if (numbers.length !== keys.length) return null;
  return {
    after: Number(after),
    do: name,
    ...Object.fromEntries(keys.map((key, k) => [key, numbers[k]])),
  };
}

const whole = (text) => (/^\d{1,10}$/.test(text ?? "") ? Number(text) : null);
const wholes = (text) =>
  (text ?? "")
    .split(".")
    .map(whole)
    .filter((each) => each !== null);

/** Return the state that a fragment holds, and whether it `isWhole`; without a position the board is empty. */
export function read(fragment, board) {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const usual = begun(board, given.get("b") ?? "");
  const size = board.territories.length;
  const isPlace = (t) => t < size;
  const names = given.getAll("p").slice(0, 100);
  const players = names.length > 1 ? names : usual.players;
  let [owners, armies] = [-1, 0].map((each) => Array(size).fill(each));
  const runs = (given.get("h") ?? "").split(".").flatMap((run) => {
    const parts = /^(?:-|([a-z])(\d{1,10}))(?:x(\d{1,5}))?$/.exec(run);
    if (!parts) return [];
    const owner = parts[1] ? parts[1].charCodeAt(0) - 97 : -1;
    return Array(Math.min(Number(parts[3] ?? 1), size)).fill([owner, Number(parts[2] ?? 0)]);
  });
  const isPosition = runs.length === size && runs.every(([owner]) => owner < players.length);
  if (isPosition) {
    owners = runs.map(([owner]) => owner);
    armies = runs.map(([, count]) => Math.min(count, MOST_ARMIES));
  }
  const goal = GOALS.includes(given.get("g")) ? given.get("g") : usual.goal;
  const target = whole(given.get("t"));
  const within = (number, count, otherwise) =>
    number !== null && number < count ? number : otherwise;
  const keep = {};
  for (const pair of (given.get("k") ?? "").split(".")) {
    const [t, count] = pair.split("-").map(whole);
    if (t !== null && count !== undefined && count !== null && isPlace(t)) keep[t] = count;
  }
  const steps = given.has("x") ? given.get("x").split(".").slice(0, MOST_STEPS).map(readStep) : [];
  const isTree = steps.every((step, k) => step && step.after <= k);
  const found = isTree ? steps : [];
  for (const text of given.getAll("z")) {
    const [, k, note] = /^(\d{1,4})-(.*)$/s.exec(text) ?? [];
    if (found[k - 1]) found[k - 1] = { ...found[k - 1], note: note.slice(0, MOST_NOTE) };
  }
  return {
    ...usual,
    isWhole: isPosition && isTree && (whole(given.get("i")) ?? 0) <= steps.length,
    players,
    mover: within(whole(given.get("m")), players.length, 0),
    owners,
    armies,
    rules: (given.get("r") ?? "classic").slice(0, 100),
    goal,
    continent: goal === "continent" ? within(target, board.continents.length, 0) : 0,
    victim: goal === "eliminate" ? within(target, players.length, 1) : 1,
    targets: canAim({ goal }) ? wholes(given.get("t")).filter(isPlace) : [],
    keep,
    stay: wholes(given.get("s")).filter(isPlace),
    fresh: Math.min(whole(given.get("f")) ?? 0, 1000),
    hold: given.get("o") === "1",
    played: isPosition && given.has("go"),
    steps: found,
    at: Math.min(whole(given.get("i")) ?? 0, found.length),
  };
}
