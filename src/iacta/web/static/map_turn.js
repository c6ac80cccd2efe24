// How a turn is shown: its chances, the one thing to do now, and the steps so far.

import { cut, svg } from "./map_board.js";
import { helpfulMove, share } from "./map_goals.js";
import { lineThrough, pathTo } from "./map_history.js";
import { element, table } from "./redraw.js";

/**
 * What is shown: the board, the state and its turns; what is known of them; what is begun on the
 * page; and in `act` what can be done.
 * @typedef {object} Shown
 * @property {object|null} now the turn
 * @property {(object|null)[]} values what each step was worth
 * @property {(k: number) => object|null} win who wins the game after a step
 * @property {import("./map_analysis.js").Entry|null} entry what is known of the goal now
 * @property {{from: number|null, to: number|null}} picked the border of the next attack or move
 * @property {Record<number, number>} placing new armies by territory
 * @property {number|null} moving how many armies are about to move in
 */

const button = (className, onclick, ...children) =>
  element("button", { type: "button", className, onclick }, ...children);
const tool = (words, onclick, more = {}) =>
  Object.assign(element("button", { type: "button", className: "tool", onclick, ...more }, words));
const number = (id, size, more = {}) =>
  element("input", {
    id,
    type: "text",
    inputMode: "numeric",
    autocomplete: "off",
    size,
    required: true,
    pattern: "\\s*\\d+\\s*",
    title: "a whole number",
    ...more,
  });
const dice = (id, placeholder) =>
  number(id, 6, { placeholder, required: false, pattern: ".*", title: "" }); // the server says what is wrong
const form = (id, className, send, ...children) =>
  element(
    "form",
    {
      id,
      className,
      async onsubmit(event) {
        event.preventDefault();
        if (await send(event.target.elements)) event.target.reset();
      },
    },
    ...children,
  );

const numberOf = ({ value }) => Number(value);
const percent = (part) => `${(100 * Math.min(Math.max(part, 0), 1)).toFixed(2)}%`;

/** Return points with their sign, as the server writes them; zero has none. */
const points = (value, isChance) =>
  (isChance ? 100 * value : value)
    .toFixed(isChance ? 1 : 2)
    .replace(/^-(?=0\.0+$)/, "")
    .replace(/^(?=\d)(?!0\.0+$)/, "+");

export const swatch = (shape, tone) =>
  svg(
    "svg",
    { class: "swatch", viewBox: "-1.4 -1.4 2.8 2.8", width: 16, height: 16, "aria-hidden": "true" },
    svg("path", { d: shape, fill: tone }),
  );

const isEnding = (now) => now?.phase === "fortify" || now?.phase === "over";

// What the turn and the game are worth.

/** Return the bars, and the sentence. */
export function showValue(c) {
  const { entry, now } = c;
  const found = entry?.found ?? null;
  const soFar = entry?.soFar;
  const offered = c.offers.find(({ isChosen }) => isChosen && !c.state.hold); // by a plan, too: it counts until there is a better one
  const value = Math.max(
    soFar?.value ?? -1,
    found?.is_chance === false ? -1 : (found?.value ?? -1),
    found ? -1 : (offered?.chance ?? -1),
  );
  const isBar = (value >= 0 || (found?.is_chance && found.value === null)) && !isEnding(now); // without a value only the bound is shown
  const isSaid = found && !(soFar && found.value === null); // "no estimate yet" holds only until there is one
  const said =
    now?.problem ??
    (isEnding(now)
      ? `${now.sentence} ${summary(c)}`
      : isSaid
        ? found.sentences.join(" ")
        : (soFar?.words ?? entry?.wrong));
  return [
    element(
      "div",
      { className: "chances" },
      element("span", { style: isBar ? "" : "visibility:hidden" }, "Goal"),
      goalBar(
        isBar,
        value,
        found ?? (offered && { ...offered.interval, bound: offered.interval.high }),
      ),
      element(
        "div",
        { className: "searching" },
        c.isSearching && found && tool("Stop", c.act.stop),
        !c.isSearching &&
          found &&
          !found.is_proven &&
          entry.seconds < c.longest &&
          tool("Search longer", c.act.longer),
      ),
      element("span", {}, "Game"),
      gameBar(c),
    ),
    element("p", { id: "game-said" }, gameWords(c)),
    element(
      "div",
      { className: "report" },
      element(
        "p",
        {},
        element(
          "strong",
          { id: "figure" },
          isEnding(now) ? "" : (found?.figure ?? (offered ? share(value) : "")),
        ),
        " ",
        element("span", { id: "report", ariaLive: "polite" }, said || c.waiting),
      ),
      element(
        "p",
        { id: "doing", role: "status" },
        c.isSearching ? (isSaid && soFar ? soFar.words : "Searching …") : "",
      ),
    ),
  ];
}

