// The progress of players towards winning, and what the map marks of a way to win.

import { isComputer, isGame, isPerson } from "./map_game.js";
import { isHandShown } from "./map_hand.js";
import { isPassing } from "./map_seats.js";
import { findTurn, isAnalysing, store } from "./map_store.js";
import { element } from "./redraw.js";

/** Return the only person of a game; -1 if there are several persons or no person. */
function findSinglePerson() {
  const { seats } = store.state;
  const persons = [...seats.keys()].filter(isPerson);
  return persons.length === 1 ? persons[0] : -1;
}

/** Return the progress of a player, as far as the page may show it; null if it is secret. */
function findProgress(player) {
  const { players } = store.state;
  const found = findTurn()?.progress?.find((each) => each.player === players[player]);
  if (!found?.is_secret || !isGame()) return found ?? null;
  const isOwn =
    player === findSinglePerson() ||
    (player === findTurn().mover && !isComputer() && !isPassing() && isHandShown());
  return isOwn ? found : null;
}

/** Return the bar of a player's progress in a game; null for eliminated players. */
export function showProgress(player) {
  const turn = isGame() && isAnalysing() && findTurn();
  const name = store.state.players[player];
  if (!turn?.progress?.some((each) => each.player === name)) return null;
  const found = findProgress(player);
  if (!found) return element("span", { className: "won" }, "secret mission");
  const { part, words } = found;
  return element(
    "span",
    { className: "won" },
    element(
      "span",
      { className: "bar" },
      element("span", { className: "now", style: `--part:${part}` }),
    ),
    ` ${words}`,
  );
}

/** Return the territories that a person or the player to move needs for a win. */
export function listTargets() {
  if (!isGame() || !findTurn()) return [];
  const single = findSinglePerson();
  return findProgress(single < 0 ? findTurn().mover : single)?.targets ?? [];
}
