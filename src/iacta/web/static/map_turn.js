// The panel of the next action in each phase of a turn.

import { actions } from "./map_actions.js";
import { svg } from "./map_board.js";
import {
  countRounds,
  describeComputerStep,
  findBattle,
  findReason,
  goOn,
  hasPersons,
  isComputer,
  isCounted,
  isGame,
  isPersonLeft,
  isReviewed,
  isWon,
  skip,
  tryAgain,
} from "./map_game.js";
import { showOwn, showTrade } from "./map_hand.js";
import { findNextStep } from "./map_history.js";
import { countMoving, findPlan, findShown, isStopBest } from "./map_jobs.js";
import { findPlayer } from "./map_labels.js";
import { BEST, showHelpfulMove } from "./map_lists.js";
import {
  button,
  form,
  makeChoice,
  markPlayer,
  numberField,
  readField,
  row,
  tool,
} from "./map_parts.js";
import { savePicture, showReview } from "./map_review.js";
import {
  isPassing,
  isTooLong,
  showLeft,
  showOffer,
  showPassing,
  showResigning,
} from "./map_seats.js";
import { countLeft, findTurn, isAdvised, store, update } from "./map_store.js";
import { element } from "./redraw.js";

// The places of the pips of each face, in rows of three.
const PIPS = [[], [4], [0, 8], [0, 4, 8], [0, 2, 6, 8], [0, 2, 4, 6, 8], [0, 2, 3, 5, 6, 8]];

const PANELS = {
  trade: showTrade,
  place: showPlacement,
  attack: showAttacks,
  advance: showAdvance,
  fortify: showLastMove,
  over: showEnd,
};

/** Return the panel for the current phase. */
export function showPanel() {
  const turn = findTurn();
  if (isGame() && turn && (isWon(turn) || isCounted())) return showResult();
  if (isTooLong()) return showOffer();
  if (isComputer()) return showComputer();
  if (isPassing()) return showPassing();
  if (store.isResigning) return showResigning();
  const isBattle = turn?.odds?.some(isPickedBorder);
  const isRolling = isGame() && ["attack", "advance", "fortify"].includes(turn?.phase);
  return [
    isRolling && showRoll(),
    !isBattle && isAdvised() && showLuck(),
    PANELS[turn?.phase]?.() ?? [],
    showOwn(),
  ];
}

/** Return the buttons that go on, which stay in their place, and the step of a computer. */
function showComputer() {
  const { steps, at } = store.state;
  const { mover } = findTurn();
  const more = { disabled: !findNextStep(steps, at) };
  return [
    element("h3", {}, markPlayer(mover), ` ${findPlayer(mover).short} plays`),
    row(
      tool("Next", goOn, { className: "primary", ...more }),
      tool(isPersonLeft() ? "Skip to my turn" : "Skip to the end", skip, more),
    ),
    showDicePairs(findBattle(at)),
    element("p", { id: "computer-said", ariaLive: "polite" }, describeComputerStep()),
    element("p", { id: "reason" }, findReason()),
    store.isStuck && row(tool("Try again", tryAgain)),
    showLeft(),
    isReviewed() && showReview(),
  ];
}

/** Return the dice of the last roll, in pairs, and the losses; an empty place before the roll. */
function showRoll() {
  const k = findBattle(store.state.at);
  const { words, losses } = findTurn(k);
  return element(
    "div",
    { id: "rolled" },
    showDicePairs(k),
    losses && element("p", {}, `${words}.`),
  );
}

/** Return the dice of the last roll of a battle in two rows, so that pairs are below each other. */
function showDicePairs(k) {
  const { faces, step } = findTurn(k);
  const before = faces && findTurn(store.state.steps[k - 1].after);
  if (!before) return [];
  const find = (given) =>
    typeof given === "string" ? store.board.territories.indexOf(given) : given;
  const show = (dice, player, name) =>
    element(
      "span",
      { role: "img", ariaLabel: `${name}: ${dice.join(" ")}` },
      dice.map((face) => drawDie(face, findPlayer(player))),
    );
  return element(
    "div",
    { className: "dice" },
    show(faces[0], before.mover, "attack dice"),
    show(faces[1], before.holders[find(step.to)], "defence dice"),
  );
}

