// The analyses of all turns of the page, and the requests that improve them.
//
// The numbers of a turn come in levels of fixed work. All steps for one goal are shown at the same
// level, the highest level that is known for all of them.

import { readPlan } from "./map_analysis.js";
import { isGame } from "./map_game.js";
import { findLine } from "./map_history.js";
import { findGoal, isChosen } from "./map_labels.js";
import { readPrice } from "./map_state.js";
import {
  findGoalStart,
  findGoalText,
  findSeen,
  findTurn,
  findTurnStart,
  isAdvised,
  keepPrice,
  queue,
  store,
  tree,
} from "./map_store.js";

const LEVELS = ["quick", "usual", "long"];

/** Clear all answers, because the board has changed. */
export function forgetAnswers() {
  queue.forget();
  store.analyses.clear();
}

export const endSearches = () => queue.end();

/** Search for all that the page shows, the most important first. */
export function startSearches() {
  const { state, view, longer } = store;
  const { at } = state;
  if (!isAdvised()) return queue.run(["quick", "usual"].map((level) => makeDangerJob(at, level)));
  const key = `${tree.key} ${tree.version}`;
  if (store.values.key !== key) store.values = { key, rows: {}, jobs: {}, levels: {} };
  const whole = [0, ...findLine(state.steps, at)];
  // A game may be long: its other turns are judged after its end.
  const line = isGame() ? whole.filter((k) => findTurnStart(k) === findTurnStart()) : whole;
  if (!queue.job) line.filter((k) => k === findGoalStart(k)).forEach(keepFoundPrice);
  const lists = [
    isChoosing() && isOpen(at) && "goals",
    (view === "threats" || isShowingDanger() || findTurn().phase === "fortify") && "threats",
  ].filter(Boolean);
  const plan = (level) => [
    makePlanJob(hasPrice(at) ? at : findGoalStart(at), level), // the first plan finds the price
    makeStepsJob(line, level),
  ];
  const list = (level) => lists.map((part) => makeAnalysisJob(at, level, { parts: [part] }));
  const isMarked = isChoosing() && (at === findTurnStart() || isReached() || view === "goals");
  const wins = [findComparable(at), ...line.filter((k) => findComparable(k) === k)].map(makeWinJob);
  const jobs = [
    ...plan("quick"),
    ...list("quick"),
    ...plan("usual"),
    ...wins.slice(0, 1),
    ...list("usual"),
    ...(longer === findGoalStart() ? [...plan("long"), ...list("long")] : []),
    isMarked && makeMarkJob(at),
    ...wins,
  ];
  queue.run(jobs.filter(Boolean));
}

const makeTurnJob = (k, question, more) => {
  const code = findSeen(k);
  return (
    code && { address: `api/v1/${question}`, body: { code, board: store.board.board, ...more } }
  );
};

// The analysis of a turn: its goals and threats.

const findAnalysis = (k) => store.analyses.get(findSeen(k)) ?? null;

const makeDangerJob = (k, level) => makeAnalysisJob(k, level, { parts: ["threats"] });
export const isShowingDanger = () => store.showing === "danger";

/** Return the greatest threat to each territory of the player to move; null while it is unknown. */
export const findDanger = () => (isShowingDanger() && findAnalysis(store.state.at)?.danger) || null;

/** Return the job for parts of the analysis of a turn; its answer replaces the analysis. */
function makeAnalysisJob(k, level, parts) {
  const job = makeTurnJob(k, "analysis", { level, ...parts });
  const known = () => {
    const { goals = [], threats } = findAnalysis(k) ?? {};
    const others = goals.filter(
      ({ parameters }) => !parts.goals || !isSameGoal(parameters, findGoal(k)),
    );
    return {
      known: { goals: others.map(({ plan, ...goal }) => goal), ...(threats && { threats }) },
    };
  };
  const take = (found) => {
    store.analyses.set(job.body.code, { ...findAnalysis(k), ...found });
  };
  const isLast = ({ is_complete: isComplete }) => isComplete;
  return job && { ...job, known, take, isLast, isRepeated: level === "quick" };
}

