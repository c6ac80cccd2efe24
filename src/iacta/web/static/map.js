// The board page: opens positions and connects the controls beside the map.
//
// The page shows one state, on the map and beside it, and stores the state in the URL. Players set
// up a position, and then analyse the turn that starts there. The server applies the rules, and the
// page shows its answers. `map_store.js` contains all mutable data, `map_jobs.js` the background
// requests to the server, and `map_actions.js` the actions; `map_page.js` draws the page.

import { postJson, Refused, saveFile } from "./ask.js";
import {
  actions,
  checkArmies,
  choose,
  chooseGoal,
  click,
  closePad,
  correct,
  findStepBefore,
  openPad,
  pressPad,
  readWhole,
  requestLog,
  shareText,
  type,
} from "./map_actions.js";
import { findLink, findWholeLink, makeLink, writeAddress } from "./map_address.js";
import { BoardMap } from "./map_board.js";
import { askHint, findOwnStep, isGame, isWon, switchAdvice, switchShowing } from "./map_game.js";
import { findNextStep } from "./map_history.js";
import { findPlan, forgetAnswers } from "./map_jobs.js";
import { completeGame, findKept } from "./map_kept.js";
import { findGoal, findPlayer } from "./map_labels.js";
import { cutNote, readLink, readTurnLink } from "./map_link.js";
import { capitalise } from "./map_lists.js";
import { dealAgain, dealGame, offerBoard, openDialog, QUICK } from "./map_new.js";
import {
  countNewArmies,
  EXAMPLES,
  listRecent,
  loadBoard,
  loadExample,
  readText,
  readTurnStart,
  remember,
} from "./map_open.js";
import { render, showShared } from "./map_page.js";
import { shareMap } from "./map_picture.js";
import {
  changeState,
  emptyTerritories,
  fillTerritories,
  leaveGame,
  makeSetup,
  makeState,
  setHold,
} from "./map_state.js";
import {
  address,
  commit,
  findCode,
  forgetBegun,
  isAnalysing,
  look,
  showExtra,
  store,
  tree,
  update,
} from "./map_store.js";
import { unpackStart } from "./pack.js";
import { announce, on, showError, takeFiles, takeSelectedFiles } from "./page.js";

const ONLY_TURN =
  "The address has only the present turn of this game. The earlier turns are in Your games of the browser in which it was played.";

store.render = render;
store.write = writeAddress;
store.map = new BoardMap(
  { root: on.map, view: on.view, names: on.names },
  { click, press: openPad, choose, type },
);

const listen = (name, event, handler) => on[name].addEventListener(event, handler);
const listenToSubmit = (name, handler) =>
  listen(name, "submit", (event) => {
    event.preventDefault();
    handler();
  });

/** Change parts of the state. */
const change = (parts, options) => commit(changeState(store.state, parts), options);

const waiting = []; // tasks that open positions, in order

/**
 * Open a position with a task. Until the page shows the position, it takes no input. A function
 * that the task returns is called afterwards.
 */
async function open(task) {
  if (waiting.push(task) > 1) return;
  const { activeElement } = document;
  on.page.inert = true;
  for (; waiting.length; waiting.shift()) {
    try {
      const finish = await waiting[0]();
      await new Promise((done) => {
        store.shown = done;
        store.render();
      });
      finish?.();
    } catch (error) {
      on.wrong.textContent = error.message;
      on.page.hidden = false;
    }
  }
  on.page.inert = false;
  activeElement.focus({ preventScroll: true });
}

/** Show the state in the fragment of a URL, and an error if a part cannot be read. */
async function restore(fragment) {
  address.cancel();
  history.replaceState(null, "", fragment); // an earlier task may have changed it
  if (store.board && fragment === "#main") return; // the target of the link that skips the menu
  if (!fragment || fragment === "#main") return showExample();
  if (fragment === "#setup") return startEmpty();
  if (fragment === "#new") return showGame();
  const given = new URLSearchParams(fragment.slice(1));
  const isTurn = Boolean(readTurnLink(fragment));
  if (given.has("code") && !isTurn) return openCode(given.get("code"), given.get("b") ?? "");
  const { board, state, problem, isKept } = await readFragment(fragment);
  if (store.board !== board) useBoard(board);
  forgetBegun();
  on.wrong.textContent = problem;
  tree.forgetError();
  Object.assign(store, { isKept, isOpened: !isKept, isCut: isTurn && isKept, note: "" });
  update({ state, chosen: null, undone: [] });
}

