// Quick taps beside the map: a tap counts for the button that its player saw.
//
// A step may change the button under a finger. A tap on another button than the tap before it, at the same
// place and less than `PAUSE` later, is ignored. Taps while the server takes a step wait for the step.

import { store } from "./map_store.js";
import { on } from "./page.js";

const PAUSE = 400; // milliseconds
const NEAR = 24; // pixels between two taps at the same place

let last = { x: 0, y: 0, time: 0, words: "" };
let waiting = []; // the words of the buttons tapped while the server takes a step

/** Return the words of a button without its figures; `value` tells equal words apart. */
const wordsOf = (button) => `${button.value} ${button.firstChild?.textContent ?? ""}`;

const findButton = (words) =>
  [...on.dock.querySelectorAll("button:not(:disabled)")].find((each) => wordsOf(each) === words);

on.dock.addEventListener(
  "click",
  (event) => {
    const button = event.target.closest("button");
    if (!button || !event.isTrusted) return;
    const words = wordsOf(button);
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

/** Press the button of the next tap that waits for the end of a step; if it is gone, forget the taps. */
export function endStep(isTaken) {
  last.time = Date.now();
  const button = isTaken && waiting.length && findButton(waiting.shift());
  if (button) button.click();
  else waiting = [];
}
