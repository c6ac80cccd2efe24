// Shows the contents of the store, on the map and beside the map.

import {
  actions,
  changeHolding,
  changeTarget,
  choose,
  setGarrison,
  setStaying,
} from "./map_actions.js";
import { describeHolder, findLink, finishAddress, makeLink } from "./map_address.js";
import { svg } from "./map_board.js";
import { describeSeat, findStrike, isComputer, isGame, isWon, playOn } from "./map_game.js";
import { showCardCount } from "./map_hand.js";
import { findNextStep } from "./map_history.js";
import {
  countEmpty,
  countMoving,
  endSearches,
  findDanger,
  findPlan,
  isChoosing,
  isOpen,
  isReached,
  isShowingDanger,
  isStopBest,
  startSearches,
} from "./map_jobs.js";
import { forgetGame, listKept } from "./map_kept.js";
import { findGoal, findPlayer, listChoices, loadLabels } from "./map_labels.js";
import { dropUnreadable } from "./map_link.js";
import { showGoals, showThreats } from "./map_lists.js";
import { showQuestion } from "./map_new.js";
import { EXAMPLES, listRecent } from "./map_open.js";
import { listOptions, markPlayer, row, tool } from "./map_parts.js";
import { listTargets, showProgress } from "./map_progress.js";
import { mayAct } from "./map_seats.js";
import {
  commit,
  findCode,
  findEdited,
  findSeen,
  findTurn,
  isAdvised,
  isAnalysing,
  look,
  store,
  tree,
} from "./map_store.js";
import { makeBrush, makePlayerRow, makeTerritoryTable } from "./map_table.js";
import { showCards, showPanel, showStop } from "./map_turn.js";
import { findWon, showWon } from "./map_won.js";
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

const RETRY = 4000; // milliseconds until a server that did not respond is asked again
const HERE = "Phones cannot open this page unless you start it with: iacta serve --host 0.0.0.0.";
const DANGER =
  "The greatest chance of one opponent to take the territory on their next turn, if they play only for this, as in Threats.";
const HOUSE_RULES = "the rules of the file";
const PASTE =
  "The picture contains the code of the position: scan it, then paste the code into iacta.";

/**
 * Draw the page again, once the server has answered all that the page shows. Elements that do not
 * change keep their focus.
 */
export function render() {
  const isLoaded = tree.load(store.board, store.state, render, retryLater);
  if (tree.error && store.state.played) return refuseTurn();
  if (isLoaded) readSteps();
  const { board, state } = store;
  // The answer will draw the page.
  if (!loadLabels() || store.isDescribing || (state.played && !isLoaded)) return;
  on.page.hidden = false;
  const turn = state.played ? findTurn() : null;
  const isShown = isAdvised(); // whether the numbers of the turn are shown
  if (isAnalysing() && (isShown || isShowingDanger()) && !isComputer()) startSearches();
  else endSearches();
  if (isLoaded) keepTurn(board.board === "classic" ? findSeen() : "");
  if (store.map.board !== board) showBoard();
  const view = findView(turn);
  store.map.show(view);
  for (const part of [on.play, on.value, on.nav]) part.hidden = !isAnalysing();
  for (const part of [on.game, on.curve]) part.hidden = !isAnalysing() || !isShown;
  on.threatened.hidden = !isShown;
  on["goal-now"].hidden = !isShown || !isAnalysing();
  on["turn-tools"].hidden = !isAnalysing();
  for (const part of [on.hint, on.advice]) part.hidden = !isGame();
  on.hint.disabled = on.advice.disabled = !turn || turn.phase === "over" || !mayAct();
  on["new-game"].textContent = isGame()
    ? "New game with the same players"
    : "New game against two computers";
  on.resign.hidden = !isGame() || !isAnalysing();
  on.resign.disabled = !mayAct();
  on.advice.ariaPressed = String(isGame() && isShown);
  on["to-play"].hidden = isGame();
  for (const part of [on.setup, on.painting]) part.hidden = isAnalysing() || Boolean(state.draft);
  for (const part of [on.beginning, on.sharing, on.amount]) part.hidden = Boolean(store.fixes);
  on.correcting.hidden = !store.fixes;
  on["to-setup"].textContent = isGame() ? "Leave" : state.steps.length ? "Correct" : "Set up";
  on["to-setup"].ariaPressed = String(!isAnalysing());
  on["to-play"].ariaPressed = String(isAnalysing());
  const winner = isWon(turn) ? state.players.indexOf(turn.winner) : -1;
  const now = findPlayer(winner < 0 ? (turn?.mover ?? state.mover) : winner)?.short ?? "";
  const verb = winner >= 0 ? "has won" : state.draft ? "picks" : "moves";
  redraw(on.turn, [now, element("span", { className: "verb" }, ` ${verb}`)]);
  showLegend(view);
  showShowing(turn, view);
  showFilling();
  showGoal();
  on.code.disabled = !isLoaded;
  if (on.sharing.open && (isLoaded || tree.error)) showShared();
  if (isAnalysing()) showPlay(turn);
  else if (state.draft) redraw(on.now, showQuestion());
  else {
    redraw(on.now);
    showSetup(view);
  }
  if (isLoaded) finishAddress();
  showGames();
  store.shown();
  if (isAnalysing()) playOn();
}