/** Return a die of a player with pips, or with a number if it has more than six faces. */
function drawDie(face, { colour, digits }) {
  const square = { x: 0.5, y: 0.5, width: 13, height: 13, rx: 2.5, fill: colour };
  const drawPip = (k) =>
    svg("circle", { cx: 3 + 4 * (k % 3), cy: 3 + 4 * Math.floor(k / 3), r: 1.4, fill: digits });
  const marks = PIPS[face]?.map(drawPip) ?? [
    svg("text", { x: 7, y: 7, fill: digits }, String(face)),
  ];
  const size = { class: "die", viewBox: "0 0 14 14", width: 30, height: 30 };
  return svg("svg", size, svg("rect", square), ...marks);
}

/** Return the end of a game. */
function showResult() {
  const { asked } = store.state;
  const rounds = countRounds() + 1;
  const help = asked ? `${asked} ${asked === 1 ? "time" : "times"}` : "never";
  const click = (id) => () => document.getElementById(id).click();
  return [
    element("h3", { id: "result" }, isCounted() ? findTurn().count : findTurn().sentence),
    element(
      "p",
      {},
      `Rounds: ${rounds}.`,
      hasPersons() && ` You asked for help or took a step back: ${help}.`,
    ),
    row(
      button("primary", click("new-game"), "Rematch"),
      tool("Save a picture", savePicture),
      tool("Analyse this game", click("to-setup")),
    ),
    showReview(),
  ];
}

const isPickedBorder = ({ from, to }) => from === store.picked.from && to === store.picked.to;

/** Return the luck of the last roll; a step without its own luck continues the step before. */
function showLuck(none = "") {
  const { steps, at } = store.state;
  let k = at;
  while (k && findTurn(k)?.luck === null) k = steps[k - 1].after;
  const words = findTurn(k)?.luck || none;
  return words && element("p", { id: "luck", className: "help" }, `Last dice: ${words}.`);
}

function showPlacement() {
  const turn = findTurn();
  const best = findPlan()?.placement;
  const left = countLeft();
  const names = (best ?? []).map(([t, count]) => `${count} on ${store.board.short[t]}`);
  const words = left
    ? `${left} of ${turn.new} new armies to place: tap your territories.`
    : "All new armies are on the map: confirm, or clear them.";
  const placeBest = () => actions.takeStep({ do: "place", on: best });
  const isMine = left < turn.new; // the player is placing armies by hand
  const { chosen, placing } = store;
  const placeOthers = () => update({ placing: { ...placing, [chosen]: placing[chosen] + left } });
  return [
    element("p", { id: "placing-said" }, words),
    row(
      isMine &&
        tool(best ? "Confirm mine" : "Confirm", actions.placeArmies, {
          className: "primary",
          disabled: left > 0,
        }),
      best && button(isMine ? "tool" : "primary", placeBest, `Best: ${names.join(", ")}`),
      left > 1 &&
        placing[chosen] > 0 &&
        tool(`All ${left} on ${store.board.short[chosen]}`, placeOthers),
      tool("Clear", actions.clearPlacement, { disabled: left === turn.new }),
    ),
    showCards(),
  ];
}

/** Return the form for armies that cards brought; nothing in a game. */
export const showCards = () =>
  !isGame() &&
  form(
    "cards",
    "row",
    ({ got }) => actions.takeStep({ do: "get", armies: readField(got) }),
    element("label", { htmlFor: "got" }, "Armies from cards"),
    numberField("got", 3),
    element("button", { className: "tool" }, "Add"),
  );

