// Answers a form while you type. Without JavaScript, the form is sent as usual.

import { fetchPage, postJson, saveFile, streamAnswers } from "./ask.js";
import { draw, show } from "./chart.js";
import { pack, unpack } from "./pack.js";
import { Address, copy, takeFiles } from "./page.js";
import { element, redraw } from "./redraw.js";
import { makeRow } from "./row.js";

const form = document.querySelector("#form");
const answer = document.querySelector("#answer");
const isLive = "live" in form.dataset;
const WAIT = 15; // milliseconds to wait for further edits before a request
const PAUSE = 150; // milliseconds without an edit before the picture is drawn, because it is slow
const LONG = 1000; // milliseconds before a slow answer shows its progress
const MAX_LINK = 8000; // the maximum length of a link; some programs truncate longer links
let asking = new AbortController();
let waiting = 0;
let working = 0;
let drawing = 0;
const address = new Address();
let positions = { log: "", parts: [] }; // the positions of the last log, as elements

/** Return the question in the form as the query of a URL. */
function readQuery() {
  const asked = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (value.trim()) asked.append(name, value.trim());
  }
  return asked;
}

/** Return the URL of an answer. A log is in the fragment, which browsers do not send to servers. */
async function makeAddress(asked) {
  if (!asked.has("log")) return `${form.action}?${asked}`;
  const held = new URLSearchParams(asked);
  held.set("log", await pack(asked.get("log")));
  return `${form.action}#${held}`;
}

/** Request a new answer after a short pause; discard earlier answers. */
function ask() {
  asking.abort();
  clearTimeout(waiting);
  clearTimeout(drawing);
  waiting = setTimeout(fetchAnswer, WAIT);
}

async function fetchAnswer() {
  const asked = readQuery();
  asking = new AbortController();
  const { signal } = asking;
  setBusy(LONG);
  try {
    const show = async (found) => {
      const answered = new URL(
        found.querySelector("#link")?.getAttribute("href") ?? `?${asked}`,
        form.action,
      ).searchParams;
      if (asked.has("log")) answered.set("log", asked.get("log"));
      const link = await makeAddress(answered);
      if (!signal.aborted) showPage(found, link);
    };
    if (asked.has("log")) {
      let last = Promise.resolve(); // chains the updates so that pages are shown in order
      const answer = (html) => {
        last = last.then(() => show(new DOMParser().parseFromString(html, "text/html")));
      };
      await streamAnswers(form.action, Object.fromEntries(asked), {
        answer,
        progress: showProgress,
        signal,
      });
      await last;
    } else show(await fetchPage(`${form.action}?${asked}`, { signal, waiting: showWrong }));
    if (signal.aborted) return;
  } catch (error) {
    if (signal.aborted) return;
    showWrong(error.message);
  }
  setIdle();
}

/** Show an error; the last answer stays visible. */
function showWrong(sentence) {
  answer.classList.add("old");
  document.querySelector("#wrong").textContent = sentence;
}

function showProgress(doing, part) {
  document.querySelector("#doing").textContent = part === null ? "" : `${doing} …`;
  const bar = document.querySelector("#working progress");
  if (part !== null) bar.value = part;
  else bar.removeAttribute("value");
}

/** Mark the answer as busy; after `pause` milliseconds, show its progress and a stop button. */
function setBusy(pause) {
  answer.setAttribute("aria-busy", "true");
  clearTimeout(working);
  showProgress("", null);
  working = setTimeout(() => {
    document.querySelector("#working").hidden = false;
  }, pause);
}

function setIdle() {
  answer.removeAttribute("aria-busy");
  clearTimeout(working);
  document.querySelector("#working").hidden = true;
}

document.querySelector("#working button").addEventListener("click", () => {
  asking.abort();
  stop();
  setIdle();
  answer.classList.add("old");
});
addEventListener("pageshow", setIdle); // the back button may restore a page in its busy state