/** Say that the server does not respond, and ask it again after a while. */
function retryLater(error) {
  on.wrong.textContent = error.message;
  on.page.hidden = false;
  setTimeout(() => {
    if (on.wrong.textContent === error.message) on.wrong.textContent = "";
    render();
  }, RETRY);
}

/** Show the games of this browser, and what holds the game on the page. */
function showGames() {
  on.holder.textContent = describeHolder();
  on["save-game"].hidden = !isGame() || Boolean(store.state.draft);
  if (!on.games.open) return;
  const games = listKept().map((game) => makeGameRow(game, game.id === store.state.id));
  redraw(on["games-list"], games.length ? games : element("li", {}, "No games yet."));
}

/** Return a game of this browser: its small map, its date and its players. */
function makeGameRow({ id, time, words, frame, dots }, isShown) {
  const [, , width] = frame;
  const circles = dots.map(([cx, cy, fill]) => svg("circle", { cx, cy, r: width / 36, fill }));
  const size = { class: "small-map", viewBox: frame.join(" "), width: 96, "aria-hidden": "true" };
  const day = new Date(time).toLocaleDateString([], { dateStyle: "medium" });
  const date = `${day}, ${new Date(time).toLocaleTimeString([], { timeStyle: "short" })}`;
  const open = isShown
    ? element("strong", {}, "on the page")
    : tool("Continue", () => actions.openGame(id), { ariaLabel: `Continue: ${words}` });
  const remove = () => {
    forgetGame(id);
    store.render();
  };
  return element(
    "li",
    { key: id },
    svg("svg", size, ...circles),
    element("span", {}, `${words} (${date})`),
    open,
    !isShown && tool("Remove", remove, { ariaLabel: `Remove: ${words}` }),
  );
}

function showBoard() {
  const { map, board } = store;
  map.setBoard(board);
  on["board-name"].textContent = board.short_name;
  const [first] = board.remarks;
  const count = board.remarks.length === 1 ? "One remark" : `${board.remarks.length} remarks`;
  on.remarks.textContent = first ? `${count} on this board: ${first.text}` : "";
}

/** Return to the setup, because the position has no turn, and show the reason. */
function refuseTurn() {
  const { state } = store;
  commit({ ...state, played: false, steps: [], at: 0 });
  on.wrong.textContent = tree.error.message;
}

/** Drop the unreadable steps of a link. */
function readSteps() {
  const count = tree.turns.length - 1;
  if (count < store.state.steps.length) {
    [store.state, on.wrong.textContent] = dropUnreadable(store.state, count);
  }
}

/** Return the contents of the map and of the table. */
function findView(turn) {
  const { chosen, picked, placing } = store;
  const state = findEdited();
  const { players, owners, armies, mover, stay, keep } = state;
  const targets = isGame() && !isAdvised() ? listTargets() : (findGoal()?.targets ?? []);
  const none = {
    capitals: (state.draft ? store.ask?.capitals : !state.played && findWon()?.capitals) || [],
    aimed: null,
    figures: null,
    scene: null,
    strike: null,
    danger: null,
    lands: null,
  };
  const step = state.at;
  const view = { players, owners, armies, step, mover, stay, keep, targets, chosen, ...none };
  view.labels = players.map((_, player) => findPlayer(player));
  if (!turn || turn.problem || store.fixes) return view;
  const plan = findPlan();
  const danger = isComputer() ? null : findDanger();
  const scene = danger
    ? { arrows: [], labels: danger.labels }
    : (on.whole.open && plan?.whole_scene) || (plan?.scene ?? null);
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
    capitals: turn.capitals ?? [],
    danger,
    lands: store.showing === "income" ? listWholeLands(turn.holders) : null,
    strike: isGame() || store.hint ? findStrike() : null,
    owners: turn.holders,
    armies: turn.armies.map((count, t) => count + (placing[t] ?? 0) + (moved[t] ?? 0)),
    mover: turn.mover,
    chosen: picked.from ?? chosen,
    aimed: picked.to,
  };
}