/** Keep the price of a lost army that a plan found where the goal was chosen. */
function keepFoundPrice(k) {
  const known = LEVELS.flatMap((level) => [findEntry(k, level), store.values.rows[level]?.[k]]);
  const found = known.find((each) => each?.price !== undefined);
  const goal = findGoal(k)?.parameters;
  if (found && goal && !goal.worth && !isPriced(k)) keepPrice(k, found.price);
}

const isPriced = (k) => readPrice(findGoalText(k)).price !== undefined;

/** Whether the price of a lost army is known for the plans after a step. */
function hasPrice(k) {
  const { hold, worth } = findGoal(k)?.parameters ?? {};
  const start = findGoalStart(k);
  const isFree = k === start || hold || worth || isEnding(findTurn(k));
  return isFree || isPriced(k) || queue.isDone(makePlanJob(start, "quick"));
}

/** Return the goal after a step as a goal of steps and logs; null without a goal. */
function findGoalRecord(k) {
  const { hold, ...goal } = findGoal(k)?.parameters ?? {};
  if (!Object.keys(goal).length) return null;
  const isStart = k === findGoalStart(k); // the price is found here, and kept for the later plans
  return { ...goal, ...(!isStart && !goal.worth && readPrice(findGoalText(k))) };
}

/** Return the job for a plan after a step; null without a goal or a turn. */
function makePlanJob(k, level) {
  const goal = findGoalRecord(k);
  const parameters = findGoal(k)?.parameters;
  if (!goal || !findTurn(k)?.code || isEnding(findTurn(k))) return null;
  if (parameters.hold) {
    const { code, board } = makeTurnJob(k, "plan").body;
    return { address: "api/v1/plan", body: { position: code, board, ...parameters, level } };
  }
  return makeAnalysisJob(k, level, { goals: [goal] });
}

const isSameGoal = (parameters, goal) =>
  JSON.stringify(parameters) === JSON.stringify(goal?.parameters);

/** Return the numbers and the plan after a step at a level; null while they are unknown. */
function findEntry(k, level) {
  const job = isAdvised() && makePlanJob(k, level);
  const found = queue.find(job)?.found;
  if (!found?.goals) return found ? readPlan(store.board, found) : null; // a plan that also holds
  const goal = findGoal(k);
  const entry = found.goals.find(({ parameters }) => isSameGoal(parameters, goal));
  if (!entry?.plan || !entry.level) return null;
  const { level: reached, figure } = entry;
  return { ...readPlan(store.board, entry.plan), level: reached, figure };
}

/**
 * Return the level at which a turn is shown. The steps for one goal rise to a level together, and
 * do not fall back: a new step has no numbers until they are known at this level.
 */
function findLevel(k) {
  const { at, steps } = store.state;
  const { rows, levels } = store.values;
  const start = findGoalStart(k);
  const key = `${start} ${findGoalText(k).replace(/-\d+/, "")}`;
  const others = findLine(steps, at).filter((n) => n !== at && findGoalStart(n) === start);
  const isKnown = (level) =>
    (isEnding(findTurn()) || findGoalStart() !== start || findEntry(at, level)) &&
    others.every((n) => rows[level]?.[n]);
  const before = LEVELS.indexOf(levels[key]);
  const found = LEVELS.findLastIndex((level, n) => n > before && isKnown(level));
  if (found >= 0) levels[key] = LEVELS[found];
  return levels[key] ?? "";
}

/** Return the numbers and the plan after a step that are shown; null while they are unknown. */
export const findShown = (k = store.state.at) => findEntry(k, findLevel(k) || "quick");

/** Return the best plan that is known after a step, for its actions. */
export const findPlan = (k = store.state.at) =>
  findShown(k) ?? LEVELS.map((level) => findEntry(k, level)).findLast(Boolean) ?? null;

