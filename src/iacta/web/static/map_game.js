// Games against computers: whose turn it is, the turns of computers step by step, and hints.
//
// A game is a state with seats. The turns of computers are requested together and are written into
// the URL before they are shown, so that a reload does not roll their dice again. Then the page
// shows them step by step.

import { postJson, Unreachable } from "./ask.js";
import { isCalm } from "./map_board.js";
import { findNextStep, findPath } from "./map_history.js";
import { isTooLong } from "./map_seats.js";
import { findTurn, findTurnStart, look, store, tree } from "./map_store.js";
import { runTaps } from "./map_taps.js";
import { announce, on } from "./page.js";

export const PERSON = "person";
const PACE = 1200; // milliseconds for which a step of a computer is shown
const RETRY = 4000; // milliseconds until a turn is requested again that did not reach the server
const HINT = { ai: "usual", seed: 0 }; // the AI whose next step is a hint; a hint never changes

let timer = 0;
let timed = null; // the state after which the timer shows the next step

export const isGame = () => store.state.seats.length > 0;

export const countPersons = () => store.state.seats.filter((seat) => seat === PERSON).length;
const findAI = (seat) => (seat.startsWith("resigned") ? "usual" : seat);

/** Return the kind of a player in words, such as "medium"; "" without a game. */
export const describeSeat = (player) => {
  const seat = store.state.seats[player];
  if (seat === PERSON && countPersons() === 1) return "you";
  return seat ? (look.seats[seat] ?? seat.replace(/\d/g, "")) : "";
};

/** Whether the game is won, and no armies must move into the last conquest. */
export const isWon = (turn = findTurn()) => Boolean(turn?.winner) && turn.phase !== "advance";

/** Whether the game ended at the current step, when its players counted their territories. */
export const isCounted = () => store.state.counted === store.state.at;

/** Whether a computer plays after a step, by default after the current one. */
export function isComputer(k = store.state.at) {
  const turn = findTurn(k);
  const seat = store.state.seats[turn?.mover];
  return Boolean(seat) && seat !== PERSON && !isWon(turn);
}

// A seat such as `resigned12`: a person who resigned after step 12. An AI plays for them.
export const RESIGNED = /^resigned(\d*)$/;

export const isPerson = (player) => store.state.seats[player] === PERSON;

/** Return the number of rounds that have ended, by default before the current step. */
export function countRounds(at = store.state.at) {
  const { steps, rounds } = store.state;
  const isEnd = (k) =>
    steps[k - 1].text === "n" && findTurn(k).mover <= findTurn(steps[k - 1].after).mover;
  return rounds + findPath(steps, at).filter(isEnd).length;
}

/** Return the steps up to the current one, from the last round. */
export function listRecentSteps() {
  const { steps, at, players } = store.state;
  let start = findTurnStart(at);
  for (let n = 1; n < players.length && start; n++) start = findTurnStart(steps[start - 1].after);
  // The cards that a player draws are secret.
  return findPath(steps, at).filter((k) => k > start && steps[k - 1].text[0] !== "d");
}

/** Return the last decision of a person before a step; 0 for none. */
export function findOwnStep(at) {
  const { steps } = store.state;
  const isOwn = (k) => !"nd".includes(steps[k - 1].text[0]) && !isComputer(steps[k - 1].after);
  return findPath(steps, at).findLast(isOwn) ?? 0;
}

/** Replace the state in the current entry of the browser's history, and redraw the page. */
function amend(state) {
  store.state = state;
  store.write();
  store.render();
}

/** Let the computers play if it is their turn, and show the next step after a while. */
export function playOn() {
  if (timed !== store.state) clearTimeout(timer);
  if (store.isBusy || timed === store.state) return;
  timed = store.state;
  const { steps, at } = store.state;
  const isLast = isGame() && !findNextStep(steps, at) && !isCounted() && !isTooLong();
  if (isLast && isComputer()) playComputers();
  else if (isComputer() && store.isWatching && !isCalm())
    timer = setTimeout(goOn, findReason() ? 2 * PACE : PACE);
}

const requestTurn = (k, { players }, request) =>
  postJson("api/v1/turn/play", {
    code: findTurn(k).code,
    board: store.board.board,
    players,
    ...request,
  });

/** Request the turns of computers up to a person's turn, and begin to show them. */
async function playComputers() {
  const { state } = store;
  store.isBusy = true;
  let { steps, at } = state;
  try {
    for (let n = 0; n < state.players.length && isComputer(at); n++) {
      const [seed] = crypto.getRandomValues(new Uint32Array(1));
      const ai = findAI(state.seats[findTurn(at).mover]);
      const { turns } = await requestTurn(at, state, { ai, seed });
      steps = tree.append({ ...state, steps, at }, turns);
      at = steps.length;
    }
    store.isBusy = false;
    if (store.state !== state) {
      playOn(); // the player went back meanwhile
      return runTaps(true);
    }
    Object.assign(store, { isWatching: true, isAdvising: false });
    if (store.showing === "danger") store.showing = "armies";
    amend({ ...state, steps });
    if (store.isSkipping) skip();
    runTaps(true);
  } catch (error) {
    store.isBusy = false;
    on.wrong.textContent = error.message;
    if (error instanceof Unreachable) setTimeout(tryAgain, RETRY);
    else {
      store.isStuck = true;
      store.render();
    }
  }
}

