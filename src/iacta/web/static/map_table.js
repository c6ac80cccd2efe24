// The controls for setting up a position: the brush, the players, and a table of territories with
// all functions of the map.

import { shortenName } from "./map_board.js";
import { changeState, findLetters, removePlayer } from "./map_state.js";
import { element } from "./redraw.js";

/** Return a button that selects a brush: a player, -1 for nobody, or null if taps only select. */
export function makeBrush(players, owner, isChosen, mark, paintWith) {
  const name = owner === null ? "select" : (players[owner] ?? "nobody");
  const key = owner !== null && findLetters(players)[owner];
  return element(
    "button",
    {
      type: "button",
      className: "tool",
      ariaPressed: String(isChosen),
      onclick: () => paintWith(owner),
    },
    mark && [mark, " "],
    shortenName(name),
    key && [" ", element("kbd", {}, key)],
  );
}

/** Return the row of a player; `commit` receives the new state after a change. */
export function makePlayerRow(state, player, mark, commit) {
  const { players, mover, victim } = state;
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
      onchange: () =>
        commit(changeState(state, { mover: player, victim: victim === player ? mover : victim })),
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
    element(
      "button",
      {
        type: "button",
        className: "tool",
        ariaLabel: `Remove ${name}`,
        disabled: players.length < 3,
        onclick: () => commit(removePlayer(state, player)),
      },
      "×",
    ),
  );
}

/**
 * Return the table of some territories.
 * @param {boolean} canAim whether the player can select territories as the goal
 * @param {{hold: Function, choose: Function, aim?: Function, stay?: Function, keep?: Function}}
 *   changed callbacks for each possible change, called with the territory and the new value
 */
export function makeTerritoryTable(board, view, some, canAim, changed) {
  const heads = [
    "Territory",
    "Owner",
    "Armies",
    canAim && "Goal",
    ...(changed.stay ? ["Stays", "Keep"] : []),
  ]
    .filter(Boolean)
    .map((text) => element("th", { scope: "col" }, text));
  const rows = some.map((t) => row(board, view, canAim, changed, t));
  return element(
    "table",
    {},
    element("thead", {}, element("tr", {}, heads)),
    element("tbody", {}, rows),
  );
}

function row(board, view, canAim, changed, t) {
  const of = board.territories[t];
  const onfocus = () => changed.choose(t);
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
        if (/^\d+$/.test(text)) set(Number(text));
        else target.value = value;
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
  const options = ["nobody", ...view.players].map((each, k) =>
    element("option", { value: String(k - 1) }, each),
  );
  const owner = element(
    "select",
    {
      ariaLabel: `Owner of ${of}`,
      onfocus,
      onchange: ({ target }) => changed.hold(t, { owner: Number(target.value) }),
    },
    options,
  );
  owner.value = owner.given.value = String(view.owners[t]);
  const cells = [
    owner,
    number(`Armies on ${of}`, String(view.armies[t]), "", (armies) => changed.hold(t, { armies })),
    canAim && check(`Take ${of}`, view.targets.includes(t), (isAimed) => changed.aim(t, isAimed)),
    changed.stay &&
      check(`${of} may not attack`, view.stay.includes(t), (stays) => changed.stay(t, stays)),
    changed.keep &&
      number(`Armies to keep on ${of}`, view.keep[t] ? String(view.keep[t]) : "", "0", (count) =>
        changed.keep(t, count),
      ),
  ]
    .filter(Boolean)
    .map((input) => element("td", {}, input));
  return element(
    "tr",
    { key: of, className: view.chosen === t ? "chosen" : "" },
    element("th", { scope: "row" }, of),
    cells,
  );
}
