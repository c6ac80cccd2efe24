// New games: one tap, or a dialog with the wishes of the players, and their choices before the
// first turn.
//
// The wishes are those of the request `game/deal`. The server deals the game. If a person must
// first pick a territory or choose a capital, it returns a question; then `draft` in the state
// contains the wishes with all answers, so that a link or a reload continues.

import { postJson, Refused } from "./ask.js";
import { PERSON } from "./map_game.js";
import { findPlayer } from "./map_labels.js";
import { packBoard, readText } from "./map_open.js";
import { markPlayer, tool } from "./map_parts.js";
import { makeSetup, makeState } from "./map_state.js";
import { commit, look, store, update } from "./map_store.js";
import { choice, markChosen, requestVictory, showVictory } from "./map_won.js";
import { on, showError } from "./page.js";
import { element, redraw } from "./redraw.js";

const [MIN_PLAYERS, MAX_PLAYERS] = [2, 6];
const WISHES = "iacta-game";
const BOARD_ON_PAGE = "page";

/** The wishes of a game that starts with one tap. */
export const QUICK = {
  players: look.names.slice(0, 3),
  seats: [PERSON, "usual", "usual"],
  rules: "classic",
  sets: "rising",
  victory: { by: "survivor" },
  deal: "random",
  dice: "rolled",
};

/** Return the wishes of the last game that was set up in this browser. */
function readWishes() {
  try {
    return { ...QUICK, ...JSON.parse(localStorage.getItem(WISHES) ?? "{}") };
  } catch {
    return QUICK;
  }
}

function keepWishes(wishes) {
  try {
    localStorage.setItem(WISHES, JSON.stringify(wishes));
  } catch {
    // The storage is full or forbidden.
  }
}

/** Return the state of a new game with some wishes, or of the next question before its start. */
export async function dealGame(board, { dice, ...wishes }) {
  const { seats } = wishes;
  const body = { ...wishes, board: board.board };
  const { setup, order, ask } = await postJson("api/v1/game/deal", body);
  const state = { ...makeState(board, await packBoard(board), look.names), ...setup, seats };
  const draft = ask && { ...wishes, order };
  store.ask = ask && { ...ask, draft };
  return { ...state, hasOwnDice: dice === "own", draft, played: !ask };
}

/** Return the state of a game like the game on the page. */
export function dealAgain(board, state) {
  const dice = findDice(state);
  if (state.draft) return dealGame(board, { ...state.draft, order: [], capitals: [], dice });
  const seats = state.seats.map(returnPerson);
  return dealGame(board, { seats, again: makeSetup(state), dice });
}

const returnPerson = (seat) => (seat.startsWith("resigned") ? PERSON : seat);

const findDice = ({ hasOwnDice }) => (hasOwnDice ? "own" : "rolled");

/** Request the question of a draft, such as that of a link, and show it. */
async function loadQuestion(draft) {
  store.ask = { draft };
  const body = { ...draft, board: store.board.board };
  const found = await postJson("api/v1/game/deal", body).catch(showError);
  if (found && store.state.draft === draft) update({ ask: { ...found.ask, draft } });
}

/** Answer the question before the first turn with a territory; return true. */
export function answer(t) {
  const { board, state, ask } = store;
  if (store.isBusy) return store.taps.push(() => answer(t)) > 0;
  if (!ask?.territories?.includes(t)) return true;
  const { order, capitals = [] } = state.draft;
  const isPick = order.length < board.territories.length;
  const parts = isPick ? { order: [...order, t] } : { capitals: [...capitals, t] };
  const wishes = { ...state.draft, ...parts, dice: findDice(state) };
  store.isBusy = true;
  dealGame(board, wishes)
    .then((next) => store.state === state && commit(next, { isStep: true }), showError)
    .finally(() => {
      store.isBusy = false;
    });
  return true;
}

/** Return the question before the first turn. */
export function showQuestion() {
  const { ask, state } = store;
  if (ask?.draft !== state.draft) loadQuestion(state.draft);
  return (
    store.ask.sentence && [
      element("h3", {}, markPlayer(state.mover), ` ${findPlayer(state.mover).short}`),
      element("p", { id: "asked", ariaLive: "polite" }, ask.sentence),
    ]
  );
}

// The dialog.

let wishes = QUICK; // the wishes in the dialog
let opened = null; // a board of a file
let editionBoard = null; // the board of the chosen edition, unless it is the classic board
let suggested = { key: "", cards: [] }; // missions to choose from
let finish = null; // called with the board and the wishes

/** Open the dialog; `start` is called with the board and the wishes, and may throw. */
export function openDialog(start) {
  wishes = readWishes();
  finish = start;
  on["new-wrong"].textContent = "";
  draw();
  if (wishes.edition) chooseEdition(wishes.edition);
  on["new-dialog"].showModal();
}

/** Let the dialog offer the board of a file. */
export function offerBoard(board) {
  opened = board;
  change({ map: "file" });
}

function change(parts) {
  wishes = { ...wishes, ...parts };
  draw();
}

