// The review of a game: the luck of each player, the chances to win by turn, the worst moments.
//
// The server judges one turn at a time, in the background. Decisions without a judgement are not shown.

import { postJson, Refused, saveFile, Unreachable } from "./ask.js";
import { countRounds, hasPersons, isReviewed, isWon, PERSON, RESIGNED } from "./map_game.js";
import { findPath, isGoalStep } from "./map_history.js";
import { findPlayer } from "./map_labels.js";
import { makeChoice, markPlayer } from "./map_parts.js";
import { leaveGame } from "./map_state.js";
import { commit, findTurn, forgetBegun, store, tree } from "./map_store.js";
import { drawCurve, showCurves } from "./map_worth.js";
import { announce, on, showError } from "./page.js";
import { element, table } from "./redraw.js";

const MAX_MOMENTS = 3;
const RETRY = 4000; // milliseconds until a request is repeated that failed

const judged = new Map(); // the answers of the server, by turn
let isAsking = false;

/** Return the turns up to the current step, each with the numbers of its start and its steps. */
function listTurns() {
  const { steps, at, seats } = store.state;
  const turns = [{ start: 0, path: [] }];
  for (const k of findPath(steps, at)) {
    if (steps[k - 1].text === "n") turns.push({ start: k, path: [] });
    else turns.at(-1).path.push(k);
  }
  return turns.map(({ start, path }) => {
    const { code, mover } = findTurn(start);
    const [, resigned] = RESIGNED.exec(seats[mover]) ?? [];
    const last = seats[mover] === PERSON ? steps.length : Number(resigned ?? 0);
    const own = path.filter((k) => k <= last && !isGoalStep(steps[k - 1]));
    const texts = own.map((k) => steps[k - 1].text);
    const { board } = store.board;
    return { start, path: own, mover, body: { code, texts, players: store.state.players, board } };
  });
}

const makeKey = ({ body: { board, ...body } }) => JSON.stringify(body);
const findJudged = (turn) => judged.get(makeKey(turn)) ?? { wins: null, moments: [], done: -1 };
const isJudged = (turn) => findJudged(turn).done >= turn.body.texts.length;

/** Return the next turn to judge, the turns of persons first; undefined for none. */
function findOpenTurn() {
  const open = isReviewed() ? listTurns().filter((turn) => !isJudged(turn)) : [];
  return open.find(({ body }) => body.texts.length) ?? open[0];
}

/** Judge the turns that are not judged yet, one after the other. */
async function judge() {
  if (isAsking) return;
  isAsking = true;
  let turn = null;
  try {
    for (;;) {
      turn = findOpenTurn();
      if (!turn) break;
      const { wins, moments, missed = 0, done } = findJudged(turn);
      const found = await postJson("api/v1/turn/judge", { ...turn.body, done: Math.max(done, 0) });
      judged.set(makeKey(turn), {
        wins: wins ?? found.wins,
        moments: [...moments, ...found.moments],
        missed: missed + found.missed,
        done: found.done,
      });
      store.render();
    }
  } catch (error) {
    if (!(error instanceof Refused)) console.error(error);
    if (error instanceof Refused && !(error instanceof Unreachable))
      judged.set(makeKey(turn), { ...findJudged(turn), done: Infinity, problem: error.message });
    setTimeout(() => store.render(), RETRY);
  }
  isAsking = false;
}

/** Return the review up to the current step, and judge the other turns. */
export function showReview() {
  judge();
  const turns = listTurns();
  const count = turns.filter(isJudged).length;
  const missed = turns.reduce((sum, turn) => sum + (findJudged(turn).missed ?? 0), 0);
  const progress =
    count < turns.length
      ? `Judging the game: ${count} of ${turns.length} turns …`
      : missed > 0 && `${missed} of your decisions could not be judged.`;
  const problem = turns.map((turn) => findJudged(turn).problem).find(Boolean);
  return element(
    "div",
    { id: "game-review" },
    showLuck(),
    showWins(turns),
    hasPersons() && showMoments(turns, !problem),
    element("p", { className: "help", role: "status" }, problem ?? progress),
  );
}

