// Labels from the server: colours, shapes and short names of players, and goals in words.

import { postJson } from "./ask.js";
import { isGoalStep } from "./map_history.js";
import { readGoal } from "./map_state.js";
import { findGoalText, store } from "./map_store.js";
import { on } from "./page.js";

const findKey = () => JSON.stringify([store.board.code, store.state.players]);

/** Request labels, and add them to the labels of the same players. */
async function requestLabels(goals) {
  const { board, state, labels } = store;
  const key = findKey();
  const body = { players: state.players, goals, board: board.board };
  const found = await postJson("api/v1/board/labels", body);
  const before = labels.get(key)?.goals ?? new Map();
  // A goal is known by its own text, and by the text or the parameters in the request.
  found.goals.forEach((goal, k) => {
    before.set(JSON.stringify(goals[k]), goal);
    for (const text of goal ? [goal.text, readGoal(goal.step)] : [])
      before.set(JSON.stringify(text), goal);
  });
  labels.set(key, { ...found, goals: before });
  return found.goals;
}

/** Return whether all labels of the state are known. If not, request them, and draw the page. */
export function loadLabels() {
  const { state, labels } = store;
  const known = labels.get(findKey());
  const texts = [state.goal, ...state.steps.filter(isGoalStep).map(({ text }) => text)];
  const goals = [...new Set(texts.map(readGoal).filter(Boolean))];
  const missing = goals.filter((text) => !known?.goals.has(JSON.stringify(text)));
  if (known && !missing.length) return true;
  const key = `${findKey()} ${missing}`;
  if (labels.get("waiting") === key) return false;
  labels.set("waiting", key);
  requestLabels(missing).then(store.render, (error) => {
    labels.delete("waiting");
    on.wrong.textContent = error.message;
    on.page.hidden = false;
    store.shown();
  });
  return false;
}

/** Whether the labels of the players are known. */
export const hasLabels = () => store.labels.has(findKey());

/** Return the label of a player: the short name, the colours and the shape. */
export const findPlayer = (player) => store.labels.get(findKey()).players[player];

/** Return the short name of the player with a name. */
export const shortenPlayer = (name) => findPlayer(store.state.players.indexOf(name))?.short ?? name;

/** Return the goals that the player to move may choose. */
export function listChoices(turn) {
  const isOpponent = ({ player }) =>
    player === undefined ||
    (player !== turn?.mover &&
      !store.state.neutral.includes(player) &&
      (turn?.holders ?? store.state.owners).includes(player));
  return store.labels.get(findKey()).choices.filter(isOpponent);
}

/** Return the goal after a step, by default after the current step; null without a goal. */
export const findGoal = (k = store.state.at) =>
  store.labels.get(findKey())?.goals.get(JSON.stringify(readGoal(findGoalText(k)))) ?? null;

/** Return the goal with a text or with parameters of `plan`, as the server describes it. */
export async function describeGoal(given) {
  const known = store.labels.get(findKey())?.goals.get(JSON.stringify(given));
  return known ?? (await requestLabels([given]))[0];
}

/** Return whether parameters of `plan` ask for the goal of the current turn. */
export function isChosen(parameters) {
  const { hold, ...chosen } = findGoal()?.parameters ?? {};
  return JSON.stringify(parameters) === JSON.stringify(chosen);
}