function goalBar(isBar, value, found) {
  const range =
    found &&
    found.high - found.low >= 0.001 &&
    `left:${percent(found.low)};width:${percent(found.high - found.low)}`;
  const bar = element(
    "div",
    {
      id: "bar",
      className: "bar",
      role: "meter",
      ariaLabel: "Chance of the goal",
      ariaValueMin: "0",
      ariaValueMax: "100",
      style: isBar ? "" : "visibility:hidden",
    },
    element("span", { className: "most", style: `width:${percent(found?.bound ?? 1)}` }),
    element("span", { className: "now", style: `width:${percent(value)}` }),
    range && element("span", { className: "range", style: range }),
  );
  if (value >= 0) bar.ariaValueNow = (100 * value).toFixed(2);
  return bar;
}

/** Return the bar of the whole game: each player's chance, hatched where its interval is. */
function gameBar(c) {
  const rows = c.win(c.state.at)?.players ?? [];
  let end = 0;
  const parts = rows.flatMap(({ player, win, interval: { low, high } }) => {
    const tone = c.tones[c.state.players.indexOf(player)];
    const part = element("span", {
      className: "part",
      style: `left:${percent(end)};width:${percent(win)};background:${tone}`,
    });
    end += win;
    const hatch =
      high > low &&
      end < 1 &&
      element("span", {
        className: "hatch",
        style: `left:${percent(end - (high - low) / 2)};width:${percent(high - low)}`,
      });
    return [part, hatch];
  });
  const words = rows.map(
    ({ player, win, interval: { low, high } }) =>
      `${cut(player)} ${share(win)}${high > low ? ` (${share(low)} to ${share(high)})` : ""}`,
  );
  const said = rows.length
    ? `Games won ${c.win(c.state.at).condition}: ${words.join(", ")}`
    : "Games won: not known yet";
  return element(
    "div",
    { id: "game", className: "bar game", role: "img", ariaLabel: said, title: said },
    parts.filter((_, k) => k % 2 === 0),
    parts.filter((_, k) => k % 2),
  );
}

/** Return who wins the game how often, under which condition, and under the simple player. */
function gameWords(c) {
  if (c.empty) return `${c.empty}: fill them to see who wins the game.`;
  const found = c.win(c.state.at);
  if (!found) return "Game: playing …";
  const list = found.players.map(({ player, win }, k) => [
    k ? ", " : " ",
    element(
      "span",
      { className: "whole" },
      c.mark(player),
      ` ${cut(player)} ${Math.round(100 * win)}%`,
    ),
  ]);
  return [`Game, ${found.condition}:`, list, ` (${simpleWords(found)})`];
}

const simpleWords = ({ players }) =>
  `like its simple player: ${players.map((row) => `${cut(row.player)} ${Math.round(100 * row.under_simple)}%`).join(", ")}`;

/** Return what dice and choices have changed in the turn that ends. */
function summary(c) {
  const path = pathTo(c.state.steps, c.state.at);
  const begun = path.findLastIndex((k) => c.state.steps[k - 1].do === "next") + 1;
  const known = path
    .slice(begun)
    .map((k) => c.values[k])
    .filter((each) => each && each.luck !== null);
  if (!known.length) return "";
  const [luck, cost] = ["luck", "cost"].map((name) =>
    known.reduce((sum, each) => sum + (each[name] ?? 0), 0),
  );
  return `In this turn: dice ${points(luck, known[0].is_chance)}, choices ${points(-cost, known[0].is_chance)}.`;
}

// What to do now.

/** Return what a phase of the turn asks for. */
export function doing(c) {
  const show = {
    place: placing,
    attack: attacking,
    advance: advancing,
    fortify: fortifying,
    over: ended,
  }[c.now?.phase];
  return show ? show(c) : [];
}

