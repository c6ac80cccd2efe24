// The worth of a turn: the chances of the goal and of the game, the steps so far, and their graph.

import { act } from "./map_actions.js";
import { cut, svg } from "./map_board.js";
import { listOffers } from "./map_goals.js";
import { lineThrough } from "./map_history.js";
import {
  canPlanLonger,
  countEmpty,
  findGoalEntry,
  findGoals,
  findWin,
  goalJob,
  isPlanning,
  planLonger,
  stopPlanning,
} from "./map_jobs.js";
import { findTones, markName, tool } from "./map_parts.js";
import { store, tree } from "./map_store.js";
import { element, table } from "./redraw.js";

/** Return a length in CSS, as a part of a whole. */
const formatLength = (part) => `${100 * Math.min(Math.max(part, 0), 1)}%`;
const hide = (isShown) => (isShown ? "" : "visibility:hidden");

// The chances now.

/** Return the bars of goal and game, and the sentences. */
export function showWorth(turn) {
  const { state } = store;
  const isEnding = turn?.phase === "fortify" || turn?.phase === "over";
  const entry = findGoalEntry();
  const found = entry?.found ?? null;
  const soFar = entry?.soFar;
  // The list of goals has a chance before the plan has one.
  const offers = listOffers(store.board, state, findGoals());
  const offer = found || state.hold ? null : offers.find(({ isChosen }) => isChosen);
  const value = Math.max(
    soFar?.value ?? -1,
    (found?.is_chance === false ? null : found?.value) ?? offer?.chance ?? -1,
  );
  const isBoundOnly = found?.is_chance && found.value === null;
  const isBar = (value >= 0 || isBoundOnly) && !isEnding;
  const isSaid = found && !(soFar && found.value === null); // a progress report is better than no estimate
  const sum = store.values.rows[state.at]?.sum;
  const said =
    turn?.problem ??
    (isEnding
      ? `${turn.sentence}${sum ? ` In this turn ${sum}.` : ""}`
      : isSaid
        ? found.sentences.join(" ")
        : (soFar?.words ?? entry?.wrong));
  const figure = isEnding ? "" : (found?.figure ?? offer?.figure ?? "");
  const range = found ?? (offer && { ...offer.interval, upper_bound: offer.interval.high });
  const doing = !isPlanning() ? "" : isSaid && soFar ? soFar.words : "Searching …";
  return [
    element(
      "div",
      { className: "chances" },
      element("span", { style: hide(isBar) }, "Goal"),
      showGoalBar(isBar, value, figure, range),
      element(
        "div",
        { className: "searching" },
        isPlanning() && found && tool("Stop", stopPlanning),
        !isPlanning() && found && canPlanLonger(entry) && tool("Search longer", planLonger),
      ),
      element("span", {}, "Game"),
      showGameBar(),
    ),
    element("p", { id: "game-said" }, describeGame()),
    element(
      "div",
      { className: "report" },
      element(
        "p",
        {},
        element("strong", { id: "figure" }, figure),
        " ",
        element("span", { id: "report", ariaLive: "polite" }, said || describeWaiting()),
      ),
      element("p", { id: "doing", role: "status" }, doing),
    ),
  ];
}

function describeWaiting() {
  if (goalJob(store.state.at)) return "Searching …";
  return store.state.goal ? "Choose on the map what to take." : "Choose what to play for.";
}

function showGoalBar(isBar, value, figure, range) {
  const isWide = range && range.high - range.low >= 0.001;
  const style =
    isWide && `left:${formatLength(range.low)};width:${formatLength(range.high - range.low)}`;
  const bar = element(
    "div",
    {
      id: "bar",
      className: "bar",
      role: "meter",
      ariaLabel: "Chance of the goal",
      ariaValueMin: "0",
      ariaValueMax: "100",
      ariaValueText: figure,
      style: hide(isBar),
    },
    element("span", { className: "most", style: `width:${formatLength(range?.upper_bound ?? 1)}` }),
    element("span", { className: "now", style: `width:${formatLength(value)}` }),
    isWide && element("span", { className: "range", style }),
  );
  if (value >= 0) bar.ariaValueNow = String(100 * value);
  return bar;
}

/** Return the bar of the whole game: each player's chance, hatched where its interval is. */
function showGameBar() {
  const { state } = store;
  const found = findWin(state.at);
  const tones = findTones();
  const parts = [];
  const hatches = [];
  let end = 0;
  for (const { player, win, interval } of found?.players ?? []) {
    const background = tones[state.players.indexOf(player)];
    const style = `left:${formatLength(end)};width:${formatLength(win)};background:${background}`;
    parts.push(element("span", { className: "part", style }));
    end += win;
    const width = interval.high - interval.low;
    if (width <= 0 || end >= 1) continue;
    const place = `left:${formatLength(end - width / 2)};width:${formatLength(width)}`;
    hatches.push(element("span", { className: "hatch", style: place }));
  }
  const words = (found?.players ?? []).map(
    ({ player, figure, range }) => `${cut(player)} ${figure}${range ? ` (${range})` : ""}`,
  );
  const title = found
    ? `Games won ${found.condition}: ${words.join(", ")}`
    : "Games won: not known yet";
  const about = { className: "bar game", role: "img", ariaLabel: title, title };
  return element("div", { id: "game", ...about }, parts, hatches);
}

