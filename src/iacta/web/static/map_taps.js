// Fast taps beside the map: each tap presses the button that the player saw.
//
// A step may move another button to the place of a tap. Therefore a second tap at the same place
// within `PAUSE` is ignored if it hits a different button. Taps during a step are queued until the
// server has answered.

import { store } from "./map_store.js";
import { on } from "./page.js";

const PAUSE = 400; // in milliseconds
const MAX_DISTANCE = 24; // in pixels, between taps at the same place

/** Return the label of a button without its numbers; `value` distinguishes equal labels. */
const findLabel = (button) => `${button.value} ${button.firstChild?.textContent ?? ""}`;

const findButton = (words) =>
  [...on.dock.querySelectorAll("button:not(:disabled)")].find(
    (button) => findLabel(button) === words,
  );

on.dock.addEventListener(
  "click",
  (event) => {
    const button = event.target.closest("button");
    if (!button || !event.isTrusted) return;
    const last = store.lastTap;
    const words = findLabel(button);
    const { left, top, width, height } = button.getBoundingClientRect();
    const [x, y] = event.detail
      ? [event.clientX, event.clientY]
      : [left + width / 2, top + height / 2];
    const isNear = Math.hypot(x - last.x, y - last.y) < MAX_DISTANCE;
    const time = Date.now();
    const isIgnored = isNear && time - last.time < PAUSE && words !== last.words;
    store.lastTap = { x, y, time, words: isIgnored ? last.words : words };
    if (!isIgnored && !store.isBusy) return;
    event.preventDefault();
    event.stopPropagation();
    if (!isIgnored) store.taps.push(words);
  },
  { capture: true },
);

/**
 * Finish a step: press the button of the next queued tap. If the button is gone, clear the queue.
 */
export function endStep(isTaken) {
  store.lastTap.time = Date.now();
  const button = isTaken && store.taps.length && findButton(store.taps.shift());
  if (button) button.click();
  else store.taps = [];
}
