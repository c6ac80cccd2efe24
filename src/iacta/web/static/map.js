// The analysis board: one state, shown on the map and beside it, and kept in the address.
//
// A position is set up, and the turn from it analysed: what the goal is worth after each step, and
// which attack is best. All rules are the server's; the page shows what it says.

import { posted, Refused, saved } from "./ask.js";
import { better, Searches } from "./map_analysis.js";
import { BoardMap, cut } from "./map_board.js";
import { goalParts, goalsOf, goalWords, offersOf, readPlan, threatsOf } from "./map_goals.js";
import { lineThrough, logOf, next, pathTo, plain, Tree, without } from "./map_history.js";
import { MAX_NOTE, readLink, writeLink } from "./map_link.js";
import {
  boardOf,
  EXAMPLES,
  opened,
  positionOf,
  read as readText,
  recent,
  remember,
} from "./map_open.js";
import {
  begun,
  canAim,
  changed,
  codeOf,
  colours,
  dealt,
  filled,
  goalOf,
  letters,
  NAMES,
  withHolding,
} from "./map_state.js";
import { brushOf, playerRow, territoryTable } from "./map_table.js";
import { doing, graphOf, noMore, sectionOf, showValue, stepsOf, swatch } from "./map_turn.js";
import { reviewLink } from "./pack.js";
import { Address, announce, copy, on, takeFiles } from "./page.js";
import { element, redraw } from "./redraw.js";

const USUAL = 9; // seconds for a goal
const LONGEST = 20;
const GAMES = 1; // second of whole games
const LIST = 9; // seconds for all goals, or all threats
const TYPING = 1200; // milliseconds between two digits of a number
const SETTLED = 700; // changes that follow each other sooner are one step back

const look = JSON.parse(on.page.dataset.look);

/** @type {import("./map_state.js").Board} */
let board;
/** @type {import("./map_state.js").State} */
let state;
let chosen = null;
let brush = 0; // the player to whom tapped territories are given, -1 for nobody, null to select only
let isPicking = false;
let view = ""; // "goals" or "threats" while these are shown in place of what the turn asks for
let picked = { from: null, to: null }; // the border of the next attack, or of a move at the end
let placing = {}; // new armies by territory
let moving = null; // how many armies are about to move in
let help = "";
let typed = { t: null, digits: "", time: 0 };
let committed = 0;
let isBusy = false; // while the server takes a step
let values = { key: "", goal: null, rows: [], job: null }; // what each step was worth for a goal, null while asked for
let last = null; // the analysis that was shown last: it stays until there is another one
let longer = null; // the job that is to be searched longer
const tree = new Tree();
const address = new Address();
const goalSearches = new Searches(() => render());
const gameSearches = new Searches(() => render());
const listSearches = new Searches(() => render()); // goals and threats
const valueSearches = new Searches(() => render());
const searches = [goalSearches, gameSearches, listSearches, valueSearches];

// The state.

/** Take another state, and write it into the address. */
function commit(following, { isStep = false } = {}) {
  state = following;
  const isNew = isStep || Date.now() - committed > SETTLED;
  committed = isStep ? 0 : Date.now();
  on.wrong.textContent = "";
  address.write(writeLink(state), { isNew });
  render();
  if (isStep) on.dock.scrollTop = 0; // what is asked now begins at its top
}

/** Return the link to all that is on the page; the address may be a little behind. */
const linkNow = () => new URL(writeLink(state), location.href).href;

/** Show what the address holds; where a part of it cannot be read, say so, and show none of it as a position. */
async function restore() {
  address.leave();
  const fragment = location.hash;
  if (board && fragment === "#main") return; // the link that skips the menu
  if (!fragment || fragment === "#main") return start(EXAMPLES[0], { isFirst: true });
  const code = new URLSearchParams(fragment.slice(1)).get("b") ?? "";
  let wrong = "";
  if (state?.code !== code) {
    try {
      use(await boardOf(code));
    } catch (error) {
      use(await boardOf(""));
      wrong = `Cannot read the board in the address${error instanceof Refused ? `: ${error.message}` : "; a part of it may be missing"}.`;
    }
  }
  const found = readLink(wrong ? "" : fragment, board, look.steps);
  state = found.state;
  chosen = null;
  forget();
  on.wrong.textContent = wrong || found.problem;
  render();
}