/** Choose an edition, or "" for a game with own choices, and load its board. */
async function chooseEdition(edition) {
  editionBoard = null;
  change({ edition: look.editions[edition] ? edition : "" });
  const [, board] = look.editions[edition] ?? ["", "classic"];
  if (board === "classic") return;
  try {
    const read = await readText(board, board);
    if (wishes.edition === edition) editionBoard = read.board;
  } catch (error) {
    on["new-wrong"].textContent = error.message;
  }
}

function listEditions() {
  const names = Object.keys(look.editions).map((name) => [name, name]);
  return [["", "Own choices"], ...names];
}

function listBoards() {
  const boards = [["", "Classic"]];
  if (store.board.board !== "classic") boards.push([BOARD_ON_PAGE, store.board.short_name]);
  if (opened) boards.push(["file", opened.short_name]);
  return boards;
}

function draw() {
  const { players, rules, sets, deal, dice, map = "", edition = "" } = wishes;
  const boards = listBoards();
  const isKnown = boards.some(([value]) => value === map);
  redraw(
    on["new-wishes"],
    players.map((_, k) => showSeat(k)),
    tool("Add a player", addPlayer, { disabled: players.length >= MAX_PLAYERS }),
    choice("wish-edition", "Game", listEditions(), edition, chooseEdition),
    edition && element("p", { className: "help" }, look.editions[edition][0]),
    !edition &&
      choice("wish-map", "Map", boards, isKnown ? map : "", (value) => change({ map: value })),
    !edition && tool("Open a map file", () => on["new-file"].click()),
    choice("wish-deal", "Territories", Object.entries(look.deals), deal, (value) =>
      change({ deal: value }),
    ),
    !edition &&
      choice("wish-sets", "Cards", Object.entries(look.sets), sets, (value) =>
        change({ sets: value }),
      ),
    !edition && showWays(),
    !edition &&
      choice("wish-rules", "Rules", listRules(), rules, (value) => change({ rules: value })),
    choice(
      "wish-dice",
      "Dice",
      [
        ["rolled", "iacta rolls"],
        ["own", "we roll our own"],
      ],
      dice,
      (value) => change({ dice: value }),
    ),
    dice === "own" &&
      element("p", { className: "help" }, "You enter your dice; iacta rolls for the computers."),
  );
}

const listRules = () => [...on.rules.options].map(({ value }) => [value, value]);

function showSeat(k) {
  const { players, seats } = wishes;
  const name = players[k];
  const rename = ({ target }) => {
    const text = target.value.trim();
    const isTaken = players.some(
      (other, n) => n !== k && other.toLowerCase() === text.toLowerCase(),
    );
    if (!text || isTaken) target.value = name;
    else change({ players: players.with(k, text) });
  };
  const remove = () => change({ players: players.toSpliced(k, 1), seats: seats.toSpliced(k, 1) });
  return element(
    "div",
    { className: "player" },
    element("input", {
      type: "text",
      value: name,
      ariaLabel: `Name of player ${k + 1}`,
      maxLength: 30,
      spellcheck: false,
      autocomplete: "off",
      onchange: rename,
    }),
    element(
      "select",
      {
        ariaLabel: `${name} is played by`,
        onchange: ({ target }) => change({ seats: seats.with(k, target.value) }),
      },
      markChosen(Object.entries(look.seats), seats[k]),
    ),
    tool("×", remove, { ariaLabel: `Remove ${name}`, disabled: players.length <= MIN_PLAYERS }),
  );
}

function addPlayer() {
  const { players, seats } = wishes;
  const isFree = (name) => !players.some((other) => other.toLowerCase() === name);
  change({ players: [...players, look.names.find(isFree)], seats: [...seats, "usual"] });
}

/** Return the choice of the way to win; the missions to choose from depend on the players. */
function showWays() {
  const { players, victory } = wishes;
  const board = findBoard() ?? store.classic;
  const key = JSON.stringify([players, board?.code]);
  if (victory.by === "missions" && suggested.key !== key) suggestMissions(key, players, board);
  return showVictory({ id: "wish", players, cards: suggested.cards, ...victory }, (parts) =>
    change({ victory: { ...wishes.victory, ...parts } }),
  );
}

async function suggestMissions(key, players, board) {
  suggested = { key, cards: [] };
  const setup = { players, neutral: [], fields: {} };
  try {
    const { missions } = await requestVictory({ setup, board: board?.board });
    if (suggested.key === key) suggested.cards = missions;
    draw();
  } catch (error) {
    on["new-wrong"].textContent = error.message;
  }
}

/** Return the board that the players chose; null for the classic board. */
function findBoard() {
  const { map = "", edition } = wishes;
  if (edition) return editionBoard;
  return map === BOARD_ON_PAGE ? store.board : map ? opened : null;
}

on["new-cancel"].addEventListener("click", () => on["new-dialog"].close());
on["new-form"].addEventListener("submit", async (event) => {
  event.preventDefault();
  const { map, ...others } = wishes;
  on["new-wrong"].textContent = "";
  try {
    await finish(findBoard(), others);
    keepWishes(wishes);
    on["new-dialog"].close();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    on["new-wrong"].textContent = error.message;
  }
});