/**
 * Return by how much the value of the shown plan exceeds that of the plan of the level before; 0
 * if the difference is within the intervals. All steps are judged at one level, so a better plan
 * is no luck.
 */
export function findImprovement() {
  const { at } = store.state;
  const shown = findShown();
  const before = findEntry(at, LEVELS[LEVELS.indexOf(findLevel(at)) - 1]);
  if (!shown || !before) return 0;
  const isClear = (shown.interval?.low ?? shown.chance) > (before.interval?.high ?? before.chance);
  return isClear ? shown.chance - before.chance : 0;
}

/** Return the failure or the progress of the search for a plan. */
export function describeSearch() {
  const entries = LEVELS.map((level) => queue.find(makePlanJob(store.state.at, level)));
  return entries.map((entry) => entry?.wrong || entry?.soFar).find(Boolean) ?? "";
}

/** Whether a goal is complete, so that there is a plan to search for. */
export const hasGoal = () => makePlanJob(store.state.at, "quick") !== null;

/** Return the selected number of armies to move into a conquered territory. */
export const countMoving = ({ advance }) =>
  store.moving ?? findPlan()?.move_in?.best ?? advance.most;

export const isPlanning = () =>
  LEVELS.some((level) => queue.isSearching(makePlanJob(store.state.at, level)));

export function planLonger() {
  store.longer = findGoalStart();
  store.render();
}

export function stopPlanning() {
  const isLonger = store.longer === findGoalStart();
  store.longer = null;
  const jobs = LEVELS.map((level) => makePlanJob(store.state.at, level));
  for (const job of jobs.slice(0, isLonger ? 3 : 2)) if (!queue.isDone(job)) queue.stop(job);
}

// The values of steps.

/**
 * Return the job for the steps of one turn that are not valued yet at a level: first the turn that
 * the page shows, then the other turns of the line and of the tree.
 */
function makeStepsJob(line, level) {
  const { state, values } = store;
  if (queue.isSearching(values.jobs[level])) return values.jobs[level];
  values.rows[level] ??= [];
  const rows = values.rows[level];
  const all = [...new Set([...line, ...(isGame() ? [] : state.steps.map((_, k) => k + 1))])];
  const missing = all.filter((k) => !rows[k] && tree.turns[k]?.code);
  if (!missing.length || (!state.steps.length && level !== "quick")) return null;
  const isShown = (k) => findTurnStart(k) === findTurnStart();
  const start = findTurnStart(missing.find(isShown) ?? missing[0]);
  const steps = listTurnSteps(start);
  // The sum of a turn needs all its steps.
  const isSummed = isEnding(findTurn()) && missing.includes(state.at);
  const summed = isSummed ? line.filter(isShown) : [];
  const order = [...new Set([...summed, ...missing])].filter((k) => steps.includes(k));
  const take = ({ values: found }) => {
    for (const k of order) rows[k] = found[steps.indexOf(k)] ?? rows[k];
  };
  const body = { ...makeTurnTree(steps), order: order.map((k) => steps.indexOf(k)), level };
  values.jobs[level] = { address: "api/v1/steps", body, take };
  return values.jobs[level];
}

/** Return the start of a turn and the numbers of its steps. */
function listTurnSteps(start) {
  const { steps } = store.state;
  const isOf = (k) => k !== start && findTurnStart(k) === start;
  return [start, ...steps.map((_, k) => k + 1).filter(isOf)];
}

/** Return the steps of a turn as a question, in the order of their numbers; the start comes first. */
const makeTurnTree = ([start, ...steps]) => ({
  code: findSeen(start),
  board: store.board.board,
  steps: steps.map((k) => {
    const step = store.state.steps[k - 1];
    return { after: 1 + steps.indexOf(step.after), ...tree.recordStep(k, step) };
  }),
  ...(start ? {} : findRootGoal()),
});

/** Return the value, the luck and the cost of a step at the level that is shown. */
export const findRow = (k) =>
  (isAdvised() && store.values.rows[findGoalText(k) ? findLevel(k) : "quick"]?.[k]) || null;