/** Return the luck of each player in armies. */
function showLuck() {
  const { steps, at, players, neutral } = store.state;
  const sums = players.map(() => 0);
  for (const k of findPath(steps, at)) {
    if (isGoalStep(steps[k - 1])) continue;
    const { mover } = findTurn(steps[k - 1].after);
    sums[mover] += findTurn(k).luck_armies ?? 0;
  }
  const rows = [...players.keys()]
    .filter((player) => !neutral.includes(player))
    .map((player) => [
      [markPlayer(player), ` ${findPlayer(player).short}`],
      `${sums[player] < 0 ? "−" : "+"}${Math.abs(sums[player]).toFixed(1)}`,
    ]);
  return [element("h4", {}, "Luck in own attacks"), table(["", "armies"], rows)];
}

/** Return the known chances to win: at the start of each turn, and at the end of the game. */
function listWins(turns) {
  const known = turns.flatMap((turn, n) => {
    const { wins } = findJudged(turn);
    return wins ? [[n, wins]] : [];
  });
  const { winner } = findTurn();
  return isWon() ? [...known, [turns.length, { [winner]: 1 }]] : known;
}

/** Return the graph of the chances to win by turn. */
function showWins(turns) {
  const known = listWins(turns);
  const last = turns.length - Number(!isWon());
  if (known.length < 2 || !last) return [];
  const curves = store.state.players.flatMap((name, player) => {
    const points = known.map(([n, wins]) => [n / last, wins[name] ?? 0]);
    return drawCurve(points, findPlayer(player).colour, "win");
  });
  const label = `The chance to win by turn, for ${store.state.players.join(", ")}`;
  return [element("h4", {}, "Chance to win by turn"), showCurves("wins", label, curves)];
}

/** Return the costliest decisions of the persons in different turns, each to be played again. */
function showMoments(turns, isPossible) {
  const { state } = store;
  const isComplete = isPossible && turns.every((turn) => isJudged(turn) || !turn.body.texts.length);
  const persons = state.seats.filter((seat) => seat === PERSON || RESIGNED.test(seat)).length;
  const sort = (moments) => moments.toSorted((a, b) => b.cost - a.cost);
  const worst = turns.flatMap((turn) =>
    sort(findJudged(turn).moments)
      .slice(0, 1)
      .map((moment) => ({ ...moment, turn })),
  );
  const found = sort(worst).slice(0, MAX_MOMENTS);
  const rows = found.map(({ turn, step, words, figure, better }) => {
    const k = turn.path[step];
    const name = persons > 1 ? `, ${findPlayer(turn.mover).short}` : "";
    const said = `Round ${countRounds(turn.start) + 1}${name}: ${words}`;
    return makeChoice(said, figure, "", false, () => openMoment(k, better, `${words}: ${figure}`));
  });
  const none = isComplete && "No decision was clearly worse than a medium computer's.";
  const help = rows.length
    ? "Points: percent of games won if medium computers play on. Tap a moment to play it again."
    : none;
  return [
    element("h4", {}, persons > 1 ? "The worst moments" : "Your worst moments"),
    rows.length > 0 &&
      element("ol", { id: "moments", className: "moves", ariaLabel: "Worst moments" }, rows),
    help && element("p", { className: "help" }, help),
  ];
}

/** Open the board before a decision, with the better decision as a variation. */
async function openMoment(k, better, words) {
  if (store.isBusy) return;
  const { state, board } = store;
  const at = state.steps[k - 1].after;
  const find = (name) => board.territories.indexOf(name);
  const [from, to] = better.from ? [find(better.from), find(better.to)] : [null, null];
  store.isBusy = true;
  // The dice of an attack are not known, so an attack is only selected.
  const isTaken = better.do !== "attack";
  const taken = isTaken && (await tree.take(board, { ...state, at }, better).catch(showError));
  const { steps } = taken || state;
  store.isBusy = false;
  forgetBegun();
  store.hint = { words: `Better: ${words}.`, from, to };
  if (better.do === "attack") Object.assign(store, { picked: { from, to }, view: "attack" });
  commit({ ...leaveGame(state), steps, at }, { isStep: true });
  announce(store.hint.words);
}

/** Save the picture of the game. */
export async function savePicture() {
  const { state, board } = store;
  const turn = findTurn();
  const wins = listWins(listTurns()).map(([, each]) => each);
  const rounds = countRounds() + 1;
  const sentence = `${turn.sentence} ${rounds} ${rounds === 1 ? "round" : "rounds"}.`;
  const body = { code: turn.code, board: board.board, players: state.players, wins, sentence };
  try {
    const { png } = await postJson("api/v1/game/draw", body);
    const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
    saveFile("game.png", bytes, "image/png");
  } catch (error) {
    on.wrong.textContent = error.message;
  }
}
