// Actions: changes of the position and the turn by mouse, touch, keyboard and buttons.

import { postJson, Refused } from "./ask.js";
import { findLink } from "./map_address.js";
import { goOn, isComputer, isGame, isPerson, playOn, skip } from "./map_game.js";
import { findNextStep, insertGoal, isGoalStep } from "./map_history.js";
import { makeLogQuestion } from "./map_jobs.js";
import { describeGoal, findGoal } from "./map_labels.js";
import { answer } from "./map_new.js";
import { isPassing, isTooLong } from "./map_seats.js";
import { changeState, findLetters, readGoal, setHolding, toggleTarget } from "./map_state.js";
import {
  commit,
  countLeft,
  findEdited,
  findGoalStart,
  findGoalText,
  findTurn,
  forgetBegun,
  isAnalysing,
  look,
  store,
  tree,
  update,
} from "./map_store.js";
import { endStep, runTaps } from "./map_taps.js";
import { crown } from "./map_won.js";
import { makeReviewLink } from "./pack.js";
import { announce, copy, on, showError } from "./page.js";

const FORMS = ["attack", "faces"]; // the kinds of steps with a form that shows error messages
const TYPING = 1200; // the maximum pause between two digits of a number, in milliseconds

/** Return the whole number in a field, or `fallback` for any other text. */
export const readWhole = (input, fallback) =>
  /^\s*\d+\s*$/.test(input.value) ? Number(input.value) : fallback;

/** Return whether a number of armies is at most the limit of the server; if not, say so. */
export function checkArmies(count, most = look.armies) {
  if (count <= most) return true;
  on.wrong.textContent = `There may be at most ${most} armies here.`;
  return false;
}

/** Copy a text to the clipboard; if the browser refuses, show the text and select it. */
export function shareText(button, text) {
  on.shared.textContent = text;
  on.shared.hidden = false;
  on.shared.hidden = copy(button, text, on.shared);
}

/** Return the log of the current line of steps. */
export const requestLog = async () => (await postJson("api/v1/turn/log", makeLogQuestion())).log;

export function choose(t) {
  if (store.chosen === t) return;
  update({ chosen: t, typed: { t: null, digits: "", time: 0 } });
  store.map.reveal(t);
}

/** Handle a tap on a territory, after the current step; return true. */
export function click(t) {
  if (store.isBusy) return store.taps.push(() => click(t)) > 0;
  closePad();
  store.chosen = t;
  if (store.state.draft) answer(t);
  else if (store.isPicking) changeTarget(t);
  else if (isAnalysing()) tapDuringTurn(t);
  else if (store.isCrowning) crown(t);
  else paint(t);
  return true;
}

/** Give a territory to the player of the brush; if the player already owns it, add one army. */
function paint(t) {
  const { brush } = store;
  const state = findEdited();
  const armies = Math.max(readWhole(on.brush, 1), 1);
  const isOther = state.owners[t] !== brush;
  if (brush === null && store.fixes) openPad(t);
  else if (brush === null) store.render();
  else if (isOther && store.fixes) changeHolding(t, { owner: brush });
  else if (isOther) changeHolding(t, { owner: brush, armies: brush < 0 ? 0 : armies });
  else if (brush >= 0) changeHolding(t, { armies: state.armies[t] + 1 });
  else store.render();
}

/** Handle a tap on a territory while a turn is analysed. */
function tapDuringTurn(t) {
  const turn = findTurn();
  if (!turn || turn.problem) return;
  if (isComputer()) return goOn();
  if (isPassing() || isTooLong()) return;
  const { picked, placing } = store;
  const isMine = turn.holders[t] === turn.mover;
  const parts = { help: "" };
  if (turn.phase === "place") {
    if (isMine && countLeft() > 0) parts.placing = { ...placing, [t]: (placing[t] ?? 0) + 1 };
  } else if (turn.phase === "fortify") {
    const isWay = turn.fortify.some(([from, to]) => from === picked.from && to === t);
    parts.picked = isWay ? { ...picked, to: t } : { from: isMine ? t : null, to: null };
  } else if (turn.phase === "attack") {
    const borders = turn.odds.filter(({ to }) => to === t).sort((a, b) => b.chance - a.chance);
    const border = borders.find(({ from }) => from === picked.from) ?? borders[0];
    parts.view = "";
    if (isMine) parts.picked = { from: t, to: null };
    else if (border) parts.picked = { from: border.from, to: t };
    else if (turn.odds.length) {
      parts.help = `You have no armies that can attack ${store.board.territories[t]}.`;
      announce(parts.help);
    }
  }
  update({ ...parts, chosen: (parts.picked ?? picked).from ?? t });
}

export function changeHolding(t, holding) {
  if (!checkArmies(holding.armies ?? 0)) return;
  const { owners, armies, ...others } = setHolding(findEdited(), t, holding);
  const fix = { owner: owners[t], armies: armies[t] };
  if (store.fixes) update({ fixes: { ...store.fixes, [t]: fix } });
  else commit({ ...others, owners, armies });
  announce(store.map.words(t));
}