/** Forget what was begun on the map, as another turn is shown. */
function forget() {
  picked = { from: null, to: null };
  placing = {};
  moving = longer = null;
  help = "";
}

/** Begin with another position: nothing is chosen. */
function anew(following) {
  chosen = null;
  announce("");
  forget();
  commit(following, { isStep: true });
  map.begin();
}

function use(next) {
  board = next;
  for (const each of searches) each.forget();
  chosen = null;
  isPicking = false;
  view = "";
  map.setBoard(board);
  on["board-name"].textContent = cut(board.name);
  on.remarks.textContent = board.remarks.length
    ? `${board.remarks.length === 1 ? "One remark" : `${board.remarks.length} remarks`} on this board: ${board.remarks[0].text}`
    : "";
}

async function start(example, { isFirst = false } = {}) {
  const before = board;
  const found = await opened(example);
  if (isFirst && board !== before) return; // somebody was faster, and has opened another
  use(found.board);
  forget();
  const following = { ...found.state, played: isFirst || state.played };
  if (!isFirst) return anew(following);
  state = following;
  history.replaceState(null, "", writeLink(state));
  render();
}

/** Use the text of a file, a position or a board. */
async function open(text, name) {
  on.wrong.textContent = "";
  try {
    const found = await readText(text, name, board);
    use(found.board);
    anew(found.state ?? begun(board, found.code));
    announce(
      found.state
        ? `Loaded the position on ${board.name}.`
        : `Loaded the board ${board.name}: ${board.territories.length} territories.`,
    );
    remember(board, state);
  } catch (error) {
    on.wrong.textContent = error.message;
  }
}

// What is done to a territory.

function choose(t) {
  if (chosen === t) return;
  chosen = t;
  typed = { t: null, digits: "", time: 0 };
  render();
  map.reveal(t);
}

function click(t) {
  closePad();
  if (isPicking && canAim(state)) {
    chosen = t;
    aim(t, !state.targets.includes(t));
  } else if (state.played) {
    point(t);
  } else {
    chosen = t;
    paint(t);
  }
}

/** Give a territory to the player of the brush, or one army more if it is theirs. */
function paint(t) {
  const number = Math.max(wholeOf(on.brush, 1), 1);
  if (brush === null) render();
  else if (state.owners[t] !== brush) hold(t, { owner: brush, armies: brush < 0 ? 0 : number });
  else if (brush >= 0) hold(t, { armies: state.armies[t] + 1 });
  else render();
}

/** Take a tap on a territory while a turn is analysed. */
function point(t) {
  const now = turnNow();
  if (!now) return;
  const isMine = now.owners[t] === now.player;
  help = "";
  if (now.phase === "place") {
    if (isMine && left(now) > 0) placing = { ...placing, [t]: (placing[t] ?? 0) + 1 };
  } else if (now.phase === "fortify") {
    const way = now.fortify.find(([from, to]) => from === picked.from && to === t);
    picked = way ? { ...picked, to: t } : { from: isMine ? t : null, to: null };
  } else if (now.phase === "attack") {
    const against = now.odds.filter(({ to }) => to === t).sort((a, b) => b.chance - a.chance);
    const way = against.find(({ from }) => from === picked.from) ?? against[0];
    if (isMine) picked = { from: t, to: null };
    else if (way) picked = { from: way.from, to: t };
    else if (now.odds.length) {
      help = `You have no armies that can attack ${board.territories[t]}.`;
      announce(help);
    }
    view = "";
  }
  chosen = picked.from ?? t;
  render();
}

const left = (now) => now.new - Object.values(placing).reduce((sum, count) => sum + count, 0);

function hold(t, what) {
  commit(withHolding(state, t, what));
  announce(map.words(t));
}

const among = (list, t, isIn) =>
  [...list.filter((each) => each !== t), ...(isIn ? [t] : [])].sort((a, b) => a - b);
const stay = (t, stays) => commit(changed(state, { stay: among(state.stay, t, stays) }));

