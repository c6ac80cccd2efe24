// The board page: opens positions and connects the controls beside the map.
//
// The page shows one state, on the map and beside it, and stores the state in the URL. Players set
// up a position, and then analyse the turn that starts there. The server applies the rules, and the
// page shows its answers. `map_store.js` contains all mutable data, `map_jobs.js` the background
// requests to the server, and `map_actions.js` the actions; `map_page.js` draws the page.

import { postJson, Refused, saveFile } from "./ask.js";
import {
  act,
  choose,
  click,
  closePad,
  correct,
  findStepBefore,
  openPad,
  play,
  pressPad,
  readWhole,
  share,
  type,
  writeLog,
} from "./map_actions.js";
import { BoardMap, shortenName } from "./map_board.js";
import { findNextStep, removeStep } from "./map_history.js";
import { findPlan, forgetAnswers } from "./map_jobs.js";
import { MAX_NOTE, readLink, writeLink } from "./map_link.js";
import {
  EXAMPLES,
  listRecent,
  loadBoard,
  loadExample,
  makePosition,
  readText,
  remember,
} from "./map_open.js";
import { render, showShared } from "./map_page.js";
import {
  canAim,
  changeState,
  dealTerritories,
  fillTerritories,
  findGoalOfTurn,
  makeState,
  NAMES,
  storeGoal,
  writeCode,
} from "./map_state.js";
import {
  address,
  commit,
  findCode,
  findLink,
  forgetBegun,
  isAnalysing,
  look,
  store,
  update,
} from "./map_store.js";
import { announce, on, takeFiles } from "./page.js";

store.render = render;
store.map = new BoardMap({
  root: on.map,
  view: on.view,
  names: on.names,
  look,
  click,
  hold: openPad,
  choose,
  type,
});

const listen = (name, event, handler) => on[name].addEventListener(event, handler);
const listenToSubmit = (name, handler) =>
  listen(name, "submit", (event) => {
    event.preventDefault();
    handler();
  });

/** Change parts of the state. */
const change = (parts, options) => commit(changeState(store.state, parts), options);

/** Show the state in the URL, and an error if a part of the URL cannot be read. */
async function restore() {
  address.cancel();
  const fragment = location.hash;
  if (store.board && fragment === "#main") return; // the target of the link that skips the menu
  if (!fragment || fragment === "#main") return startExample(EXAMPLES[0], { isFirst: true });
  const code = new URLSearchParams(fragment.slice(1)).get("b") ?? "";
  let wrong = "";
  if (store.state?.code !== code) {
    try {
      useBoard(await loadBoard(code));
    } catch (error) {
      useBoard(await loadBoard(""));
      const reason = error instanceof Refused ? `: ${error.message}` : "; it may be incomplete";
      wrong = `Cannot read the board in the address${reason}.`;
    }
  }
  const { state, problem } = readLink(wrong ? "" : fragment, store.board, look.steps);
  forgetBegun();
  on.wrong.textContent = wrong || problem;
  update({ state: storeGoal(state), chosen: null });
}

function useBoard(board) {
  forgetAnswers();
  Object.assign(store, { board, chosen: null, isPicking: false, view: "" });
  store.map.setBoard(board);
  on["board-name"].textContent = shortenName(board.name);
  const [first] = board.remarks;
  const count = board.remarks.length === 1 ? "One remark" : `${board.remarks.length} remarks`;
  on.remarks.textContent = first ? `${count} on this board: ${first.text}` : "";
}

function countSteps() {
  const count = store.state.steps.length;
  return count === 1 ? "one step" : `${count} steps`;
}

/** Return whether the current game may be replaced; ask the player if the game has steps. */
const mayEnd = () =>
  !store.state?.steps.length ||
  confirm(`Start over? This ends the game with its ${countSteps()}. You can undo it.`);

/** Replace the position, and show a button with the label `words` that restores the old state. */
function replace(state, { board = store.board, words = "Undo" } = {}) {
  const replaced = { board: store.board, state: store.state, words };
  if (board !== store.board) useBoard(board);
  forgetBegun();
  store.replaced = replaced;
  commit(state, { isStep: true });
}

