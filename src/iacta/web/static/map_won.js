// The choice of the way to win, in the dialog of a new game and for a position.
//
// A way to win has the form of the request `position/victory`. The server converts it to the fields
// of a position, and describes the fields of a position in this form.

import { postJson } from "./ask.js";
import { listOptions, row, tool } from "./map_parts.js";
import { changeState, makeSetup } from "./map_state.js";
import { commit, look, store, update } from "./map_store.js";
import { announce, on } from "./page.js";
import { element } from "./redraw.js";

const EXAMPLES = "Asia, Africa; 24 territories; eliminate blue";
const [MIN_SHARE, USUAL_SHARE] = [20, 70]; // percent

export const requestVictory = (body) => postJson("api/v1/position/victory", body);

/** Return a labelled list of options, pairs of a value and words. */
export const choice = (id, words, options, value, take) =>
  element(
    "label",
    { className: "wish" },
    element("span", {}, words),
    element(
      "select",
      { id, onchange: ({ target }) => take(target.value) },
      markChosen(options, value),
    ),
  );

export const markChosen = (options, value) =>
  listOptions(options).map((option) => Object.assign(option, { selected: option.value === value }));

/**
 * Return the controls of a way to win. `change` is called with the changed parts. The capitals of a
 * position are given; those of a new game are drawn, or chosen after the deal.
 * @param {{id: string, by: string, players: string[], cards: string[]}} victory `id` begins the ids
 *   of the controls, and `cards` are the missions to choose from
 */
export function showVictory({ id, players, cards, ...victory }, change) {
  const { by, share = USUAL_SHARE, capitals, choose = false, dice = true } = victory;
  const { missions = {}, secret = true, common = null } = victory;
  const check = (words, isOn, name) =>
    element(
      "label",
      { className: "check" },
      element("input", {
        type: "checkbox",
        checked: isOn,
        onchange: ({ target }) => change({ [name]: target.checked }),
      }),
      ` ${words}`,
    );
  return [
    choice(`${id}-victory`, "Won by", Object.entries(look.ways), by, (value) =>
      change({ by: value, capitals: undefined }),
    ),
    by === "share" && showShare(id, share, (value) => change({ share: value })),
    by === "capitals" &&
      (capitals
        ? element("p", {}, players.map((name) => `${name}: ${capitals[name] ?? "none"}`).join("; "))
        : check("Persons choose their capitals on the map", choose, "choose")),
    by === "capitals" && check("Capitals defend with one more die", dice, "dice"),
    by === "missions" && [
      players.map((name) =>
        showMission(id, name, missions[name] ?? "", (text) =>
          change({ missions: { ...missions, [name]: text } }),
        ),
      ),
      element("datalist", { id: `${id}-missions` }, listOptions(cards.map((text) => [text, ""]))),
      element("p", { className: "help" }, `Choose from the list, or write your own: ${EXAMPLES}.`),
      check("Missions are secret", secret, "secret"),
      showCommon(id, common, (number) => change({ common: number })),
    ],
  ];
}

function showMission(id, name, text, take) {
  const input = element("input", {
    type: "text",
    value: text,
    placeholder: id === "wish" ? "dealt" : "hidden",
    ariaLabel: `Mission of ${name}`,
    autocomplete: "off",
    spellcheck: false,
    maxLength: 100,
    onchange: ({ target }) => take(target.value.trim()),
  });
  input.setAttribute("list", `${id}-missions`);
  return element("label", { className: "wish" }, element("span", {}, name), input);
}

/** Return a field for the number of territories with which any player also wins. */
const showCommon = (id, common, take) =>
  element(
    "label",
    { className: "wish" },
    element("span", {}, "Anyone wins with"),
    element("input", {
      id: `${id}-common`,
      type: "text",
      inputMode: "numeric",
      value: common ?? "",
      placeholder: "a number of territories, such as 30",
      autocomplete: "off",
      onchange: ({ target }) => take(target.value.trim() || null),
    }),
  );

/** Return a slider for a share of the map in percent. */
function showShare(id, share, take) {
  const describe = (value) => `${value}% of the territories`;
  const said = element("output", { id: `${id}-share-said` }, describe(share));
  return element(
    "label",
    { className: "wish" },
    said,
    element("input", {
      id: `${id}-share`,
      ariaLabel: "Share of the map",
      type: "range",
      min: String(MIN_SHARE),
      max: "100",
      step: "5",
      value: String(share),
      oninput: ({ target }) => {
        target.previousElementSibling.textContent = describe(target.value);
      },
      onchange: ({ target }) => take(Number(target.value)),
    }),
  );
}

// The way to win of the position on the page.

const findKey = ({ code, players, rules, fields: { win, own } }) =>
  JSON.stringify([code, players, rules, win, own]);

/** Return the way to win of the position, as the server describes it; null if it is unknown. */
export const findWon = () => (store.won.key === findKey(store.state) ? store.won : null);

let asked = 0; // the number of requests; a later request replaces an earlier one

/** Request the description of the way to win, or change the way to win to `victory`. */
async function request(victory) {
  const mine = ++asked;
  const { board, state } = store;
  const key = findKey(state);
  store.won = { ...store.won, key: victory ? store.won.key : key };
  const body = { setup: makeSetup(state), board: board.board, ...(victory && { victory }) };
  try {
    const found = await requestVictory(body);
    if (mine !== asked || findKey(store.state) !== key) return;
    const next = victory ? changeState(store.state, { fields: found.fields }) : store.state;
    store.won = { ...found, key: findKey(next) };
    if (victory) commit(next);
    else store.render();
  } catch (error) {
    on.wrong.textContent = error.message;
  }
}

/** Return the controls of the way to win of the position. */
export function showWon() {
  if (!findWon()) request();
  const { victory, missions: cards = [] } = store.won;
  if (!victory) return null;
  const { players, neutral } = store.state;
  const parts = {
    id: "won",
    players: players.filter((_, k) => !neutral.includes(k)),
    cards,
    ...victory,
  };
  const change = (changed) => request({ ...victory, ...changed });
  store.isCrowning &&= victory.by === "capitals";
  return [
    showVictory(parts, change),
    victory.by === "capitals" &&
      row(
        tool(
          store.isCrowning ? "Done" : "Tap the capitals on the map",
          () => update({ isCrowning: !store.isCrowning }),
          { ariaPressed: String(store.isCrowning) },
        ),
        store.isCrowning &&
          element("span", { className: "help" }, "Tap a territory: it is its owner’s capital."),
      ),
  ];
}

/** Make a territory the capital of its owner. */
export function crown(t) {
  const { board, state, won } = store;
  const name = state.players[state.owners[t]];
  if (!name) return;
  const capitals = { ...won.victory.capitals, [name]: board.territories[t] };
  announce(`${board.territories[t]} is the capital of ${name}`);
  request({ ...won.victory, capitals });
}
