// The value of a turn: the chances to reach the goal and to win the game, the steps, and a graph.

import { actions } from "./map_actions.js";
import { svg } from "./map_board.js";
import { isGame, isReviewed, isWon, listRecentSteps } from "./map_game.js";
import { findLine, isGoalStep } from "./map_history.js";
import {
  countEmpty,
  describeSearch,
  findComparable,
  findImprovement,
  findMover,
  findRow,
  findShown,
  findWin,
  findWinState,
  hasGoal,
  isEnding,
  isPlanning,
  planLonger,
  stopPlanning,
} from "./map_jobs.js";
import { findGoal, findPlayer, shortenPlayer } from "./map_labels.js";
import { tool } from "./map_parts.js";
import {
  findGoalStart,
  findGoalText,
  findTurn,
  findTurnStart,
  isAdvised,
  store,
  tree,
  update,
} from "./map_store.js";
import { element, table } from "./redraw.js";

/** Return the chance to reach the goal as a number, a bar and a sentence. */
export function showValue(turn) {
  const shown = findShown();
  const sum = isEnding(turn) && findRow(store.state.at)?.sum;
  const said =
    turn?.problem ??
    (isEnding(turn)
      ? `${turn.sentence}${sum ? ` In this turn ${sum}.` : ""}`
      : (shown?.sentences[0] ?? describeSearch()));
  const words = isGame() ? !isWon() && turn?.public : turn?.condition; // the result says who won
  const condition = words && element("p", { id: "condition", className: "help" }, words);
  if (!isAdvised())
    return [turn?.problem && element("p", { id: "report" }, turn.problem), condition];
  return [
    !isEnding(turn) &&
      findGoalText() &&
      element(
        "div",
        { className: "chances" },
        element("strong", { id: "figure" }, shown?.figure ?? ""),
        shown?.is_chance && showGoalBar(shown),
      ),
    element(
      "p",
      { id: "report", className: "report", ariaLive: "polite" },
      said || describeWaiting(),
    ),
    condition,
  ];
}

const canPlanLonger = (shown) =>
  shown?.level && !shown.proven && shown.level !== "long" && store.longer !== findGoalStart();

/** Return the search, and the part of the answer about the goal, that are shown below the next action. */
export function showMore() {
  const found = findShown();
  const isOpen = !isEnding(findTurn());
  const isSearching = isPlanning() && found; // otherwise the report says it
  const doing = isSearching && (describeSearch() || "Searching …");
  return [
    element("p", { id: "doing", role: "status" }, doing),
    isSearching && tool("Stop", stopPlanning),
    isOpen && !isPlanning() && canPlanLonger(found) && tool("Search longer", planLonger),
    isOpen && found?.sentences.length > 1 && element("p", {}, found.sentences.slice(1).join(" ")),
    isOpen && describeImprovement(found),
  ];
}

/** Return a sentence about a plan that is better than the plan of a shorter search. */
function describeImprovement(found) {
  const points = (findImprovement() * (found?.is_chance ? 100 : 1)).toFixed(1);
  const words = `A longer search found a better plan: +${points} points, which are not luck.`;
  return Number(points) > 0 && element("p", { id: "improved", className: "help" }, words);
}

function describeWaiting() {
  if (hasGoal()) return "Searching …";
  return findGoalText() && "Choose on the map what to take.";
}

/** Return a bar with the chance of a plan, its interval, and the bound on all plans. */
function showGoalBar({ chance, figure, interval: range, upper_bound: bound }) {
  const isWide = range && range.high - range.low >= 0.001;
  const setPart = (part, start = 0) => `--part:${part};--start:${start}`;
  const bar = element(
    "div",
    {
      id: "bar",
      className: "bar",
      role: "meter",
      ariaLabel: "Chance to reach the goal",
      ariaValueMin: "0",
      ariaValueMax: "100",
      ariaValueText: figure,
    },
    element("span", { className: "most", style: setPart(bound ?? 1) }),
    element("span", { className: "now", style: setPart(chance ?? 0) }),
    isWide &&
      element("span", { className: "range", style: setPart(range.high - range.low, range.low) }),
  );
  if (chance !== undefined) bar.ariaValueNow = String(100 * chance);
  return bar;
}

/** Return each player's chance to win the game, at the start of the turn or after its end. */
export function showGame() {
  const empty = countEmpty();
  if (empty) {
    const them = empty === 1 ? "it" : "them";
    const words = `fill ${them} to see each player's chance to win the game.`;
    return element("p", {}, `${describeEmpty()}: ${words}`);
  }
  const { state } = store;
  const k = findComparable(state.at);
  const found = findWin(k);
  const start = findWin(findTurnStart(k));
  const when = k === state.at ? "" : "At the start of the turn: ";
  const before = found && start && start !== found && ` At the start: ${findMover(start).figure}.`;
  const words = found ? [when, found.words, before || ""] : describeWin(k);
  return [
    showGameBar(found?.players ?? []),
    element(
      "details",
      { id: "how" },
      element(
        "summary",
        {},
        words,
        " ",
        found && element("span", { className: "link" }, "How is this computed?"),
      ),
      found?.details.map(showSection),
    ),
  ];
}

function describeWin(k) {
  const { found, isDone, wrong } = findWinState(k);
  if (wrong || !isDone) return wrong || "Playing games …";
  return found?.games
    ? "Too few games were played to tell who is likely to win."
    : "There was no time to play games.";
}