function aim(t, isAimed) {
  commit(changed(state, { targets: among(state.targets, t, isAimed) }));
  announce(map.words(t));
}

function keep(t, count) {
  const { [t]: _, ...rest } = state.keep;
  commit(changed(state, { keep: count > 0 ? { ...rest, [t]: Math.round(count) } : rest }));
}

/** Take a key that was pressed on a territory; return whether it meant anything. */
function type(t, key) {
  if (key === "Enter" || key === " ") {
    if (state.played || (isPicking && canAim(state))) click(t);
    else {
      choose(t);
      const armies = on.table.querySelector(".chosen input");
      armies.focus();
      armies.select();
    }
    return true;
  }
  if (state.played) return false;
  if (/^\d$/.test(key)) {
    const isMore = typed.t === t && Date.now() - typed.time < TYPING;
    const digits = `${isMore ? typed.digits : ""}${key}`.slice(0, 9);
    typed = { t, digits, time: Date.now() };
    if (Number(digits)) hold(t, { armies: Number(digits) });
    return true;
  }
  typed = { t: null, digits: "", time: 0 };
  if (key === "+" || key === "-")
    hold(t, { armies: Math.max(state.armies[t] + (key === "+" ? 1 : -1), 1) });
  else if (key === "Delete" || key === "Backspace") hold(t, { owner: -1 });
  else if (/^[a-z]$/i.test(key)) {
    const player = letters(state.players).indexOf(key.toLowerCase());
    if (player < 0) return false;
    hold(t, { owner: player });
  } else return false;
  return true;
}

// The pad of digits that a held territory opens.

function openPad(t) {
  if (state.played && turnNow()?.phase !== "place") return;
  chosen = t;
  if (!state.played && brush !== null && brush >= 0 && state.owners[t] !== brush)
    commit(withHolding(state, t, { owner: brush }));
  on["pad-said"].textContent =
    `Armies ${state.played ? "to place " : ""}on ${cut(board.territories[t])}`;
  on["pad-number"].value = "";
  if (!on.pad.open) on.pad.show();
  render();
}

function closePad() {
  if (on.pad.open) on.pad.close();
}

function pressPad(key) {
  if (key === "done") return closePad();
  const before = on["pad-number"].value;
  const digits = key === "back" ? before.slice(0, -1) : `${before}${key}`.slice(0, 9);
  on["pad-number"].value = digits;
  const number = Number(digits);
  if (!number) return;
  if (!state.played) hold(chosen, { armies: number });
  else {
    placing = { ...placing, [chosen]: 0 };
    placing[chosen] = Math.min(number, left(turnNow()));
    render();
  }
}

// The turn.

/** Return where the turn is now, null while that is not known. */
const turnNow = () => tree.turns[state.at] ?? null;

/** Take a step from here; return whether it was possible. */
async function take(step) {
  if (isBusy || !turnNow()) return false;
  isBusy = true;
  on.wrong.textContent = "";
  try {
    const before = picked;
    let following = await tree.take(board, state, step);
    const forced = tree.turns[following.at].advance;
    if (forced && forced.least === forced.most)
      following = await tree.take(
        board,
        { ...state, ...following },
        { do: "advance", armies: forced.most },
      );
    forget();
    if (step.do === "next") Object.assign(following, { goal: "", targets: [], hold: false });
    if (step.do === "next") chosen = null;
    const now = tree.turns[following.at];
    if (
      step.from === before.from &&
      now.odds.some(({ from, to }) => from === before.from && to === before.to)
    )
      picked = before;
    commit({ ...state, ...following }, { isStep: true });
    if (step.do === "next") map.reveal(map.largest());
    if (document.activeElement === document.body) on.dock.focus({ preventScroll: true });
    announce(`${now.words}. ${now.sentence}`);
    return true;
  } catch (error) {
    if (!(error instanceof Refused)) console.error(error);
    on.wrong.textContent = error.message;
    return false;
  } finally {
    isBusy = false;
  }
}

/** Return the step before one; where only one number of armies can move in, that is no step of its own. */
function before(k) {
  const { after } = state.steps[k - 1];
  const { least, most } = tree.turns[after]?.advance ?? {};
  return least && least === most ? (state.steps[after - 1]?.after ?? after) : after;
}

