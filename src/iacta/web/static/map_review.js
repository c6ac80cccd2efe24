// The review of a game: the luck of each player, the chances to win by turn, the worst moments.
//
// The server judges in the background: first all decisions of persons roughly, then the costliest in many games, then
// the chances to win. A decision is shown only if it is clearly worse than a computer's.

import { postJson, Refused, shareFile, Unreachable } from "./ask.js";
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

const MAX_MEASURED = 6; // decisions

const answers = new Map(); // the answers of the server, by the key of the request
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

function makeRequest(address, { board, ...body }) {
  const key = JSON.stringify([address, body]);
  return { address: `api/v1/${address}`, body: { ...body, board }, key };
}

/** Return the rough costs of the decisions in a turn, and the request for further costs, if any. */
function findRough({ body }) {
  const costs = [];
  let [missed, problem] = [0, null];
  for (let done = 0; done < body.texts.length; ) {
    const request = makeRequest("turn/judge", { ...body, done });
    const found = answers.get(request.key);
    if (!found) return { costs, missed, problem, request };
    costs.push(...found.costs);
    missed += found.missed;
    ({ done, problem = problem } = found);
  }
  return { costs, missed, problem };
}

/** Return the costliest decisions in different turns, and the request to measure another one, if any. */
function findMoments(turns, rough) {
  const open = rough.flatMap(({ costs }, n) => costs.map((each) => ({ ...each, turn: turns[n] })));
  const moments = [];
  let [measured, missed, problem] = [0, 0, null];
  for (const { turn, step, cost } of sortByCost(open)) {
    const isEnough = moments.length >= MAX_MOMENTS && moments.at(-1).cost >= cost;
    if (measured >= MAX_MEASURED || isEnough) break;
    if (moments.some((each) => each.turn === turn)) continue;
    const texts = turn.body.texts.slice(0, step + 1);
    const request = makeRequest("decision/judge", { ...turn.body, texts });
    const found = answers.get(request.key);
    if (!found) return { moments, measured, missed, problem, request };
    measured += 1;
    missed += found.missed;
    ({ problem = problem } = found);
    if (found.moment) {
      const all = sortByCost([...moments, { ...found.moment, turn, step }]);
      moments.splice(0, Infinity, ...all.slice(0, MAX_MOMENTS));
    }
  }
  return { moments, measured, missed, problem };
}

const sortByCost = (decisions) => decisions.toSorted((a, b) => b.cost - a.cost);

/** Return the review as far as it is known, and the next request to the server, if any. */
function makeReview() {
  const turns = listTurns();
  const rough = turns.map(findRough);
  const isRough = rough.some(({ request }) => request);
  const found = isRough ? { moments: [], missed: 0 } : findMoments(turns, rough);
  const starts = turns.map(({ body }) => makeRequest("turn/judge", { ...body, texts: [] }));
  const wins = starts.map(({ key }) => answers.get(key));
  const known = wins.filter(Boolean).length;
  const persons = turns.filter(({ body }) => body.texts.length).length;
  const left = rough.filter(({ request }) => request).length;
  const progress = isRough
    ? `Looking for the worst moments: ${persons - left} of ${persons} turns …`
    : found.request
      ? `Playing games from the costliest decisions: ${found.measured} so far …`
      : known < turns.length &&
        `Estimating the chances to win: ${known} of ${turns.length} turns …`;
  const first = [...rough.map(({ request }) => request), found.request].find(Boolean);
  return {
    turns,
    wins: wins.map((each) => each?.wins),
    problem: [...rough, found, ...wins].map((each) => each?.problem).find(Boolean),
    moments: found.moments,
    isComplete: !first,
    missed: rough.reduce((sum, { missed }) => sum + missed, found.missed),
    progress,
    request: first ?? starts.find(({ key }) => !answers.has(key)),
  };
}