function showAttacks() {
  const { picked, state, help } = store;
  const turn = findTurn();
  const isSame = (a, b) => a.from === b.from && a.to === b.to;
  const shown = findShown(); // an earlier or quicker plan keeps its place, but has no numbers
  const plan = findPlan() ?? store.lastPlan;
  const isLegal = (move) => turn.odds.some((border) => isSame(border, move));
  const hide = (move) => ({ ...move, figure: "…", words: "…", success: null });
  const moves = (plan?.moves ?? []).filter(isLegal).map((move) => (shown ? move : hide(move)));
  const border = turn.odds.find(isPickedBorder);
  const placeFirst = () => actions.takeStep({ do: "get", armies: turn.usual });
  return [
    element(
      "div",
      { className: "sides" },
      element(
        "ol",
        { id: "moves", className: "moves", ariaLabel: "The best first attacks" },
        moves.slice(0, 3).map((move) => showMove(move, isSame(move, picked))),
      ),
      element(
        "div",
        { className: "side" },
        (help || !border) &&
          element("p", { className: "help", id: "attack-help" }, help || describeAttack()),
        border &&
          showBattle(
            border,
            moves.find((move) => isSame(move, border)),
          ),
        row(
          showStop("tool", shown?.stop?.words),
          border && tool("Other attacks", () => actions.pickBorder(null, null), { id: "others" }),
          !isGame() &&
            !state.at &&
            turn.usual > 0 &&
            tool(`Place ${turn.usual} new armies first`, placeFirst),
        ),
      ),
    ),
  ];
}

/** Return the next tap for an attack in words. */
function describeAttack() {
  const { from } = store.picked;
  const { odds } = findTurn();
  if (!odds.length) return "No attack is possible.";
  if (from === null) return "Tap one of your territories, then the one to attack.";
  const name = store.board.territories[from];
  const isPossible = odds.some((border) => border.from === from);
  return isPossible ? `${name}: tap the territory to attack.` : `${name} cannot attack.`;
}

function showMove({ from, to, name, figure, words }, isPicked) {
  const pick = () => (isPicked ? actions.pickBorder(null, null) : actions.pickBorder(from, to));
  return makeChoice(name, figure, words, isPicked, pick);
}

/** Return the button that ends the attacks, with the cost of this choice. */
export function showStop(className, cost) {
  const words = isStopBest() ? BEST : cost;
  const stop = () => actions.takeStep({ do: "stop" });
  return button(className, stop, "Stop attacking", words && element("small", {}, ` (${words})`));
}

function showBattle(border, move) {
  const { from, to, dice, rolls, words } = border;
  const { territories } = store.board;
  const { armies } = findTurn();
  const { hasOwnDice } = store.state;
  const isTyping = !isGame() || hasOwnDice; // the players enter the results of their own dice
  const said = isAdvised() ? words : `${armies[from]} against ${armies[to]}`;
  const attack = (parts) => actions.takeStep({ do: "attack", from, to, ...parts });
  const worth = move &&
    move.figure !== "…" && [
      `Goal: ${move.figure}, ${move.words}.`,
      move.success && `${move.success[0].toUpperCase()}${move.success.slice(1)}.`,
    ];
  const useless = !move && findShown() && ["This attack does not help you reach the goal."];
  const value = `${from} ${to}`; // for `map_taps.js`, to distinguish equal labels
  const rollButtons = rolls.map(([lost, killed, label, title]) => {
    const left = { left: armies[from] - lost, their_left: armies[to] - killed, dice };
    return tool(label, () => attack(left), { ariaLabel: title, title, value });
  });
  return element(
    "div",
    { id: "battle" },
    element(
      "div",
      { className: "row" },
      element("h3", { id: "battle-name" }, `${territories[from]} to ${territories[to]}`),
      isAdvised() && showLuck("none yet"), // always shown, so that buttons do not move
    ),
    element(
      "p",
      { id: "battle-said" },
      [`${said}.`, ...(worth || useless || [])].filter(Boolean).join(" "),
    ),
    !hasOwnDice &&
      row(
        tool("Roll once", () => actions.rollDice({ from, to, once: true }), {
          className: "primary",
          value,
        }),
        // Some attacks only help if the first roll goes well.
        !move?.is_single_roll &&
          tool("Roll to the end", () => actions.rollDice({ from, to }), { value }),
      ),
    isTyping && element("p", { className: "row", id: "rolls" }, rollButtons),
    isTyping && showResults(attack, from, to),
  );
}

