// What a turn can be played for, and what the others can do after it: lists that fill in as they come.

import { cut } from "./map_board.js";
import { element } from "./redraw.js";

/** @typedef {import("./map_state.js").Board} Board */
/** @typedef {import("./map_state.js").State} State */

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