/** Send the requests for all missing judgements, one request after the other. */
async function judge() {
  if (isAsking) return;
  isAsking = true;
  let request = null;
  try {
    while (isReviewed()) {
      ({ request } = makeReview());
      if (!request) break;
      answers.set(request.key, await postJson(request.address, request.body));
      store.render();
    }
  } catch (error) {
    if (!(error instanceof Refused)) console.error(error);
    if (error instanceof Refused && !(error instanceof Unreachable))
      answers.set(request.key, { costs: [], missed: 0, done: Infinity, problem: error.message });
    setTimeout(() => store.render(), RETRY);
  }
  isAsking = false;
}

/** Return the review up to the current step, and judge the other turns. */
export function showReview() {
  judge();
  const found = makeReview();
  const { missed, problem, progress } = found;
  const said = progress || (missed > 0 && `${missed} of your decisions could not be judged.`);
  return element(
    "div",
    { id: "game-review" },
    showWins(found),
    hasPersons() && showMoments(found, !problem),
    showLuck(),
    element("p", { className: "help", role: "status" }, problem ?? said),
  );
}

/** Return the numbers of the players who move. */
function listPlayers() {
  const { players, neutral } = store.state;
  return [...players.keys()].filter((player) => !neutral.includes(player));
}

/** Return the luck of each player in armies. */
function showLuck() {
  const { steps, at, players } = store.state;
  const sums = players.map(() => 0);
  for (const k of findPath(steps, at)) {
    if (isGoalStep(steps[k - 1])) continue;
    const { mover } = findTurn(steps[k - 1].after);
    sums[mover] += findTurn(k).luck_armies ?? 0;
  }
  const rows = listPlayers().map((player) => [
    [markPlayer(player), ` ${findPlayer(player).short}`],
    `${sums[player] < 0 ? "−" : "+"}${Math.abs(sums[player]).toFixed(1)}`,
  ]);
  return [element("h4", {}, "Luck in own attacks"), table(["", "armies"], rows)];
}

/** Return the chances to win: at the start of each turn up to the first unknown turn, and at the end. */
function listWins({ turns, wins }) {
  const open = wins.indexOf(undefined);
  const first = open < 0 ? wins : wins.slice(0, open);
  const known = first.flatMap((each, n) => (each ? [[n, each]] : []));
  const { winner } = findTurn();
  return isWon() && open < 0 ? [...known, [turns.length, { [winner]: 1 }]] : known;
}

/** Return the graph of the chances to win by turn. */
function showWins(found) {
  const known = listWins(found);
  const last = found.turns.length - Number(!isWon());
  if (known.length < 2 || !last) return [];
  const curves = store.state.players.flatMap((name, player) => {
    const points = known.map(([n, wins]) => [n / last, wins[name] ?? 0]);
    return drawCurve(points, findPlayer(player).colour, "win");
  });
  const label = `The chance to win by turn, for ${store.state.players.join(", ")}`;
  const names = listPlayers().flatMap((player) => [
    markPlayer(player),
    ` ${findPlayer(player).short} `,
  ]);
  return [
    element("h4", {}, "Chance to win by turn"),
    showCurves("wins", label, curves),
    element("p", { className: "help" }, names),
  ];
}

/** Return the costliest decisions of the persons in different turns, each to be played again. */
function showMoments({ moments, isComplete }, isPossible) {
  const persons = store.state.seats.filter((seat) => seat === PERSON || RESIGNED.test(seat)).length;
  const rows = moments.map(({ turn, step, words, figure, better }) => {
    const k = turn.path[step];
    const name = persons > 1 ? `, ${findPlayer(turn.mover).short}` : "";
    const said = `Round ${countRounds(turn.start) + 1}${name}: ${words}`;
    return makeChoice(said, figure, "", false, () => openMoment(k, better, `${words}: ${figure}`));
  });
  const none =
    isPossible && isComplete && "No decision was clearly worse than a medium computer's.";
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
  const wins = listWins(makeReview()).map(([, each]) => each);
  const rounds = countRounds() + 1;
  const sentence = `${turn.sentence} ${rounds} ${rounds === 1 ? "round" : "rounds"}.`;
  const body = { code: turn.code, board: board.board, players: state.players, wins, sentence };
  try {
    const { png } = await postJson("api/v1/game/draw", body);
    const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
    await shareFile("game.png", bytes, "image/png", sentence);
  } catch (error) {
    on.wrong.textContent = error.message;
  }
}
