// The store: all mutable data of the board page.
//
// Other modules read `store`, the tree of turns and the queue. `commit` replaces the state, which
// is also in the URL; `update` changes other data. Both functions redraw the page.

import { Queue } from "./map_analysis.js";
import * as History from "./map_history.js";
import { setPrice } from "./map_state.js";
import { Address, on } from "./page.js";

const SETTLED = 700; // the back button undoes changes within this many milliseconds together
const MAX_UNDONE = 100; // changes of the position that the button Undo takes back

export const look = JSON.parse(on.page.dataset.look);
export const tree = new History.Tree();
export const address = new Address();

export const queue = new Queue(() => store.render());

export const store = {
  /** @type {import("./map_state.js").Board} */
  board: null,
  /** @type {import("./map_state.js").State} */
  state: null,
  classic: null, // the classic board, once it is loaded
  labels: new Map(), // the labels of players and goals, by the board and the players
  map: null, // the `BoardMap` on the screen
  render: () => {}, // the function that draws the page
  write: () => {}, // the function that writes the state into the address
  shown: () => {}, // called when the page shows the state
  chosen: null, // the selected territory
  brush: 0, // the player who gets tapped territories; -1 for nobody, null if taps only select
  isPicking: false, // whether taps select the territories of the goal
  view: "", // "goals" or "threats" if this list replaces the next action, "attack" for neither
  picked: { from: null, to: null }, // the border of the next attack, or of the fortifying move
  placing: {}, // the placement of new armies so far, by territory
  moving: null, // the selected number of armies to move in
  refused: null, // the kind of the last step that the server refused, and the reason
  fixes: null, // the corrected owners and armies by territory, during a correction
  undone: [], // boards and states before changes of the position, with the words of the button
  listed: "", // the step to which the list was scrolled, and its height
  help: "", // an answer to the last tap
  holder: null, // the player who holds the phone, if several persons play
  isResigning: false, // whether the page asks a player to confirm the resignation
  won: { key: "" }, // the way to win of the position, as the server describes it, with its key
  isCrowning: false, // whether taps choose the capitals of a position
  ask: null, // the question to a person before the first turn, for a `draft`
  hint: null, // in a game: the hint in words, and the ends of its arrow
  showing: "armies", // the numbers on the map: "armies", "income" or "danger"
  isAdvising: false, // whether the numbers of the turn are shown in a game
  cards: { key: "" }, // what a player's cards bring in words, with the turn and the player as key
  traded: [], // the selected cards of the hand, by their index
  handOf: "", // the code of the turn whose player asked to see the hand, if several persons play
  isWatching: false, // whether the turns of computers are shown step by step
  isStuck: false, // whether the server refused the turn of a computer
  isSkipping: false, // whether they are skipped up to a person's turn
  isUndoing: false, // whether the player takes steps back
  isListing: false, // whether a narrow screen lists the steps of a finished game
  isOpened: false, // whether the state comes from a link and is not kept yet
  isKept: false, // whether this browser keeps the game
  isCut: false, // whether the address has only the present turn of the game
  note: "", // a sentence about the game in another tab
  typed: { t: null, digits: "", time: 0 }, // the number being typed on the map
  committed: 0, // the time of the last change of the state
  isExtraNew: false, // whether the controls behind "More" were shown during a step, which keeps them
  isBusy: false, // whether the server is processing a step or a goal
  isDescribing: false, // whether the server is describing a chosen goal
  lastTap: { x: 0, y: 0, time: 0, words: "" }, // the last tap beside the map
  taps: [], // functions for queued taps; each returns whether the tap is still possible
  lastPlan: null, // the last plan, which stays on the screen until the next plan is known
  longer: null, // the start of the goal for which the user requested a longer search
  analyses: new Map(), // the last analysis of each turn, by its code
  // the values of steps and the requests for them by level, and the level that is shown of each goal
  values: { key: "", rows: {}, jobs: {}, levels: {} },
};

/** Change parts of the store, and redraw the page. */
export function update(parts) {
  Object.assign(store, parts);
  store.render();
}