/** Play for another goal; the map goes there at once. */
function play(parts) {
  commit(changed(state, parts), { isStep: true });
  const { targets } = map.shown;
  if (targets.length && !isPicking) map.bring(targets);
}

function go(at) {
  forget();
  commit({ ...state, at }, { isStep: true });
}

const act = {
  take,
  go,
  roll: (step) =>
    take({ do: "roll", ...step, seed: crypto.getRandomValues(new Uint32Array(1))[0] }),
  placeMine: () =>
    take({
      do: "place",
      on: Object.entries(placing).flatMap(([t, count]) => (count ? [[Number(t), count]] : [])),
    }),
  placeAnew() {
    placing = {};
    render();
  },
  pick(from, to) {
    picked = { from, to };
    chosen = from;
    if (to !== null) map.bring([from, to]);
    render();
  },
  move(armies) {
    moving = armies;
    render();
  },
  choose(parts) {
    view = "";
    play(parts);
  },
  paintWith(owner) {
    brush = owner;
    render();
  },
  async review() {
    location.href = await reviewLink(logNow());
  },
  link: (button) => share(button, linkNow()),
  stop: () => goalSearches.stop(goalJob(state.at)),
  longer() {
    longer = { ...goalJob(state.at), seconds: LONGEST };
    goalSearches.of(longer).isStopped = false;
    render();
  },
};

// What is asked in the background.

const onBoard = () => (board.board === "classic" ? {} : { board: board.board });
const isOpen = (k) => ["place", "attack", "advance"].includes(tree.turns[k]?.phase);
const found = (k) => goalSearches.of(goalJob(k))?.found ?? null;
const win = (k) => gameSearches.of(winJob(k))?.found ?? null;
const emptyWords = () => {
  const count = state.owners.filter((owner) => owner < 0).length;
  return count && (count === 1 ? "One territory is empty" : `${count} territories are empty`);
};
const winJob = (k) =>
  !emptyWords() &&
  tree.turns[k]?.code && {
    address: "api/v1/win",
    body: { code: tree.turns[k].code, ...onBoard() },
    seconds: GAMES,
  };
const threatsJob = (k) =>
  tree.turns[k]?.code && {
    address: "api/v1/threats",
    body: { code: tree.turns[k].code, ...onBoard() },
    seconds: LIST,
  };
const goalsJob = (k) =>
  isOpen(k) && {
    address: "api/v1/goals",
    body: { code: tree.turns[k].code, ...onBoard(), win: !emptyWords() },
    seconds: LIST,
  };

/** Return the goal of a step, as the server takes it; to win the game it is the goal that helps most. */
function goalAt(k) {
  if (state.goal !== "win") return goalOf(board, state);
  const last = pathTo(state.steps, k)
    .reverse()
    .concat(0)
    .map((each) => [each, listSearches.of(goalsJob(each))?.found])
    .find(([, goals]) => goals);
  const best = last?.[1].goals
    .map(({ parameters }) => goalParts(board, state, parameters))
    .find(Boolean);
  return best ? goalOf(board, { ...state, ...best }) : { worth: true };
}

/** Return what to ask of the goal in a turn, null where there is nothing to ask. */
function goalJob(k) {
  const goal = goalAt(k);
  if (!goal || !tree.turns[k]?.code) return null;
  const body = { position: tree.turns[k].code, board: board.board, ...goal };
  return {
    address: "api/v1/plan",
    body,
    seconds: USUAL,
    read: (found) => readPlan(board, found),
    better: (a, b) => better(a, b, goal.hold),
  };
}

/** Look at the turn that is shown, and at what is listed and was played beside it. */
function search() {
  const line = [0, ...lineThrough(state.steps, state.at)];
  const job = goalJob(state.at);
  goalSearches.want([longer && !goalSearches.isDone(longer) ? longer : job].filter(Boolean));
  const turns = [state.at, 0, ...line.filter((k) => k && state.steps[k - 1].do === "next")];
  gameSearches.want([...new Set(turns)].map(winJob).filter(Boolean));
  const listed = [
    (view === "threats" || tree.turns[state.at].phase === "fortify") && threatsJob(state.at),
    (isChoosing() || state.goal === "win") && goalsJob(state.at),
  ];
  listSearches.want(listed.filter(Boolean));
  value(line);
}

