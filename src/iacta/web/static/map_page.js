// Shows the contents of the store, on the map and beside the map.

import { act, aim, choose, hold, keep, stay } from "./map_actions.js";
import { shortenName } from "./map_board.js";
import { describeGoal } from "./map_goals.js";
import { findNextStep } from "./map_history.js";
import {
  countEmpty,
  countMoving,
  endSearches,
  findPlan,
  isChoosing,
  isOpen,
  isReached,
  startSearches,
} from "./map_jobs.js";
import { writeLink } from "./map_link.js";
import { showGoals, showThreats } from "./map_lists.js";
import { EXAMPLES, listRecent } from "./map_open.js";
import { findTones, listOptions, markPlayer } from "./map_parts.js";
import { canAim, NAMES } from "./map_state.js";
import {
  commit,
  findCode,
  findEdited,
  findLink,
  findTurn,
  isAnalysing,
  look,
  store,
  tree,
} from "./map_store.js";
import { makeBrush, makePlayerRow, makeTerritoryTable } from "./map_table.js";
import { showPanel, showStop } from "./map_turn.js";
import {
  describeEmpty,
  showGame,
  showGraph,
  showMore,
  showSection,
  showSteps,
  showValue,
} from "./map_worth.js";
import { keepTurn, on } from "./page.js";
import { element, redraw } from "./redraw.js";

const HERE = "Phones cannot open this page unless you start it with: iacta serve --host 0.0.0.0.";
const PASTE =
  "The picture contains the code of the position: scan it, then paste the code into iacta.";

/** Draw the page again. Elements that do not change keep their focus. */
export function render() {
  const { board, state } = store;
  on.page.hidden = false;
  const isReady = state.played && tree.load(board, state, showReplay);
  const turn = isReady ? findTurn() : null;
  if (isReady && isAnalysing()) startSearches();
  else endSearches();
  keepTurn(board.board === "classic" ? findCode() : "");
  const view = findView(turn);
  store.map.show(view);
  on.page.classList.toggle("waiting", state.played && !isReady);
  for (const part of [on.play, on.value, on.nav, on.game, on.curve]) part.hidden = !isAnalysing();
  for (const part of [on.setup, on.painting]) part.hidden = isAnalysing();
  for (const part of [on.beginning, on.sharing, on.amount]) part.hidden = Boolean(store.fixes);
  on.correcting.hidden = !store.fixes;
  on["to-setup"].textContent = state.steps.length ? "Correct" : "Set up";
  on["to-setup"].ariaPressed = String(!isAnalysing());
  on["to-play"].ariaPressed = String(isAnalysing());
  on.turn.textContent = `${shortenName(turn?.player ?? state.players[state.mover] ?? "")} moves`;
  showLegend(view);
  showFilling();
  showGoal();
  if (on.sharing.open) showShared();
  if (isAnalysing()) showPlay(turn);
  else {
    redraw(on.now);
    showSetup(view);
  }
}

/** Draw the replayed turns of a link, or show the error. */
function showReplay(error) {
  if (!error) return store.render();
  commit({ ...store.state, played: false, steps: [], at: 0 });
  on.wrong.textContent = error.message;
}

/** Return the contents of the map and of the table. */
function findView(turn) {
  const { board, chosen, picked, placing } = store;
  const state = findEdited();
  const { players, owners, armies, mover, stay, keep } = state;
  const continent = state.goal === "continent" ? board.continents[state.continent] : null;
  const targets = canAim(state) ? state.targets : (continent?.territories ?? []);
  const none = { aimed: null, figures: null, scene: null };
  const view = { players, owners, armies, mover, stay, keep, targets, chosen, ...none };
  view.tones = findTones();
  if (!turn || turn.problem || store.fixes) return view;
  const plan = findPlan();
  const scene = (on.whole.open && plan?.whole_scene) || (plan?.scene ?? null);
  const moved = {};
  if (turn.advance) {
    const { from, to } = turn.advance;
    moved[to] = countMoving(turn) - turn.armies[to];
    moved[from] = -moved[to];
  }
  return {
    ...view,
    figures: scene?.figures ?? null,
    scene,
    owners: turn.owners.map((name, t) => (turn.armies[t] ? players.indexOf(name) : -1)),
    armies: turn.armies.map((count, t) => count + (placing[t] ?? 0) + (moved[t] ?? 0)),
    mover: players.indexOf(turn.player),
    chosen: picked.from ?? chosen,
    aimed: picked.to,
  };
}

function showLegend({ owners, armies: numbers }) {
  const rows = store.state.players.map((name, player) => {
    const mine = [...owners.keys()].filter((t) => owners[t] === player);
    const sum = mine.reduce((total, t) => total + numbers[t], 0);
    const armies = `${sum} ${sum === 1 ? "army" : "armies"}`;
    const lands = `${mine.length} ${mine.length === 1 ? "territory" : "territories"}`;
    return element("li", {}, markPlayer(player), ` ${shortenName(name)}: ${armies}, ${lands}`);
  });
  redraw(on.legend, rows);
}

/** Show the form that fills empty territories with armies. */
function showFilling() {
  const { state } = store;
  on.restore.hidden = !store.replaced || isAnalysing() || state.steps.length > 0;
  on.restore.textContent = store.replaced?.words ?? "";
  on["painting-help"].textContent = store.fixes
    ? "Tap a territory to correct its armies. To correct an owner, choose the player first."
    : "Tap a territory to give it to this player; tap again to add an army; hold to enter a number.";
  on.rest.hidden = !countEmpty() || state.steps.length > 0;
  on["rest-said"].textContent = countEmpty() ? describeEmpty() : "";
  const others = [...state.players.keys()].filter((k) => k !== state.mover);
  const options = [...others, state.mover].map((k) => [String(k), shortenName(state.players[k])]);
  redraw(on["rest-player"], listOptions(options));
}

