// Fast taps beside the map: each tap presses the button that the player saw.
//
// A step may move another button to the place of a tap. Therefore a second tap at the same place
// within `PAUSE` is ignored if it hits a different button. Taps during a step, here and on the map,
// are queued until the server has answered.

import { store } from "./map_store.js";
import { on } from "./page.js";

const PAUSE = 400; // in milliseconds
const MAX_DISTANCE = 24; // in pixels, between taps at the same place
const PLACES = [on.dock, on.nav];

/** Return the label of a button without its numbers; `value` distinguishes equal labels. */
const findLabel = (button) => `${button.value} ${button.firstChild?.textContent ?? ""}`;

/** Press the visible button with a label; return whether there is such a button. */
function press(words) {
  const buttons = PLACES.flatMap((place) => [...place.querySelectorAll("button:not(:disabled)")]);
  const button = buttons.find((each) => findLabel(each) === words && each.checkVisibility());
  button?.click();
  return Boolean(button);
}

function filterTap(event) {
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
  if (!isIgnored) store.taps.push(() => press(words));
}
for (const place of PLACES) place.addEventListener("click", filterTap, { capture: true });

/** Finish a step: its buttons have changed, and taps no longer wait. */
export function endStep(isTaken) {
  store.lastTap.time = Date.now();
  runTaps(isTaken);
}

/** Carry out the queued taps up to the next step. Drop all taps after a failure. */
export function runTaps(isPossible) {
  let mayContinue = isPossible;
  while (mayContinue && store.taps.length && !store.isBusy) mayContinue = store.taps.shift()();
  if (!mayContinue) store.taps = [];
}
