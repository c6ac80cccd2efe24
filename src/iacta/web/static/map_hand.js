// The hand and the mission of the player to move, and trades of cards.
//
// The server draws the cards, and lists the legal trades with the keys of their cards. If several
// persons play, a hand is shown only in the turn of its owner, after a tap.

import { postJson } from "./ask.js";
import { actions } from "./map_actions.js";
import { svg } from "./map_board.js";
import { countPersons, isComputer, isGame } from "./map_game.js";
import { button, row, tool } from "./map_parts.js";
import { findSeen, findTurn, findTurnStart, store, update } from "./map_store.js";
import { element } from "./redraw.js";

const SET_SIZE = 3;
// The drawings of the symbols, in a square of 16 units.
const SYMBOLS = {
  infantry: "M8 1a2.4 2.4 0 1 1 0 4.8a2.4 2.4 0 1 1 0-4.8zM4.5 7h7l1 5h-2l-.5 3.5h-4l-.5-3.5h-2z",
  cavalry: "M3 15V8L7 2l1 2 5 3-1 3-4-1 2 6z",
  artillery: "M1 5l11-3 1 3-7 3a3.4 3.4 0 1 1-4 2zM10 12h5v2h-5z",
  joker: "M8 1l2 4.8 5 .4-3.8 3.3 1.2 5L8 11.8l-4.4 2.7 1.2-5L1 6.2l5-.4z",
  unknown:
    "M5 5a3 3 0 1 1 4.5 2.6c-.7.5-.8.8-.8 1.9H7.2C7.2 7.4 8.9 7 8.9 5.2a1.2 1.2 0 0 0-2.4 0zM7.2 11h1.6v1.7H7.2z",
};

const findTurnCode = () => findTurn(findTurnStart())?.code;

/** Whether the hand and the mission of the player to move may be shown. */
export const isHandShown = () => !isGame() || countPersons() < 2 || store.handOf === findTurnCode();

const showHand = () => update({ handOf: findTurnCode() });

/** Return the button that shows the hand and the mission; null if they are shown. */
const showCover = () =>
  !isHandShown() &&
  row(tool(findTurn().mission ? "Show my cards and my mission" : "Show my cards", showHand));

/** Return the hand and the mission of a person, without actions. */
export function showOwn() {
  const turn = findTurn();
  const hasHand = turn?.hand?.length > 0;
  if (!isGame() || isComputer() || turn?.phase === "trade" || !(hasHand || turn?.mission))
    return null;
  return element(
    "div",
    { id: "own" },
    showCover() || [
      turn.mission && element("p", { id: "mission" }, `Your mission: ${turn.mission}.`),
      hasHand && element("p", { className: "hand", id: "hand" }, turn.hand.map(showCard)),
      showLook(turn) && row(showLook(turn)),
    ],
  );
}

/** Return the button that reveals the unknown cards of a hand; false if all cards are known. */
const showLook = (turn) =>
  turn.hand.some(({ symbol }) => symbol === "unknown") &&
  button(turn.phase === "trade" ? "primary" : "tool", actions.drawCards, "Look at the cards");

/** Return the panel in which a player trades cards. */
export function showTrade() {
  const turn = findTurn();
  const said = element("p", { id: "trade-said" }, `${turn.sentence} ${turn.sets}`);
  if (!isHandShown()) return [said, showCover()];
  const keys = store.traded.map((k) => turn.hand[k].key).sort();
  const found = turn.trades.filter((trade) => String(trade.keys) === String(keys));
  const isWrong = store.traded.length === SET_SIZE && !found.length;
  const help = isWrong ? "These cards are not a set." : "Tap the three cards of a set.";
  const look = showLook(turn);
  return [
    said,
    element(
      "div",
      { className: "hand", id: "hand", role: "group", ariaLabel: "Your cards" },
      turn.hand.map(showChoice),
    ),
    !found.length && !look && element("p", { className: "help", id: "trade-help" }, help),
    row(
      look,
      found.map(({ words, step }) => button("primary", () => actions.takeStep(step), words)),
      !turn.must_trade && tool("Keep the cards", () => actions.takeStep({ do: "stop" })),
    ),
    turn.mission && element("p", { id: "mission" }, `Your mission: ${turn.mission}.`),
  ];
}

/** Return a card of the hand that a tap adds to the set, or removes from it. */
function showChoice(card, k) {
  const isChosen = store.traded.includes(k);
  const others = store.traded.filter((other) => other !== k);
  const traded = isChosen ? others : [...others.slice(1 - SET_SIZE), k];
  const choose = () => update({ traded });
  const more = { className: "tool card", ariaPressed: String(isChosen), value: String(k) };
  return tool(drawCard(card), choose, more);
}

const showCard = (card) => element("span", { className: "card" }, drawCard(card));

/** Return the symbol and the words of a card. */
function drawCard({ symbol, territory }) {
  const size = {
    class: "symbol",
    viewBox: "0 0 16 16",
    width: 18,
    height: 18,
    "aria-hidden": "true",
  };
  const place = store.board.short[territory];
  return [
    svg("svg", size, svg("path", { d: SYMBOLS[symbol] })),
    ` ${symbol}${place ? `, ${place}` : ""}`,
  ];
}

/**
 * Return the number of a player's cards, and a sentence about the armies for a set. If the cards may
 * contain a set, the number is a button that shows the sentence.
 */
export function showCardCount(player) {
  const number = findTurn().hands[player];
  if (number === undefined) return [];
  const words = `${number} ${number === 1 ? "card" : "cards"}`;
  if (number < SET_SIZE || isComputer() || !isHandShown() || !findSeen()) return [`, ${words}`];
  const key = `${findSeen()} ${player}`;
  const said = store.cards.key === key && store.cards.words;
  const ask = () => (said ? update({ cards: { key: "" } }) : askCards(key, player));
  const more = { className: "link", ariaExpanded: String(Boolean(said)) };
  return [[", ", tool(words, ask, more)], said && element("p", { className: "help" }, said)];
}

/** Ask what the cards of a player bring. */
async function askCards(key, player) {
  update({ cards: { key, words: "Counting …" } });
  const body = { position: findSeen(), board: store.board.board };
  const words = await postJson("api/v1/cards", body).then(
    ({ words: own, opponents }) => opponents.find((each) => each.player === player)?.words ?? own,
    (error) => error.message,
  );
  if (store.cards.key === key) update({ cards: { key, words } });
}