/** Ask what steps were worth, first on the line that is shown, and again what time has cut off, as long as more comes. */
function value(line) {
  const { hold, ...goal } = goalAt(0) ?? {};
  const key = JSON.stringify([tree.key, tree.version, goal]);
  if (!Object.keys(goal).length) return valueSearches.want([]); // what is known stays, as another player begins
  if (values.key !== key) values = { key, goal, rows: [], job: null };
  const rows = valueSearches.of(values.job)?.found?.values ?? [];
  const isMore = values.job?.body.order.some((k) => rows[k]);
  for (const k of values.job?.body.order ?? []) values.rows[k] = rows[k] ?? values.rows[k];
  if (!values.job || valueSearches.isDone(values.job)) {
    const order = [...new Set([...line, ...state.steps.map((_, k) => k + 1)])].filter(
      (k) => (isMore ? !values.rows[k] : values.rows[k] === undefined) && tree.turns[k].code,
    );
    const body = { code: tree.key, board: board.board, ...goal, steps: plain(state.steps), order };
    values.job =
      state.steps.length && order.length ? { address: "api/v1/steps", body, seconds: LIST } : null;
    if (values.job) for (const k of order) values.rows[k] = null;
  }
  valueSearches.want(values.job ? [values.job] : []);
}

const isReached = () =>
  turnNow()?.phase === "attack" && found(state.at)?.sentences[0] === "The goal is reached.";
const isChoosing = () =>
  view === "goals" || (!view && (!state.goal || (isReached() && picked.to === null)));

// Showing the state.

/** Return what the map and the table show. */
function viewed(now) {
  const { players, owners, armies, mover, stay, keep } = state;
  const targets = canAim(state)
    ? state.targets
    : state.goal === "continent"
      ? (board.continents[state.continent]?.territories ?? [])
      : [];
  const shown = {
    players,
    owners,
    armies,
    mover,
    stay,
    keep,
    targets,
    chosen,
    aimed: null,
    chances: null,
    scene: null,
    tones: colours(players, look),
  };
  if (!now || now.problem) return shown;
  const { chances = null, scene = null } = found(state.at) ?? {};
  return {
    ...shown,
    chances,
    scene,
    owners: now.owners.map((name, t) => (now.armies[t] ? players.indexOf(name) : -1)),
    armies: now.armies.map((count, t) => count + (placing[t] ?? 0)),
    mover: players.indexOf(now.player),
    chosen: picked.from ?? chosen,
    aimed: picked.to,
  };
}

function render() {
  on.page.hidden = false;
  const isReady = state.played && tree.ready(board, state, failed);
  const now = isReady ? turnNow() : null;
  if (isReady) search();
  else for (const each of searches) each.end();
  const shown = viewed(now);
  map.show(shown);
  for (const part of [on.play, on.value, on.nav]) part.hidden = !state.played;
  for (const part of [on.setup, on.painting]) part.hidden = state.played;
  on["to-setup"].ariaPressed = String(!state.played);
  on["to-play"].ariaPressed = String(state.played);
  on.turn.textContent = `${cut(now?.player ?? state.players[state.mover] ?? "")} moves`;
  redraw(
    on.legend,
    state.players.map((name, player) => {
      const lands = shown.owners.filter((owner) => owner === player).length;
      const armies = shown.armies.reduce(
        (sum, count, t) => sum + (shown.owners[t] === player ? count : 0),
        0,
      );
      return element("li", {}, markOf(player, shown), ` ${cut(name)}: ${armies} on ${lands}`);
    }),
  );
  if (state.played) on.refill.hidden = true;
  on.rest.hidden = !emptyWords() || state.steps.length > 0;
  on["rest-said"].textContent = emptyWords() || "";
  const others = [...state.players.keys()].filter((k) => k !== state.mover);
  redraw(
    on["rest-player"],
    optionsOf([...others, state.mover].map((k) => [String(k), cut(state.players[k])])),
  );
  showGoal();
  if (state.played) showPlay(now, shown);
  else {
    redraw(on.now);
    showSetup(shown);
  }
}

