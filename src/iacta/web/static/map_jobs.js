// Jobs: background requests to the server, and their answers.

import { postJson } from "./ask.js";
import { readPlan } from "./map_analysis.js";
import { findLine, findPath } from "./map_history.js";
import { findGoal, isChosen } from "./map_labels.js";
import { readGoal, readPrice } from "./map_state.js";
import {
  findGoalStart,
  findGoalText,
  findTurn,
  findTurnStart,
  keepPrice,
  searches,
  store,
  tree,
} from "./map_store.js";

const SECONDS = { goal: 9, longGoal: 20, games: 12, list: 9 };

/** Clear all answers, because the board has changed. */
export function forgetAnswers() {
  for (const search of Object.values(searches)) search.forget();
}

export function endSearches() {
  for (const search of Object.values(searches)) search.end();
}

/** Start the searches for the current turn, for the lists beside the map, and for the steps. */
export function startSearches() {
  const { state, view, longer } = store;
  const line = [0, ...findLine(state.steps, state.at)];
  const job = longer && !searches.plans.isDone(longer) ? longer : makeGoalJob(state.at);
  searches.plans.run([job].filter(Boolean));
  const ends = line.filter((k) => findComparable(k) === k);
  const shown = findComparable(state.at);
  // Request the plan first, because games would occupy a single processor for seconds.
  const isWaiting = job && !findPlan() && !searches.plans.isDone(job);
  const games = isWaiting ? [] : [...new Set([shown, ...ends])];
  searches.games.run(games.map(makeWinJob).filter(Boolean));
  const lists = [
    (view === "threats" || findTurn().phase === "fortify") && makeThreatsJob(state.at),
    isChoosing() && makeGoalsJob(state.at),
  ];
  searches.lists.run(lists.filter(Boolean));
  valueSteps(line);
}

/**
 * Evaluate the steps, beginning with the visible steps. If the time is too short for all steps,
 * repeat the request as long as it returns new values, and finally once with twice the time.
 */
function valueSteps(line) {
  const { state } = store;
  const key = JSON.stringify([tree.key, tree.version]);
  const all = [...new Set([...line, ...state.steps.map((_, k) => k + 1)])];
  const texts = [];
  for (const k of all) texts[k] = readGoal(findGoalText(k));
  if (store.values.key !== key) store.values = { key, goals: texts, rows: [], job: null, sums: {} };
  const { values } = store;
  if (texts.some((text, k) => k in values.goals && text !== values.goals[k])) {
    values.rows = values.rows.map((row, k) => (texts[k] === values.goals[k] ? row : undefined));
    Object.assign(values, { job: null, sums: {} });
  }
  values.goals = texts;
  const found = searches.values.find(values.job)?.found?.values ?? [];
  const asked = values.job?.body.order ?? [];
  for (const k of asked) values.rows[k] = found[k] ?? values.rows[k];
  for (const k of all)
    if (values.rows[k]?.price && findGoalStart(k) === k) keepPrice(k, values.rows[k].price);
  if (!values.job || searches.values.isDone(values.job)) {
    const isFruitful = asked.some((k) => found[k]);
    const isRetried = !isFruitful && values.job?.seconds === SECONDS.list;
    const isMissing = (k) =>
      isFruitful || isRetried ? !values.rows[k] : values.rows[k] === undefined;
    const seconds = isRetried ? 2 * SECONDS.list : SECONDS.list;
    if (isRetried) searches.values.clearError(values.job);
    const order = all.filter((k) => isMissing(k) && tree.turns[k].code);
    values.job = order.length ? makeStepsJob(order, seconds) : null;
    for (const k of order) values.rows[k] ??= null;
  }
  searches.values.run(values.job ? [values.job] : []);
}

/**
 * Return the luck and the cost of the steps since the start of the turn, in words; "" while their
 * values are unknown.
 */
export function findSum() {
  const { state, values } = store;
  const { at, steps } = state;
  const path = findPath(steps, at).filter((k) => k > 0 && findTurnStart(k) === findTurnStart());
  const rows = path.filter((k) => k !== findTurnStart()).map((k) => values.rows[k]);
  if (!rows.length || !rows.every(Boolean)) return values.rows[at]?.sum ?? "";
  const judged = rows.map(({ luck, cost, luck_armies }) => ({ luck, cost, luck_armies }));
  const body = { steps: judged, is_chance: rows[0].is_chance };
  const key = JSON.stringify(body);
  if (!(key in values.sums)) {
    values.sums[key] = values.rows[at].sum;
    postJson("api/v1/turn/sum", body).then(({ words }) => {
      values.sums[key] = words;
      store.render();
    }, console.error);
  }
  return values.sums[key];
}

const makeStepsJob = (order, seconds) => ({
  address: "api/v1/steps",
  body: { ...makeTree(), ...findRootGoal(), order },
  seconds,
});

/** Return the tree of steps in the format of questions. */
const makeTree = () => ({
  code: findTurn(0).code,
  board: store.board.board,
  steps: tree.listSteps(store.state.steps),
});