/** Show the answer and the errors of the form from a newly loaded page. */
function showPage(found, link) {
  const isAnswered = found.querySelector("#link") !== null;
  answer.classList.toggle("old", !isAnswered); // the last answer stays visible
  for (const old of document.querySelectorAll(
    isAnswered ? "#lead, #example-note, .wrong, .reading" : ".wrong, .reading",
  )) {
    const text = found.querySelector(`#${old.id}`)?.textContent ?? "";
    if (old.textContent !== text) old.textContent = text;
    if (!old.matches(".wrong")) continue;
    const field = old.closest(".field");
    const { entry = "None" } = found.querySelector(`#${old.id}`)?.dataset ?? {};
    const inputs = field?.querySelectorAll(".chip input, .box input[type=text], textarea") ?? [];
    for (const [k, input] of [...inputs].filter(({ value }) => value).entries())
      input.ariaInvalid = text && [String(k), "None"].includes(entry) ? "true" : null;
    if (text) field?.closest("details")?.setAttribute("open", "");
  }
  address.write(link);
  if (!isAnswered) return;
  const rest = document.querySelector("#rest");
  const picture = rest.querySelector("#picture > *");
  if (picture) found.querySelector("#picture")?.replaceChildren(picture); // until the new picture is drawn
  redraw(rest, ...found.querySelector("#rest").childNodes);
  rest.hidden = false;
  rest.querySelector("#link").href = link;
  if (form.elements.log) showPositions(form.elements.log.value);
  showPost();
  drawing = setTimeout(drawPicture, PAUSE);
}

/** Offer to copy the sentence and the link, or to save the log if the link would be too long. */
function showPost() {
  const place = document.querySelector("#post");
  if (!place) return;
  place.hidden = false;
  const { href } = document.querySelector("#link");
  const isLong = href.length > MAX_LINK;
  const [post, save] = place.querySelectorAll("button");
  const words = place.dataset.words + (isLong ? "" : ` ${href}`);
  post.textContent = isLong ? "Copy the sentence" : "Copy the sentence and the link";
  save.hidden = place.querySelector("span").hidden = !isLong;
  post.onclick = () => copy(post, words, document.querySelector("#lead"));
  save.onclick = () => saveFile("log.txt", form.elements.log.value);
}

/** Remove the answer, because its question has changed. */
function clearAnswer() {
  document.querySelector("#rest").hidden = true;
  for (const id of ["lead", "example-note"]) document.getElementById(id).textContent = "";
}

/** Show the positions of a log of the board: a map in the page, and a link to the board. */
async function showPositions(log) {
  if (positions.log !== log) positions = { log, parts: await listPositions(log) };
  document.querySelector("#positions")?.replaceChildren(...positions.parts);
}

async function listPositions(log) {
  let lines = [];
  try {
    lines = log
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  } catch {} // the log is not one of the board
  const [{ board } = {}] = lines;
  const packed = board ? { b: await pack(JSON.stringify(board)) } : {};
  return lines
    .filter(({ turn }) => turn)
    .map(({ turn: code }, k) => {
      const href = `map#${new URLSearchParams({ ...packed, code })}`;
      const player = decodeURIComponent(code.split(";")[2]);
      const map = element("p", {}, "Drawing …");
      async function ontoggle({ target }) {
        if (!target.open || map.querySelector("img")) return;
        try {
          const body = { code, ...(board && { board }), is_dark: isDark() };
          const { svg } = await postJson("api/v1/position/draw", body);
          const src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
          map.replaceChildren(element("img", { src, alt: `Map of position ${k + 1}` }));
        } catch (error) {
          map.textContent = error.message;
        }
      }
      const link = element("a", { href, className: "tool" }, "Open it on the board");
      const title = element("summary", {}, `Position ${k + 1}: ${player} moves`);
      return element("details", { className: "position", ontoggle }, title, map, link);
    });
}