/** Start with another position, without a selected territory. */
function begin(state, board = store.board) {
  const words = store.state?.steps.length ? "Undo: continue the game" : "Undo";
  Object.assign(store, { chosen: null, brush: 0 });
  announce("");
  replace(state, { board, words });
  store.map.begin();
}

listen("restore", "click", () => {
  const { board, state } = store.replaced;
  replace(state, { board });
  update({ replaced: null });
});

async function startExample(example, { isFirst = false } = {}) {
  const before = store.board;
  const found = await loadExample(example);
  if (isFirst && store.board !== before) return; // another board was opened in the meantime
  const state = { ...found.state, played: isFirst || store.state.played };
  if (!isFirst) return begin(state, found.board);
  useBoard(found.board);
  forgetBegun();
  history.replaceState(null, "", writeLink(state));
  update({ state });
}

/** Open the text of a file: a position or a board. */
async function openText(text, name) {
  on.wrong.textContent = "";
  try {
    const { board, state, code } = await readText(text, name, store.board);
    if (!mayEnd()) return;
    begin(state ?? makeState(board, code), board);
    announce(
      state
        ? `Loaded the position on ${board.name}.`
        : `Loaded the board ${board.name}: ${board.territories.length} territories.`,
    );
    remember(board, store.state);
  } catch (error) {
    on.wrong.textContent = error.message;
  }
}

addEventListener("pagehide", () => {
  if (store.state) history.replaceState(null, "", writeLink(store.state));
});
addEventListener("popstate", restore);

listen("smaller", "click", () => store.map.zoomBy(1 / 1.4));
listen("larger", "click", () => store.map.zoomBy(1.4));
listen("projector", "click", () => project(!document.body.classList.contains("projecting")));

function project(isOn) {
  if (isOn) document.documentElement.requestFullscreen?.().catch(() => {});
  else if (document.fullscreenElement) document.exitFullscreen();
  document.body.classList.toggle("projecting", isOn);
  on.projector.textContent = isOn ? "Leave" : "Projector";
}

listen("to-setup", "click", () => {
  forgetBegun();
  if (store.state.steps.length) update({ fixes: {}, brush: null, isPicking: false, view: "" });
  else commit({ ...store.state, played: false }, { isStep: true });
});
listen("to-play", "click", () => {
  if (store.fixes) return correct();
  store.replaced = null;
  remember(store.board, store.state);
  closePad();
  commit({ ...store.state, played: true }, { isStep: true });
  store.map.reveal(store.map.findLargestStack());
});

listen("corrected", "click", correct);
listen("start-over", "click", () => {
  const goal = findGoalOfTurn(store.state, 0);
  if (mayEnd()) begin({ ...store.state, ...goal, steps: [], at: 0, played: false });
});
listen("pad", "click", ({ target }) => target.dataset.key && pressPad(target.dataset.key));
listen("all", "click", () => {
  on.all.ariaPressed = String(on.all.ariaPressed !== "true");
  render();
});
listen("example", "change", () => {
  const [kind, ...digits] = on.example.value;
  const number = Number(digits.join(""));
  if (kind === "e") startExample(EXAMPLES[number]);
  if (kind === "r") location.hash = listRecent()[number].fragment;
  on.example.value = "";
});
takeFiles(on.file, openText, (sentence) => {
  on.wrong.textContent = sentence;
});
listenToSubmit("paste", () => openText(on.pasted.value, "board"));
listen("save", "click", () => {
  const position = makePosition(store.board, store.state);
  saveFile("position.json", JSON.stringify(position, null, 2));
});
listen("add-player", "click", () => {
  const { players } = store.state;
  const isFree = (name) => !players.some((other) => other.toLowerCase() === name);
  change({ players: [...players, NAMES.find(isFree)] });
});
listenToSubmit("deal", () => replace(dealTerritories(store.state, readWhole(on.each, 1))));
listenToSubmit("rest", () => {
  const armies = readWhole(on["rest-armies"], 1);
  const words = "Undo the fill";
  replace(fillTerritories(store.state, armies, Number(on["rest-player"].value)), { words });
});
listen("clear", "click", () => {
  const { owners } = store.state;
  const empty = { owners: owners.map(() => -1), armies: owners.map(() => 0) };
  begin(changeState(store.state, { ...empty, goal: "", targets: [], keep: {}, stay: [] }));
});
listen("rules", "change", () => change({ rules: on.rules.value }));
listen("forget-condition", "click", () => change({ victory: "" }));
listen("fresh", "change", () => {
  if (on.fresh.reportValidity()) change({ fresh: readWhole(on.fresh, 0) });
});
listen("usual", "click", async () => {
  const { board, state } = store;
  try {
    const code = writeCode(board, { ...state, fresh: 0 });
    const { turns } = await postJson("api/v1/turn/replay", { code, board: board.board, steps: [] });
    change({ fresh: turns[0].usual });
  } catch (error) {
    on.wrong.textContent = error.message;
  }
});