/** Request the turn of a computer again. */
export function tryAgain() {
  store.isStuck = false;
  on.wrong.textContent = "";
  timed = null;
  playOn();
}

/** Return the next step of a computer to show; 0 for none. */
function findNextShown(k) {
  const { steps } = store.state;
  const find = (n) => findNextStep(steps, n);
  const kind = (n) => steps[n - 1]?.text[0];
  // A conquest is shown with the armies that move in; the ends of phases and drawn cards are not shown.
  const isQuiet = (n) => "snod".includes(kind(n)) || (kind(n) === "a" && kind(find(n)) === "m");
  let next = find(k);
  while (next && isComputer(next) && isQuiet(next) && find(next)) next = find(next);
  return next;
}

/** Show the next step of a computer; return whether there is one. */
export function goOn() {
  const next = isComputer() && findNextShown(store.state.at);
  if (next) showStep(next);
  return Boolean(next);
}

/** Whether a person still plays. */
export const isPersonLeft = () =>
  findTurn().holders.some((player) => store.state.seats[player] === PERSON);

/** Whether the game is over for the persons who played it: it is won, or no person is left. */
export const isReviewed = () =>
  isGame() &&
  Boolean(findTurn()?.holders) &&
  (isWon() || isCounted() || (hasPersons() && !isPersonLeft()));

/** Whether a person plays the game, or has resigned. */
export const hasPersons = () =>
  store.state.seats.some((seat) => seat === PERSON || RESIGNED.test(seat));

/** Show the end of the computers' turns, also of the turns that are not known yet. */
export function skip() {
  let { at } = store.state;
  while (isComputer(at) && findNextShown(at)) at = findNextShown(at);
  showStep(at);
  store.isSkipping = isComputer();
}

function showStep(at) {
  Object.assign(store, { isWatching: true, chosen: null });
  store.state = { ...store.state, at };
  if (!isComputer()) store.write();
  store.render();
  const strike = findStrike();
  if (strike) store.map.scrollToAll([strike.from, strike.to]);
  else if (!isComputer()) {
    store.map.reveal(store.map.findLargestStack());
    announce(findTurn().sentence);
    if (document.activeElement === document.body) on.now.focus({ preventScroll: true });
  }
}

/** Return the step of the battle before an advance; for other steps the step itself. */
export function findBattle(k) {
  const step = store.state.steps[k - 1];
  return step?.text[0] === "m" ? step.after : k;
}

/** Return the step of a computer that is shown, in words. */
export function describeComputerStep() {
  const { steps, at } = store.state;
  if (!at || steps[at - 1].text === "n") return findTurn().sentence;
  const shown = new Set([findBattle(at), at]);
  return `${[...shown].map((k) => findTurn(k).words).join("; ")}.`;
}

/** Return the reason of the shown attack as a sentence; "" for an attack that changes little. */
export const findReason = () => findTurn(findBattle(store.state.at))?.reason ?? "";

/** Return the ends of the arrow on the map: a hint, or the step of a computer; null for none. */
export function findStrike() {
  if (store.hint) return store.hint.from === null ? null : store.hint;
  const { steps, at } = store.state;
  const k = findBattle(at);
  const { step } = findTurn(k) ?? {};
  const isArrow = ["attack", "fortify"].includes(step?.do);
  return isArrow && isComputer(steps[k - 1].after) ? findEnds(step) : null;
}

function findEnds(step) {
  const find = (given) =>
    typeof given === "string" ? store.board.territories.indexOf(given) : (given ?? null);
  return { from: find(step.from), to: find(step.to) };
}

/** Show the next step of an AI. */
export async function askHint() {
  const { state } = store;
  if (store.isBusy || isComputer()) return;
  store.isBusy = true;
  try {
    const { turns } = await requestTurn(state.at, state, HINT);
    const { step, words } = turns[0];
    const { from, to } = findEnds(step);
    const { territories } = store.board;
    const said =
      step.do === "attack" ? `Attack ${territories[to]} from ${territories[from]}` : words;
    store.hint = { words: `Hint: ${said}.`, from, to };
    announce(store.hint.words);
    amend({ ...state, asked: state.asked + 1 });
  } catch (error) {
    on.wrong.textContent = error.message;
  }
  store.isBusy = false;
  runTaps(true);
}

/** Show or hide all numbers of the turn. */
export function switchAdvice() {
  const { state } = store;
  store.isAdvising = !store.isAdvising;
  amend({ ...state, asked: state.asked + Number(store.isAdvising) });
}

/** Choose the numbers on the map; in a game, the dangers count as help. */
export function switchShowing(showing) {
  const { state } = store;
  store.showing = showing;
  amend({ ...state, asked: state.asked + Number(isGame() && showing === "danger") });
}