const optionsOf = (pairs) => pairs.map(([value, words]) => element("option", { value }, words));
const markOf = (player, shown) =>
  swatch(look.shapes[player % look.shapes.length], shown.tones[player]);

/** Show that the turns of a link cannot be replayed, or render once they are. */
function failed(error) {
  if (!error) return render();
  commit({ ...state, played: false, steps: [], at: 0 });
  on.wrong.textContent = error.message;
}

function showPlay(now, shown) {
  const job = goalJob(state.at);
  const entry = goalSearches.of(job);
  const goals = goalsJob(state.at);
  last = entry?.found ?? last;
  const c = {
    board,
    state,
    now,
    win,
    entry,
    picked,
    placing,
    moving,
    help,
    act,
    turns: tree.turns,
    values: values.rows,
    tones: shown.tones,
    last: last,
    empty: emptyWords(),
    mark: (name) => markOf(state.players.indexOf(name), shown),
    goals: listSearches.of(goals),
    offers: offersOf(board, state, listSearches.of(goals)),
    threats: listSearches.of(threatsJob(state.at)),
    isListing: listSearches.isSearching(goals),
    isSearching: goalSearches.isSearching(job),
    longest: LONGEST,
    waiting: job
      ? "Searching …"
      : state.goal
        ? "Choose on the map what to take."
        : "Choose what to play for.",
  };
  redraw(on.value, showValue(c));
  redraw(
    on.now,
    view === "threats"
      ? threatsOf(c)
      : isChoosing() && isOpen(state.at)
        ? [isReached() && element("p", { className: "row" }, noMore(c, "primary")), goalsOf(c)]
        : doing(c),
  );
  redraw(on.curve, graphOf(c));
  redraw(on.steps, stepsOf(c));
  on.back.disabled = on.undo.disabled = on.note.disabled = !state.at;
  on.forth.disabled = !next(state.steps, state.at);
  on.log.disabled = on.review.disabled = !state.steps.length;
  const known = entry?.found;
  on.whole.hidden = !known?.sections?.length;
  redraw(on["plan-tables"], (known?.sections ?? []).map(sectionOf));
  on.command.hidden = !known?.command;
  on.python.hidden = !known?.python;
}

function showSetup(shown) {
  const isAll = on.all.ariaPressed === "true";
  const rows = [...board.territories.keys()].filter((t) => isAll || t === chosen);
  redraw(
    on.table,
    rows.length > 0 &&
      territoryTable(board, shown, rows, canAim(state), { hold, aim, stay, keep, choose }),
  );
  const brushes = [...state.players.keys(), -1, null];
  redraw(
    on.owners,
    brushes.map((owner) =>
      brushOf(
        state.players,
        owner,
        owner === brush,
        owner >= 0 && owner !== null && markOf(owner, shown),
        act.paintWith,
      ),
    ),
  );
  const isKnown = [...on.rules.options].some(({ value }) => value === state.rules);
  if (!isKnown) on.rules.append(element("option", { value: state.rules }, cut(state.rules)));
  on.rules.value = state.rules;
  if (document.activeElement !== on.fresh) on.fresh.value = String(state.fresh || "");
  const starts = [
    ...EXAMPLES.map(({ words }, k) => [`e${k}`, words]),
    ...recent().map(({ words }, k) => [`r${k}`, `Recent: ${words}`]),
  ];
  redraw(on.example, optionsOf([["", "choose a position …"], ...starts]));
  redraw(
    on.players,
    state.players.map((_, player) =>
      playerRow(state, player, markOf(player, shown), (following) => commit(following)),
    ),
  );
  on["add-player"].disabled = state.players.length >= NAMES.length;
  if (on.sharing.open) showShared();
}

