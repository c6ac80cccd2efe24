// Jobs: background requests to the server, and their answers.

import { chooseBetter, Searches } from "./map_analysis.js";
import { findGoalParts, readPlan } from "./map_goals.js";
import { findLine, findPath, stripNotes } from "./map_history.js";
import { findGoalOfTurn, findTurnStart, makeGoalParameters } from "./map_state.js";
import { findTurn, store, tree } from "./map_store.js";

const SECONDS = { goal: 9, longGoal: 20, games: 12, list: 9 };
const GAMES = 600; // the number is fixed, so that a link always shows the same chances to win

const render = () => store.render();
const goalSearches = new Searches(render);
const gameSearches = new Searches(render);
const listSearches = new Searches(render); // lists of goals and of threats
const valueSearches = new Searches(render);
const searches = [goalSearches, gameSearches, listSearches, valueSearches];

/** Clear all answers, because the board has changed. */
export function forgetAnswers() {
  for (const each of searches) each.forget();
}

export function endSearches() {
  for (const each of searches) each.end();
}

/** Start the searches for the current turn, for the lists beside the map, and for the steps. */
export function startSearches() {
  const { state, view, longer } = store;
  const line = [0, ...findLine(state.steps, state.at)];
  const job = longer && !goalSearches.isDone(longer) ? longer : makeGoalJob(state.at);
  goalSearches.run([job].filter(Boolean));
  const ends = line.filter((k) => findComparable(k) === k);
  const shown = findComparable(state.at);
  // Request the plan first, because games would occupy a single processor for seconds.
  const isWaiting = job && !findPlan() && !goalSearches.isDone(job);
  const games = isWaiting ? [] : [...new Set([shown, ...ends])];
  gameSearches.run(games.map(makeWinJob).filter(Boolean));
  const lists = [
    (view === "threats" || findTurn().phase === "fortify") && makeThreatsJob(state.at),
    (isChoosing() || state.goal === "win") && makeGoalsJob(state.at),
  ];
  listSearches.run(lists.filter(Boolean));
  valueSteps(line);
}

/**
 * Evaluate the steps, beginning with the visible steps. If the time is too short for all steps,
 * repeat the request as long as it returns new values, and finally once with twice the time.
 */
function valueSteps(line) {
  const { state, board } = store;
  const key = JSON.stringify([tree.key, tree.version]);
  const goals = [0, ...state.steps.map((_, k) => k + 1)].map((k) => findGoalOf(k));
  const texts = goals.map((goal) => JSON.stringify(goal));
  if (store.values.key !== key) store.values = { key, goals: texts, rows: [], job: null };
  const { values } = store;
  if (texts.some((text, k) => k in values.goals && text !== values.goals[k])) {
    values.rows = values.rows.map((row, k) => (texts[k] === values.goals[k] ? row : undefined));
    values.job = null;
  }
  values.goals = texts;
  const found = valueSearches.find(values.job)?.found?.values ?? [];
  const asked = values.job?.body.order ?? [];
  for (const k of asked) values.rows[k] = found[k] ?? values.rows[k];
  if (!values.job || valueSearches.isDone(values.job)) {
    const isFruitful = asked.some((k) => found[k]);
    const isRetried = !isFruitful && values.job?.seconds === SECONDS.list;
    const isMissing = (k) =>
      isFruitful || isRetried ? !values.rows[k] : values.rows[k] === undefined;
    const seconds = isRetried ? 2 * SECONDS.list : SECONDS.list;
    if (isRetried) valueSearches.clearError(values.job);
    const all = new Set([...line, ...state.steps.map((_, k) => k + 1)]);
    const order = [...all].filter((k) => isMissing(k) && tree.turns[k].code);
    const steps = stripNotes(state.steps).map((step, k) =>
      step.do === "next" && goals[k + 1] ? { ...step, goal: goals[k + 1] } : step,
    );
    const body = { code: tree.key, board: board.board, ...goals[0], steps, order };
    const isAsked = state.steps.length > 0 && order.length > 0;
    values.job = isAsked ? { address: "api/v1/steps", body, seconds } : null;
    if (values.job) for (const k of order) values.rows[k] = null;
  }
  valueSearches.run(values.job ? [values.job] : []);
}

/** Return the goal of the turn of a step, in the format of steps and logs; null without a goal. */
export function findGoalOf(k) {
  const { board, state } = store;
  const start = findTurnStart(state.steps, k);
  const own = { ...state, ...findGoalOfTurn(state, start) };
  const best = own.goal === "win" ? findBestGoal([start]) : {};
  if (!best) return null;
  const { hold, ...goal } = makeGoalParameters(board, { ...own, ...best }) ?? {};
  return Object.keys(goal).length ? goal : null;
}