/** Return the current line of steps as a question for the server's log. */
export function makeLogQuestion() {
  const { steps, at, players } = store.state;
  const line = findLine(steps, at);
  return {
    code: findTurn(0).code,
    board: store.board.board,
    players,
    goal: findRootGoal(),
    steps: line.map((k, n) => ({ after: n, text: steps[k - 1].text })),
    line: line.map((_, n) => n + 1),
  };
}

/** Return the goal at the start as a goal of steps and logs; null without a goal. */
function findRootGoal() {
  const { hold, ...goal } = findGoal(0)?.parameters ?? {};
  return Object.keys(goal).length ? { ...goal, ...readPrice(store.state.goal) } : null;
}

// The chances to win the game.

/** Return the number of territories without an owner. Games are only possible if it is 0. */
export const countEmpty = () => store.state.owners.filter((owner) => owner < 0).length;

/**
 * Return the latest step with comparable chances to win: the end of a turn, or the start of a turn
 * in progress.
 */
export const findComparable = (k) => (isOver(findTurn(k)) ? k : findTurnStart(k));

const makeWinJob = (k) => (countEmpty() ? null : makeTurnJob(k, "win"));

/** Return the job that tells which goal is best for the game. */
const makeMarkJob = (k) =>
  isOpen(k) && !countEmpty() ? makeTurnJob(k, "goals", { win: true }) : null;

/** Return the chances to win the game after a step; null while they are too uncertain. */
export function findWin(k) {
  const found = isAdvised() && queue.find(makeWinJob(k))?.found;
  return found?.words ? found : null;
}

/** Return the entry of the games after a step; an empty object before their first answer. */
export const findWinState = (k) => queue.find(makeWinJob(k)) ?? {};

/** Return the row of the player to move in an answer to `win`. */
export const findMover = ({ player, players }) => players.find((row) => row.player === player);

// The lists of goals and threats.

const findPart = (part) => makeAnalysisJob(store.state.at, "usual", { parts: [part] });
export const findThreats = () => (isAdvised() ? findAnalysis(store.state.at) : null);
export const findListState = (part) => ({
  isSearching: !queue.isDone(findPart(part)),
  isComplete: queue.find(findPart(part))?.found?.is_complete === true,
  wrong: queue.find(findPart(part))?.wrong,
});

/** Return the choice that is clearly the best for the game; null while none is. */
function findMark() {
  const goals = queue.find(makeMarkJob(store.state.at))?.found?.goals ?? [];
  return goals.find(({ is_best: isBest }) => isBest) ?? null;
}

/** Whether the mark is at the choice to attack no more. */
export const isStopBest = () => isChoosing() && findMark()?.goal === "hold without attacking";

/** Return the goals of the turn, in the order of the server, with the numbers that are shown. */
export function listOffers() {
  const offered = findAnalysis(store.state.at)?.goals ?? [];
  const mark = findMark();
  return offered
    .filter((goal) => goal.is_offered || isChosen(goal.parameters))
    .map((goal) => ({
      ...goal,
      ...(isChosen(goal.parameters) && { figure: findShown()?.figure ?? "" }),
      isChosen: isChosen(goal.parameters),
      isMarked: mark !== null && isSameGoal(goal.parameters, mark),
    }));
}

const isOver = (turn) => turn?.phase === "over";

/** Return whether the attacks of a turn are over. */
export const isEnding = (turn) => isOver(turn) || turn?.phase === "fortify";
export const isOpen = (k) => ["place", "attack", "advance"].includes(findTurn(k)?.phase);
export const isReached = () => findTurn()?.phase === "attack" && findPlan()?.is_reached === true;

/** Whether the list of goals is on the screen. */
export function isChoosing() {
  const { view, picked } = store;
  if (!isAdvised()) return false;
  return view === "goals" || (!view && (!findGoal() || (isReached() && picked.to === null)));
}