/** Show the goal, and what it can be. */
function showGoal() {
  on.goal.hidden = !state.played || !isChoosing();
  const words = cut(goalWords(board, state) ?? "Choose a goal");
  on["goal-now"].textContent = words;
  on["goal-now"].ariaLabel = `Goal: ${words}`;
  on["goal-now"].ariaPressed = String(isChoosing());
  on.threatened.ariaPressed = String(view === "threats");
  const kinds = [
    ["", "Or choose another goal …"],
    ["win", "Win the game"],
    ...board.continents.map(({ name, bonus }, k) => [
      `continent ${k}`,
      `Take ${cut(name)} (${bonus})`,
    ]),
    ["all", "Take territories …"],
    ["any", "Take any one of several …"],
    ...state.players.flatMap((name, k) =>
      k === state.mover ? [] : [[`eliminate ${k}`, `Eliminate ${cut(name)}`]],
    ),
    ["worth", "Gain the most"],
  ];
  redraw(on.kind, optionsOf(kinds));
  on.kind.value = [state.goal, { continent: state.continent, eliminate: state.victim }[state.goal]]
    .join(" ")
    .trim();
  on["hold-label"].hidden = !state.goal || ["any", "worth"].includes(state.goal);
  on.hold.checked = state.hold;
  on.targets.hidden = !canAim(state);
  isPicking &&= canAim(state);
  on.pick.ariaPressed = String(isPicking);
  on.view.classList.toggle("picking", isPicking);
  on["targets-said"].textContent =
    state.targets.map((t) => board.territories[t]).join(", ") || "none yet";
}

function showShared() {
  const code = codeOf(board, state);
  const address = `api/v1/qr.svg?${new URLSearchParams({ text: code })}`;
  on.qr.hidden = !code || board.board !== "classic";
  if (!on.qr.hidden && on.qr.getAttribute("src") !== address) on.qr.src = address;
}

// What is listened to.

const map = new BoardMap({
  root: on.map,
  view: on.view,
  names: on.names,
  look,
  click,
  hold: openPad,
  choose,
  type,
});

const listen = (name, event, handler) => on[name].addEventListener(event, handler);
const submitted = (name, handler) =>
  listen(name, "submit", (event) => {
    event.preventDefault();
    handler();
  });
const wholeOf = (input, usual) => (/^\s*\d+\s*$/.test(input.value) ? Number(input.value) : usual);

listen("smaller", "click", () => map.zoomBy(1 / 1.4));
listen("larger", "click", () => map.zoomBy(1.4));
listen("projector", "click", () => project(!document.body.classList.contains("projecting")));
function project(isOn) {
  if (isOn) document.documentElement.requestFullscreen?.().catch(() => {});
  else if (document.fullscreenElement) document.exitFullscreen();
  document.body.classList.toggle("projecting", isOn);
  on.projector.textContent = isOn ? "Leave" : "Project";
}
listen("to-setup", "click", () => commit({ ...state, played: false }, { isStep: true }));
listen("to-play", "click", () => {
  remember(board, state);
  closePad();
  commit({ ...state, played: true }, { isStep: true });
  map.reveal(map.largest());
});

// Setting up.

listen("pad", "click", ({ target }) => target.dataset.key && pressPad(target.dataset.key));
listen("all", "click", () => {
  on.all.ariaPressed = String(on.all.ariaPressed !== "true");
  render();
});

listen("example", "change", () => {
  const [kind, ...digits] = on.example.value;
  const number = Number(digits.join(""));
  if (kind === "e") start(EXAMPLES[number]);
  if (kind === "r") location.hash = recent()[number].fragment;
  on.example.value = "";
});
takeFiles(on.file, open, (sentence) => {
  on.wrong.textContent = sentence;
});
submitted("paste", () => open(on.pasted.value, "board"));
listen("save", "click", () =>
  saved("position.json", JSON.stringify(positionOf(board, state), null, 2)),
);
/** Copy a text; where that is not possible, show it to be selected. */
function share(button, text) {
  on.shared.textContent = text;
  on.shared.hidden = false;
  on.shared.hidden = copy(button, text, on.shared);
}