listen("code", "click", () => share(on.code, findCode()));
listen("link", "click", () => act.copyLink(on.link));
listen("text", "click", () => {
  const { board, state } = store;
  const name = state.players[state.mover];
  const sentence = findPlan(0)?.sentences[0] ?? `${name} moves on ${board.name}.`;
  share(on.text, `${sentence} ${findLink()}`);
});
listen("sharing", "toggle", () => on.sharing.open && showShared());

/** Show the list of goals or threats, or return to the next action. */
const toggleView = (view) => update({ view: store.view === view ? "" : view });

listen("goal-now", "click", () => toggleView("goals"));
listen("threatened", "click", () => toggleView("threats"));
listen("kind", "change", () => {
  const [goal, k] = on.kind.value.split(" ");
  Object.assign(store, { view: "goals", isPicking: canAim({ goal }) });
  play({ goal, ...(k && { [goal === "continent" ? goal : "victim"]: Number(k) }) });
});
listen("hold", "change", () => change({ hold: on.hold.checked }));
listen("pick", "click", () => update({ isPicking: !store.isPicking }));
listen("back", "click", () => act.go(findStepBefore(store.state.at)));
listen("forth", "click", () => act.go(findNextStep(store.state.steps, store.state.at)));
listen("undo", "click", () => {
  const { state } = store;
  forgetBegun();
  const before = findStepBefore(state.at);
  const { after } = state.steps[state.at - 1];
  const gone = after === before ? state.at : after;
  commit({ ...state, ...removeStep(state.steps, gone) }, { isStep: true });
});
listen("whole", "toggle", render);
listen("note", "click", () => {
  const { state } = store;
  const note = prompt("A comment on this step", state.steps[state.at - 1].note ?? "");
  if (note === null) return;
  const step = { ...state.steps[state.at - 1], note: note.slice(0, MAX_NOTE) };
  commit({ ...state, steps: state.steps.with(state.at - 1, step) }, { isStep: true });
});
listen("command", "click", () => share(on.command, findPlan().command));
listen("python", "click", () => share(on.python, findPlan().python));
listen("log", "click", () => saveFile("game.jsonl", writeLog()));
listen("review", "click", act.review);

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (key === "Escape") {
    project(false);
    closePad();
  }
  const { state } = store;
  const isModified = event.altKey || event.ctrlKey || event.metaKey;
  if (!state || !isAnalysing() || isModified) return;
  if (target.closest?.("input, select, textarea, svg, dialog")) return;
  if (key === "ArrowLeft" && state.at) on.back.click();
  if (key === "ArrowRight" && findNextStep(state.steps, state.at)) on.forth.click();
});

/** Fit the page into the area above the keyboard of a phone. */
function fitScreen() {
  document.documentElement.style.setProperty("--seen", `${visualViewport.height}px`);
  document.body.classList.toggle("low", visualViewport.height < 560);
  const { activeElement } = document;
  if (activeElement.matches("input, textarea")) activeElement.scrollIntoView({ block: "center" });
}
visualViewport.addEventListener("resize", fitScreen);
fitScreen();

addEventListener("beforeprint", () => {
  on.whole.dataset.wasOpen = String(on.whole.open);
  on.whole.open = true;
});
addEventListener("afterprint", () => {
  on.whole.open = on.whole.dataset.wasOpen === "true";
});

restore();