function showGameBar(players) {
  const words = players.map(({ player, figure }) => `${shortenPlayer(player)} ${figure}`);
  const parts = players.map(({ player, win }, k) => {
    const { colour, digits } = findPlayer(store.state.players.indexOf(player));
    const style = `--part:${win};background:${colour};color:${digits}`;
    return element("span", { className: "part", style }, words[k]);
  });
  const title = words.length ? `Games won: ${words.join(", ")}` : "Games won: not known yet";
  return element(
    "div",
    { id: "shares", className: "bar", role: "img", ariaLabel: title, title },
    parts,
  );
}

export function describeEmpty() {
  const count = countEmpty();
  return count === 1 ? "One territory is empty" : `${count} territories are empty`;
}

/** Return the list of the current line of steps, with their alternatives. */
export function showSteps() {
  const { state } = store;
  if (!state.steps.length) return [];
  const { turns } = tree;
  const showButton = (k, className, ...children) =>
    tool(children, () => actions.goToStep(k), {
      className,
      ...(k === state.at && { ariaCurrent: "step" }),
    });
  const line = isGame() ? listRecentSteps() : findLine(state.steps, state.at);
  const rows = line.map((k) => {
    const step = state.steps[k - 1];
    const isCostly = findRow(k)?.is_costly;
    const mark = element("span", { className: "mark", title: "a costly choice" }, " ?");
    const words = isGoalStep(step)
      ? `Goal: ${findGoal(k)?.words ?? "none"}`
      : (turns[k]?.words ?? turns[k]?.problem ?? "…");
    const others = state.steps.flatMap(({ after }, n) =>
      after === step.after && n + 1 !== k ? [n + 1] : [],
    );
    return element(
      "li",
      { key: `step ${k}` },
      showButton(k, "step-of", `${words} `, showFigures(k), isCostly && mark),
      step.note && element("p", { className: "note" }, step.note),
      others.map((n) => showButton(n, "step-of other", `or: ${turns[n]?.words ?? "…"}`)),
    );
  });
  if (isReviewed() && !store.isListing) {
    const unfold = tool("Steps of the last round", () => update({ isListing: true }));
    return [element("li", { className: "unfold" }, unfold), ...rows];
  }
  if (line[0] > 1) return rows;
  return [element("li", {}, showButton(0, "step-of", "Start ", showFigures(0))), ...rows];
}

/**
 * Return the value after a step; at the start and the end of a turn, also the chance to win.
 */
function showFigures(k) {
  const win = findComparable(k) === k && findWin(k);
  const value = findRow(k)?.words ?? tree.turns[k]?.luck;
  const words = [value, win && `wins ${findMover(win).figure} of games`];
  return element("small", {}, words.filter(Boolean).join(", "));
}

/** Return a point of a graph, given as fractions of its width and height, as text. */
const locate = ([x, y]) => `${(300 * x).toFixed(1)},${(55 - 50 * y).toFixed(1)}`;

/** Return the curve through points of a graph in a list; an empty list for less than two points. */
export const drawCurve = (points, stroke, className) =>
  points.length < 2
    ? []
    : [svg("path", { d: `M${points.map(locate).join("L")}`, stroke, class: className })];

/** Return a graph of chances with the given curves. */
export function showCurves(id, label, curves) {
  const shape = { id, viewBox: "0 0 300 60", preserveAspectRatio: "none", role: "img" };
  const half = svg("path", { d: "M0,30H300", class: "half" });
  const ends = [element("span", {}, "100%"), element("span", {}, "0%")];
  return element(
    "div",
    { className: "graph" },
    element("small", { className: "ends" }, ends),
    svg("svg", { ...shape, "aria-label": label }, half, ...curves),
  );
}

/** Return a graph of the chances after each step: one curve for each turn and each player. */
export function showGraph() {
  const { state } = store;
  const line = [0, ...findLine(state.steps, state.at)];
  const scale = (points) => points.map(([n, value]) => [n / (line.length - 1), value]);
  const drawPart = (points, ...look) => drawCurve(scale(points), ...look);
  const turns = [[]];
  for (const [n, k] of line.entries()) {
    if (k === findGoalStart(k)) turns.push([]);
    const row = findRow(k);
    if (row?.is_chance) turns.at(-1).push([n, row.value, k]);
  }
  const findColour = (player) => findPlayer(player)?.colour ?? "currentColor";
  const goals = turns
    .filter((points) => points.length)
    .flatMap((points) => drawPart(points, findColour(tree.turns[points[0][2]]?.mover), "goal"));
  const games = state.players.flatMap((name, player) => {
    const points = line.flatMap((k, n) =>
      (findWin(k)?.players ?? []).flatMap((row) => (row.player === name ? [[n, row.win]] : [])),
    );
    return drawPart(points, findColour(player), "game");
  });
  if (!goals.length && !games.length) return [];
  const dots = turns.flat().map(([n, value, k]) => {
    const d = `M${locate(scale([[n, value]])[0])}h.01`;
    return svg("path", { d, class: k === state.at ? "dot here" : "dot" });
  });
  const figures = line.flatMap((k) => findRow(k)?.figure || []);
  const label = `The chance during the turn: ${figures.join(", ")}`;
  const dashed = games.length ? "; dashed: each player's chance to win the game" : "";
  return [
    showCurves("graph", label, [...games, ...goals, ...dots]),
    element("p", { className: "help" }, `Solid: the chance to reach the goal${dashed}.`),
  ];
}

/** Return a section of the answer with its sentences and tables. */
export function showSection({ title, parts }) {
  const showTable = (part) => {
    const about = { className: "wide", tabIndex: 0, role: "region", ariaLabel: title || "Table" };
    return element("div", about, table(part.columns, part.rows));
  };
  return [
    title && element("h3", {}, title),
    ...parts.map((part) => (typeof part === "string" ? element("p", {}, part) : showTable(part))),
  ];
}
