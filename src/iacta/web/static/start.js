// Shows the odds on the start page while you type, and animates the turn beside them.

import { fetchPage } from "./ask.js";
import { on } from "./page.js";

const STEP = 1500; // the duration of each conquest, in milliseconds
const REST = 3; // the duration of the end, in steps

let asking = new AbortController();

async function answer() {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  const asked = new URLSearchParams(new FormData(on.quick));
  if ([...asked.values()].some((value) => !value.trim())) {
    on.odds.textContent = "";
    return;
  }
  try {
    const found = await fetchPage(`battle?${asked}`, { signal });
    if (signal.aborted) return;
    const wrong = [...found.querySelectorAll(".wrong")]
      .map((each) => each.textContent)
      .filter(Boolean);
    on.odds.textContent = wrong[0] ?? found.querySelector("#lead").textContent;
    on.odds.classList.toggle("wrong", wrong.length > 0);
    on.battle.href = `battle?${asked}`;
  } catch (error) {
    if (!signal.aborted) on.odds.textContent = error.message;
  }
}

on.quick.addEventListener("input", answer);
on.quick.addEventListener("submit", (event) => {
  event.preventDefault();
  answer();
});
if (matchMedia("(min-width: 64rem)").matches) on.attackers.select(); // a phone's keyboard would cover the rest of the page

let shown = 0;
let timer = 0;

async function play() {
  const found = await fetch("game.svg");
  if (!found.ok) return; // the server is busy; the static picture stays
  const drawn = new DOMParser().parseFromString(await found.text(), "image/svg+xml");
  const map = document.importNode(drawn.documentElement, true);
  const [tones, digits] = [map.dataset.tones, map.dataset.digits].map((each) => each.split(" "));
  const stills = JSON.parse(map.dataset.stills);
  const [land, badges, arrows, numbers] = ["land", "badge", "arrow", "number"].map((name) => [
    ...map.querySelectorAll(`.${name}`),
  ]);

  function show(k) {
    const { words, owners, armies } = stills[k];
    owners.forEach((owner, t) => {
      land[t].setAttribute("fill", tones[owner]);
      badges[t].querySelector("use").setAttribute("href", `#badge${owner}`);
      badges[t].querySelector("text").textContent = armies[t];
      badges[t].querySelector("text").setAttribute("fill", digits[owner]);
    });
    for (const [n, arrow] of arrows.entries()) {
      arrow.setAttribute("opacity", n === k - 1 ? 1 : n < k ? 0.3 : 0);
      numbers[n].setAttribute("opacity", n < k ? 1 : 0);
    }
    on.words.textContent = words;
  }

  on.game.querySelector("img").replaceWith(map);
  on.words.textContent = stills[0].words;
  on.pause.hidden = false;
  on.pause.addEventListener("click", () => run(!timer));
  run(!matchMedia("(prefers-reduced-motion: reduce)").matches);

  function run(isRunning) {
    clearInterval(timer);
    timer =
      isRunning &&
      setInterval(() => {
        shown = (shown + 1) % (stills.length + REST);
        show(Math.min(shown, stills.length - 1));
      }, STEP);
    on.pause.textContent = isRunning ? "Pause" : "Play";
  }
}

play();
