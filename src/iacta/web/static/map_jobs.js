// Jobs: the questions that the page asks the server in the background, and their answers.

import { better, Searches } from "./map_analysis.js";
import { findGoalParts, readPlan } from "./map_goals.js";
import { lineThrough, pathTo, plain } from "./map_history.js";
import { findGoalOfTurn, findTurnStart, goalOf } from "./map_state.js";
import { findTurn, store, tree } from "./map_store.js";

const SECONDS = { goal: 9, longGoal: 20, games: 12, list: 9 };
const GAMES = 600; // fixed, so that a link always shows the same chances to win

const render = () => store.render();
const goalSearches = new Searches(render);
const gameSearches = new Searches(render);
const listSearches = new Searches(render); // goals and threats
const valueSearches = new Searches(render);
const searches = [goalSearches, gameSearches, listSearches, valueSearches];

/** Forget all answers, because another board is used. */
export function forgetAnswers() {
  for (const each of searches) each.forget();
}

export function endSearches() {
  for (const each of searches) each.end();
}

/** Search for the current turn, for the lists beside it, and for the steps on the screen. */
export function startSearches() {
  const { state, view, longer } = store;
  const line = [0, ...lineThrough(state.steps, state.at)];
  const job = longer && !goalSearches.isDone(longer) ? longer : goalJob(state.at);
  goalSearches.want([job].filter(Boolean));
  const ends = line.filter((k) => findComparable(k) === k);
  const shown = findComparable(state.at);
  // The plan comes first, because games keep a server with one processor busy for seconds.
  const isWaiting = job && !findPlan() && !goalSearches.isDone(job);
  const games = isWaiting ? [] : [...new Set([shown, ...ends])];
  gameSearches.want(games.map(winJob).filter(Boolean));
  const lists = [
    (view === "threats" || findTurn().phase === "fortify") && threatsJob(state.at),
    (isChoosing() || state.goal === "win") && goalsJob(state.at),
  ];
  listSearches.want(lists.filter(Boolean));
  valueSteps(line);
}

/**
 * Evaluate the steps, those on the screen first. If time runs out before every step has a value,
 * ask again as long as there are new values. If there is none, ask once more, for twice as long.
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
  const found = valueSearches.of(values.job)?.found?.values ?? [];
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
    const steps = plain(state.steps).map((step, k) =>
      step.do === "next" && goals[k + 1] ? { ...step, goal: goals[k + 1] } : step,
    );
    const body = { code: tree.key, board: board.board, ...goals[0], steps, order };
    const isAsked = state.steps.length > 0 && order.length > 0;
    values.job = isAsked ? { address: "api/v1/steps", body, seconds } : null;
    if (values.job) for (const k of order) values.rows[k] = null;
  }
  valueSearches.want(values.job ? [values.job] : []);
}

/** Return the goal of a step's turn, as steps and logs record it; null without a goal. */
export function findGoalOf(k) {
  const { board, state } = store;
  const start = findTurnStart(state.steps, k);
  const own = { ...state, ...findGoalOfTurn(state, start) };
  const best = own.goal === "win" ? findBestGoal([start]) : {};
  if (!best) return null;
  const { hold, ...goal } = goalOf(board, { ...own, ...best }) ?? {};
  return Object.keys(goal).length ? goal : null;
}

/** Return the most helpful goal of the first turn whose goals are known. */
function findBestGoal(steps) {
  const { board, state } = store;
  const goals = steps.map((each) => listSearches.of(goalsJob(each))?.found?.goals).find(Boolean);
  return (goals ?? [])
    .map(({ parameters }) => findGoalParts(board, state, parameters))
    .find(Boolean);
}

/**
 * Return the goal after a step, as the server expects it. To win the game, this is the most helpful
 * goal.
 */
export function goalAt(k) {
  const { board, state } = store;
  if (state.goal !== "win") return goalOf(board, state);
  const best = findBestGoal([...pathTo(state.steps, k).reverse(), 0]);
  if (best) return goalOf(board, { ...state, ...best });
  return listSearches.isDone(goalsJob(k)) ? { worth: true } : null;
}

/** Return the job that plans for the goal after a step; null without a goal or a turn. */
export function goalJob(k) {
  const { board } = store;
  const goal = goalAt(k);
  const code = findTurn(k)?.code;
  if (!goal || !code) return null;
  return {
    address: "api/v1/plan",
    body: { position: code, board: board.board, ...goal },
    seconds: SECONDS.goal,
    read: (found) => readPlan(board, found, goal.hold),
    better: (before, found) => better(before, found, goal.hold),
  };
}

export const findGoalEntry = (k = store.state.at) => goalSearches.of(goalJob(k));
export const findPlan = (k = store.state.at) => findGoalEntry(k)?.found ?? null;

/** Return the number of armies about to move into a conquered territory. */
export const countMoving = ({ advance }) =>
  store.moving ?? findPlan()?.move_in?.best ?? advance.most;

export const isPlanning = () => goalSearches.isSearching(goalJob(store.state.at));
export const canPlanLonger = ({ found, seconds }) => !found.proven && seconds < SECONDS.longGoal;
export const stopPlanning = () => goalSearches.stop(goalJob(store.state.at));

export function planLonger() {
  store.longer = { ...goalJob(store.state.at), seconds: SECONDS.longGoal };
  goalSearches.of(store.longer).isStopped = false;
  store.render();
}

/** Return the number of territories without an owner; if there are any, games cannot be played. */
export const countEmpty = () => store.state.owners.filter((owner) => owner < 0).length;

function turnJob(k, question, seconds, more = {}) {
  const { board } = store;
  const code = findTurn(k)?.code;
  const body = { code, ...(board.board === "classic" ? {} : { board: board.board }), ...more };
  return code ? { address: `api/v1/${question}`, body, seconds } : null;
}

/**
 * Return the last point up to a step at which games can be compared: the start or end of a turn.
 */
export const findComparable = (k) =>
  isOver(findTurn(k)) ? k : findTurnStart(store.state.steps, k);

function winJob(k) {
  const more = { games: GAMES, best_goal: !isOver(findTurn(k)) };
  return countEmpty() ? null : turnJob(k, "win", SECONDS.games, more);
}

const threatsJob = (k) => turnJob(k, "threats", SECONDS.list);
const goalsJob = (k) =>
  isOpen(k) ? turnJob(k, "goals", SECONDS.list, { win: !countEmpty() }) : null;

/** Return each player's chance to win the game after a step; null while it is too uncertain. */
export function findWin(k) {
  const found = gameSearches.of(winJob(k))?.found;
  return found?.words ? found : null;
}

/** Return whether the games after a step have finished, and why they are impossible if they are. */
export const findWinState = (k) => ({
  isKnown: gameSearches.isDone(winJob(k)),
  wrong: gameSearches.of(winJob(k))?.wrong,
});

/** Return the entry for the player to move in an answer to `win`. */
export const findMover = ({ player, players }) => players.find((row) => row.player === player);

export const findGoals = () => listSearches.of(goalsJob(store.state.at));
export const findThreats = () => listSearches.of(threatsJob(store.state.at));
export const isListingGoals = () => listSearches.isSearching(goalsJob(store.state.at));

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
