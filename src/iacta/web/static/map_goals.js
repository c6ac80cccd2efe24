// What a turn can be played for, and what the others can do after it: lists that fill in as they come.

import { cut } from "./map_board.js";
import { element, table } from "./redraw.js";

const LEAST = 0.0005; // a chance below it is shown as none

/** Return a chance in words; none and all are exact. */
export const share = (part) =>
  part > 0 && part < LEAST
    ? "< 0.1%"
    : part < 1 && part > 1 - LEAST
      ? "> 99.9%"
      : `${(100 * part).toFixed(part % 1 ? 1 : 0)}%`;

const capital = (words) => words[0].toUpperCase() + words.slice(1);

/** Return an answer of the question `plan` with territories by number, as the map has them. */
export function readPlan(board, found) {
  const number = (name) => board.territories.indexOf(name);
  const { hold, reinforce, scene, tables } = found;
  const value = hold ? hold.win_probability : found.value;
  const { low, high } = (hold ?? found).interval ?? { low: value, high: value };
  return {
    ...found,
    value,
    low,
    high,
    bound: found.upper_bound,
    is_proven: found.proven && !hold,
    moves: (found.moves ?? []).map((move) => ({
      ...move,
      from: number(move.from),
      to: number(move.to),
      name: `${move.from} to ${move.to}`,
      words: hold ? `to take: ${move.words}` : move.words,
    })),
    placement:
      reinforce &&
      Object.entries(reinforce.placement).map(([name, armies]) => [number(name), armies]),
    sections: tables ?? [],
    chances: scene?.chances ?? null,
    scene: scene ?? null,
    best: found.move_in?.best,
  };
}

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
 * @param {{take?: string, take_any?: string, eliminate?: string}} [parameters] as for a plan
 */
export function goalParts(board, state, { take, take_any: any, eliminate } = {}) {
  if (eliminate) return { goal: "eliminate", victim: state.players.indexOf(eliminate) };
  const continent = board.continents.findIndex(({ name }) => name === take);
  if (continent >= 0) return { goal: "continent", continent };
  const targets = board.territories.flatMap((name, t) =>
    (take ?? any ?? "").split(", ").includes(name) ? [t] : [],
  );
  return targets.length ? { goal: take ? "all" : "any", targets } : null;
}

/** Return the goals of a list that can be reached, the likeliest first, and whether each is the state's. */
export function offersOf(board, state, entry) {
  const rows = (entry?.found?.goals ?? []).map((each) => ({
    ...each,
    parts: goalParts(board, state, each.parameters),
  }));
  const isChosen = ({ parts }) =>
    Object.entries(parts).every(([key, value]) => String(state[key]) === String(value));
  return rows
    .filter(({ parts }) => parts)
    .sort((a, b) => b.chance - a.chance)
    .map((each) => ({ ...each, isChosen: isChosen(each) }));
}

export function goalsOf(c) {
  const { state, now, goals: entry } = c;
  const game = c.win(state.at)?.players.find(({ player }) => player === now?.player);
  const others = c.offers.map(
    ({
      parts,
      isChosen,
      goal,
      chance,
      interval,
      left,
      win,
      win_interval: wins,
      under_simple: simple,
      behind,
      is_clear: isClear,
    }) => {
      const words = [
        interval?.high - chance >= LEAST &&
          interval.high <= 1 - LEAST &&
          `at most ${share(interval.high)}`,
        left !== undefined && `${left.toFixed(1)} armies left`,
        win === undefined ? c.isListing && "game …" : `game ${share(win)}, ${bounds(wins, simple)}`,
        behind > 0 && !isClear && "no clear difference from the best",
      ];
      return offer(
        c,
        parts,
        isChosen,
        capital(goal),
        share(chance),
        words.filter(Boolean).join(", "),
      );
    },
  );
  return [
    element("h3", {}, "What can you do this turn?"),
    element(
      "p",
      { className: "help", role: "status" },
      (!c.empty && entry?.wrong) || [
        c.isListing && "Still looking … ",
        entry?.found && `Chances to win the game hold ${entry.found.condition}.`,
      ],
    ),
    element(
      "ol",
      { id: "goals", className: "moves", ariaLabel: "Goals of this turn" },
      !c.empty &&
        offer(
          c,
          { goal: "win" },
          state.goal === "win",
          "Win the game",
          game ? share(game.win) : "",
          game ? bounds(game.interval, game.under_simple) : "",
        ),
      others,
    ),
  ];
}

const bounds = ({ low, high }, simple) =>
  `${share(low)} to ${share(high)} (like the simple player: ${share(simple)})`;

const offer = (c, parts, isChosen, name, figure, words) =>
  element(
    "li",
    { key: name },
    element(
      "button",
      {
        type: "button",
        className: "move",
        ariaPressed: String(isChosen),
        onclick: () => c.act.choose(parts),
      },
      element("span", {}, name),
      element("strong", {}, figure),
      element("small", {}, words),
    ),
  );

/** Return what each opponent can do on their next turn, and where the last move helps most. */
export function threatsOf(c) {
  const entry = c.threats;
  const some = (entry?.found?.threats ?? []).filter(({ chance }) => chance >= LEAST);
  const players = [...new Set(some.map(({ player }) => player))];
  const cell = (goal, player) => some.find((each) => each.goal === goal && each.player === player);
  const rows = [...new Set(some.map(({ goal }) => goal))].map((goal) => [
    goal,
    ...players.map((player) => (cell(goal, player) ? share(cell(goal, player).chance) : "cannot")),
  ]);
  return [
    element("h3", {}, "What can they do to me on their next turn?"),
    element(
      "p",
      { className: "help", role: "status" },
      entry?.wrong || capital(entry?.found?.condition ?? "looking …"),
    ),
    helpfulMove(c),
    rows.length
      ? table(["", ...players.map((name) => [c.mark(name), ` ${cut(name)}`])], rows)
      : entry?.found?.is_complete &&
        element("p", {}, "No play was found by which somebody takes anything."),
  ];
}

/** Return the last move that helps most against what they can do: a button, once it can be made. */
export function helpfulMove(c) {
  const move = c.threats?.found?.move;
  if (!move) return null;
  const [from, to] = [move.from, move.to].map((name) => c.board.territories.indexOf(name));
  const words = `${move.armies} from ${move.from} to ${move.to}: ${move.by} can ${move.goal} with ${share(move.after)} instead of ${share(move.before)}`;
  if (!c.now?.fortify?.some((way) => way[0] === from && way[1] === to))
    return element("p", {}, `The last move that helps most: ${words}.`);
  return element(
    "p",
    { className: "row" },
    element(
      "button",
      {
        type: "button",
        className: "primary",
        onclick: () => c.act.take({ do: "fortify", from, to, armies: move.armies }),
      },
      `Best: ${words}`,
    ),
  );
}