listen("code", "click", () => share(on.code, codeOf(board, state)));
listen("link", "click", () => share(on.link, linkNow()));
listen("text", "click", () => {
  const sentence =
    found(0)?.sentences[0] ?? `${state.players[state.mover]} moves on ${board.name}.`;
  share(on.text, `${sentence} ${linkNow()}`);
});
listen("sharing", "toggle", () => on.sharing.open && showShared());
listen("add-player", "click", () => {
  const free = NAMES.find((name) => !state.players.some((other) => other.toLowerCase() === name));
  commit(changed(state, { players: [...state.players, free] }));
});
submitted("deal", () => commit(dealt(state, wholeOf(on.each, 1)), { isStep: true }));
submitted("rest", () => {
  commit(filled(state, wholeOf(on["rest-armies"], 1), Number(on["rest-player"].value)), {
    isStep: true,
  });
  on.refill.hidden = state.played;
});
listen("refill", "click", () => history.back());
listen("clear", "click", () =>
  anew(
    changed(state, {
      owners: state.owners.map(() => -1),
      armies: state.armies.map(() => 0),
      goal: "",
      targets: [],
      keep: {},
      stay: [],
    }),
  ),
);
listen("rules", "change", () => commit(changed(state, { rules: on.rules.value })));
listen(
  "fresh",
  "change",
  () => on.fresh.reportValidity() && commit(changed(state, { fresh: wholeOf(on.fresh, 0) })),
);
listen("usual", "click", async () => {
  try {
    const code = codeOf(board, { ...state, fresh: 0 });
    const { turns } = await posted("api/v1/turn/replay", { code, board: board.board, steps: [] });
    commit(changed(state, { fresh: turns[0].usual }));
  } catch (error) {
    on.wrong.textContent = error.message;
  }
});

// Analysing.

/** Show goals or threats, or again what the turn asks for. */
function toggle(other) {
  view = view === other ? "" : other;
  render();
}
listen("goal-now", "click", () => toggle("goals"));
listen("threatened", "click", () => toggle("threats"));
listen("kind", "change", () => {
  const [goal, k] = on.kind.value.split(" ");
  view = "goals";
  isPicking = canAim({ goal });
  play({ goal, ...(k && { [goal === "continent" ? goal : "victim"]: Number(k) }) });
});
listen("hold", "change", () => commit(changed(state, { hold: on.hold.checked })));
listen("pick", "click", () => {
  isPicking = !isPicking;
  render();
});
listen("back", "click", () => go(before(state.at)));
listen("forth", "click", () => go(next(state.steps, state.at)));
listen("undo", "click", () => {
  forget();
  const to = before(state.at);
  const gone = state.steps[state.at - 1].after === to ? state.at : state.steps[state.at - 1].after;
  commit({ ...state, ...without(state.steps, gone) }, { isStep: true });
});
listen("note", "click", () => {
  const before = state.steps[state.at - 1];
  const note = prompt("A comment on this step", before.note ?? "");
  if (note === null) return;
  commit(
    {
      ...state,
      steps: state.steps.map((each, k) =>
        k === state.at - 1 ? { ...each, note: note.slice(0, MAX_NOTE) } : each,
      ),
    },
    { isStep: true },
  );
});
listen("command", "click", () => share(on.command, found(state.at).command));
listen("python", "click", () => share(on.python, found(state.at).python));
const logNow = () => logOf(board, state, tree.turns, goalAt(0) ?? values.goal ?? { worth: true });
listen("log", "click", () => saved("game.jsonl", logNow()));
listen("review", "click", act.review);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    project(false);
    closePad();
  }
  if (
    !state?.played ||
    event.target.closest?.("input, select, textarea, svg, dialog") ||
    event.altKey ||
    event.ctrlKey ||
    event.metaKey
  )
    return;
  if (event.key === "ArrowLeft" && state.at) on.back.click();
  if (event.key === "ArrowRight" && next(state.steps, state.at)) on.forth.click();
});

// What is to be done stays in sight above a keyboard.
const fit = () => {
  document.body.style.setProperty("--seen", `${visualViewport.height}px`);
  document.body.classList.toggle("low", visualViewport.height < 560);
};
visualViewport.addEventListener("resize", fit);
fit();

let wasOpen = false; // the plan, before it was opened to be printed
addEventListener("beforeprint", () => {
  wasOpen = on.whole.open;
  on.whole.open = true;
});
addEventListener("afterprint", () => {
  on.whole.open = wasOpen;
});
addEventListener("pagehide", () => state && history.replaceState(null, "", writeLink(state)));
addEventListener("popstate", restore);
restore();