/** Return each player's chance to win the game, its condition, and that with the simple player. */
function describeGame() {
  const empty = countEmpty();
  if (empty) return `${describeEmpty()}: fill them to see each player's chance to win the game.`;
  const found = findWin(store.state.at);
  if (!found) return "Game: playing …";
  const list = found.players.map(({ player, figure }, k) => [
    k ? ", " : " ",
    element("span", { className: "whole" }, markName(player), ` ${cut(player)} ${figure}`),
  ]);
  return [`Game, ${found.condition}:`, list, ` (${describeSimpleGame(found)})`];
}

export function describeEmpty() {
  const count = countEmpty();
  return count === 1 ? "One territory is empty" : `${count} territories are empty`;
}

function describeSimpleGame({ players }) {
  const words = players.map((row) => `${cut(row.player)} ${row.figure_under_simple}`);
  return `like its simple player: ${words.join(", ")}`;
}

// The steps so far.

/** Return the steps of the shown line, each with the other steps that were tried. */
export function showSteps() {
  const { state } = store;
  if (!state.steps.length) return [];
  const { turns } = tree;
  const showButton = (k, className, ...children) =>
    element(
      "button",
      {
        type: "button",
        className,
        ...(k === state.at && { ariaCurrent: "step" }),
        onclick: () => act.go(k),
      },
      ...children,
    );
  const rows = lineThrough(state.steps, state.at).map((k) => {
    const step = state.steps[k - 1];
    const isCostly = store.values.rows[k]?.is_costly;
    const mark = element("span", { className: "mark", title: "a costly choice" }, " ?");
    const words = turns[k]?.words ?? turns[k]?.problem ?? "…";
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
  return [element("li", {}, showButton(0, "step-of", "Start ", showFigures(0))), ...rows];
}

/** Return the value after a step, with the first player's chance to win the game. */
function showFigures(k) {
  const { players, mover } = store.state;
  const row = findWin(k)?.players.find(({ player }) => player === players[mover]);
  const words = [store.values.rows[k]?.words ?? tree.turns[k]?.luck, row && `game ${row.figure}`];
  return element("small", {}, words.filter(Boolean).join(", "));
}

/** Return the chances after each step of the line: a curve for each turn, and for each player. */
export function showGraph() {
  const { state, values } = store;
  const line = [0, ...lineThrough(state.steps, state.at)];
  const tones = findTones();
  const x = (n) => (300 * n) / (line.length - 1);
  const y = (value) => 55 - 50 * value;
  const drawCurve = (points, stroke, className) => {
    if (points.length < 2) return [];
    const d = points.map(([n, value]) => `${x(n).toFixed(1)},${y(value).toFixed(1)}`).join("L");
    return [svg("path", { d: `M${d}`, stroke, class: className })];
  };
  const turns = [[]];
  for (const [n, k] of line.entries()) {
    if (k && state.steps[k - 1].do === "next") turns.push([]);
    const row = values.rows[k];
    if (row?.is_chance) turns.at(-1).push([n, row.value, k]);
  }
  const findTone = (k) => tones[state.players.indexOf(tree.turns[k]?.player)] ?? "currentColor";
  const goals = turns
    .filter((points) => points.length)
    .flatMap((points) => drawCurve(points, findTone(points[0][2]), "goal"));
  const games = state.players.flatMap((name, player) => {
    const points = line.flatMap((k, n) =>
      (findWin(k)?.players ?? []).flatMap((row) => (row.player === name ? [[n, row.win]] : [])),
    );
    return drawCurve(points, tones[player], "game");
  });
  if (!goals.length && !games.length) return [];
  const dots = turns.flat().map(([n, value, k]) => {
    const isHere = k === state.at;
    const place = { cx: x(n), cy: y(value), r: isHere ? 4 : 2.5 };
    return svg("circle", { ...place, class: isHere ? "here" : "" });
  });
  const figures = line.flatMap((k) => values.rows[k]?.figure || []);
  const shape = { id: "graph", viewBox: "0 0 300 60", preserveAspectRatio: "none", role: "img" };
  const label = `The chance over the turn: ${figures.join(", ")}`;
  const half = svg("path", { d: "M0,30H300", class: "half" });
  const ends = [element("span", {}, "100%"), element("span", {}, "0%")];
  const played = findWin(state.at) ?? line.map(findWin).find(Boolean);
  return [
    element(
      "div",
      { className: "graph" },
      element("small", { className: "ends" }, ends),
      svg("svg", { ...shape, "aria-label": label }, half, ...games, ...goals, ...dots),
    ),
    element(
      "p",
      { className: "help" },
      "Solid: the chance of the goal",
      played && `; dashed: of the game, ${played.condition} (${describeSimpleGame(played)})`,
      ".",
    ),
  ];
}

/** Return a part of the plan with its sentences and tables. */
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
