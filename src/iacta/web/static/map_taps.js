// Fast taps beside the map: each tap presses the button that the player saw.
//
// A step may move another button to the place of a tap. Therefore a second tap at the same place
// within `PAUSE` is ignored if it hits a different button. Taps during a step are queued until the
// server has answered.

import { store } from "./map_store.js";
import { on } from "./page.js";

const PAUSE = 400; // in milliseconds
const NEAR = 24; // the maximum distance in pixels between taps at the same place

let last = { x: 0, y: 0, time: 0, words: "" };
let waiting = []; // the labels of the buttons of queued taps

/** Return the label of a button without its numbers; `value` distinguishes equal labels. */
const findLabel = (button) => `${button.value} ${button.firstChild?.textContent ?? ""}`;

const findButton = (words) =>
  [...on.dock.querySelectorAll("button:not(:disabled)")].find((each) => findLabel(each) === words);

on.dock.addEventListener(
  "click",
  (event) => {
    const button = event.target.closest("button");
    if (!button || !event.isTrusted) return;
    const words = findLabel(button);
    const { left, top, width, height } = button.getBoundingClientRect();
    const [x, y] = event.detail
      ? [event.clientX, event.clientY]
      : [left + width / 2, top + height / 2];
    const isNear = Math.hypot(x - last.x, y - last.y) < NEAR;
    const time = Date.now();
    const isIgnored = isNear && time - last.time < PAUSE && words !== last.words;
    last = { x, y, time, words: isIgnored ? last.words : words };
    if (!isIgnored && !store.isBusy) return;
    event.preventDefault();
    event.stopPropagation();
    if (!isIgnored) waiting.push(words);
  },
  { capture: true },
);

/**
 * Finish a step: press the button of the next queued tap. If the button is gone, clear the queue.
 */
export function endStep(isTaken) {
  last.time = Date.now();
  const button = isTaken && waiting.length && findButton(waiting.shift());
  if (button) button.click();
  else waiting = [];
}
