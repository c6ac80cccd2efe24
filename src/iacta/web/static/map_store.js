// The store: all mutable data of the page in one object.
//
// Other modules read `store`. `commit` replaces the state, which is also in the URL; `update`
// changes other data. Both functions redraw the page.

import { Tree } from "./map_history.js";
import { writeLink } from "./map_link.js";
import { switchGoal, writeCode } from "./map_state.js";
import { Address, on } from "./page.js";

const SETTLED = 700; // the back button undoes changes within this many milliseconds together

export const look = JSON.parse(on.page.dataset.look);
export const tree = new Tree();
export const address = new Address();

export const store = {
  /** @type {import("./map_state.js").Board} */
  board: null,
  /** @type {import("./map_state.js").State} */
  state: null,
  map: null, // the `BoardMap` on the screen
  render: () => {}, // the function that draws the page
  chosen: null, // the selected territory
  brush: 0, // the player who gets tapped territories; -1 for nobody, null if taps only select
  isPicking: false, // whether taps select the territories of the goal
  view: "", // "goals" or "threats" if this list replaces the next action
  picked: { from: null, to: null }, // the border of the next attack, or of the fortifying move
  placing: {}, // the placement of new armies so far, by territory
  moving: null, // the selected number of armies to move in
  refused: null, // the kind of the last step that the server refused, and the reason
  fixes: null, // the corrected owners and armies by territory, during a correction
  replaced: null, // the board and the state before the position was replaced
  help: "", // a hint about the last tap
  typed: { t: null, digits: "", time: 0 }, // the number being typed on the map
  committed: 0, // the time of the last change of the state
  isBusy: false, // whether the server is processing a step
  lastPlan: null, // the last plan, which stays on the screen until the next plan is known
  longer: null, // the job for which the user requested a longer search
  values: { key: "", goals: [], rows: [], job: null }, // values of steps; a requested row is null
};

/** Change parts of the store, and redraw the page. */
export function update(parts) {
  Object.assign(store, parts);
  store.render();
}

/** Replace the state, write it into the URL, and redraw the page. */
export function commit(changed, { isStep = false } = {}) {
  const state = switchGoal(store.state, changed);
  const isNew = isStep || Date.now() - store.committed > SETTLED;
  store.committed = isStep ? 0 : Date.now();
  on.wrong.textContent = "";
  address.write(writeLink(state), { isNew });
  update({ state });
  if (isStep) scrollTo(0, 0); // the next action is at the top
}

/** Discard an unfinished attack, move or correction, because the page shows another turn. */
export function forgetBegun() {
  Object.assign(store, {
    picked: { from: null, to: null },
    placing: {},
    moving: null,
    refused: null,
    fixes: null,
    longer: null,
    help: "",
  });
}

/** Return the link to the state. The browser's URL may be updated later. */
export const findLink = () => new URL(writeLink(store.state), location.href).href;

/** Return the turn after a step, by default the current one; null while the turn is unknown. */
export const findTurn = (k = store.state.at) => tree.turns[k] ?? null;

/** Return the code of the current turn, or of the position that is set up. */
export const findCode = () =>
  (store.state.played && findTurn()?.code) || writeCode(store.board, store.state);

/** Whether a turn is analysed, rather than a position set up or corrected. */
export const isAnalysing = () => store.state.played && !store.fixes;

/** Return the state during the setup, or the current turn with the unfinished corrections. */
export function findEdited() {
  const { state, fixes } = store;
  const turn = fixes && findTurn();
  if (!turn) return state;
  const owners = turn.owners.map((name, t) => (turn.armies[t] ? state.players.indexOf(name) : -1));
  const armies = [...turn.armies];
  for (const [t, fix] of Object.entries(fixes)) [owners[t], armies[t]] = [fix.owner, fix.armies];
  return { ...state, owners, armies };
}

/** Return the number of new armies still to be placed. */
export const countLeft = () =>
  findTurn().new - Object.values(store.placing).reduce((sum, count) => sum + count, 0);