export function setStaying(t, isStaying) {
  const others = store.state.stay.filter((k) => k !== t);
  const stay = isStaying ? [...others, t].sort((a, b) => a - b) : others;
  commit(changeState(store.state, { stay }));
}

/** Add a territory to the goal, or remove it, after the current step or goal; return true. */
export function changeTarget(t) {
  if (store.isBusy) return store.taps.push(() => changeTarget(t)) > 0;
  chooseGoal(toggleTarget(findGoal().text, t), store.view);
  announce(store.map.words(t));
  return true;
}

export function setGarrison(t, count) {
  const { [t]: _, ...others } = store.state.keep;
  const keep = count > 0 ? { ...others, [t]: Math.round(count) } : others;
  commit(changeState(store.state, { keep }));
}

/** Record the corrections of the position as a step, and return to the turn. */
export async function correct() {
  const { owners, armies, players } = findEdited();
  const turn = findTurn();
  const rows = Object.keys(store.fixes).map((t) => [
    Number(t),
    players[owners[t]] ?? "",
    armies[t],
  ]);
  const on = rows.filter(
    ([t, owner, count]) => count !== turn.armies[t] || owner !== turn.owners[t],
  );
  if (!on.length || (await takeStep({ do: "correct", on }))) update({ fixes: null });
}

/** Handle a key pressed on a territory; return whether the key has a function. */
export function type(t, key) {
  const state = findEdited();
  if (key === "Enter" || key === " ") {
    if (isAnalysing() || store.isPicking) click(t);
    else {
      choose(t);
      const armies = on.table.querySelector(".chosen input");
      armies.focus();
      armies.select();
    }
    return true;
  }
  if (isAnalysing()) return false;
  if (/^\d$/.test(key)) {
    const { typed } = store;
    const isMore = typed.t === t && Date.now() - typed.time < TYPING;
    const digits = `${isMore ? typed.digits : ""}${key}`.slice(0, 9);
    store.typed = { t, digits, time: Date.now() };
    if (Number(digits)) changeHolding(t, { armies: Number(digits) });
    return true;
  }
  store.typed = { t: null, digits: "", time: 0 };
  if (key === "+") changeHolding(t, { armies: state.armies[t] + 1 });
  else if (key === "-") changeHolding(t, { armies: Math.max(state.armies[t] - 1, 1) });
  else if (key === "Delete" || key === "Backspace") changeHolding(t, { owner: -1 });
  else if (/^[a-z]$/i.test(key)) {
    const player = findLetters(state.players).indexOf(key.toLowerCase());
    if (player < 0) return false;
    changeHolding(t, { owner: player });
  } else return false;
  return true;
}

// The numeric keypad, which a long press on a territory opens.

export function openPad(t) {
  const { brush } = store;
  if (isAnalysing() && isComputer()) return skip();
  if (isAnalysing() && findTurn()?.phase !== "place") return;
  store.chosen = t;
  if (!isAnalysing() && brush !== null && brush >= 0 && findEdited().owners[t] !== brush) {
    changeHolding(t, { owner: brush });
  }
  const words = isAnalysing() ? "Armies to place on" : "Armies on";
  on["pad-said"].textContent = `${words} ${store.board.short[t]}`;
  on["pad-number"].value = "";
  if (!on.pad.open) on.pad.show();
  store.render();
}

export function closePad() {
  if (on.pad.open) on.pad.close();
}

export function pressPad(key) {
  if (key === "done") return closePad();
  const { chosen, placing } = store;
  const before = on["pad-number"].value;
  const digits = key === "back" ? before.slice(0, -1) : `${before}${key}`.slice(0, 9);
  on["pad-number"].value = digits;
  const number = Number(digits);
  if (!number) return;
  if (!isAnalysing()) return changeHolding(chosen, { armies: number });
  store.placing = { ...placing, [chosen]: 0 };
  update({ placing: { ...placing, [chosen]: Math.min(number, countLeft()) } });
}

/** Take a step in the current turn; return whether the step was possible. */
async function takeStep(step) {
  if (store.isBusy || !findTurn()) return false;
  store.isBusy = true;
  on.wrong.textContent = "";
  store.refused = null;
  let isTaken = false;
  try {
    const { board, state, picked } = store;
    const isAgain = isGame() && findNextStep(state.steps, state.at) > 0; // with other dice
    let following = { ...state, asked: state.asked + Number(isAgain) };
    for (let next = step; next; next = findForcedStep(tree.turns[following.at])) {
      following = { ...following, ...(await tree.take(board, following, next)) };
    }
    forgetBegun();
    const turn = tree.turns[following.at];
    const isNext = step.do === "next";
    if (isNext) store.chosen = null;
    const isPicked = ({ from, to }) => from === picked.from && to === picked.to;
    if (step.from === picked.from && turn.odds.some(isPicked)) store.picked = picked;
    commit(following, { isStep: true });
    if (isNext) store.map.reveal(store.map.findLargestStack());
    if (document.activeElement === document.body) on.now.focus({ preventScroll: true });
    announce(`${turn.words}. ${turn.sentence}`);
    isTaken = true;
  } catch (error) {
    if (!(error instanceof Refused)) console.error(error);
    if (FORMS.includes(step.do)) {
      update({ refused: { do: step.do, words: error.message } });
      on.now.querySelector(".wrong:not(:empty)")?.scrollIntoView({ block: "nearest" });
    } else on.wrong.textContent = error.message;
  }
  store.isBusy = false;
  endStep(isTaken);
  playOn();
  return isTaken;
}

