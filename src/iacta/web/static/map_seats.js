// The persons of a game: who holds the phone and may see secrets, resignations, eliminations, and
// the end of a game that lasts too long.

import { countRounds, isComputer, isCounted, isGame, isWon, PERSON, RESIGNED } from "./map_game.js";
import { findPlayer } from "./map_labels.js";
import { button, markPlayer, row, tool } from "./map_parts.js";
import { commit, findTurn, look, store, update } from "./map_store.js";
import { element } from "./redraw.js";

const listPersons = () =>
  [...store.state.seats.keys()].filter((k) => store.state.seats[k] === PERSON);

/** Whether a person must still receive the phone before their turn. */
export function isPassing() {
  if (!isGame() || !findTurn()?.holders || isComputer() || isWon() || isCounted()) return false;
  const { holders, mover } = findTurn();
  const alive = listPersons().filter((player) => holders.includes(player));
  return alive.length > 1 && store.holder !== mover;
}

/** Return the card between the turns of two persons. */
export function showPassing() {
  const { mover } = findTurn();
  const name = findPlayer(mover).short;
  const take = () => update({ holder: mover, isAdvising: false });
  return [
    element("h3", {}, markPlayer(mover), ` Pass the phone to ${name}`),
    element("p", { id: "passing" }, "Hands and missions stay hidden until then."),
    row(button("primary", take, `I am ${name}`)),
  ];
}

/** Whether a person may decide now. */
export const mayAct = () =>
  isGame() && Boolean(findTurn()) && !isComputer() && !isWon() && !isCounted() && !isPassing();

/** Return the question whether a person resigns. */
export function showResigning() {
  const resign = () => {
    const { state } = store;
    const seats = state.seats.with(findTurn().mover, `resigned${state.at}`);
    store.isResigning = false;
    commit({ ...state, seats }, { isStep: true });
  };
  return [
    element("h3", {}, "Resign?"),
    element("p", {}, `A computer of ${look.seats.usual} strength goes on with your armies.`),
    row(
      button("primary", resign, "Resign"),
      tool("Play on", () => update({ isResigning: false })),
    ),
  ];
}

/** Return the reason why no person plays any longer, and the way back after a resignation. */
export function showLeft() {
  const { seats } = store.state;
  const gone = [...seats.keys()].filter((player) => RESIGNED.test(seats[player]));
  const persons = listPersons();
  const name = (players) => players.map((player) => findPlayer(player).short).join(" and ");
  const dead = persons.filter((player) => !findTurn().holders.includes(player));
  const words = [
    dead.length && `${name(dead)} ${dead.length > 1 ? "are" : "is"} eliminated.`,
    gone.length && `${name(gone)} resigned.`,
  ];
  const said = words.filter(Boolean).join(" ");
  return [
    said && element("p", { id: "left" }, said),
    gone.map((player) =>
      row(tool(`Take back the resignation of ${name([player])}`, () => takeBack(player))),
    ),
  ];
}

/** Return to the step after which a person resigned. */
function takeBack(player) {
  const { state } = store;
  const [, number] = RESIGNED.exec(state.seats[player]);
  const seats = state.seats.with(player, PERSON);
  const at = Math.min(Number(number || state.at), state.steps.length);
  commit({ ...state, seats, at, asked: state.asked + 1 }, { isStep: true });
}

/** Whether a game lasts so long that it offers to count the territories. */
export function isTooLong() {
  const { steps, at, limit } = store.state;
  const isStart = !at || steps[at - 1].text === "n";
  return isGame() && isStart && !isWon() && !isCounted() && countRounds() >= (limit || look.rounds);
}

/** Return the offer to count the territories of a game that lasts too long. */
export function showOffer() {
  const { state } = store;
  const rounds = countRounds();
  const playOn = () => commit({ ...state, limit: rounds + look.rounds });
  const count = () => commit({ ...state, counted: state.at }, { isStep: true });
  return [
    element("h3", { id: "offer" }, `${rounds} rounds are played`),
    element("p", {}, `If the game ends now, ${findTurn().count}`),
    row(button("primary", count, "Count the territories"), tool("Play on", playOn)),
  ];
}
