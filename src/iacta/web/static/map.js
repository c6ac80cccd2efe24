// The analysis board: one state, shown on the map and beside it, and kept in the address.
//
// A position is set up, and the turn from it analysed: what the goal is worth after each step, and
// which attack is best. All rules are the server's; the page shows what it says.

import { Analyst, split } from "./map_analysis.js";
import { BoardMap, cut, svg } from "./map_board.js";
import { Refused, codeOf, goalOf, patiently, positionOf, posted, saved } from "./map_server.js";
import {
  MOST_PLAYERS,
  begun,
  changed,
  colours,
  dealt,
  letters,
  others,
  packed,
  placed,
  read,
  unpacked,
  withHolding,
  written,
} from "./map_state.js";
import { TerritoryTable, element, table as tableOf } from "./map_table.js";
import { Tree, lineThrough, logOf, next, without } from "./map_history.js";
import { copied } from "./page.js";

const EXAMPLES = [
  { words: "Red’s 42 armies want Asia", file: "asia.toml", goal: { goal: "continent" }, continent: "Asia" },
  { words: "Eliminate blue with four stacks", file: "eliminate-blue.json", goal: { goal: "eliminate" }, victim: "blue" },
  { words: "Two stacks against one border", file: "break-off.json", goal: { goal: "all", targets: [2, 3] } },
];
const TYPING = 1200; // milliseconds between two digits of a number
const SETTLED = 700; // changes that follow each other sooner are one step back
const MOST_CHANGES = 60; // of the address in a span of time; some browsers refuse a hundred
const SPAN = 30_000;
const LATER = 500;
const MOST_FILE_BYTES = 900_000;
const MOST_RECENT = 5;
const RECENT = "iacta-recent";

const on = {};
for (const each of document.querySelectorAll("[id]")) on[each.id] = each;
const look = JSON.parse(on.page.dataset.look);

/** @type {import("./map_state.js").Board} */
let board;
/** @type {import("./map_state.js").State} */
let state;
let chosen = null;
let brush = 0; // the player to whom tapped territories are given, -1 for nobody, null to select only
let isPicking = false;
let picked = { from: null, to: null }; // the border of the next attack, or of a move at the end
let placing = {}; // new armies by territory
let typed = { t: null, digits: "", time: 0 };
let committed = 0;
let times = []; // when the address was changed
let writing = 0;
let isBusy = false; // while the server takes a step
let focusedBefore = null; // what had the focus before the last press of the pointer, or the last click
let classic = null;
const tree = new Tree();
const analyst = new Analyst(() => render());

// The state.

/** Take another state, and write it into the address. */
function commit(following, { isStep = false } = {}) {
  state = following;
  const isNew = isStep || Date.now() - committed > SETTLED;
  committed = isStep ? 0 : Date.now();
  on["setup-wrong"].textContent = on["play-wrong"].textContent = "";
  writeAddress(isNew);
  render();
}

/** Write the state into the address; where that is done too often for browsers, a little later. */
function writeAddress(isNew) {
  clearTimeout(writing);
  const now = Date.now();
  times = times.filter((time) => now - time < SPAN);
  if (times.length >= MOST_CHANGES) {
    writing = setTimeout(() => writeAddress(isNew), LATER);
    return;
  }
  const fragment = written(state);
  if (fragment === location.hash) return;
  times.push(now);
  history[isNew ? "pushState" : "replaceState"](null, "", fragment);
}

/** Return the link to all that is on the page; the address may be a little behind. */
const linkNow = () => new URL(written(state), location.href).href;

function say(text) {
  on.said.textContent = text;
}

/** Show what is wrong where it can be seen, under a map that stays at the top too. */
function refuse(where, message) {
  on[where].textContent = message;
  on[where].scrollIntoView({ block: "end", behavior: "smooth" });
}

/** Return the whole number of a field; ask for one, and return null, if it has another text. */
function asked(input, least) {
  const number = wholeOf(input, null);
  input.setCustomValidity(number === null || number < least ? `Enter a whole number of at least ${least}.` : "");
  input.addEventListener("input", () => input.setCustomValidity(""), { once: true });
  return input.reportValidity() ? number : null;
}

/** Scroll what was opened by a tap up to the map, on a phone. */
function reveal(part) {
  const drawn = on.page.querySelector(".map-board");
  if (getComputedStyle(drawn).top !== "0px" || part.hidden) return;
  const top = part.getBoundingClientRect().top - drawn.offsetHeight - 8;
  if (top > 0) scrollBy({ top, behavior: "smooth" });
}

async function boardOf(code) {
  if (code) {
    const text = await unpacked(code);
    return patiently(() => posted("api/v1/board/read", { name: "board", text }));
  }
  classic ??= await (await fetch("api/v1/board")).json();
  return classic;
}

/** Show what the address holds. */
async function restore() {
  clearTimeout(writing);
  const fragment = location.hash;
  on["setup-wrong"].textContent = "";
  if (!new URLSearchParams(fragment.slice(1)).has("h")) {
    await start(EXAMPLES[0], { isFirst: true });
    return;
  }
  const code = new URLSearchParams(fragment.slice(1)).get("b") ?? "";
  if (!board || (state?.code ?? null) !== code) {
    try {
      use(await boardOf(code));
    } catch (error) {
      use(await boardOf(""));
      const why = error instanceof Refused ? `: ${error.message}` : "; a part of it may be missing";
      commit(begun(board));
      on["setup-wrong"].textContent = `Cannot read the board in the address${why}.`;
      return;
    }
  }
  state = read(fragment, board);
  forget();
  render();
  const runs = new URLSearchParams(fragment.slice(1)).get("h").split(".");
  const count = runs.reduce((sum, run) => sum + Number(/x(\d+)$/.exec(run)?.[1] ?? 1), 0);
  if (count !== board.territories.length) {
    on[state.played ? "play-wrong" : "setup-wrong"].textContent = "Cannot read the position in the address; a part of it may be missing.";
  }
}