/** Return the current line of steps as a question for the server's log. */
export const makeLogQuestion = () => ({
  ...makeTree(),
  goal: findRootGoal(),
  line: findLine(store.state.steps, store.state.at),
});

/** Return the goal at the start as a goal of steps and logs; null without a goal. */
function findRootGoal() {
  const { hold, ...goal } = findGoal(0)?.parameters ?? {};
  return Object.keys(goal).length ? { ...goal, ...readPrice(store.state.goal) } : null;
}

/**
 * Return the price of a lost army for a plan after a step. The price is found where the goal was
 * chosen, so that later plans do not give up more and more chance to lose fewer armies.
 */
const findPrice = (k, { hold, worth }) =>
  k === findGoalStart(k) || hold || worth ? {} : readPrice(findGoalText(k));

/** Return the job for a plan after a step; null without a goal or a turn. */
export function makeGoalJob(k) {
  const { board } = store;
  const goal = findGoal(k)?.parameters;
  const code = findTurn(k)?.code;
  if (!goal || !code) return null;
  return {
    address: "api/v1/plan",
    body: { position: code, board: board.board, ...goal, ...findPrice(k, goal) },
    seconds: SECONDS.goal,
    read: (found) => readPlan(board, found),
  };
}

export const findGoalEntry = (k = store.state.at) => searches.plans.find(makeGoalJob(k));
export const findPlan = (k = store.state.at) => findGoalEntry(k)?.found ?? null;

/** Return the selected number of armies to move into a conquered territory. */
export const countMoving = ({ advance }) =>
  store.moving ?? findPlan()?.move_in?.best ?? advance.most;

export const isPlanning = () => searches.plans.isSearching(makeGoalJob(store.state.at));
export const canPlanLonger = ({ found, seconds }) => !found.proven && seconds < SECONDS.longGoal;
export const stopPlanning = () => searches.plans.stop(makeGoalJob(store.state.at));

export function planLonger() {
  store.longer = { ...makeGoalJob(store.state.at), seconds: SECONDS.longGoal };
  searches.plans.find(store.longer).isStopped = false;
  store.render();
}

/** Return the number of territories without an owner. Games are only possible if it is 0. */
export const countEmpty = () => store.state.owners.filter((owner) => owner < 0).length;

function makeTurnJob(k, question, seconds, more = {}) {
  const { board } = store;
  const code = findTurn(k)?.code;
  const body = { code, ...(board.board === "classic" ? {} : { board: board.board }), ...more };
  return code ? { address: `api/v1/${question}`, body, seconds } : null;
}

/**
 * Return the latest step with comparable chances to win: the end of a turn, or the start of a turn
 * in progress.
 */
export const findComparable = (k) => (isOver(findTurn(k)) ? k : findTurnStart(k));

const makeWinJob = (k) => (countEmpty() ? null : makeTurnJob(k, "win", SECONDS.games));

const makeThreatsJob = (k) => makeTurnJob(k, "threats", SECONDS.list);
const makeGoalsJob = (k) =>
  isOpen(k) ? makeTurnJob(k, "goals", SECONDS.list, { win: !countEmpty() }) : null;

/** Return the chances to win the game after a step; null while they are too uncertain. */
export function findWin(k) {
  const found = searches.games.find(makeWinJob(k))?.found;
  return found?.words ? found : null;
}

/** Return whether the games after a step have finished, and the error if they are impossible. */
export const findWinState = (k) => ({
  isKnown: searches.games.isDone(makeWinJob(k)),
  wrong: searches.games.find(makeWinJob(k))?.wrong,
});

/** Return the row of the player to move in an answer to `win`. */
export const findMover = ({ player, players }) => players.find((row) => row.player === player);

const findGoals = () => searches.lists.find(makeGoalsJob(store.state.at));
export const findThreats = () => searches.lists.find(makeThreatsJob(store.state.at));
export const isListingGoals = () => searches.lists.isSearching(makeGoalsJob(store.state.at));

/** Return the goals of the turn, in the order of the server. */
export function listOffers() {
  const { found, wrong } = findGoals() ?? {};
  const offers = (found?.goals ?? []).filter(({ parameters }) => parameters);
  return {
    wrong,
    offers: offers.map((offer) => ({ ...offer, isChosen: isChosen(offer.parameters) })),
  };
}

export const isOver = (turn) => turn?.phase === "over";

/** Return whether the attacks of a turn are over. */
export const isEnding = (turn) => isOver(turn) || turn?.phase === "fortify";
export const isOpen = (k) => ["place", "attack", "advance"].includes(findTurn(k)?.phase);
export const isReached = () => findTurn()?.phase === "attack" && findPlan()?.is_reached === true;

/** Whether the list of goals is on the screen. */
export function isChoosing() {
  const { view, picked } = store;
  return view === "goals" || (!view && (!findGoalText() || (isReached() && picked.to === null)));
}
