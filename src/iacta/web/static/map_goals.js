// What a turn can be played for, and what the others can do after it: lists that fill in as they come.

import { cut } from "./map_board.js";
import { element, table } from "./redraw.js";

/** @typedef {import("./map_state.js").Board} Board */
/** @typedef {import("./map_state.js").State} State */

const LEAST = 0.0005; // a chance below it is shown as none

const share = (part) => `${(100 * part).toFixed(part < 0.0995 && part > 0 ? 1 : 0)}%`;

/** Return the goal of a state in words. */
export function goalWords(board, state) {
  const names = state.targets.map((t) => board.territories[t]).join(", ");
  return {
    win: "Win the game",
    continent: `Take ${board.continents[state.continent]?.name}`,
    all: `Take ${names || "…"}`,
    any: `Take any of ${names || "…"}`,
    eliminate: `Eliminate ${state.players[state.victim]}`,
    worth: "Gain the most",
  }[state.goal];
}

/**
 * Return the parts of a state that make what the server has found its goal, null where there is
 * nothing to reach.
 * @param {Board} board
 * @param {State} state
 * @param {import("./map_history.js").TurnState} now
 * @param {string} words of the goal
 */
export function goalParts(board, state, now, words) {
  const continent = board.continents.findIndex(({ name }) => words === `take ${name}`);
  if (continent >= 0) return { goal: "continent", continent };
  const victim = state.players.findIndex((name) => words === `eliminate ${name}`);
  if (victim >= 0) return { goal: "eliminate", victim };
  const broken = board.continents.find(({ name }) => words.startsWith("break ") && words.endsWith(`'s ${name}`));
  if (broken) return { goal: "any", targets: [...broken.territories].sort((a, b) => a - b) };
  if (words === "take one card") return { goal: "any", targets: [...new Set(now.odds.map(({ to }) => to))].sort((a, b) => a - b) };
  return null;
}

/**
 * Return the list of goals.
 * @param {import("./map_turn.js").Shown} c
 */
export function goalsOf(c) {
  const { board, state, now } = c;
  const entry = c.goals;
  const rows = (entry?.found?.goals ?? []).map((each) => ({ ...each, parts: goalParts(board, state, now, each.goal) }));
  const game = c.win(state.at)?.players.find(({ player }) => player === now?.player);
  const offers = rows.filter(({ parts }) => parts).sort((a, b) => b.chance - a.chance);
  const first = offer(c, { goal: "win" }, "Win the game", game && share(game.win), game && "if everybody plays like iacta’s player");
  const others = offers.map((each) =>
    offer(c, each.parts, `${each.goal[0].toUpperCase()}${each.goal.slice(1)}`, share(each.chance), each.win !== undefined && `then wins ${share(each.win)}`));
  return [
    element("h3", {}, "What can you do this turn?"),
    element("ol", { id: "goals", className: "moves", ariaLabel: "Goals of this turn" }, first, others),
    element("p", { className: "help", role: "status" }, entry?.wrong || (c.isListing ? entry?.soFar?.words ?? "Looking for more …" : "")),
  ];
}

function offer(c, parts, name, figure, words) {
  const isChosen = Object.entries(parts).every(([key, value]) => String(c.state[key]) === String(value));
  const onclick = () => c.act.choose(parts);
  return element("li", {},
    element("button", { type: "button", className: "move", ariaPressed: String(isChosen), onclick },
      element("span", {}, cut(name)), element("strong", {}, figure), element("small", {}, words)));
}

/** Return what each opponent can do on their next turn, and where the last move helps most. */
export function threatsOf(c) {
  const entry = c.threats;
  const some = (entry?.found?.threats ?? []).filter(({ chance }) => chance >= LEAST);
  const players = [...new Set(some.map(({ player }) => player))];
  const cell = (goal, player) => some.find((each) => each.goal === goal && each.player === player);
  const rows = [...new Set(some.map(({ goal }) => goal))].map((goal) => [
    goal,
    ...players.map((player) => (cell(goal, player) ? share(cell(goal, player).chance) : "")),
  ]);
  return [
    element("h3", {}, "What can they do to me?"),
    helpfulMove(c),
    rows.length ? table(["Next turn", ...players.map(cut)], rows) : entry?.found?.is_complete && element("p", {}, "No play was found by which somebody takes anything."),
    element("p", { className: "help" }, entry?.wrong || entry?.found?.condition || "Looking …"),
  ];
}

/** Return the last move that helps most against what they can do: a button, once it can be made. */
export function helpfulMove(c) {
  const move = c.threats?.found?.move;
  if (!move) return null;
  const [from, to] = [move.from, move.to].map((name) => c.board.territories.indexOf(name));
  const words = `${move.armies} from ${move.from} to ${move.to}: ${move.by} can ${move.goal} with ${share(move.after)} instead of ${share(move.before)}`;
  if (!c.now?.fortify?.some((way) => way[0] === from && way[1] === to)) return element("p", {}, `The last move that helps most: ${words}.`);
  return element("p", { className: "row" },
    element("button", { type: "button", className: "primary", onclick: () => c.act.take({ do: "fortify", from, to, armies: move.armies }) }, `Best: ${words}`));
}