/** Return the board and the state of a link, and a sentence about its parts that are lost. */
async function readFragment(fragment) {
  const given = new URLSearchParams(fragment.slice(1));
  const code = given.get("b") ?? "";
  let { board } = store;
  let wrong = "";
  if (store.state?.code !== code) {
    try {
      board = await loadBoard(code);
    } catch (error) {
      board = await loadBoard("");
      const reason = error instanceof Refused ? `: ${error.message}` : "; it may be incomplete";
      wrong = `Cannot read the board in the address${reason}.`;
    }
  }
  const turn = wrong ? null : readTurnLink(fragment);
  const whole = turn && completeGame(turn, board, look);
  if (whole) return { board, state: whole, problem: "", isKept: true };
  const text = given.has("d") ? await unpackStart(given.get("d")) : "";
  const { state, problem } = readLink(wrong ? "" : fragment, board, look, text);
  if (!turn) return { board, state, problem: wrong || problem, isKept: false };
  const start = await readTurnStart(turn, board);
  return { board, state: { ...state, ...start, id: "", played: true }, problem: ONLY_TURN };
}

/** Open the link to a game, such as one of this browser; return a function for `open`. */
async function openLink(fragment) {
  const { board, state, problem } = await readFragment(fragment);
  const finish = begin(state, board);
  Object.assign(store, { isOpened: true, note: "" });
  on.wrong.textContent = problem;
  return finish;
}

function useBoard(board) {
  forgetAnswers();
  Object.assign(store, { board, chosen: null, isPicking: false, view: "" });
  store.labels.clear();
}

function countSteps() {
  const count = store.state.steps.length;
  return count === 1 ? "one step" : `${count} steps`;
}

/** Return whether the current game may be replaced; ask the player if the game has steps. */
const mayEnd = () =>
  !store.state?.steps.length ||
  (isGame() && (store.isKept || isWon())) || // Your games has the game
  confirm(`Start over? This ends the game with its ${countSteps()}. You can undo it.`);

/** Replace the position; `words` is the label of the button that restores the old position. */
function replace(state, { board = store.board, words } = {}) {
  const before = store.board;
  if (board !== before) useBoard(board);
  forgetBegun();
  store.holder = null;
  commit(state, { isStep: true, board: before, words });
}

/** Start with another position, without a selected territory; return a function for `open`. */
function begin(state, board = store.board) {
  const words = store.state?.steps.length ? "Undo: continue the game" : "Undo";
  Object.assign(store, { chosen: null, brush: state.mover });
  announce("");
  replace(state, { board, words });
  return () => store.map.begin();
}

listen("restore", "click", () =>
  open(() => {
    const { board, state } = store.undone.pop();
    const left = [...store.undone];
    replace(state, { board });
    update({ undone: left });
  }),
);

async function startExample(example) {
  const { board, state } = await loadExample(example);
  return begin({ ...state, played: store.state.played }, board);
}

/** Open the page with the first example. */
async function showExample() {
  const { board, state } = await loadExample(EXAMPLES[0]);
  showFirst({ ...state, played: true }, board);
}

/** Open the page with a new game. */
async function showGame() {
  const board = await loadBoard("");
  showFirst(await dealGame(board, QUICK), board);
}

/** Start a new game: like the game on the page, or with one person and two computers. */
async function startGame() {
  if (!mayEnd()) return null;
  if (isGame()) return begin(await dealAgain(store.board, store.state));
  const board = await loadBoard("");
  return begin(await dealGame(board, QUICK), board);
}
listen("new-game", "click", () => open(startGame));
listen("set-up-game", "click", () =>
  openDialog(async (given, wishes) => {
    const board = given ?? (await loadBoard(""));
    const state = await dealGame(board, wishes);
    if (mayEnd()) await open(() => begin(state, board));
  }),
);
takeSelectedFiles(
  on["new-file"],
  async (text, name) => {
    try {
      offerBoard((await readText(text, name)).board);
    } catch (error) {
      on["new-wrong"].textContent = error.message;
    }
  },
  (sentence) => {
    on["new-wrong"].textContent = sentence;
  },
);
listen("resign", "click", () => {
  showExtra(false);
  update({ isResigning: true, view: "" });
});
listen("hint", "click", askHint);
listen("advice", "click", switchAdvice);
listen("showing", "change", () => switchShowing(on.showing.value));

/** Show an empty board to set up. */
async function startEmpty() {
  const board = await loadBoard("");
  showFirst(emptyTerritories(makeState(board, "", look.names)), board);
}

/** Open the code of a turn in the address, such as that of another page's answer. */
async function openCode(code, boardCode) {
  try {
    const beside = await loadBoard(boardCode);
    const { board, state } = await readText(code, "board", beside.board);
    showFirst({ ...state, played: true }, board);
  } catch (error) {
    await showExample();
    on.wrong.textContent = error.message;
  }
}