/** Answer the question about a log in the fragment of the URL, if there is one. */
async function openAddress() {
  const held = new URLSearchParams(location.hash.slice(1));
  if (!held.has("log")) return;
  clearAnswer();
  try {
    held.set("log", await unpack(held.get("log")));
  } catch {
    showWrong("Cannot read the log in the address; it may be incomplete.");
    return;
  }
  form.parentElement.classList.add("opened"); // the answer first, and the text of the log below
  for (const [name, value] of held) {
    const input = form.elements.namedItem(name);
    if (input?.type === "checkbox") input.checked = true;
    else if (input) input.value = value;
  }
  ask();
}

if (form.elements.log) {
  addEventListener("hashchange", openAddress);
  takeFiles(
    document.querySelector("#file"),
    (text) => {
      form.elements.log.value = text;
      clearAnswer();
      ask();
    },
    showWrong,
  );
}

/** Draw the picture of the current answer, if it has one. */
async function drawPicture() {
  const place = document.querySelector("#picture");
  if (!place) return;
  const { chart, spec } = place.dataset;
  try {
    const found = chart ? new Response(chart) : await fetch(spec, { signal: asking.signal });
    if (!found.ok) place.replaceChildren();
    else if (place.isConnected) await draw(place, await found.json());
  } catch (error) {
    if (error.name !== "AbortError") show(place, spec.replace(".json?", ".svg?"));
  }
}

/** Change the number in an input by a number of steps. */
function changeNumber(input, by) {
  const given = input.value.trim() || input.placeholder;
  const hasSign = given.endsWith("%");
  const number = Number(given.replace(/[,_%]/g, "") || 0);
  if (Number.isNaN(number)) return;
  const isChance = input.closest(".field").classList.contains("chance");
  const isPercent = hasSign || number > 1 || /^\d+$/.test(given);
  const unit = isChance && !isPercent ? 0.01 : 1;
  const [least, most] = isChance
    ? [unit, 100 * unit - unit]
    : [Number(input.dataset.least), Infinity];
  const moved = Math.min(Math.max(number + by * unit, least), Math.max(most, number));
  input.value = `${Number(moved.toFixed(10))}${hasSign ? "%" : ""}`;
  ask();
}

form.addEventListener("pointerdown", (event) => {
  const button = event.target.closest(".step");
  if (!button || event.button) return;
  event.preventDefault(); // keep the focus, so that a phone's keyboard stays open
  const input = button.parentElement.querySelector("input");
  const by = Number(button.dataset.by);
  changeNumber(input, by);
  let timer = setTimeout(function again() {
    changeNumber(input, by);
    timer = setTimeout(again, 80);
  }, 450);
  for (const end of ["pointerup", "pointercancel", "blur"]) {
    addEventListener(end, () => clearTimeout(timer), { once: true });
  }
});
form.addEventListener("click", (event) => {
  const button = event.target.closest(".step");
  if (button && !event.detail)
    changeNumber(button.parentElement.querySelector("input"), Number(button.dataset.by));
});
form.addEventListener("keydown", (event) => {
  const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
  if (by && event.target.closest(".number") && !event.altKey) {
    event.preventDefault();
    changeNumber(event.target, event.shiftKey ? 10 * by : by);
  }
});

form.addEventListener("change", (event) => {
  if (event.target.name !== "rules") return;
  const help = form.querySelector("#help-rules");
  help.textContent = event.target.selectedOptions[0].dataset.line;
});

for (const input of form.querySelectorAll(".field.row input")) {
  makeRow(input, form.querySelector("select[name=rules]"), isLive ? ask : () => {});
}

if (isLive) {
  form.addEventListener("input", (event) => {
    const isBeingFilled = event.target.required && !event.target.value.trim();
    if (!isBeingFilled) return ask();
    asking.abort();
    clearAnswer(); // remove the answer for the old number
  });
  form.addEventListener("change", (event) => {
    if (event.target.required && !event.target.value.trim()) ask();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
  });
  form.noValidate = true;
} else {
  form.addEventListener("submit", () => setBusy(0));
}
showPost();
drawPicture();
openAddress();