/** Return the territories of continents that one player owns. */
function listWholeLands(holders) {
  const { continents } = store.board;
  const isWhole = ({ territories: [first, ...others] }) =>
    first !== undefined &&
    holders[first] >= 0 &&
    others.every((t) => holders[t] === holders[first]);
  return continents.filter(isWhole).flatMap(({ territories }) => territories);
}

/** Show the choice of what the map shows beside the owners, and explain it. */
function showShowing(turn, { danger, lands }) {
  on.showing.hidden = !turn || Boolean(turn.problem);
  on.showing.value = store.showing;
  const words = {
    armies: "",
    income: lands?.length
      ? "The continents that bring new armies to their owner are dark."
      : "Nobody owns a whole continent.",
    danger: danger ? DANGER : "Looking for dangers …",
  };
  on["showing-said"].textContent = on.showing.hidden || isComputer() ? "" : words[store.showing];
}

function showLegend({ owners, armies: numbers }) {
  const rows = store.state.players.map((_, player) => {
    const mine = [...owners.keys()].filter((t) => owners[t] === player);
    const sum = mine.reduce((total, t) => total + numbers[t], 0);
    const armies = `${sum} ${sum === 1 ? "army" : "armies"}`;
    const lands = `${mine.length} ${mine.length === 1 ? "territory" : "territories"}`;
    const seat = store.state.neutral.includes(player) ? "neutral" : describeSeat(player);
    const kind = seat && ` (${seat})`;
    const words = ` ${findPlayer(player).short}${kind}: `;
    const standing = isAnalysing() && findTurn()?.standings?.[store.state.players[player]];
    const said = [armies, lands, standing].filter(Boolean).join(", ");
    const [cards, told] = standing ? showCardCount(store.state.players[player]) : [];
    return element("li", {}, markPlayer(player), words, said, cards, showProgress(player), told);
  });
  redraw(on.legend, rows);
}

/** Show the form that fills empty territories with armies. */
function showFilling() {
  const { state } = store;
  const last = store.undone.at(-1);
  on.restore.hidden = !last || isAnalysing() || state.steps.length > 0;
  on.restore.textContent = last?.words ?? "";
  on["painting-help"].textContent = store.fixes
    ? "Tap a territory to correct its armies. To correct an owner, choose the player first."
    : "Tap a territory to give it to this player; tap again to add an army; hold to enter a number.";
  on.rest.hidden = !countEmpty() || state.steps.length > 0 || Boolean(state.draft);
  on["rest-said"].textContent = countEmpty() ? describeEmpty() : "";
  // Players without territories come first, and the player to move last.
  const findRank = (k) => (state.owners.includes(k) ? 1 : 0) + (k === state.mover ? 2 : 0);
  const fillers = [...state.players.keys()].sort((a, b) => findRank(a) - findRank(b));
  redraw(on["rest-player"], listOptions(fillers.map((k) => [String(k), findPlayer(k).short])));
}

/** Show the goal and the choice of another goal. */
function showGoal() {
  const { board } = store;
  const goal = findGoal();
  on.goal.hidden = !isAnalysing() || !isChoosing();
  store.isPicking &&= !on.goal.hidden && goal?.is_list === true;
  const words = goal?.words ?? "Choose a goal";
  on["goal-now"].textContent = words;
  on["goal-now"].ariaLabel = `Goal: ${words}`;
  on["goal-now"].ariaPressed = String(isChoosing());
  on.threatened.ariaPressed = String(store.view === "threats");
  const choices = listChoices(findTurn()).map(({ text, words }) => [text, words]);
  redraw(on.kind, listOptions([["", "Any other goal …"], ...choices]));
  const isSame = (text) => goal && describesSame(text, goal);
  on.kind.value = choices.find(([text]) => isSame(text))?.[0] ?? "";
  on["hold-label"].hidden = typeof goal?.hold !== "boolean";
  on.hold.checked = goal?.hold === true;
  on.targets.hidden = !goal?.is_list;
  on.pick.textContent = store.isPicking ? "Done" : "Choose on the map";
  on.pick.ariaPressed = String(store.isPicking);
  on.view.classList.toggle("picking", store.isPicking);
  const names = (goal?.targets ?? []).map((t) => board.territories[t]);
  const hint = store.isPicking ? "Tap territories to add or remove them." : "none yet";
  on["targets-said"].textContent = names.join(", ") || hint;
}