/** Show the position with which the page opens. */
function showFirst(state, board) {
  useBoard(board);
  forgetBegun();
  Object.assign(store, { state, brush: state.mover });
  store.isOpened = true;
  history.replaceState(null, "", makeLink());
  update({ state });
}

/** Open the text of a file: a position or a board. */
async function openText(text, name) {
  on.wrong.textContent = "";
  const [link] = /#v=\d+&\S+/.exec(text) ?? [];
  if (link) return mayEnd() ? openLink(link) : null;
  const { board, state, isPosition } = await readText(text, name, store.board.board);
  if (!mayEnd()) return null;
  const finish = begin(state, board);
  announce(
    isPosition
      ? `Loaded the position on ${board.name}.`
      : `Loaded the board ${board.name}: ${board.territories.length} territories.`,
  );
  remember(board, store.state);
  return finish;
}

let isOpening = false; // whether the address names a position that is not open yet

addEventListener("pagehide", () => {
  if (store.state && !isOpening) history.replaceState(null, "", makeLink());
});
function openAddress() {
  const { hash } = location;
  isOpening = true;
  open(async () => {
    await restore(hash);
    isOpening = false;
  });
}
addEventListener("popstate", openAddress);

listen("smaller", "click", () => store.map.zoomBy(1 / 1.4));
listen("larger", "click", () => store.map.zoomBy(1.4));
listen("projector", "click", () => project(true));
listen("leave", "click", () => project(false));
listen("to-extra", "click", () => {
  showExtra(on.extra.hidden);
  store.isExtraNew = store.isBusy;
  if (!on.extra.hidden) on.extra.scrollIntoView({ block: "nearest" });
});

function project(isOn) {
  if (isOn) document.documentElement.requestFullscreen?.().catch(() => {});
  else if (document.fullscreenElement) document.exitFullscreen();
  document.body.classList.toggle("projecting", isOn);
  on.leave.hidden = !isOn;
}

listen("to-setup", "click", () => {
  forgetBegun();
  if (isGame()) commit(leaveGame(store.state), { isStep: true });
  else if (store.state.steps.length) update({ fixes: {}, brush: null, isPicking: false, view: "" });
  else commit({ ...store.state, played: false }, { isStep: true });
});
listen("to-play", "click", () => {
  if (store.fixes) return correct();
  store.undone = [];
  tree.forgetError();
  remember(store.board, store.state);
  closePad();
  open(() => {
    commit({ ...store.state, played: true }, { isStep: true });
    return () => store.map.reveal(store.map.findLargestStack());
  });
});

listen("corrected", "click", correct);
listen("start-over", "click", () => {
  const parts = { steps: [], at: 0, played: false };
  if (mayEnd()) open(() => begin({ ...store.state, ...parts }));
});
listen("pad", "click", ({ target }) => target.dataset.key && pressPad(target.dataset.key));
listen("all", "click", () => {
  on.all.ariaPressed = String(on.all.ariaPressed !== "true");
  render();
});
listen("example", "change", () => {
  const [kind, ...digits] = on.example.value;
  const number = Number(digits.join(""));
  if (kind === "e") open(() => startExample(EXAMPLES[number]));
  if (kind === "r") location.hash = listRecent()[number].fragment;
  on.example.value = "";
});
takeFiles(on.file, (text, name) => open(() => openText(text, name)), showError);
listenToSubmit("paste", () => open(() => openText(on.pasted.value, "board")));
/** Ask the server, and call `take` with the answer; show the reason of a refusal. */
const ask = (question, body, take) =>
  postJson(`api/v1/${question}`, body).then(take).catch(showError);

listen("save", "click", () =>
  ask("position/write", { setup: makeSetup(store.state), board: store.board.board }, ({ text }) =>
    saveFile("position.json", text),
  ),
);
listen("add-player", "click", () => {
  const { players } = store.state;
  const isFree = (name) => !players.some((other) => other.toLowerCase() === name);
  change({ players: [...players, look.names.find(isFree)] });
});
listenToSubmit("deal", () => {
  const { board, state } = store;
  const sizes = { players: state.players.length, territories: board.territories.length };
  ask("board/deal", { ...sizes, armies: readWhole(on.each, 1) }, (dealt) =>
    replace(changeState(state, { ...dealt, goal: "", keep: {}, stay: [] })),
  );
});
listenToSubmit("rest", () => {
  const player = Number(on["rest-player"].value);
  const armies = readWhole(on["rest-armies"], 1);
  if (!checkArmies(armies)) return;
  store.brush = player;
  const filled = fillTerritories(store.state, armies, player);
  replace(filled, { words: "Undo the fill" });
});
listen("clear", "click", () => open(() => begin(emptyTerritories(store.state))));
listen("rules", "change", () => change({ rules: on.rules.value }));
listen("fresh", "change", () => {
  const fresh = readWhole(on.fresh, 0);
  if (on.fresh.reportValidity() && checkArmies(fresh, look.fresh)) change({ fresh });
});
listen("usual", "click", () =>
  countNewArmies(store.board, store.state)
    .then((fresh) => change({ fresh }))
    .catch(showError),
);

