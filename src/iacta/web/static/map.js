// The map page: one state, shown on the map, in the forms and in the table, and kept in the address.

import { BoardMap, cut, svg } from "./map_board.js";
import { Follower, saved } from "./map_follow.js";
import { Refused, codeOf, patiently, planned, positionOf, posted, questionOf, showPlan } from "./map_plan.js";
import {
  LIMITS,
  MOST_PLAYERS,
  begun,
  changed,
  colours,
  dealt,
  held,
  letters,
  others,
  packed,
  placed,
  read,
  stood,
  unpacked,
  written,
} from "./map_state.js";
import { TerritoryTable, element } from "./map_table.js";
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

const on = {};
for (const each of document.querySelectorAll("[id]")) on[each.id] = each;
const side = on.setup.parentElement;
const look = JSON.parse(on.page.dataset.look);

/** @type {import("./map_state.js").Board} */
let board;
/** @type {import("./map_state.js").State} */
let state;
let chosen = null;
let isPicking = false;
let typed = { t: null, digits: "", time: 0 };
let committed = 0;
let times = []; // when the address was changed
let telling = 0;
let focusedBefore = null; // what had the focus before the last press of the pointer, or the last click
/** The plan that was asked for last: its question, and its answer when that is there. */
let plan = null;
let classic = null;

// The state.

/** Take another state, and write it into the address. */
function commit(next, { isStep = false } = {}) {
  state = next;
  const isNew = isStep || Date.now() - committed > SETTLED;
  committed = isStep ? 0 : Date.now();
  tell(isNew);
  render();
}

/** Write the state into the address; where that is done too often for browsers, a little later. */
function tell(isNew) {
  clearTimeout(telling);
  const now = Date.now();
  times = times.filter((time) => now - time < SPAN);
  if (times.length >= MOST_CHANGES) {
    telling = setTimeout(() => tell(isNew), LATER);
    return;
  }
  const fragment = written(state);
  if (fragment === location.hash) return;
  times.push(now);
  history[isNew ? "pushState" : "replaceState"](isFound() ? { start: plan.start } : null, "", fragment);
}

function say(text) {
  on.said.textContent = text;
}

async function boardOf(code) {
  if (code) {
    const text = await unpacked(code);
    return patiently(() => posted("/api/board/read", { name: "board", text }));
  }
  classic ??= await (await fetch("/api/board")).json();
  return classic;
}

/** Show what the address holds. */
async function restore() {
  clearTimeout(telling);
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
      on["setup-wrong"].textContent = `Cannot read the board in the address${why}.`;
      commit(begun(board));
      return;
    }
  }
  state = read(fragment, board);
  render();
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
  const text = await (await fetch(`/static/examples/${example.file}`)).text();
  const found = await patiently(() => posted("/api/position/read", { text }));
  const code = await packed(found.board);
  if (isFirst && board !== before) return; // somebody was faster, and has opened another
  use(found);
  let next = { ...placed(board, code, found.position), ...example.goal };
  if (example.continent) next.continent = board.continents.findIndex(({ name }) => name === example.continent);
  if (example.victim) next.victim = next.players.indexOf(example.victim);
  if (isFirst) {
    state = next;
    history.replaceState(null, "", written(state));
    render();
  } else {
    commit(next, { isStep: true });
  }
}