function placing(c) {
  const { now, act } = c;
  const best = c.entry?.found?.placement;
  const rest = now.new - Object.values(c.placing).reduce((sum, count) => sum + count, 0);
  return [
    element(
      "p",
      { id: "placing-said" },
      rest
        ? `${rest} of ${now.new} new armies to place: tap your territories.`
        : "No new armies are left: place these, or clear them.",
    ),
    element(
      "p",
      { className: "row" },
      best &&
        button(
          "primary",
          () => act.take({ do: "place", on: best }),
          `Best: ${best.map(([t, count]) => `${count} on ${cut(c.board.territories[t])}`).join(", ")}`,
        ),
      tool("Place mine", act.placeMine, { disabled: rest > 0 }),
      tool("Clear", act.placeAnew, { disabled: rest === now.new }),
    ),
    cards(c),
  ];
}

const cards = (c) =>
  form(
    "cards",
    "row",
    ({ got }) => c.act.take({ do: "get", armies: numberOf(got) }),
    element("label", { htmlFor: "got" }, "New armies from traded cards"),
    number("got", 3),
    element("button", { className: "tool" }, "Add"),
  );

function attacking(c) {
  const { now, picked, act, last } = c;
  const moves = (last?.moves ?? []).filter(({ from, to }) =>
    now.odds.some((each) => each.from === from && each.to === to),
  );
  const way = now.odds.find(({ from, to }) => from === picked.from && to === picked.to);
  const list = moves.slice(0, 3).map(({ from, to, name, figure, words }) =>
    element(
      "li",
      { key: name },
      element(
        "button",
        {
          type: "button",
          className: "move",
          ariaPressed: String(picked.from === from && picked.to === to),
          onclick: () => act.pick(from, to),
        },
        element("span", {}, name),
        element("strong", {}, figure),
        element("small", {}, words),
      ),
    ),
  );
  const cost = last?.stop?.words;
  return [
    element(
      "div",
      { className: "sides" },
      element("ol", { id: "moves", className: "moves", ariaLabel: "The best first attacks" }, list),
      element(
        "div",
        { className: "side" },
        (c.help || !way) &&
          element(
            "p",
            { className: "help", id: "attack-help" },
            c.help ||
              (now.odds.length
                ? "Tap your territory, then the one to attack."
                : "Nobody can be attacked."),
          ),
        way &&
          battle(
            c,
            way,
            moves.find(({ from, to }) => from === way.from && to === way.to),
          ),
        element(
          "p",
          { className: "row" },
          noMore(c, "tool", cost),
          way && tool("Other attacks", () => act.pick(null, null)),
          !c.state.at &&
            now.usual > 0 &&
            tool(`Place ${now.usual} new armies first`, () =>
              act.take({ do: "get", armies: now.usual }),
            ),
        ),
        cards(c),
      ),
    ),
  ];
}

/** Return the button that ends the attacks, with what that costs. */
export const noMore = (c, className, cost) =>
  button(
    className,
    () => c.act.take({ do: "stop" }),
    "Attack no more",
    cost && element("small", {}, ` (${cost})`),
  );

