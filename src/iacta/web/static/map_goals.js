// Goals of a turn: the parts of a state that describe a goal, and answers to the question `plan`.

/**
 * Convert an answer to `plan`: replace the names of territories by numbers. If conquests must be
 * held, the value is null until the chance to hold is known.
 */
export function readPlan(board, found, mustHold) {
  const number = (name) => board.territories.indexOf(name);
  const { hold, reinforce } = found;
  const value = hold ? hold.win_probability : found.value;
  const { low, high } = (hold ?? found).interval ?? { low: value, high: value };
  const placement = Object.entries(reinforce?.placement ?? {});
  const isPartial = mustHold && !hold && found.steps;
  return {
    ...found,
    ...(isPartial && { figure: "", sentences: ["Searching …"] }),
    value: isPartial ? null : value,
    low,
    high,
    proven: found.proven && !hold,
    moves: (found.moves ?? []).map((move) => ({
      ...move,
      from: number(move.from),
      to: number(move.to),
      name: `${move.from} to ${move.to}`,
      words: hold ? `to take: ${move.words}` : move.words,
    })),
    placement: reinforce && placement.map(([name, armies]) => [number(name), armies]),
  };
}

export function describeGoal(board, state) {
  const names = state.targets.map((t) => board.territories[t]).join(", ");
  return {
    win: "Win the game",
    now: "Win this turn",
    continent: `Take ${board.continents[state.continent]?.name}`,
    all: `Take ${names || "…"}`,
    any: `Take any of ${names || "…"}`,
    eliminate: `Eliminate ${state.players[state.victim]}`,
    worth: "Gain the most points",
  }[state.goal];
}

/**
 * Return the parts of a state for a goal, given as parameters of `plan`; null without a goal.
 * @param {{take?: string, take_any?: string, eliminate?: string, win?: boolean}} [parameters] the
 *   parameters of `plan` that state the goal
 */
export function findGoalParts(board, state, { take, take_any: any, eliminate, win } = {}) {
  if (win) return { goal: "now" };
  if (eliminate) return { goal: "eliminate", victim: state.players.indexOf(eliminate) };
  const continent = board.continents.findIndex(({ name }) => name === take);
  if (continent >= 0) return { goal: "continent", continent };
  const names = (take ?? any ?? "").split(", ");
  const targets = board.territories.flatMap((name, t) => (names.includes(name) ? [t] : []));
  return targets.length ? { goal: take ? "all" : "any", targets } : null;
}

/**
 * Return the goals in an answer, each with the parts of the state that the goal sets. A win this
 * turn comes first, then the likeliest goals.
 */
export function listOffers(board, state, entry) {
  const isChosen = (parts) =>
    Object.entries(parts).every(([key, value]) => String(state[key]) === String(value));
  const isNow = ({ parts }) => parts.goal === "now";
  return (entry?.found?.goals ?? [])
    .map((goal) => ({ ...goal, parts: findGoalParts(board, state, goal.parameters) }))
    .filter(({ parts }) => parts)
    .sort((a, b) => isNow(b) - isNow(a) || b.chance - a.chance)
    .map((goal) => ({ ...goal, isChosen: isChosen(goal.parts) }));
}