/** Use the text of a file, a position or a board. */
async function open(text, name) {
  on["setup-wrong"].textContent = "";
  const isCode = /^\s*1;/.test(text);
  const isPosition = isCode || /^\s*["']?player["']?\s*[:=]/m.test(text) || /[{,]\s*"player"\s*:/.test(text);
  try {
    if (isPosition) {
      const found = await patiently(() => posted("/api/position/read", { text, board: board.board }));
      const code = await packed(found.board);
      use(found);
      const { rules, keep, stay, fresh } = found;
      const next = placed(board, code, found.position);
      commit(isCode ? { ...next, rules, keep, stay, fresh } : next, { isStep: true });
      say(`Loaded the position on ${board.name}.`);
    } else {
      const found = await patiently(() => posted("/api/board/read", { text, name }));
      const code = await packed(found.board);
      use(found);
      commit(begun(board, code), { isStep: true });
      say(`Loaded the board ${board.name}: ${board.territories.length} territories.`);
    }
  } catch (error) {
    on["setup-wrong"].textContent = error.message;
  }
}

async function openFile(file) {
  if (file.size > MOST_FILE_BYTES) {
    on["setup-wrong"].textContent = "The file is too large.";
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

// What is done to a territory.

function isFixed() {
  return state.followed;
}

function choose(t) {
  if (chosen === t) return;
  chosen = t;
  typed = { t: null, digits: "", time: 0 };
  render();
}

function click(t) {
  choose(t);
  if (isPicking && canAim() && !isFixed()) aim(t, !state.targets.includes(t));
}

function hold(t, what) {
  if (isFixed()) return;
  commit(held(state, t, what));
  say(map.told(t));
}

function aim(t, isAimed) {
  const targets = state.targets.filter((each) => each !== t);
  commit(changed(state, { targets: isAimed ? [...targets, t].sort((a, b) => a - b) : targets }));
  say(map.told(t));
}

function stay(t, stays) {
  const left = state.stay.filter((each) => each !== t);
  commit(changed(state, { stay: stays ? [...left, t].sort((a, b) => a - b) : left }));
}

function keep(t, count) {
  const { [t]: _, ...left } = state.keep;
  commit(changed(state, { keep: count > 0 ? { ...left, [t]: Math.round(count) } : left }));
}

const canAim = () => state.goal === "all" || state.goal === "any";

/** Take a key that was pressed on a territory; return whether it meant anything. */
function type(t, key) {
  if (isFixed()) return false;
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
  else if (key === "Enter" || key === " ") {
    if (isPicking && canAim()) aim(t, !state.targets.includes(t));
    else {
      choose(t);
      on.armies.focus();
      on.armies.select();
    }
  } else if (/^[a-z]$/i.test(key)) {
    const player = letters(state.players).indexOf(key.toLowerCase());
    if (player < 0) return false;
    hold(t, { owner: player });
  } else return false;
  return true;
}

// The plan.

/** Ask for the plan of the state, unless it is there or on its way. */
async function ask() {
  const question = questionOf(board, state);
  const text = JSON.stringify(question);
  if (plan?.text === text) return;
  plan?.control.abort();
  const control = new AbortController();
  const mine = { text, question, control, record: null, start: null };
  plan = mine;
  follower.forget();
  on["plan-wrong"].textContent = "";
  on.doing.textContent = "Planning …";
  on.progress.hidden = false;
  const look = () => on.progress.scrollIntoView({ block: "nearest" });
  look();
  try {
    const listening = {
      progress: (doing, part) => {
        const bar = on.progress.querySelector("progress");
        if (part === null) bar.removeAttribute("value");
        else bar.value = part;
        on.doing.textContent = doing;
      },
      signal: control.signal,
      stoppable: (stop) => {
        on.stop.hidden = false;
        look(); // it moves what is below it
        on.stop.onclick = () => {
          on.stop.hidden = true;
          stop();
        };
      },
    };
    const waiting = (sentence) => {
      control.signal.throwIfAborted();
      on.doing.textContent = `Waiting: ${sentence}`;
    };
    const start = await (history.state?.start ?? patiently(() => planned(question, listening), waiting));
    if (plan !== mine) return;
    const { record, shown } = start;
    Object.assign(mine, { record, start });
    history.replaceState({ start }, "");
    showPlan({ told: on["plan-told"], tables: on["plan-tables"] }, shown);
    finish();
    render();
    on.page.scrollIntoView({ block: "start" });
    map.closeUp(shown.scene.close);
    say(shown.sentences[0]);
  } catch (error) {
    if (control.signal.aborted) return;
    plan = null;
    finish();
    if (!(error instanceof Refused)) console.error(error);
    on["plan-wrong"].textContent = error.message;
    commit(changed(state, { planned: false, followed: false, course: [] }));
  }
}

/** Return whether the plan that the state asks for is there. */
function isFound() {
  return Boolean(state.planned && plan?.record && plan.text === JSON.stringify(questionOf(board, state)));
}

function finish() {
  on.progress.hidden = true;
  on.stop.hidden = true;
}

/** Return what the map and the table show. */
function viewed() {
  const shown = {
    owners: state.owners,
    armies: state.armies,
    mover: state.mover,
    players: state.players,
    tones: colours(state.players, look),
    chosen,
    targets: aims(),
    stay: state.stay,
    keep: state.keep,
    chances: null,
    owned: null,
    scene: null,
  };
  if (!state.planned || !plan?.record) return shown;
  if (state.followed) {
    const scene = follower.standing()?.scene ?? null;
    return { ...shown, ...follower.held(), scene };
  }
  // New armies stand where the plan places them.
  const { chances, owned, scene } = plan.start.shown;
  return { ...shown, ...follower.start(), chances, owned, scene };
}

/** Return how long to search next; nothing if it would find nothing better, or took longest. */
function longer() {
  return plan.record.proven ? undefined : LIMITS[LIMITS.indexOf(state.limit) + 2] ?? (state.limit === LIMITS.at(-1) ? undefined : LIMITS.at(-1));
}

/** Return the territories of the goal that are marked on the map. */
function aims() {
  if (canAim()) return state.targets;
  if (state.goal === "continent") return board.continents[state.continent]?.territories ?? [];
  return [];
}

// Showing the state.

function render() {
  const isPlanned = isFound();
  if (state.planned && !isPlanned) ask();
  if (!state.planned && plan) {
    plan.control.abort();
    plan = null;
    finish();
  }
  on.page.hidden = false;
  const shown = viewed();
  map.show(shown);
  table.show(board, shown, { canAim: canAim(), isFixed: isFixed() });
  on.turn.textContent = `${cut(state.players[state.mover] ?? "")} moves`;
  on.shades.hidden = !shown.chances;
  on.plan.hidden = !isPlanned;
  on.follow.hidden = !(isPlanned && state.followed);
  on.begin.hidden = state.followed || !plan?.start?.move;
  on.longer.hidden = !isPlanned || state.followed || !longer();
  if (!on.longer.hidden) on.longer.textContent = `Search ${longer()} seconds`;
  on.setup.toggleAttribute("inert", isFixed());
  on.setup.hidden = isFixed();
  on.goal.hidden = isFixed();
  // What is being asked stays where it is, as the focus is there.
  if (side.firstElementChild !== (isPlanned ? on.follow : on.setup)) side[isPlanned ? "prepend" : "append"](on.follow, on.plan);
  on.command.hidden = !plan?.start?.command;
  showLegend(shown);
  showEditor(shown);
  showPlayers(shown);
  showGoal();
  if (isPlanned && state.followed) follower.show();
}

const swatch = (player, tone) =>
  svg("svg", { class: "swatch", viewBox: "-1.4 -1.4 2.8 2.8", width: 16, height: 16, "aria-hidden": "true" }, svg("path", { d: look.shapes[player % look.shapes.length], fill: tone }));

function showLegend(shown) {
  const items = state.players.map((name, player) => {
    const lands = shown.owners.filter((owner) => owner === player).length;
    const armies = shown.armies.reduce((sum, count, t) => sum + (shown.owners[t] === player ? count : 0), 0);
    const told = `${cut(name)}: ${armies} on ${lands}`;
    return element("li", {}, swatch(player, shown.tones[player]), ` ${told}`);
  });
  on.legend.replaceChildren(...items);
}

function showEditor(shown) {
  const isNone = chosen === null;
  on.editor.disabled = isNone || isFixed();
  on.editor.hidden = isFixed();
  on.holding.hidden = isNone;
  on.chosen.textContent = isNone ? "Select a territory" : cut(board.territories[chosen]);
  const keys = letters(state.players);
  const buttons = [...state.players, "nobody"].map((name, k) => {
    const owner = k < state.players.length ? k : -1;
    const button = element("button", { type: "button", className: "tool" }, ...(owner < 0 ? [] : [swatch(owner, shown.tones[owner])]), ` ${cut(name)}`);
    if (owner >= 0 && keys[owner]) button.append(" ", element("kbd", {}, keys[owner]));
    button.setAttribute("aria-pressed", String(!isNone && shown.owners[chosen] === owner));
    button.addEventListener("click", () => hold(chosen, { owner }));
    return button;
  });
  const focused = [...on.owners.children].indexOf(document.activeElement);
  on.owners.replaceChildren(...buttons);
  if (focused >= 0) on.owners.children[focused]?.focus();
  if (document.activeElement !== on.armies) on.armies.value = isNone ? "" : String(shown.armies[chosen]);
  if (document.activeElement !== on.keep) on.keep.value = isNone || !state.keep[chosen] ? "" : String(state.keep[chosen]);
  on["in-goal-label"].hidden = !canAim();
  on["in-goal"].checked = !isNone && state.targets.includes(chosen);
  on.stays.checked = !isNone && state.stay.includes(chosen);
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
  on.targets.hidden = !canAim();
  isPicking &&= canAim();
  on.pick.setAttribute("aria-pressed", String(isPicking));
  on.view.classList.toggle("picking", isPicking);
  const names = state.targets.map((t) => board.territories[t]);
  on["targets-told"].textContent = names.length ? names.join(", ") : "none yet";
  const known = [...on.rules.options].some(({ value }) => value === state.rules);
  if (!known) on.rules.append(element("option", { value: state.rules }, cut(state.rules)));
  on.rules.value = state.rules;
  for (const [name, value] of [["fresh", state.fresh || ""], ["need", state.need]]) {
    if (document.activeElement !== on[name]) on[name].value = String(value);
  }
  on.need.disabled = state.goal === "worth";
  on.ways.checked = state.ways;
  on.limit.value = state.limit;
}

// What is listened to.

const map = new BoardMap({ root: on.map, view: on.view, names: on.names, look, click, choose, type });
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
const follower = new Follower({
  on,
  asked: () => ({ board, state, question: plan.question, start: plan.start }),
  went: (course) => {
    const isNew = JSON.stringify(course) !== JSON.stringify(state.course);
    if (isNew) commit(changed(state, { course }), { isStep: true });
    else render();
    const next = follower.standing()?.move;
    if (next) map.reveal(board.territories.indexOf(next.to));
  },
});

const listen = (name, event, told) => on[name].addEventListener(event, told);
const submitted = (name, told) =>
  listen(name, "submit", (event) => {
    event.preventDefault();
    told();
  });
const wholeOf = (input, usual) => (/^\s*\d+\s*$/.test(input.value) ? Number(input.value) : usual);

listen("smaller", "click", () => map.zoomBy(1 / 1.4));
listen("larger", "click", () => map.zoomBy(1.4));
// A field that is empty or 0 while it is edited does not give its territory away; 0 does when it is left.
listen("armies", "input", () => chosen !== null && wholeOf(on.armies, 0) && hold(chosen, { armies: wholeOf(on.armies, 0) }));
listen("armies", "change", () => chosen !== null && wholeOf(on.armies, null) === 0 && hold(chosen, { armies: 0 }));
listen("armies", "blur", () => render());
listen("more", "click", () => hold(chosen, { armies: state.armies[chosen] + 1 }));
listen("fewer", "click", () => hold(chosen, { armies: Math.max(state.armies[chosen] - 1, 1) }));
// The click that brings the focus to a number selects it, once it has set its caret.
document.addEventListener("pointerdown", () => { focusedBefore = document.activeElement; });
document.addEventListener("click", ({ target }) => {
  if (target.matches("input[inputmode]") && target !== focusedBefore) target.select();
  focusedBefore = target;
});
listen("in-goal", "change", () => aim(chosen, on["in-goal"].checked));
listen("stays", "change", () => stay(chosen, on.stays.checked));
listen("keep", "change", () => keep(chosen, wholeOf(on.keep, 0)));

EXAMPLES.forEach(({ words }, k) => on.example.append(element("option", { value: String(k) }, words)));
listen("example", "change", () => {
  if (on.example.value) start(EXAMPLES[Number(on.example.value)]);
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
listen("save", "click", () => saved("position.json", positionOf(board, state, state)));
/** Copy a text, and say on the button that was pressed whether it is. */
async function copy(button, text) {
  const words = (button.dataset.words ??= button.textContent);
  button.textContent = (await copied(text)) ? "Copied" : "Not copied";
  setTimeout(() => (button.textContent = words), 2000);
}

listen("code", "click", () => copy(on.code, codeOf(board, state)));
listen("link", "click", () => copy(on.link, location.href));
listen("command", "click", () => copy(on.command, plan.start.command));
listen("python", "click", () => copy(on.python, plan.start.python));
listen("json", "click", () => saved("plan.json", plan.record));
listen("add-player", "click", () => {
  const names = ["red", "blue", "green", "yellow", "purple", "orange", "black", "white", "pink"];
  const free = names.find((name) => !state.players.some((other) => other.toLowerCase() === name));
  commit(changed(state, { players: [...state.players, free] }));
});
submitted("others", () => commit(others(state, Math.max(wholeOf(on["others-armies"], 2), 1)), { isStep: true }));
submitted("deal", () => commit(dealt(state, wholeOf(on["deal-seed"], 1), wholeOf(on["deal-armies"], 30)), { isStep: true }));

listen("kind", "change", () => commit(changed(state, { goal: on.kind.value })));
listen("continent", "change", () => commit(changed(state, { continent: Number(on.continent.value) })));
listen("victim", "change", () => commit(changed(state, { victim: Number(on.victim.value) })));
listen("pick", "click", () => {
  isPicking = !isPicking;
  render();
});
listen("rules", "change", () => commit(changed(state, { rules: on.rules.value })));
listen("fresh", "change", () => commit(changed(state, { fresh: wholeOf(on.fresh, 0) })));
listen("need", "change", () => commit(changed(state, { need: on.need.value.trim().replace(/\s*%$/, "") })));
listen("ways", "change", () => commit(changed(state, { ways: on.ways.checked })));
listen("limit", "change", () => commit(changed(state, { limit: on.limit.value })));
submitted("goal", () => commit(changed(state, { planned: true }), { isStep: true }));

listen("begin", "click", () => {
  commit(changed(state, { followed: true, course: [] }), { isStep: true });
  on.attack.focus();
});
listen("longer", "click", () => {
  commit({ ...changed(state, { limit: longer() }), planned: true }, { isStep: true });
});
listen("leave", "click", () => commit(changed(state, { followed: false, course: [] }), { isStep: true }));
listen("anew", "click", () => {
  const { owners, armies } = follower.held();
  commit({ ...changed(state, { owners, armies, fresh: 0 }), planned: true }, { isStep: true });
});

addEventListener("popstate", restore);
restore();