/** Return the most helpful goal of the first turn whose goals are known. */
function findBestGoal(steps) {
  const { board, state } = store;
  const goals = steps
    .map((each) => listSearches.find(makeGoalsJob(each))?.found?.goals)
    .find(Boolean);
  return (goals ?? [])
    .map(({ parameters }) => findGoalParts(board, state, parameters))
    .find(Boolean);
}

/**
 * Return the goal after a step, as parameters of `plan`. For the goal to win the game, this is the
 * most helpful goal.
 */
export function findGoalAfter(k) {
  const { board, state } = store;
  if (state.goal !== "win") return makeGoalParameters(board, state);
  const best = findBestGoal([...findPath(state.steps, k).reverse(), 0]);
  if (best) return makeGoalParameters(board, { ...state, ...best });
  return listSearches.isDone(makeGoalsJob(k)) ? { worth: true } : null;
}

/** Return the job for a plan after a step; null without a goal or a turn. */
export function makeGoalJob(k) {
  const { board } = store;
  const goal = findGoalAfter(k);
  const code = findTurn(k)?.code;
  if (!goal || !code) return null;
  return {
    address: "api/v1/plan",
    body: { position: code, board: board.board, ...goal },
    seconds: SECONDS.goal,
    read: (found) => readPlan(board, found, goal.hold),
    better: (before, found) => chooseBetter(before, found, goal.hold),
  };
}

export const findGoalEntry = (k = store.state.at) => goalSearches.find(makeGoalJob(k));
export const findPlan = (k = store.state.at) => findGoalEntry(k)?.found ?? null;

/** Return the selected number of armies to move into a conquered territory. */
export const countMoving = ({ advance }) =>
  store.moving ?? findPlan()?.move_in?.best ?? advance.most;

export const isPlanning = () => goalSearches.isSearching(makeGoalJob(store.state.at));
export const canPlanLonger = ({ found, seconds }) => !found.proven && seconds < SECONDS.longGoal;
export const stopPlanning = () => goalSearches.stop(makeGoalJob(store.state.at));

export function planLonger() {
  store.longer = { ...makeGoalJob(store.state.at), seconds: SECONDS.longGoal };
  goalSearches.find(store.longer).isStopped = false;
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
export const findComparable = (k) =>
  isOver(findTurn(k)) ? k : findTurnStart(store.state.steps, k);

function makeWinJob(k) {
  const more = { games: GAMES, best_goal: !isOver(findTurn(k)) };
  return countEmpty() ? null : makeTurnJob(k, "win", SECONDS.games, more);
}

const makeThreatsJob = (k) => makeTurnJob(k, "threats", SECONDS.list);
const makeGoalsJob = (k) =>
  isOpen(k) ? makeTurnJob(k, "goals", SECONDS.list, { win: !countEmpty() }) : null;

/** Return the chances to win the game after a step; null while they are too uncertain. */
export function findWin(k) {
  const found = gameSearches.find(makeWinJob(k))?.found;
  return found?.words ? found : null;
}

/** Return whether the games after a step have finished, and the error if they are impossible. */
export const findWinState = (k) => ({
  isKnown: gameSearches.isDone(makeWinJob(k)),
  wrong: gameSearches.find(makeWinJob(k))?.wrong,
});

/** Return the row of the player to move in an answer to `win`. */
export const findMover = ({ player, players }) => players.find((row) => row.player === player);

export const findGoals = () => listSearches.find(makeGoalsJob(store.state.at));
export const findThreats = () => listSearches.find(makeThreatsJob(store.state.at));
export const isListingGoals = () => listSearches.isSearching(makeGoalsJob(store.state.at));

export const isOver = (turn) => turn?.phase === "over";

/** Return whether the attacks of a turn are over. */
export const isEnding = (turn) => isOver(turn) || turn?.phase === "fortify";
export const isOpen = (k) => ["place", "attack", "advance"].includes(findTurn(k)?.phase);
export const isReached = () =>
  findTurn()?.phase === "attack" && findPlan()?.sentences[0] === "The goal is reached.";

/** Whether the list of goals is on the screen. */
export function isChoosing() {
  const { view, state, picked } = store;
  return view === "goals" || (!view && (!state.goal || (isReached() && picked.to === null)));
}
