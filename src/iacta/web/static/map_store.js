// The store: the state of the page, and everything else that changes, in one object.
//
// The other modules read `store`. `update` changes parts that are only on the screen; `commit` replaces the
// state, which the address contains, too. Both draw the page again.

import { Tree } from "./map_history.js";
import { writeLink } from "./map_link.js";
import { codeOf, switchGoal } from "./map_state.js";
import { Address, on } from "./page.js";

const SETTLED = 700; // milliseconds: changes that follow each other sooner are one step back

export const look = JSON.parse(on.page.dataset.look);
export const tree = new Tree();
export const address = new Address();

export const store = {
  /** @type {import("./map_state.js").Board} */
  board: null,
  /** @type {import("./map_state.js").State} */
  state: null,
  map: null, // the `BoardMap` on the screen
  render: () => {}, // draws the page
  chosen: null, // the selected territory
  brush: 0, // the player who gets tapped territories, -1 for nobody, null to select only
  isPicking: false, // whether taps choose the territories of the goal
  view: "", // "goals" or "threats" while a list replaces the next action
  picked: { from: null, to: null }, // the border of the next attack, or of the fortifying move
  placing: {}, // new armies by territory
  moving: null, // the number of armies about to move in
  refused: null, // the kind of the step that the server refused last, and the reason in words
  fixes: null, // corrected owners and armies by territory, while the present position is corrected
  replaced: null, // the board and the state before another position replaced them
  help: "", // a hint about the last tap
  typed: { t: null, digits: "", time: 0 }, // the number typed on the map
  committed: 0, // when the last change of the state was committed
  isBusy: false, // whether the server takes a step
  lastPlan: null, // the last plan on the screen, which stays until the next plan is known
  longer: null, // the job that is searched longer
  values: { key: "", goals: [], rows: [], job: null }, // of the steps; null while they are asked for
};

/** Change the store, but not the state, and draw the page. */
export function update(parts) {
  Object.assign(store, parts);
  store.render();
}

/** Replace the state, write it into the address, and draw the page. */
export function commit(changed, { isStep = false } = {}) {
  const state = switchGoal(store.state, changed);
  const isNew = isStep || Date.now() - store.committed > SETTLED;
  store.committed = isStep ? 0 : Date.now();
  on.wrong.textContent = "";
  address.write(writeLink(state), { isNew });
  update({ state });
  if (isStep) scrollTo(0, 0); // the next action begins at the top
}

/** Forget the attack or move that was begun on the map, as another turn is shown. */
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

/** Return the link to the state; the address may be a little behind. */
export const findLink = () => new URL(writeLink(store.state), location.href).href;

/** Return the turn after a step of the state, by default the current step; null while it is unknown. */
export const findTurn = (k = store.state.at) => tree.turns[k] ?? null;

/** Return the code of the present turn, or of the position that is set up. */
export const findCode = () =>
  (store.state.played && findTurn()?.code) || codeOf(store.board, store.state);

/** Whether the turn is analysed: its position is neither set up nor corrected. */
export const isAnalysing = () => store.state.played && !store.fixes;

/** Return the state with the position that is set up or corrected now. */
export function findEdited() {
  const { state, fixes } = store;
  const turn = fixes && findTurn();
  if (!turn) return state;
  const owners = turn.owners.map((name, t) => (turn.armies[t] ? state.players.indexOf(name) : -1));
  const armies = [...turn.armies];
  for (const [t, fix] of Object.entries(fixes)) [owners[t], armies[t]] = [fix.owner, fix.armies];
  return { ...state, owners, armies };
}

/** Return the number of new armies that are still to be placed. */
export const countLeft = () =>
  findTurn().new - Object.values(store.placing).reduce((sum, count) => sum + count, 0);