/** Return the step in which the server draws the unknown cards of a hand, always afresh. */
function makeDraw() {
  const [seed] = crypto.getRandomValues(new Uint32Array(1));
  return { do: "reveal", seed };
}

/**
 * Return the only possible step of a turn; in a game also the step to the next player, and the look
 * at drawn cards; or null.
 */
function findForcedStep({ phase, advance, winner, hand, mover }) {
  if (advance?.least === advance?.most && advance) return { do: "advance", armies: advance.most };
  const isHidden = hand?.some(({ symbol }) => symbol === "unknown");
  if (isPerson(mover) && isHidden && phase !== "advance" && !winner) return makeDraw();
  return isGame() && phase === "over" && !winner ? { do: "next" } : null;
}

/**
 * Return the step before a step, skipping drawn cards, and advances with only one possible number
 * of armies.
 */
export function findStepBefore(k) {
  const { steps } = store.state;
  const { after } = steps[k - 1];
  const { least, most } = tree.turns[after]?.advance ?? {};
  const isForced = steps[after - 1]?.text[0] === "d" || (least && least === most);
  return isForced ? (steps[after - 1]?.after ?? after) : after;
}

/**
 * Choose another goal, as a text or as parameters of `plan`, and show its territories. Until the
 * goal is known, taps wait and the page stays as it is.
 */
export async function chooseGoal(given, view = "") {
  if (store.isBusy) return store.taps.push(() => Boolean(chooseGoal(given, view)));
  store.isBusy = store.isDescribing = true;
  const goal = given && (await describeGoal(given).catch(showError));
  store.isBusy = store.isDescribing = false;
  Object.assign(store, { view, isPicking: Boolean(goal?.is_list) && view === "goals" });
  if (goal || !given) setGoal(goal?.step ?? "", goal?.parameters);
  else store.render();
  const targets = findGoal()?.targets ?? [];
  if (targets.length && !store.isPicking) store.map.scrollToAll(targets);
  runTaps(Boolean(goal || !given));
}

/**
 * Set the goal of the next step, as the text of a step. The goals of earlier steps stay: another
 * goal is a step of its own.
 */
function setGoal(text, parameters) {
  const { state } = store;
  const { steps, at, played } = state;
  const [last, start] = [steps[at - 1], findGoalStart()];
  const isLast = !steps.some(({ after }) => after === at);
  if (readGoal(text) === readGoal(findGoalText())) return store.render();
  if (!played || !steps.length || (at === start && !findGoalText() && !isGoalStep(last)))
    return commit(insertGoal(state, at, text), { isStep: true });
  const isOther = isLast && isGoalStep(last); // the goal before has no steps
  const k = isOther ? at : steps.length + 1;
  const step = { ...(isOther ? last : { after: at }), text: text || "o" };
  const { hold, ...goal } = parameters ?? {};
  tree.putGoal(k, step, Object.keys(goal).length ? goal : null);
  const next = isOther ? steps.with(k - 1, step) : [...steps, step];
  commit({ ...state, steps: next, at: k }, { isStep: true });
}

/** The actions of the buttons beside the map. */
export const actions = {
  takeStep,
  goToStep(at) {
    forgetBegun();
    commit({ ...store.state, at }, { isStep: true });
  },
  rollDice(border) {
    const [seed] = crypto.getRandomValues(new Uint32Array(1));
    return takeStep({ do: "roll", ...border, seed });
  },
  placeArmies() {
    const placed = Object.entries(store.placing).filter(([, count]) => count);
    return takeStep({ do: "place", on: placed.map(([t, count]) => [Number(t), count]) });
  },
  drawCards: () => takeStep(makeDraw()),
  clearPlacement: () => update({ placing: {} }),
  pickBorder(from, to) {
    Object.assign(store, { picked: { from, to }, chosen: from });
    if (to !== null) store.map.scrollToAll([from, to]);
    store.render();
  },
  chooseArmies: (moving) => update({ moving }),
  async chooseOffer(given) {
    await chooseGoal(given);
    on.now.focus({ preventScroll: true }); // the focused button was in the list
  },
  chooseBrush(brush) {
    if (brush !== null && brush >= 0) on["rest-player"].value = String(brush);
    update({ brush });
  },
  async openReview() {
    location.href = await makeReviewLink(await requestLog());
  },
  copyLink: (button) => shareText(button, findLink()),
};