function battle(c, way, move) {
  const { now, board, act } = c;
  const { from, to } = way;
  const [mine, theirs] = [now.armies[from], now.armies[to]];
  const worth = move
    ? `Goal: ${move.figure}, ${move.words}.${move.success ? ` ${move.success}.` : ""}`
    : c.entry?.found
      ? "Of no use for this goal."
      : "";
  const rolls = way.rolls.map(([lost, killed, chance, said]) => {
    const likely = `with ${way.dice} ${way.dice === 1 ? "die" : "dice"}: ${(100 * chance).toFixed(1)}%`;
    const words = {
      ariaLabel: `I lose ${lost}, they lose ${killed}; chance ${Math.round(100 * chance)}%`,
      title: `I lose ${lost}, they lose ${killed} ${likely}`,
    };
    return tool(
      said,
      () =>
        act.take({
          do: "attack",
          from,
          to,
          left: mine - lost,
          their_left: theirs - killed,
          dice: way.dice,
        }),
      words,
    );
  });
  const enter = () => element("button", { className: "tool" }, "Enter");
  return element(
    "div",
    { id: "battle" },
    element("h3", { id: "battle-name" }, `${board.territories[from]} to ${board.territories[to]}`),
    element("p", { id: "battle-said" }, `${way.words}. ${worth}`),
    element("p", { className: "row", id: "rolls" }, rolls),
    element(
      "p",
      { className: "row" },
      button("primary", () => act.roll({ from, to, once: true }), "Roll once"),
      tool("Roll to the end", () => act.roll({ from, to })),
    ),
    form(
      "fought",
      "row",
      (on) =>
        act.take({
          do: "attack",
          from,
          to,
          left: numberOf(on.left),
          their_left: numberOf(on.theirs),
        }),
      element("label", { htmlFor: "left" }, "Armies left"),
      number("left", 4),
      element("label", { htmlFor: "theirs" }, "against"),
      number("theirs", 4, { defaultValue: "0" }),
      enter(),
    ),
    element(
      "details",
      { id: "dice" },
      element("summary", {}, "Enter the dice"),
      form(
        "faces",
        "row",
        (on) =>
          act.take({ do: "faces", from, to, mine: facesOf(on.mine), theirs: facesOf(on.yours) }),
        element("label", { htmlFor: "mine" }, "Mine"),
        dice("mine", "6 4 1"),
        element("label", { htmlFor: "yours" }, "theirs"),
        dice("yours", "5 3"),
        enter(),
      ),
    ),
  );
}

/** Return the dice of a field, with and without spaces between them. */
const facesOf = ({ value }) =>
  (value.match(/\d+/g) ?? [])
    .flatMap((text) => (text.length > 1 && Number(text) > 6 ? [...text] : [text]))
    .map(Number);

function advancing(c) {
  const { from, to, least, most } = c.now.advance;
  const best = c.entry?.found?.best;
  const armies = c.moving ?? best ?? most;
  return [
    form(
      "advancing",
      "",
      () => c.act.take({ do: "advance", armies }),
      element(
        "label",
        { htmlFor: "advance", id: "advance-said" },
        `Armies that move from ${c.board.territories[from]} into ${c.board.territories[to]}`,
      ),
      element("input", {
        id: "advance",
        type: "range",
        min: String(least),
        max: String(most),
        value: String(armies),
        oninput: ({ target }) => c.act.move(Number(target.value)),
      }),
      element(
        "p",
        { className: "row" },
        element(
          "output",
          { id: "advance-number" },
          `${armies}${best === undefined ? "" : armies === best ? ", the best" : `; the best is ${best}`}`,
        ),
        " ",
        element("button", { className: "primary" }, "Move in"),
      ),
    ),
  ];
}

function fortifying(c) {
  const [from, to] = [c.picked.from, c.picked.to].map((t) =>
    t === null ? null : c.board.territories[t],
  );
  const most = c.now.fortify.find((way) => way[0] === c.picked.from && way[1] === c.picked.to)?.[2];
  return [
    helpfulMove(c),
    element(
      "p",
      { className: "help", id: "fortify-said" },
      to
        ? `${from} to ${to}`
        : from
          ? `${from}: tap where its armies go.`
          : "Tap a territory, then where its armies go.",
    ),
    form(
      "fortifying",
      "row",
      (on) => c.act.take({ do: "fortify", ...c.picked, armies: numberOf(on["fortify-number"]) }),
      number("fortify-number", 4, {
        ariaLabel: "Armies to move",
        defaultValue: most === undefined ? "" : String(most),
      }),
      element("button", { className: "tool" }, "Move"),
      tool("Move no armies", () => c.act.take({ do: "stop" })),
    ),
  ];
}

const ended = (c) => [
  element(
    "p",
    { className: "row" },
    button("primary", () => c.act.take({ do: "next" }), "Next player"),
    tool("Review", c.act.review),
    tool("Copy the link", ({ currentTarget }) => c.act.link(currentTarget)),
  ),
];

// What has been done.