/**
 * Replace the state, write it into the URL, and redraw the page. `words` is the label of the button
 * that takes a change of the position back.
 */
export function commit(state, { isStep = false, board = store.board, words = "" } = {}) {
  const isNew = isStep || Date.now() - store.committed > SETTLED;
  const before = store.state;
  if (before && !state.played && (words || !before.played)) {
    store.undone.push({ board, state: before, words: words || "Undo" });
    store.undone.splice(0, store.undone.length - MAX_UNDONE);
  }
  store.committed = isStep ? 0 : Date.now();
  on.wrong.textContent = "";
  store.state = state;
  store.write({ isNew });
  store.render();
  if (!isStep) return;
  if (!store.isExtraNew) showExtra(false);
  store.isExtraNew = false;
  scrollTo(0, 0); // the next action is at the top
}

/** Show or hide the rarely used controls, in the place of the list. */
export function showExtra(isShown) {
  on.extra.hidden = !isShown;
  on["to-extra"].ariaExpanded = String(isShown);
}

/** Discard an unfinished attack, move or correction, because the page shows another turn. */
export function forgetBegun() {
  Object.assign(store, {
    picked: { from: null, to: null },
    placing: {},
    moving: null,
    refused: null,
    fixes: null,
    help: "",
    hint: null,
    traded: [],
    isStuck: false,
    isWatching: false,
    isSkipping: false,
    isResigning: false,
    isCrowning: false,
    isPicking: false,
  });
}

/** Return the number of the step that begins the turn of a step, by default of the current one. */
export const findTurnStart = (k = store.state.at) => History.findTurnStart(store.state.steps, k);

/** Return the number of the step at which the goal of a step was chosen. */
export const findGoalStart = (k = store.state.at) => History.findGoalStart(store.state.steps, k);

/** Return the turn after a step, by default the current one; null while the turn is unknown. */
export const findTurn = (k = store.state.at) => tree.turns[k] ?? null;

/** Return the code of a turn; in a game, without the facts that are hidden from the player to move. */
export function findSeen(k = store.state.at) {
  const turn = findTurn(k);
  return (store.state.seats.length && turn?.seen) || (turn?.code ?? "");
}

/** Return the code of the current turn, or of the position that is set up; "" if it is unknown. */
export const findCode = () => findTurn()?.code ?? "";

/** Whether a turn is analysed, rather than a position set up or corrected. */
export const isAnalysing = () => store.state.played && !store.fixes;

/** Whether the numbers of the turn are shown: in a game only if the player asks for advice. */
export const isAdvised = () => !store.state.seats.length || store.isAdvising;

/** Return the text of the goal step before the next step, by default of the current step; or "". */
export function findGoalText(k = store.state.at) {
  const start = findGoalStart(k);
  const { text } = store.state.steps[start - 1] ?? { text: store.state.goal };
  return text === "n" ? "" : text;
}

/** Keep the price of a lost army with the goal that was chosen after a step. */
export function keepPrice(k, price) {
  const { state } = store;
  const before = k ? state.steps[k - 1] : { text: state.goal };
  const text = setPrice(before.text, price);
  if (text === before.text) return;
  if (k) tree.setText(before, k, text);
  const parts = k ? { steps: state.steps.with(k - 1, { ...before, text }) } : { goal: text };
  store.state = { ...state, ...parts };
  store.write();
}

/** Return the state during the setup, or the current turn with the unfinished corrections. */
export function findEdited() {
  const { state, fixes } = store;
  const turn = fixes && findTurn();
  if (!turn) return state;
  const [owners, armies] = [[...turn.holders], [...turn.armies]];
  for (const [t, fix] of Object.entries(fixes)) [owners[t], armies[t]] = [fix.owner, fix.armies];
  return { ...state, owners, armies };
}

/** Return the number of new armies still to be placed. */
export const countLeft = () =>
  findTurn().new - Object.values(store.placing).reduce((sum, count) => sum + count, 0);
