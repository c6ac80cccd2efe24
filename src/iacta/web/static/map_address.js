// The address of the page: the whole state, or the present turn of a game that is too long for it.
//
// A short state is written without compression. A long state is compressed; until this is done, the
// address of a game has its present turn. A game is also kept in this browser, at each step.

import { countRounds, describeSeat, isGame } from "./map_game.js";
import { keepGame } from "./map_kept.js";
import { findPlayer, hasLabels } from "./map_labels.js";
import { cutToTurn, writeLink, writeSteps } from "./map_link.js";
import { address, findTurn, findTurnStart, store, tree } from "./map_store.js";
import { pack } from "./pack.js";
import { announce } from "./page.js";

const MAX_PLAIN = 2_000; // characters of an address that is not compressed
const MAX_LINK = 8_000; // characters; some programs truncate longer addresses

const FORKED = "This game was continued in another way: Your games has both.";
const LATER = "Your games has a later state of this game. If you play on here, it will have both.";

let packed = { state: null, link: "" }; // the link to a state whose steps are compressed
let isPending = false; // whether a long game waits until its turns are loaded

const isLoaded = () => tree.isOf(store.board, store.state);

/** Return the state as a fragment of a URL. */
export function makeLink() {
  const { state } = store;
  if (packed.state === state) return packed.link;
  const plain = writeLink(state);
  return plain.length > MAX_PLAIN ? makeTurnLink(plain) : plain;
}

/** Return the link to the state. The browser's URL may be updated later. */
export const findLink = () => new URL(makeLink(), location.href).href;

/** Return the link to the whole game, which may be long, for a file. */
export const findWholeLink = () => new URL(writeLink(store.state), location.href).href;

/** Return the link to the present turn if this browser keeps the game, otherwise the whole link. */
function makeTurnLink(whole) {
  if (!isGame() || !store.isKept || !isLoaded()) return whole;
  const start = findTurnStart();
  return writeLink(cutToTurn(store.state, findTurn(start).code, countRounds(start)));
}

/** Write the state into the address, and keep a game in this browser. */
export function writeAddress({ isNew = false } = {}) {
  const { state } = store;
  if (isGame() && !state.draft && (isLoaded() || !state.steps.length)) keep();
  address.write(makeLink(), { isNew });
  packLink();
}

/** Keep a game that has been opened, and cut its address if it is long, once its turns are loaded. */
export function finishAddress() {
  const { state, isOpened } = store;
  if (!isLoaded()) return;
  store.isOpened = false;
  if (isOpened && isGame() && !state.draft) {
    keep();
    address.write(makeLink());
    packLink();
  } else if (isPending) packLink();
}

function keep() {
  const { note, isUndoing } = store;
  const { state, isKept, isForked, isLater } = keepGame(store.state, describeGame(), isUndoing);
  const said = isForked ? FORKED : isLater ? LATER : note === LATER ? "" : note;
  Object.assign(store, { state, isKept, note: said, isUndoing: false });
  if (isForked) announce(FORKED);
}

/** Compress the steps of a long state, and write them into the address. */
async function packLink() {
  const { state } = store;
  isPending = false;
  if (packed.state === state) return;
  if (writeLink(state).length <= MAX_PLAIN) {
    store.isCut = false;
    return;
  }
  const code = await pack(writeSteps(state.steps));
  if (store.state !== state) return;
  const link = writeLink(state, code);
  const isLong = isGame() && store.isKept && link.length > MAX_LINK;
  isPending = isLong && !isLoaded();
  if (isPending) return;
  packed = { state, link: isLong ? makeTurnLink(link) : link };
  store.isCut = isLong;
  address.write(packed.link);
  store.render();
}

/** Return the words and the small map of the game, for the list of games. */
function describeGame() {
  const { board, state } = store;
  const { players } = state;
  const turn = isLoaded() ? findTurn() : null;
  const owners = turn?.holders ?? state.owners;
  const isKnown = hasLabels();
  const name = (player) => (isKnown ? findPlayer(player).short : players[player]);
  const colour = (player) => (isKnown && player >= 0 ? findPlayer(player).colour : "none");
  const seats = players.map((_, player) => `${name(player)} (${describeSeat(player)})`);
  const round = 1 + (turn ? countRounds() : state.rounds);
  const now = `Round ${round}: ${name(turn?.mover ?? state.mover)} moves.`;
  return {
    time: Date.now(),
    words: `${turn?.winner ? turn.sentence : now} ${seats.join(", ")}; ${board.name}`,
    frame: board.scene.frame.map(Math.round),
    dots: board.scene.badges.map(([x, y], t) => [Math.round(x), Math.round(y), colour(owners[t])]),
  };
}

/** Return sentences about what holds the game: the address, this browser, or a file. */
export function describeHolder() {
  if (!isGame() || store.state.draft) return "";
  const { isKept, isCut, note } = store;
  const held = isCut
    ? "The game is too long for an address, which has only the present turn."
    : "The address has the whole game.";
  const kept = isKept
    ? `Your games in this browser ${isCut ? "has the whole game" : "has it too"}.`
    : "This browser does not keep games: save the game as a file.";
  return [note, held, kept].filter(Boolean).join(" ");
}
