// The controls for setting up a position: the brush, the players, and a table of territories with
// all functions of the map.

import { findPlayer } from "./map_labels.js";
import { tool } from "./map_parts.js";
import { changeState, findLetters, removePlayer } from "./map_state.js";
import { element, makeTable } from "./redraw.js";

/** Return a button that selects a brush: a player, -1 for nobody, or null if taps only select. */
export function makeBrush(players, owner, isChosen, mark, paintWith) {
  const name = owner === null ? "only select" : (findPlayer(owner)?.short ?? "nobody");
  const key = owner !== null && findLetters(players)[owner];
  const words = [mark && [mark, " "], name, key && [" ", element("kbd", {}, key)]];
  return tool(words, () => paintWith(owner), { ariaPressed: String(isChosen) });
}

/** Return the row of a player; `commit` receives the new state after a change. */
export function makePlayerRow(state, player, mark, commit) {
  const { players, mover, neutral } = state;
  const name = players[player];
  const rename = ({ target }) => {
    const text = target.value.trim();
    const isTaken = players.some(
      (other, k) => k !== player && other.toLowerCase() === text.toLowerCase(),
    );
    if (!text || isTaken) target.value = name;
    else commit(changeState(state, { players: players.with(player, text) }));
  };
  return element(
    "div",
    { className: "player" },
    element("input", {
      type: "radio",
      name: "mover",
      value: String(player),
      ariaLabel: `${name} moves`,
      checked: player === mover,
      disabled: neutral.includes(player),
      onchange: () => commit(changeState(state, { mover: player })),
    }),
    mark,
    element("input", {
      type: "text",
      value: name,
      ariaLabel: `Name of player ${player + 1}`,
      maxLength: 100,
      spellcheck: false,
      onchange: rename,
    }),
    neutral.includes(player) && element("small", {}, "neutral"),
    tool("×", () => commit(removePlayer(state, player)), {
      ariaLabel: `Remove ${name}`,
      disabled: players.length < 3,
    }),
  );
}

/**
 * Return the table of some territories.
 * @param {boolean} isGoalListed whether the goal lists territories
 * @param {{setHolding: Function, choose: Function, toggleTarget?: Function, setStaying?: Function,
 *   setGarrison?: Function}} changes callbacks for each possible change, called with the territory
 *   and the new value
 */
export function makeTerritoryTable(board, view, territories, isGoalListed, changes) {
  const heads = [
    ...["Territory", "Owner", "Armies"],
    ...(isGoalListed ? ["Goal"] : []),
    ...(changes.setStaying ? ["May not attack", "Must keep"] : []),
  ].map((text) => element("th", { scope: "col" }, text));
  return makeTable(
    heads,
    territories.map((t) => makeRow(board, view, isGoalListed, changes, t)),
  );
}

function makeRow(board, view, isGoalListed, changes, t) {
  const name = board.territories[t];
  const onfocus = () => changes.choose(t);
  const number = (ariaLabel, value, empty, set) =>
    element("input", {
      type: "text",
      inputMode: "numeric",
      autocomplete: "off",
      size: 4,
      ariaLabel,
      value,
      onfocus,
      onchange({ target }) {
        const text = target.value.trim() || empty;
        target.value = value; // until the change is accepted
        if (/^\d+$/.test(text)) set(Number(text));
      },
    });
  const check = (ariaLabel, checked, set) =>
    element("input", {
      type: "checkbox",
      ariaLabel,
      checked,
      onfocus,
      onchange: ({ target }) => set(target.checked),
    });
  const options = ["nobody", ...view.players].map((player, k) =>
    element("option", { value: String(k - 1) }, player),
  );
  const owner = element(
    "select",
    {
      ariaLabel: `Owner of ${name}`,
      onfocus,
      onchange: ({ target }) => changes.setHolding(t, { owner: Number(target.value) }),
    },
    options,
  );
  owner.value = owner.given.value = String(view.owners[t]);
  const cells = [
    owner,
    number(`Armies on ${name}`, String(view.armies[t]), "", (armies) =>
      changes.setHolding(t, { armies }),
    ),
    isGoalListed && check(`Take ${name}`, view.targets.includes(t), () => changes.toggleTarget(t)),
    changes.setStaying &&
      check(`${name} may not attack`, view.stay.includes(t), (isStaying) =>
        changes.setStaying(t, isStaying),
      ),
    changes.setGarrison &&
      number(`Armies to keep on ${name}`, view.keep[t] ? String(view.keep[t]) : "", "0", (count) =>
        changes.setGarrison(t, count),
      ),
  ]
    .filter(Boolean)
    .map((input) => element("td", {}, input));
  return element(
    "tr",
    { key: name, className: view.chosen === t ? "chosen" : "" },
    element("th", { scope: "row" }, name),
    cells,
  );
}