/** Return whether a menu choice describes a goal, apart from the option to hold. */
function describesSame(choice, { text, is_list: isList }) {
  const [kind, , ...numbers] = choice.split(".");
  const [own, , ...ownNumbers] = text.split(".");
  return kind === own && (isList || String(numbers) === String(ownNumbers));
}

function showPlay(turn) {
  const { state } = store;
  const plan = findPlan();
  store.lastPlan = isAdvised() ? (plan ?? store.lastPlan) : null;
  redraw(on.game, showGame());
  redraw(on.value, showValue(turn));
  redraw(on.more, showMore());
  const hint = store.hint && element("p", { id: "hinted" }, store.hint.words);
  redraw(on.now, hint, turn && showAction());
  redraw(on["from-cards"], turn?.phase === "attack" && showCards());
  redraw(on.curve, showGraph());
  redraw(on.steps, showSteps());
  showCurrentStep();
  on.back.disabled = on.undo.disabled = on.note.disabled = !state.at;
  on.forth.disabled = !findNextStep(state.steps, state.at);
  on.log.disabled = on.review.disabled = !state.steps.length;
  on.whole.hidden = !plan?.tables?.length;
  const number = plan?.whole_scene?.arrows.length;
  on["whole-said"].textContent = number ? `The plan: all ${number} steps` : "The plan";
  const [line, ...others] = plan?.tables ?? [];
  redraw(on["main-line"], line && showSection(line));
  redraw(on["plan-tables"], others.map(showSection));
  on.command.hidden = !plan?.command;
  on.python.hidden = !plan?.python;
}

/** Scroll the list, if it scrolls on its own, to the current step. */
function showCurrentStep() {
  const step = on.steps.querySelector("[aria-current]");
  const listed = `${store.state.at} ${on.play.clientHeight}`;
  if (!step || listed === store.listed) return;
  store.listed = listed;
  const room = on.play.clientHeight - step.offsetHeight;
  on.play.scrollTop = step.offsetTop - room / 2;
}

/** Return the panel of the next action, or a list in its place. */
function showAction() {
  if (store.view === "threats") return showThreats();
  if (!isChoosing() || !isOpen(store.state.at)) return showPanel();
  const mayStop = findTurn().phase === "attack" && (isReached() || isStopBest());
  return [mayStop && row(showStop("primary")), showGoals()];
}

function showSetup(view) {
  const { board, state, chosen, brush } = store;
  const isAll = on.all.ariaPressed === "true";
  const rows = [...board.territories.keys()].filter((t) => isAll || t === chosen);
  const changes = { setHolding: changeHolding, choose };
  if (!store.fixes) Object.assign(changes, { toggleTarget: changeTarget, setStaying, setGarrison });
  redraw(
    on.table,
    rows.length > 0 &&
      makeTerritoryTable(board, view, rows, !store.fixes && findGoal()?.is_list === true, changes),
  );
  const brushes = [...state.players.keys(), -1, null].map((owner) => {
    const mark = owner !== null && owner >= 0 && markPlayer(owner);
    return makeBrush(state.players, owner, owner === brush, mark, actions.chooseBrush);
  });
  redraw(on.owners, brushes);
  const isKnown = [...on.rules.options].some(({ value }) => value === state.rules);
  if (!isKnown) on.rules.append(element("option", { value: state.rules }, HOUSE_RULES));
  on.rules.value = state.rules;
  if (document.activeElement !== on.fresh) on.fresh.value = String(state.fresh || "");
  redraw(on.won, showWon());
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
  on["add-player"].disabled = state.players.length >= look.names.length;
}

/** Show a QR code: a link to the board if a phone can open it, otherwise the code of the turn. */
export function showShared() {
  const { url } = on.page.dataset;
  const isHere = !url && /^(localhost|127\.|\[::1\])/.test(location.hostname);
  const link = url ? `${url}map${makeLink()}` : findLink();
  const isLong = link.length > look.coded;
  const text = isHere || isLong ? findCode() : link;
  const address = `api/v1/qr.svg?${new URLSearchParams({ text })}`;
  const reason = isLong ? "The link is too long for a picture." : HERE;
  on["qr-said"].textContent =
    text === link ? "Scan the picture to open this board." : `${reason} ${PASTE}`;
  const turn = findTurn();
  on["no-secrets"].hidden = !isGame() || !(turn?.sets || turn?.seen);
  on.qr.hidden = !text || text.length > look.coded || store.board.board !== "classic";
  if (!on.qr.hidden && on.qr.getAttribute("src") !== address) on.qr.src = address;
}