/** Forget what was begun on the map, as another turn is shown. */
function forget() {
  picked = { from: null, to: null };
  placing = {};
}

/** Draw another board. */
function use(next) {
  board = next;
  chosen = null;
  isPicking = false;
  map.setBoard(board);
  on["board-name"].textContent = cut(board.name);
  on.remarks.textContent = board.remarks.length
    ? `${board.remarks.length === 1 ? "One remark" : `${board.remarks.length} remarks`} on this board: ${board.remarks[0].text}`
    : "";
}

async function start(example, { isFirst = false } = {}) {
  const before = board;
  const text = await (await fetch(`static/examples/${example.file}`)).text();
  const found = await patiently(() => posted("api/v1/position/read", { text }));
  const code = await packed(found.board);
  if (isFirst && board !== before) return; // somebody was faster, and has opened another
  use(found);
  const following = { ...placed(board, code, found.position), ...example.goal, played: isFirst || state.played };
  if (example.continent) following.continent = board.continents.findIndex(({ name }) => name === example.continent);
  if (example.victim) following.victim = following.players.indexOf(example.victim);
  forget();
  if (isFirst) {
    state = following;
    history.replaceState(null, "", written(state));
    render();
  } else {
    commit(following, { isStep: true });
  }
}

/** Use the text of a file, a position or a board. */
async function open(text, name) {
  on["setup-wrong"].textContent = "";
  const isCode = /^\s*1;/.test(text);
  const isPosition = isCode || /^\s*["']?player["']?\s*[:=]/m.test(text) || /[{,]\s*"player"\s*:/.test(text);
  try {
    if (isPosition) {
      const found = await patiently(() => posted("api/v1/position/read", { text, board: board.board }));
      const code = await packed(found.board);
      use(found);
      const { rules, keep, stay, fresh } = found;
      const following = placed(board, code, found.position);
      commit(isCode && rules ? { ...following, rules, keep, stay, fresh } : following, { isStep: true });
      say(`Loaded the position on ${board.name}.`);
    } else {
      const found = await patiently(() => posted("api/v1/board/read", { text, name }));
      const code = await packed(found.board);
      use(found);
      commit(begun(board, code), { isStep: true });
      say(`Loaded the board ${board.name}: ${board.territories.length} territories.`);
    }
    remember();
  } catch (error) {
    refuse("setup-wrong", error.message);
  }
}

async function openFile(file) {
  if (file.size > MOST_FILE_BYTES) {
    refuse("setup-wrong", "The file is too large.");
    return;
  }
  const bytes = await file.arrayBuffer();
  const head = new Uint8Array(bytes.slice(0, 2));
  const wide = head[0] === 0xff && head[1] === 0xfe ? "utf-16le" : head[0] === 0xfe && head[1] === 0xff ? "utf-16be" : null;
  let text;
  try {
    text = new TextDecoder(wide ?? "utf-8", { fatal: true }).decode(bytes);
  } catch {
    text = new TextDecoder("latin1").decode(bytes);
  }
  await open(text, file.name);
}

/** Return the positions that were analysed last in this browser. */
function recent() {
  try {
    return JSON.parse(localStorage.getItem(RECENT) ?? "[]").slice(0, MOST_RECENT);
  } catch {
    return [];
  }
}

/** Keep the position among the last ones of this browser. */
function remember() {
  const mine = state.armies.reduce((sum, count, t) => sum + (state.owners[t] === state.mover ? count : 0), 0);
  const words = `${cut(state.players[state.mover])}, ${mine} armies, on ${cut(board.name)}`;
  const fragment = written({ ...state, steps: [], at: 0, played: false });
  const all = [{ words, fragment }, ...recent().filter((each) => each.fragment !== fragment)];
  try {
    localStorage.setItem(RECENT, JSON.stringify(all.slice(0, MOST_RECENT)));
  } catch {
    // It is full, or not allowed.
  }
}

// What is done to a territory.

function choose(t) {
  if (chosen === t) return;
  chosen = t;
  typed = { t: null, digits: "", time: 0 };
  render();
}

function click(t) {
  closePad();
  if (isPicking && canAim()) {
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
  if (now.phase === "place") {
    if (isMine && left(now) > 0) placing = { ...placing, [t]: (placing[t] ?? 0) + 1 };
  } else if (now.phase === "fortify") {
    const way = now.fortify.find(([from, to]) => from === picked.from && to === t);
    picked = way ? { ...picked, to: t } : { from: isMine ? t : null, to: null };
    if (way) on["fortify-number"].value = String(way[2]);
  } else if (now.phase === "attack") {
    const against = now.odds.filter(({ to }) => to === t).sort((a, b) => b.chance - a.chance);
    const way = against.find(({ from }) => from === picked.from) ?? against[0];
    if (isMine) picked = { from: t, to: null };
    else if (way) picked = { from: way.from, to: t };
  }
  chosen = picked.from ?? t;
  render();
  if (now.phase !== "attack") return;
  if (picked.to === t) reveal(on.battle);
  else if (!isMine && now.odds.length) {
    on["attack-help"].hidden = false;
    on["attack-help"].textContent = `You have no armies that can attack ${board.territories[t]}.`;
    say(on["attack-help"].textContent);
  }
}

const left = (now) => now.new - Object.values(placing).reduce((sum, count) => sum + count, 0);

function hold(t, what) {
  commit(withHolding(state, t, what));
  say(map.words(t));
}

function aim(t, isAimed) {
  const targets = state.targets.filter((each) => each !== t);
  commit(changed(state, { targets: isAimed ? [...targets, t].sort((a, b) => a - b) : targets }));
  say(map.words(t));
}

function stay(t, stays) {
  const rest = state.stay.filter((each) => each !== t);
  commit(changed(state, { stay: stays ? [...rest, t].sort((a, b) => a - b) : rest }));
}

function keep(t, count) {
  const { [t]: _, ...rest } = state.keep;
  commit(changed(state, { keep: count > 0 ? { ...rest, [t]: Math.round(count) } : rest }));
}

const canAim = () => state.goal === "all" || state.goal === "any";

/** Take a key that was pressed on a territory; return whether it meant anything. */
function type(t, key) {
  if (key === "Enter" || key === " ") {
    if (state.played || (isPicking && canAim())) click(t);
    else {
      choose(t);
      on.armies.focus();
      on.armies.select();
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
  if (key === "+" || key === "-") hold(t, { armies: Math.max(state.armies[t] + (key === "+" ? 1 : -1), 1) });
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
  if (!state.played && brush !== null && brush >= 0 && state.owners[t] !== brush) commit(withHolding(state, t, { owner: brush }));
  on["pad-said"].textContent = `Armies ${state.played ? "to place " : ""}on ${cut(board.territories[t])}`;
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
    const rest = { ...placing, [chosen]: 0 };
    placing = rest;
    placing = { ...rest, [chosen]: Math.min(number, left(turnNow())) };
    render();
  }
}

// The turn.

/** Return where the turn is now, null while that is not known. */
function turnNow() {
  return tree.turns[state.at] ?? null;
}

/** Return what is known of a turn. */
function known(k) {
  const turn = tree.turns[k];
  return turn?.code ? analyst.of(turn.code, goalOf(board, state)) : null;
}

/** Take a step from here. */
async function take(step) {
  if (isBusy || !turnNow()) return;
  isBusy = true;
  on["play-wrong"].textContent = "";
  try {
    const before = picked;
    const following = await tree.take(board, state, step);
    forget();
    commit({ ...state, ...following }, { isStep: true });
    const now = turnNow();
    if (step.from === before.from && now.odds.some(({ from, to }) => from === before.from && to === before.to)) {
      picked = before;
      render();
    }
    if (document.activeElement === document.body) on.play.focus({ preventScroll: true });
    say(`${now.words}. ${now.sentence}`);
  } catch (error) {
    if (!(error instanceof Refused)) console.error(error);
    refuse("play-wrong", error.message);
  } finally {
    isBusy = false;
  }
}

function go(at) {
  forget();
  on["play-wrong"].textContent = "";
  commit({ ...state, at }, { isStep: true });
}

const seed = () => crypto.getRandomValues(new Uint32Array(1))[0];

// Showing the state.

/** Return what the map and the table show. */
function viewed() {
  const shown = {
    owners: state.owners,
    armies: state.armies,
    mover: state.mover,
    players: state.players,
    tones: colours(state.players, look),
    chosen,
    aimed: null,
    targets: aims(),
    stay: state.stay,
    keep: state.keep,
    chances: null,
    scene: null,
  };
  const now = turnNow();
  if (!state.played || !now || now.problem) return shown;
  const found = known(state.at)?.found;
  return {
    ...shown,
    owners: now.owners.map((name, t) => (now.armies[t] ? state.players.indexOf(name) : -1)),
    armies: now.armies.map((count, t) => count + (placing[t] ?? 0)),
    mover: state.players.indexOf(now.player),
    chosen: picked.from ?? chosen,
    aimed: picked.to,
    chances: found?.chances ?? null,
    scene: found?.scene ?? null,
  };
}

/** Return the territories of the goal that are marked on the map. */
function aims() {
  if (canAim()) return state.targets;
  if (state.goal === "continent") return board.continents[state.continent]?.territories ?? [];
  return [];
}

function render() {
  on.page.hidden = false;
  const isReady = state.played && tree.ready(board, state, failed);
  const now = isReady ? turnNow() : null;
  if (isReady) search();
  else analyst.end();
  const shown = viewed();
  map.show(shown);
  on.setup.hidden = state.played;
  on.play.hidden = !state.played;
  on["to-setup"].setAttribute("aria-pressed", String(!state.played));
  on["to-play"].setAttribute("aria-pressed", String(state.played));
  on.turn.textContent = `${cut(now?.player ?? state.players[state.mover] ?? "")} moves`;
  on.shades.hidden = !shown.chances;
  showLegend(shown);
  if (state.played) showPlay(now);
  else {
    table.show(board, shown, { canAim: canAim(), isFixed: false });
    showEditor(shown);
    showPlayers(shown);
  }
  on.value.hidden = !state.played;
}

/** Look at the turn that is shown, and then at those of its line that are not known yet. */
function search() {
  const goal = goalOf(board, state);
  if (!goal) {
    analyst.end();
    return;
  }
  const isOpen = (k) => ["place", "attack", "advance"].includes(tree.turns[k]?.phase);
  if (isOpen(state.at) && analyst.look(board, tree.turns[state.at].code, goal)) return;
  const waiting = [0, ...lineThrough(state.steps, state.at)].find((k) => k !== state.at && isOpen(k) && !known(k));
  if (waiting === undefined) {
    if (!isOpen(state.at)) analyst.end();
  } else analyst.look(board, tree.turns[waiting].code, goal, { isBeside: true });
}

/** Show that the turns of a link cannot be replayed, or render once they are. */
function failed(error) {
  if (!error) {
    render();
    return;
  }
  on["setup-wrong"].textContent = error.message;
  commit({ ...state, played: false, steps: [], at: 0 });
}

function showPlay(now) {
  showGoal();
  const phase = now?.phase;
  const entry = known(state.at);
  const found = entry?.found ?? null;
  showValue(entry, now);
  on.placing.hidden = phase !== "place";
  on.attacking.hidden = phase !== "attack";
  on.advancing.hidden = phase !== "advance";
  on.fortifying.hidden = phase !== "fortify";
  on.ending.hidden = !now || phase === "place" || phase === "advance";
  on.done.hidden = phase === "over";
  on.done.textContent = phase === "fortify" ? "Move no armies" : "Attack no more";
  on["next-turn"].hidden = phase !== "over";
  on.getting.hidden = phase !== "attack" && phase !== "place";
  if (phase === "place") showPlacing(now, found);
  if (phase === "attack") showAttacking(now, found);
  if (phase === "advance") showAdvancing(now, found);
  if (phase === "fortify") {
    const [from, to] = [picked.from, picked.to].map((t) => (t === null ? null : board.territories[t]));
    on["fortify-said"].textContent = to ? `${from} to ${to}` : from ? `${from}: tap where its armies go.` : "Tap a territory, then where its armies go.";
  }
  showSteps();
  on.whole.hidden = !found?.sections?.length;
  const sections = found?.sections ?? [];
  if (on["plan-tables"].dataset.key !== JSON.stringify(sections)) {
    on["plan-tables"].dataset.key = JSON.stringify(sections);
    on["plan-tables"].replaceChildren(...sections.flatMap(sectionOf));
  }
  on.command.hidden = !found?.command;
  on.python.hidden = !found?.python;
}

function sectionOf({ title, parts }) {
  const made = parts.map((part) => {
    if (typeof part === "string") return element("p", {}, part);
    const region = element("div", { className: "scroll", tabIndex: 0, aria: title || "Table" }, tableOf(part.columns, part.rows));
    region.setAttribute("role", "region");
    return region;
  });
  return [...(title ? [element("h3", {}, title)] : []), ...made];
}

function showValue(entry, now) {
  const found = entry?.found ?? null;
  const soFar = entry?.so_far;
  const value = Math.max(soFar?.value ?? -1, found?.is_chance === false ? -1 : (found?.value ?? -1));
  const isOver = now && ["fortify", "over"].includes(now.phase);
  const isBar = value >= 0 && !isOver;
  on.bar.style.visibility = isBar ? "" : "hidden"; // so that nothing below moves
  if (isBar) {
    const percent = (part) => `${(100 * Math.min(Math.max(part, 0), 1)).toFixed(2)}%`;
    const [most, now, range] = on.bar.children;
    most.style.width = percent(found?.bound ?? 1);
    now.style.width = percent(value);
    range.hidden = !found || found.high - found.low < 0.001;
    if (!range.hidden) {
      range.style.left = percent(found.low);
      range.style.width = percent(found.high - found.low);
    }
    on.bar.setAttribute("aria-valuenow", (100 * value).toFixed(2));
  }
  on.figure.textContent = isOver ? "" : (found?.figure ?? "");
  on.report.textContent = now?.problem ?? (isOver ? now.sentence : (found?.sentences.join(" ") ?? soFar?.words ?? entry?.wrong ?? (goalOf(board, state) ? "Searching …" : "Choose on the map what to take.")));
  const isSearching = analyst.isLookingAt(now?.code, goalOf(board, state));
  on.doing.textContent = isSearching ? (found && soFar ? soFar.words : "Searching …") : "";
  on.stop.hidden = !isSearching || !analyst.stop;
  on.longer.hidden = isSearching || !found || found.is_proven || entry.seconds >= 20;
}

function showPlacing(now, found) {
  const rest = left(now);
  const mine = Object.entries(placing).filter(([, count]) => count);
  on["placing-said"].textContent = rest ? `${rest} of ${now.new} new armies to place: tap your territories.` : "All new armies are placed.";
  on["place-best"].hidden = !found?.placement;
  if (found?.placement) on["place-best"].textContent = `Best: ${found.placement.map(([t, count]) => `${count} on ${cut(board.territories[t])}`).join(", ")}`;
  on["place-mine"].disabled = rest > 0;
  on["place-anew"].disabled = !mine.length;
}

function showAttacking(now, found) {
  const moves = found?.moves ?? [];
  const key = JSON.stringify([moves, picked]);
  if (on.moves.dataset.key !== key) {
    on.moves.dataset.key = key;
    on.moves.replaceChildren(
      ...moves.slice(0, 3).map(({ from, to, name, figure, words }) => {
        const button = element("button", { type: "button", className: "move" }, element("span", {}, name), element("strong", {}, figure), element("small", {}, words));
        button.setAttribute("aria-pressed", String(picked.from === from && picked.to === to));
        button.addEventListener("click", () => {
          picked = { from, to };
          chosen = from;
          map.reveal(to);
          render();
          reveal(on.battle);
        });
        return element("li", {}, button);
      }),
    );
  }
  const way = now.odds.find(({ from, to }) => from === picked.from && to === picked.to);
  on.battle.hidden = !way;
  on["attack-help"].hidden = Boolean(way);
  on["attack-help"].textContent = now.odds.length ? "Tap your territory, then the one to attack." : "Nobody can be attacked.";
  if (!way) return;
  const move = moves.find(({ from, to }) => from === way.from && to === way.to);
  on["battle-name"].textContent = `${board.territories[way.from]} to ${board.territories[way.to]}`;
  const worth = move ? [`Goal: ${move.figure}, ${move.words}.`, move.success && `${move.success}.`] : [found ? "Of no use for this goal." : ""];
  on["battle-said"].textContent = [`${way.words}.`, ...worth].filter(Boolean).join(" ");
  const [mine, theirs] = [now.armies[way.from], now.armies[way.to]];
  const results = JSON.stringify([way, mine, theirs]);
  if (on.rolls.dataset.key === results) return;
  on.rolls.dataset.key = results;
  on.left.value = "";
  on.rolls.replaceChildren(
    ...way.rolls.map(([lost, killed, chance]) => {
      const button = element("button", { type: "button", className: "tool" }, `lost ${lost}–${killed}`);
      button.setAttribute("aria-label", `You lose ${lost}, they lose ${killed}; chance ${Math.round(100 * chance)}%`);
      button.title = `you lose ${lost}, they lose ${killed} with ${way.dice} ${way.dice === 1 ? "die" : "dice"}: ${(100 * chance).toFixed(1)}%`;
      button.addEventListener("click", () => take({ do: "attack", from: way.from, to: way.to, left: mine - lost, their_left: theirs - killed, dice: way.dice }));
      return button;
    }),
  );
}

function showAdvancing(now, found) {
  const { from, to, least, most } = now.advance;
  on["advance-said"].textContent = `Armies that move from ${board.territories[from]} into ${board.territories[to]}`;
  const key = JSON.stringify([now.code, found?.best ?? null]);
  if (on.advancing.dataset.key !== key) {
    on.advancing.dataset.key = key;
    Object.assign(on.advance, { min: least, max: most, value: found?.best ?? most });
    on.marks.replaceChildren(...(found ? [element("option", { value: String(found.best) })] : []));
  }
  showAdvance();
}

function showAdvance() {
  const best = known(state.at)?.found?.best;
  const number = Number(on.advance.value);
  on["advance-number"].value = `${number}${best === undefined ? "" : number === best ? ", the best" : `; the best is ${best}`}`;
}

const points = (value, isChance) => `${value < 0 ? "−" : "+"}${(isChance ? 100 * Math.abs(value) : Math.abs(value)).toFixed(isChance ? 1 : 2)}`;

function showSteps() {
  const line = lineThrough(state.steps, state.at);
  on.back.disabled = !state.at;
  on.forth.disabled = !next(state.steps, state.at);
  on.undo.disabled = !state.at;
  on.note.disabled = !state.at;
  on.log.disabled = !state.steps.length;
  const rows = line.map((k) => {
    const step = state.steps[k - 1];
    const turn = tree.turns[k];
    const after = known(k)?.found;
    const parts = split(step, tree.turns[step.after]?.armies ?? [], known(step.after)?.found ?? null, after ?? null);
    const isChance = after?.is_chance !== false;
    const figures = [];
    if (after?.figure) figures.push(after.figure);
    if (parts?.luck && Math.abs(parts.luck) >= 0.0005) figures.push(`dice ${parts.isRough ? "about " : ""}${points(parts.luck, isChance)}`);
    if (parts?.cost && parts.cost >= 0.0005) figures.push(`choice ${points(-parts.cost, isChance)}`);
    const button = element("button", { type: "button", className: `step-of${parts?.isCostly ? " costly" : ""}` }, `${turn?.words ?? turn?.problem ?? "…"} `, element("small", {}, figures.join(", ")));
    if (parts?.isCostly) button.append(element("span", { className: "mark", title: "a costly choice" }, " ?"));
    if (k === state.at) button.setAttribute("aria-current", "step");
    button.addEventListener("click", () => go(k));
    const instead = state.steps.flatMap(({ after: before }, n) => (before === step.after && n + 1 !== k ? [n + 1] : []));
    const more = instead.map((n) => {
      const other = element("button", { type: "button", className: "step-of other" }, `or: ${tree.turns[n]?.words ?? "…"}`);
      other.addEventListener("click", () => go(n));
      return other;
    });
    const note = step.note ? [element("p", { className: "note" }, step.note)] : [];
    return element("li", {}, button, ...note, ...more);
  });
  const root = element("button", { type: "button", className: "step-of" }, "Start ", element("small", {}, known(0)?.found?.figure ?? ""));
  if (!state.at) root.setAttribute("aria-current", "step");
  root.addEventListener("click", () => go(0));
  const focused = [...on.steps.querySelectorAll("button")].indexOf(document.activeElement);
  on.steps.replaceChildren(...(state.steps.length ? [element("li", {}, root), ...rows] : []));
  if (focused >= 0) on.steps.querySelectorAll("button")[focused]?.focus();
  showGraph([0, ...line]);
}

/** Draw the chance after each step of a line. */
function showGraph(line) {
  const values = line.map((k) => known(k)?.found ?? null);
  const isShown = line.length > 2 && values.filter(Boolean).length > 1 && values.every((each) => each?.is_chance !== false);
  on.graph.toggleAttribute("hidden", !isShown);
  if (!isShown) return;
  const at = values.flatMap((each, k) => (each ? [[(300 * k) / (line.length - 1), 58 - 56 * each.value, line[k]]] : []));
  const d = at.map(([x, y], k) => `${k ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");
  const dots = at.map(([cx, cy, k]) => svg("circle", { cx, cy, r: k === state.at ? 4 : 2.5, class: k === state.at ? "here" : "" }));
  on.graph.replaceChildren(svg("path", { d: "M0,30H300", class: "half" }), svg("path", { d }), ...dots);
  on.graph.setAttribute("aria-label", `The chance over the turn: ${values.filter(Boolean).map(({ figure }) => figure).join(", ")}`);
}

const swatch = (player, tone) =>
  svg("svg", { class: "swatch", viewBox: "-1.4 -1.4 2.8 2.8", width: 16, height: 16, "aria-hidden": "true" }, svg("path", { d: look.shapes[player % look.shapes.length], fill: tone }));

function showLegend(shown) {
  const items = state.players.map((name, player) => {
    const lands = shown.owners.filter((owner) => owner === player).length;
    const armies = shown.armies.reduce((sum, count, t) => sum + (shown.owners[t] === player ? count : 0), 0);
    const words = `${cut(name)}: ${armies} on ${lands}`;
    return element("li", {}, swatch(player, shown.tones[player]), ` ${words}`);
  });
  on.legend.replaceChildren(...items);
}

function showEditor(shown) {
  const isNone = chosen === null;
  on.editor.disabled = isNone;
  on.holding.hidden = isNone;
  on.chosen.textContent = isNone ? "Select a territory" : cut(board.territories[chosen]);
  const keys = letters(state.players);
  const named = [...state.players.map((name, k) => [k, name]), [-1, "nobody"], [null, "select"]];
  const buttons = named.map(([owner, name]) => {
    const isPlayer = owner !== null && owner >= 0;
    const button = element("button", { type: "button", className: "tool" }, ...(isPlayer ? [swatch(owner, shown.tones[owner]), " "] : []), cut(name));
    if (isPlayer && keys[owner]) button.append(" ", element("kbd", {}, keys[owner]));
    button.setAttribute("aria-pressed", String(brush === owner));
    button.addEventListener("click", () => {
      brush = owner;
      render();
    });
    return button;
  });
  const focused = [...on.owners.children].indexOf(document.activeElement);
  on.owners.replaceChildren(...buttons);
  if (focused >= 0) on.owners.children[focused]?.focus();
  fill(on["others-player"], state.players.map((name, k) => [k, cut(name)]).filter(([k]) => k !== state.mover));
  if (document.activeElement !== on.armies) on.armies.value = isNone ? "" : String(shown.armies[chosen]);
  if (document.activeElement !== on.keep) on.keep.value = isNone || !state.keep[chosen] ? "" : String(state.keep[chosen]);
  on["in-goal-label"].hidden = !canAim();
  on["in-goal"].checked = !isNone && state.targets.includes(chosen);
  on.stays.checked = !isNone && state.stay.includes(chosen);
  const isKnown = [...on.rules.options].some(({ value }) => value === state.rules);
  if (!isKnown) on.rules.append(element("option", { value: state.rules }, cut(state.rules)));
  on.rules.value = state.rules;
  if (document.activeElement !== on.fresh) on.fresh.value = String(state.fresh || "");
  const starts = [...EXAMPLES.map(({ words }, k) => [`e${k}`, words]), ...recent().map(({ words }, k) => [`r${k}`, `Recent: ${words}`])];
  fill(on.example, [["", "choose a position …"], ...starts]);
  if (on.sharing.open) showShared();
}

function showPlayers(shown) {
  const key = JSON.stringify([state.players, shown.tones]);
  if (on.players.dataset.key !== key) {
    on.players.dataset.key = key;
    on.players.replaceChildren(
      ...state.players.map((name, player) => {
        const moves = element("input", { type: "radio", name: "mover", value: String(player), aria: `${name} moves` });
        moves.addEventListener("change", () => commit(changed(state, { mover: player, victim: state.victim === player ? state.mover : state.victim })));
        const called = element("input", { type: "text", value: name, aria: `Name of player ${player + 1}`, maxLength: 100, spellcheck: false });
        called.addEventListener("change", () => rename(player, called.value.trim()));
        const away = element("button", { type: "button", className: "tool", aria: `Remove ${name}` }, "×");
        away.disabled = state.players.length < 3;
        away.addEventListener("click", () => remove(player));
        return element("div", { className: "player" }, moves, swatch(player, shown.tones[player]), called, away);
      }),
    );
  }
  on.players.querySelectorAll("[type=radio]").forEach((radio, player) => (radio.checked = player === state.mover));
  on["add-player"].disabled = state.players.length >= MOST_PLAYERS;
}

function rename(player, name) {
  const isTaken = state.players.some((other, k) => k !== player && other.toLowerCase() === name.toLowerCase());
  if (!name || isTaken) {
    on.players.dataset.key = "";
    render();
    return;
  }
  commit(changed(state, { players: state.players.map((old, k) => (k === player ? name : old)) }));
}

function remove(player) {
  const without = (k) => (k > player ? k - 1 : k);
  const owners = state.owners.map((owner) => (owner === player ? -1 : without(owner)));
  const armies = state.armies.map((count, t) => (owners[t] < 0 ? 0 : count));
  const mover = state.mover === player ? 0 : without(state.mover);
  const victim = state.victim === player ? (mover ? 0 : 1) : without(state.victim);
  commit(changed(state, { players: state.players.filter((_, k) => k !== player), owners, armies, mover, victim }));
}

/** Fill a list of choices, unless it has them already. */
function fill(select, names) {
  const key = JSON.stringify(names);
  if (select.dataset.key === key) return;
  select.dataset.key = key;
  select.replaceChildren(...names.map(([value, name]) => element("option", { value: String(value) }, name)));
}

function showGoal() {
  on.kind.value = state.goal;
  on.kind.querySelector("[value=continent]").disabled = !board.continents.length;
  fill(on.continent, board.continents.map(({ name, bonus }, k) => [k, `${cut(name)} (${bonus})`]));
  fill(on.victim, state.players.map((name, k) => [k, cut(name)]).filter(([k]) => k !== state.mover));
  on.continent.hidden = state.goal !== "continent";
  on.continent.value = String(state.continent);
  on.victim.hidden = state.goal !== "eliminate";
  on.victim.value = String(state.victim);
  on["hold-label"].hidden = state.goal === "worth";
  on.hold.checked = state.hold;
  on.targets.hidden = !canAim();
  isPicking &&= canAim();
  on.pick.setAttribute("aria-pressed", String(isPicking));
  on.view.classList.toggle("picking", isPicking);
  const names = state.targets.map((t) => board.territories[t]);
  on["targets-said"].textContent = names.length ? names.join(", ") : "none yet";
}

/** Show the QR code of the position’s code. */
function showShared() {
  const code = codeOf(board, state);
  const address = `api/v1/qr.svg?${new URLSearchParams({ text: code })}`;
  on.qr.hidden = !code || board.board !== "classic";
  if (!on.qr.hidden && on.qr.getAttribute("src") !== address) on.qr.src = address;
}

// What is listened to.

const map = new BoardMap({ root: on.map, view: on.view, names: on.names, look, click, hold: openPad, choose, type });
const table = new TerritoryTable(on.table, {
  hold,
  aim,
  stay,
  keep,
  choose: (t) => {
    choose(t);
    map.reveal(t);
  },
});

const listen = (name, event, handler) => on[name].addEventListener(event, handler);
const submitted = (name, handler) =>
  listen(name, "submit", (event) => {
    event.preventDefault();
    handler();
  });
const wholeOf = (input, usual) => (/^\s*\d+\s*$/.test(input.value) ? Number(input.value) : usual);
const numberOf = (input) => wholeOf(input, input.value);

listen("smaller", "click", () => map.zoomBy(1 / 1.4));
listen("larger", "click", () => map.zoomBy(1.4));
listen("projector", "click", () => project(!document.body.classList.contains("projecting")));
function project(isOn) {
  document.body.classList.toggle("projecting", isOn);
  on.projector.setAttribute("aria-pressed", String(isOn));
}
listen("to-setup", "click", () => commit({ ...state, played: false }, { isStep: true }));
listen("to-play", "click", () => {
  remember();
  closePad();
  commit({ ...state, played: true }, { isStep: true });
});

// Setting up.

listen("brush-fewer", "click", () => (on.brush.value = String(Math.max(wholeOf(on.brush, 1) - 1, 1))));
listen("brush-more", "click", () => (on.brush.value = String(wholeOf(on.brush, 0) + 1)));
// A field that is empty or 0 while it is edited does not give its territory away; 0 does when it is left.
listen("armies", "input", () => chosen !== null && wholeOf(on.armies, 0) && hold(chosen, { armies: wholeOf(on.armies, 0) }));
listen("armies", "change", () => chosen !== null && wholeOf(on.armies, null) === 0 && hold(chosen, { armies: 0 }));
listen("armies", "blur", () => render());
listen("more", "click", () => hold(chosen, { armies: state.armies[chosen] + 1 }));
listen("fewer", "click", () => hold(chosen, { armies: Math.max(state.armies[chosen] - 1, 1) }));
listen("empty", "click", () => hold(chosen, { owner: -1 }));
// The click that brings the focus to a number selects it, once it has set its caret.
document.addEventListener("pointerdown", () => { focusedBefore = document.activeElement; });
document.addEventListener("click", ({ target }) => {
  if (target.matches("input[inputmode]") && target !== focusedBefore) target.select();
  focusedBefore = target;
});
listen("in-goal", "change", () => aim(chosen, on["in-goal"].checked));
listen("stays", "change", () => stay(chosen, on.stays.checked));
listen("keep", "change", () => keep(chosen, wholeOf(on.keep, 0)));
listen("pad", "click", ({ target }) => target.dataset.key && pressPad(target.dataset.key));

listen("example", "change", () => {
  const [kind, ...digits] = on.example.value;
  const number = Number(digits.join(""));
  if (kind === "e") start(EXAMPLES[number]);
  if (kind === "r") location.hash = recent()[number].fragment;
  on.example.value = "";
});
listen("file", "change", () => {
  if (on.file.files[0]) openFile(on.file.files[0]);
  on.file.value = "";
});
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  on.page.classList.add("dropping");
});
document.addEventListener("dragleave", () => on.page.classList.remove("dropping"));
document.addEventListener("drop", (event) => {
  event.preventDefault();
  on.page.classList.remove("dropping");
  const [file] = event.dataTransfer.files;
  if (file) openFile(file);
});
submitted("paste", () => open(on.pasted.value, "board"));
listen("save", "click", () => saved("position.json", JSON.stringify(positionOf(board, state, state), null, 2)));
/** Copy a text; where that is not possible, show it to be selected. */
async function copy(button, text) {
  const words = (button.dataset.words ??= button.textContent);
  const isCopied = await copied(text);
  button.textContent = isCopied ? "Copied" : "Select it below";
  on.shared.hidden = isCopied;
  if (!isCopied) {
    on.shared.textContent = text;
    getSelection().selectAllChildren(on.shared);
  }
  setTimeout(() => (button.textContent = words), 2000);
}

listen("code", "click", () => copy(on.code, codeOf(board, state)));
listen("link", "click", () => copy(on.link, linkNow()));
listen("text", "click", () => {
  const sentence = known(0)?.found?.sentences[0] ?? `${state.players[state.mover]} moves on ${board.name}.`;
  copy(on.text, `${sentence} ${linkNow()}`);
});
listen("sharing", "toggle", () => on.sharing.open && showShared());
listen("add-player", "click", () => {
  const names = ["red", "blue", "green", "yellow", "purple", "orange", "black", "white", "pink"];
  const free = names.find((name) => !state.players.some((other) => other.toLowerCase() === name));
  commit(changed(state, { players: [...state.players, free] }));
});
submitted("others", () => {
  const armies = asked(on["others-armies"], 1);
  if (armies !== null) commit(others(state, armies, Number(on["others-player"].value)), { isStep: true });
});
listen("clear", "click", () => commit(changed(state, { owners: state.owners.map(() => -1), armies: state.armies.map(() => 0), keep: {}, stay: [] }), { isStep: true }));
submitted("deal", () => {
  const [armies, seed] = [asked(on["deal-armies"], 1), asked(on["deal-seed"], 0)];
  if (armies !== null && seed !== null) commit(dealt(state, seed, armies), { isStep: true });
});
listen("rules", "change", () => commit(changed(state, { rules: on.rules.value })));
listen("fresh", "change", () => {
  const fresh = on.fresh.value.trim() ? asked(on.fresh, 0) : 0;
  if (fresh !== null) commit(changed(state, { fresh }));
});

// Analysing.

listen("kind", "change", () => commit(changed(state, { goal: on.kind.value })));
listen("continent", "change", () => commit(changed(state, { continent: Number(on.continent.value) })));
listen("victim", "change", () => commit(changed(state, { victim: Number(on.victim.value) })));
listen("hold", "change", () => commit(changed(state, { hold: on.hold.checked })));
listen("pick", "click", () => {
  isPicking = !isPicking;
  render();
});
submitted("goal", () => render());
listen("stop", "click", () => analyst.stop?.());
listen("longer", "click", () => analyst.longer(board, turnNow().code, goalOf(board, state)));
listen("place-best", "click", () => take({ do: "place", on: known(state.at).found.placement }));
listen("place-mine", "click", () => {
  const mine = Object.entries(placing).filter(([, count]) => count);
  take({ do: "place", on: mine.map(([t, count]) => [Number(t), count]) });
});
listen("place-anew", "click", () => {
  placing = {};
  render();
});
listen("roll-once", "click", () => take({ do: "roll", ...picked, seed: seed(), once: true }));
listen("roll-all", "click", () => take({ do: "roll", ...picked, seed: seed() }));
submitted("fought", () => take({ do: "attack", ...picked, left: numberOf(on.left), their_left: numberOf(on.theirs) }));
submitted("faces", () => {
  const [mine, theirs] = [on.mine, on.yours].map(({ value }) => (value.match(/\d+/g) ?? []).flatMap((text) => (text.length > 1 && Number(text) > 6 ? [...text] : [text])).map(Number));
  take({ do: "faces", ...picked, mine, theirs });
});
listen("advance", "input", showAdvance);
submitted("advancing", () => take({ do: "advance", armies: Number(on.advance.value) }));
submitted("fortifying", () => take({ do: "fortify", ...picked, armies: numberOf(on["fortify-number"]) }));
listen("done", "click", () => take({ do: "stop" }));
listen("next-turn", "click", () => take({ do: "next" }));
listen("get", "click", () => take({ do: "get", armies: numberOf(on.got) }));
listen("back", "click", () => go(state.steps[state.at - 1].after));
listen("forth", "click", () => go(next(state.steps, state.at)));
listen("undo", "click", () => {
  const { steps, at, kept } = without(state.steps, state.at);
  tree.turns = tree.turns.filter((_, k) => !k || kept[k]);
  forget();
  commit({ ...state, steps, at }, { isStep: true });
});
listen("note", "click", () => {
  const before = state.steps[state.at - 1];
  const note = prompt("A comment on this step", before.note ?? "");
  if (note === null) return;
  commit({ ...state, steps: state.steps.map((each, k) => (k === state.at - 1 ? { ...each, note: note.slice(0, 200) } : each)) }, { isStep: true });
});
listen("command", "click", () => copy(on.command, known(state.at).found.command));
listen("python", "click", () => copy(on.python, known(state.at).found.python));
listen("log", "click", () => {
  const { hold, ...goal } = goalOf(board, state) ?? { worth: true };
  saved("game.jsonl", logOf(board, state, tree.turns, goal));
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    project(false);
    closePad();
  }
  if (!state?.played || event.target.closest?.("input, select, textarea, svg, dialog") || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "ArrowLeft" && state.at) on.back.click();
  if (event.key === "ArrowRight" && next(state.steps, state.at)) on.forth.click();
});

let wasOpen = false; // the plan, before it was opened to be printed
addEventListener("beforeprint", () => {
  wasOpen = on.whole.open;
  on.whole.open = true;
});
addEventListener("afterprint", () => (on.whole.open = wasOpen));
addEventListener("pagehide", () => state && history.replaceState(null, "", written(state)));
addEventListener("popstate", restore);
restore();