listen("games", "toggle", () => store.render());
listen("save-game", "click", () => saveFile("risk-game.txt", `${findWholeLink()}\n`));
actions.openGame = (id) => open(() => openLink(findKept(id)));

listen("code", "click", () => shareText(on.code, findCode()));
listen("link", "click", () => actions.copyLink(on.link));
listen("text", "click", () => shareText(on.text, `${describePosition()} ${findLink()}`));
for (const id of ["map-picture", "map-picture-svg"])
  listen(id, "click", () =>
    shareMap(on.map, describePosition(findPlan()), listBattles(), id === "map-picture-svg"),
  );
listen("sharing", "toggle", () => on.sharing.open && showShared());

/** Return the sentence about a plan, or about the position if there is no plan. */
function describePosition(plan = findPlan(0)) {
  const { board, state } = store;
  const name = findPlayer(state.mover).short;
  return plan?.sentences[0] ?? `${capitalise(name)} moves on ${board.name}.`;
}

/** Return the battles that the map shows as arrows, each as a line of text. */
function listBattles() {
  const arrows = store.map.shown.scene?.arrows ?? [];
  const more = (findPlan()?.whole_scene?.arrows.length ?? 0) - arrows.length;
  const lines = arrows.map(
    ({ number, words, taken }) => `${number}. ${words}: taken with ${taken}`,
  );
  return arrows.length && more > 0 ? [...lines, `and ${more} more`] : lines;
}

/** Show the list of goals or threats, or return to the next action. */
const toggleView = (view) => update({ view: store.view === view ? "" : view });

listen("goal-now", "click", () => toggleView("goals"));
listen("threatened", "click", () => toggleView("threats"));
listen("kind", "change", () => chooseGoal(on.kind.value, "goals"));
listen("hold", "change", () => chooseGoal(setHold(findGoal().text, on.hold.checked), store.view));
listen("pick", "click", () =>
  update(store.isPicking ? { isPicking: false, view: "" } : { isPicking: true, view: "goals" }),
);
listen("back", "click", () => actions.goToStep(findStepBefore(store.state.at)));
listen("forth", "click", () => actions.goToStep(findNextStep(store.state.steps, store.state.at)));
listen("undo", "click", () => {
  const { state } = store;
  forgetBegun();
  const before = findStepBefore(state.at);
  const { after } = state.steps[state.at - 1];
  const last = after === before ? state.at : after;
  const gone = isGame() ? findOwnStep(state.at) : last;
  const asked = state.asked + Number(isGame());
  store.isUndoing = isGame() && Boolean(gone);
  if (gone) commit({ ...state, ...tree.remove(state, gone), asked }, { isStep: true });
});
listen("whole", "toggle", render);
listen("note", "click", () => {
  const { state } = store;
  const note = prompt("A comment on this step", state.steps[state.at - 1].note ?? "");
  if (note === null) return;
  const step = { ...state.steps[state.at - 1], note: cutNote(note) };
  commit({ ...state, steps: state.steps.with(state.at - 1, step) }, { isStep: true });
});
listen("command", "click", () => shareText(on.command, findPlan().command));
listen("python", "click", () => shareText(on.python, findPlan().python));
listen("log", "click", async () => saveFile("game.jsonl", await requestLog()));
listen("review", "click", actions.openReview);

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (key === "Escape") {
    project(false);
    closePad();
  }
  const { state } = store;
  const isModified = event.altKey || event.ctrlKey || event.metaKey;
  if (!state || on.page.inert || !isAnalysing() || isModified) return;
  if (target.closest?.("input, select, textarea, svg, dialog")) return;
  if (key === "ArrowLeft" && state.at) on.back.click();
  if (key === "ArrowRight" && findNextStep(state.steps, state.at)) on.forth.click();
});

/** Fit the page into the area above the keyboard of a phone, which is open while a field is used. */
function fitScreen() {
  document.documentElement.style.setProperty("--seen", `${visualViewport.height}px`);
  const { activeElement } = document;
  const isTyping = activeElement.matches("input[type=text], textarea");
  document.body.classList.toggle("low", isTyping && visualViewport.height < 560);
  if (isTyping) activeElement.scrollIntoView({ block: "center" });
}
visualViewport.addEventListener("resize", fitScreen);
fitScreen();

openAddress();