/** Show the goal and the choice of another goal. */
function showGoal() {
  const { board, state } = store;
  on.goal.hidden = !isAnalysing() || !isChoosing();
  const words = shortenName(describeGoal(board, state) ?? "Choose a goal");
  on["goal-now"].textContent = words;
  on["goal-now"].ariaLabel = `Goal: ${words}`;
  on["goal-now"].ariaPressed = String(isChoosing());
  on.threatened.ariaPressed = String(store.view === "threats");
  const others = [...state.players.entries()].filter(([k]) => k !== state.mover);
  const kinds = [
    ["", "Any other goal …"],
    ["win", "Win the game"],
    ["now", "Win this turn"],
    ...board.continents.map(({ name, bonus }, k) => [
      `continent ${k}`,
      `Take ${shortenName(name)} (${bonus})`,
    ]),
    ["all", "Take territories …"],
    ["any", "Take any one of several …"],
    ...others.map(([k, name]) => [`eliminate ${k}`, `Eliminate ${shortenName(name)}`]),
    ["worth", "Gain the most points"],
  ];
  redraw(on.kind, listOptions(kinds));
  const number = { continent: state.continent, eliminate: state.victim }[state.goal];
  on.kind.value = [state.goal, number].join(" ").trim();
  on["hold-label"].hidden = !state.goal || ["any", "worth", "now"].includes(state.goal);
  on.hold.checked = state.hold;
  on.targets.hidden = !canAim(state);
  store.isPicking &&= canAim(state);
  on.pick.ariaPressed = String(store.isPicking);
  on.view.classList.toggle("picking", store.isPicking);
  const names = state.targets.map((t) => board.territories[t]);
  on["targets-said"].textContent = names.join(", ") || "none yet";
}

function showPlay(turn) {
  const { state } = store;
  const plan = findPlan();
  store.lastPlan = plan ?? store.lastPlan;
  redraw(on.game, showGame());
  redraw(on.value, showValue(turn));
  redraw(on.more, showMore());
  redraw(on.now, turn && showAction());
  redraw(on.curve, showGraph());
  redraw(on.steps, showSteps());
  on.back.disabled = on.undo.disabled = on.note.disabled = !state.at;
  on.forth.disabled = !findNextStep(state.steps, state.at);
  on.log.disabled = on.review.disabled = !state.steps.length;
  on.whole.hidden = !plan?.tables?.length;
  const number = plan?.whole_scene?.arrows.length;
  on["whole-said"].textContent = number ? `The plan: all ${number} steps` : "The plan";
  redraw(on["plan-tables"], (plan?.tables ?? []).map(showSection));
  on.command.hidden = !plan?.command;
  on.python.hidden = !plan?.python;
}

/** Return the panel of the next action, or a list in its place. */
function showAction() {
  if (store.view === "threats") return showThreats();
  if (!isChoosing() || !isOpen(store.state.at)) return showPanel();
  return [isReached() && element("p", { className: "row" }, showStop("primary")), showGoals()];
}

function showSetup(view) {
  const { board, state, chosen, brush } = store;
  const isAll = on.all.ariaPressed === "true";
  const rows = [...board.territories.keys()].filter((t) => isAll || t === chosen);
  const changes = store.fixes ? { hold, choose } : { hold, aim, stay, keep, choose };
  redraw(
    on.table,
    rows.length > 0 &&
      makeTerritoryTable(board, view, rows, !store.fixes && canAim(state), changes),
  );
  const brushes = [...state.players.keys(), -1, null].map((owner) => {
    const mark = owner !== null && owner >= 0 && markPlayer(owner);
    return makeBrush(state.players, owner, owner === brush, mark, act.chooseBrush);
  });
  redraw(on.owners, brushes);
  const isKnown = [...on.rules.options].some(({ value }) => value === state.rules);
  if (!isKnown)
    on.rules.append(element("option", { value: state.rules }, shortenName(state.rules)));
  on.rules.value = state.rules;
  if (document.activeElement !== on.fresh) on.fresh.value = String(state.fresh || "");
  on["condition-row"].hidden = !state.victory;
  const examples = EXAMPLES.map(({ words }, k) => [`e${k}`, words]);
  const recents = listRecent().map(({ words }, k) => [`r${k}`, `Recent: ${words}`]);
  redraw(on.example, listOptions([["", "choose a position …"], ...examples, ...recents]));
  const players = [...state.players.keys()];
  redraw(
    on.players,
    players.map((player) =>
      makePlayerRow(state, player, markPlayer(player), (next) => commit(next)),
    ),
  );
  on["add-player"].disabled = state.players.length >= NAMES.length;
}

/** Show a QR code: a link to the board if a phone can open it, otherwise the code of the turn. */
export function showShared() {
  const { url } = on.page.dataset;
  const isHere = !url && /^(localhost|127\.|\[::1\])/.test(location.hostname);
  const link = url ? `${url}map${writeLink(store.state)}` : findLink();
  const isLong = link.length > look.coded;
  const text = isHere || isLong ? findCode() : link;
  const address = `api/v1/qr.svg?${new URLSearchParams({ text })}`;
  const reason = isLong ? "The link is too long for a picture." : HERE;
  on["qr-said"].textContent =
    text === link ? "Scan the picture to open this board." : `${reason} ${PASTE}`;
  on.qr.hidden = !text || text.length > look.coded || store.board.board !== "classic";
  if (!on.qr.hidden && on.qr.getAttribute("src") !== address) on.qr.src = address;
}