/** Return the forms for the armies left after a battle, and for the faces, which the server parses. */
function showResults(attack, from, to) {
  const { hasOwnDice } = store.state;
  const field = (id, placeholder) =>
    numberField(id, 6, { placeholder, required: false, pattern: ".*", title: "" });
  return element(
    hasOwnDice ? "div" : "details",
    { id: "dice" },
    !hasOwnDice && element("summary", {}, "Enter the dice"),
    form(
      "fought",
      "row",
      (on) => attack({ left: readField(on.left), their_left: readField(on.theirs) }),
      element("label", { htmlFor: "left" }, "Armies left"),
      numberField("left", 4),
      element("label", { htmlFor: "theirs" }, "against"),
      numberField("theirs", 4, { defaultValue: "0" }),
      showEnter(),
    ),
    showRefusal("attack"),
    form(
      "faces",
      "row",
      ({ mine, yours }) =>
        actions.takeStep({ do: "faces", from, to, mine: mine.value, theirs: yours.value }),
      element("label", { htmlFor: "mine" }, "Dice: mine"),
      field("mine", "6 4 1"),
      element("label", { htmlFor: "yours" }, "theirs"),
      field("yours", "5 3"),
      showEnter(),
    ),
    showRefusal("faces"),
  );
}

/** Return the error message of a refused step for its form. */
function showRefusal(kind) {
  const { refused } = store;
  const isShown = refused?.do === kind;
  return element("p", { className: "wrong", role: "alert" }, isShown && refused.words);
}

const showEnter = () => element("button", { className: "tool" }, "Enter");

function showAdvance() {
  const { from, to, least, most } = findTurn().advance;
  const { territories } = store.board;
  const best = findPlan()?.move_in?.best;
  const armies = countMoving(findTurn());
  const words = armies === best ? ", the best" : `; the best is ${best}`;
  const question = `Armies that move from ${territories[from]} into ${territories[to]}`;
  return [
    form(
      "advancing",
      "",
      () => actions.takeStep({ do: "advance", armies }),
      element("label", { htmlFor: "advance", id: "advance-said" }, question),
      element("input", {
        id: "advance",
        type: "range",
        min: String(least),
        max: String(most),
        value: String(armies),
        oninput: ({ target }) => actions.chooseArmies(readField(target)),
      }),
      row(
        element("output", { id: "advance-number" }, `${armies}${best === undefined ? "" : words}`),
        " ",
        element("button", { className: "primary" }, "Move in"),
      ),
    ),
  ];
}

function showLastMove() {
  const { picked, board } = store;
  const [from, to] = [picked.from, picked.to].map((t) => board.territories[t] ?? null);
  const way = findTurn().fortify.find(([start, end]) => start === picked.from && end === picked.to);
  const hint = from
    ? `${from}: tap where its armies go.`
    : "Tap a territory, then where its armies go.";
  return [
    showHelpfulMove(),
    element("p", { className: "help", id: "fortify-said" }, to ? `${from} to ${to}` : hint),
    form(
      "fortifying",
      "row",
      (on) =>
        actions.takeStep({ do: "fortify", ...picked, armies: readField(on["fortify-number"]) }),
      numberField("fortify-number", 4, {
        ariaLabel: "Armies to move",
        defaultValue: way ? String(way[2]) : "",
      }),
      element("button", { className: "tool" }, "Move"),
      tool("Move no armies", () => actions.takeStep({ do: "stop" })),
    ),
  ];
}

function showEnd() {
  return [
    row(
      !findTurn().winner &&
        button("primary", () => actions.takeStep({ do: "next" }), "Next player"),
      !isGame() && tool("Review", actions.openReview),
      !isGame() && tool("Copy the link", ({ currentTarget }) => actions.copyLink(currentTarget)),
    ),
  ];
}
