// Lists: the goals of a turn, and the threats of the opponents. The lists change with each answer.

import { actions } from "./map_actions.js";
import { findListState, findThreats, listOffers } from "./map_jobs.js";
import { shortenPlayer } from "./map_labels.js";
import { button, makeChoice, markName, row } from "./map_parts.js";
import { findTurn, isAdvised, store } from "./map_store.js";
import { element, table } from "./redraw.js";

const CONDITION = "Each chance is separate: the opponent plays only for this goal.";
export const BEST = "best for the game";

export const capitalise = (words) => words[0].toUpperCase() + words.slice(1);

export function showGoals() {
  const { wrong, isSearching, isComplete } = findListState("goals");
  const rows = listOffers().map(({ parameters, isChosen, isMarked, goal, figure, words }) => {
    const said = [words, isMarked && BEST].filter(Boolean).join(", ");
    const choose = () => actions.chooseOffer(parameters);
    return makeChoice(capitalise(goal), figure, said, isChosen, choose);
  });
  const none = isComplete ? "The search found no goal." : "There was no time to find a goal.";
  const status = isSearching ? "Still searching …" : !rows.length && none;
  return [
    element("h3", {}, "What can you do this turn?"),
    element("p", { className: "help", role: "status" }, wrong || status),
    element("ol", { id: "goals", className: "moves", ariaLabel: "Goals of this turn" }, rows),
  ];
}

/** Return each opponent's threats on their next turn, and the fortifying move that helps most. */
export function showThreats() {
  const found = findThreats();
  const { wrong, isSearching } = findListState("threats");
  const threats = (found?.threats ?? []).filter(({ figure }) => figure);
  const { players: all } = store.state;
  const { mover } = findTurn();
  const players = [...all.slice(mover + 1), ...all.slice(0, mover)].filter((name) =>
    threats.some(({ player }) => player === name),
  ); // in the order of play
  const showChance = (goal, player) =>
    threats.find((threat) => threat.goal === goal && threat.player === player)?.figure ?? "cannot";
  const rows = [...new Set(threats.map(({ goal }) => goal))].map((goal) => [
    capitalise(goal),
    ...players.map((player) => showChance(goal, player)),
  ]);
  const heads = ["", ...players.map((name) => [markName(name), ` ${shortenPlayer(name)}`])];
  const isSafe = !rows.length && !isSearching;
  const words = wrong || (found?.threats ? CONDITION : "Looking …");
  return [
    element("h3", {}, "What can they do to me on their next turn?"),
    element("p", { className: "help", role: "status" }, words),
    showHelpfulMove(),
    rows.length > 0 && table(heads, rows),
    isSafe && element("p", {}, "The search found no attack that can succeed."),
  ];
}

/**
 * Return the fortifying move that helps most against the threats, as a button in the fortify phase
 * and as a sentence in other phases.
 */
export function showHelpfulMove() {
  const move = findThreats()?.move;
  if (!move) {
    const isKnown = isAdvised() && !findListState("threats").isSearching;
    const isSettled = isKnown && findTurn()?.fortify?.length > 0;
    return isSettled ? element("p", { className: "help" }, "No fortifying move helps.") : null;
  }
  const { territories } = store.board;
  const [from, to] = [move.from, move.to].map((name) => territories.indexOf(name));
  const isLegal = findTurn()?.fortify?.some((way) => way[0] === from && way[1] === to);
  if (!isLegal) return element("p", {}, `The fortifying move that helps most: ${move.words}.`);
  const take = () => actions.takeStep({ do: "fortify", from, to, armies: move.armies });
  return row(button("primary", take, `Best: ${move.words}`));
}