/** Return the steps of the line that is looked at, each with the others that were tried. */
export function stepsOf(c) {
  const { state, turns, act } = c;
  if (!state.steps.length) return [];
  const go = (k, className, ...children) =>
    element(
      "button",
      {
        type: "button",
        className,
        ...(k === state.at && { ariaCurrent: "step" }),
        onclick: () => act.go(k),
      },
      ...children,
    );
  const rows = lineThrough(state.steps, state.at).map((k) => {
    const step = state.steps[k - 1];
    const isCostly = c.values[k]?.is_costly;
    const mark = isCostly && element("span", { className: "mark", title: "a costly choice" }, " ?");
    const others = state.steps.flatMap(({ after: before }, n) =>
      before === step.after && n + 1 !== k ? [n + 1] : [],
    );
    return element(
      "li",
      { key: `step ${k}` },
      go(k, "step-of", `${turns[k]?.words ?? turns[k]?.problem ?? "…"} `, figures(c, k), mark),
      step.note && element("p", { className: "note" }, step.note),
      others.map((n) => go(n, "step-of other", `or: ${turns[n]?.words ?? "…"}`)),
    );
  });
  return [element("li", {}, go(0, "step-of", "Start ", figures(c, 0))), ...rows];
}

/** Return what a step was worth, with the first player's chance to win the game after it. */
function figures(c, k) {
  const row = c.win(k)?.players.find(({ player }) => player === c.state.players[c.state.mover]);
  return element(
    "small",
    {},
    [c.values[k]?.words, row && `game ${share(row.win)}`].filter(Boolean).join(", "),
  );
}

/** Return the chance after each step of a line: a curve for each turn, and the game's for each player. */
export function graphOf(c) {
  const line = [0, ...lineThrough(c.state.steps, c.state.at)];
  const x = (n) => (300 * n) / (line.length - 1);
  const y = (value) => 55 - 50 * value;
  const curve = (points, stroke, className) =>
    points.length > 1
      ? [
          svg("path", {
            d: points
              .map(([n, value], k) => `${k ? "L" : "M"}${x(n).toFixed(1)},${y(value).toFixed(1)}`)
              .join(""),
            stroke,
            class: className,
          }),
        ]
      : [];
  const turns = [[]];
  line.forEach((k, n) => {
    if (k && c.state.steps[k - 1].do === "next") turns.push([]);
    if (c.values[k]?.is_chance) turns.at(-1).push([n, c.values[k].value, k]);
  });
  const tone = (k) => c.tones[c.state.players.indexOf(c.turns[k]?.player)] ?? "currentColor";
  const goals = turns
    .filter((all) => all.length)
    .flatMap((all) => curve(all, tone(all[0][2]), "goal"));
  const games = c.state.players.flatMap((name, player) => {
    const known = line.flatMap((k, n) =>
      (c.win(k)?.players ?? []).filter((row) => row.player === name).map(({ win }) => [n, win]),
    );
    return curve(known, c.tones[player], "game");
  });
  if (!goals.length && !games.length) return [];
  const dots = turns.flat().map(([n, value, k]) =>
    svg("circle", {
      cx: x(n),
      cy: y(value),
      r: k === c.state.at ? 4 : 2.5,
      class: k === c.state.at ? "here" : "",
    }),
  );
  const label = `The chance over the turn: ${line.flatMap((k) => c.values[k]?.figure ?? []).join(", ")}`;
  const ends = element(
    "small",
    { className: "ends" },
    element("span", {}, "100%"),
    element("span", {}, "0%"),
  );
  const played = c.win(c.state.at) ?? line.map(c.win).find(Boolean);
  return [
    element(
      "div",
      { className: "graph" },
      ends,
      svg(
        "svg",
        {
          id: "graph",
          viewBox: "0 0 300 60",
          preserveAspectRatio: "none",
          role: "img",
          "aria-label": label,
        },
        svg("path", { d: "M0,30H300", class: "half" }),
        ...games,
        ...goals,
        ...dots,
      ),
    ),
    element(
      "p",
      { className: "help" },
      "Solid: the chance of the goal",
      played && `; dashed: of the game, ${played.condition} (${simpleWords(played)})`,
      ".",
    ),
  ];
}

export function sectionOf({ title, parts }) {
  const made = parts.map((part) =>
    typeof part === "string"
      ? element("p", {}, part)
      : element(
          "div",
          { className: "wide", tabIndex: 0, role: "region", ariaLabel: title || "Table" },
          table(part.columns, part.rows),
        ),
  );
  return [title && element("h3", {}, title), ...made];
}
