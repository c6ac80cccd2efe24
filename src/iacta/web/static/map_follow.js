// Following a plan: what each battle came to is told or rolled, and the plan says what comes next.
//
// The server remembers neither the plan nor the turn: it is sent the question, the plan as it found
// it, who held what before the last battle, and what that came to. So any step can be taken back, and a link leads into the middle
// of a turn.

import { patiently, positionOf, posted } from "./map_plan.js";
import { element } from "./map_table.js";
import { stood } from "./map_state.js";

/** @typedef {import("./map_state.js").Board} Board */
/** @typedef {import("./map_state.js").State} State */
/** @typedef {import("./map_state.js").Fought} Fought */

/**
 * Where a plan stands, as the server says it.
 * @typedef {object} Standing
 * @property {{player: string, territories: Record<string, {owner: string, armies: number}>}} position
 * @property {{from: string, to: string, left: number, their_left: number, moved?: number}|null} attack
 * @property {string[]} course the battles so far, in words
 * @property {import("./map_state.js").Moving} scene
 * @property {{from: string, to: string, asked: [string, string]}|null} move
 * @property {boolean} is_reached
 * @property {number|null} value
 * @property {number|null} value_before
 * @property {string[]} sentences
 */

export class Follower {
  /**
   * @param {object} parts
   * @param {Record<string, HTMLElement>} parts.on the elements of the page by their ids
   * @param {() => {board: Board, state: State, question: object, start: Standing}} parts.asked
   * @param {(course: Fought[]) => void} parts.went is told the new course
   */
  constructor({ on, asked, went }) {
    Object.assign(this, { on, asked, went });
    /** @type {Map<string, Standing>} what is known, by the course that led there */
    this.known = new Map();
    this.isBusy = false;
    this.impossible = ""; // the course that could not be looked up
    on.attack.addEventListener("click", () => this.open());
    on.fought.addEventListener("submit", (event) => {
      event.preventDefault();
      this.tell({ left: number(on.left.value), their_left: number(on.theirs.value) });
    });
    on["roll-once"].addEventListener("click", () => this.tell({}, { once: true }));
    on["roll-all"].addEventListener("click", () => this.tell({}, { once: false }));
    on.advance.addEventListener("submit", (event) => {
      event.preventDefault();
      this.advance(number(on.moved.value));
    });
    on.undo.addEventListener("click", () => went(asked().state.course.slice(0, -1)));
    on.record.addEventListener("click", () => this.download());
  }

  /** Forget what was known, as another plan is followed. */
  forget() {
    this.known.clear();
    this.impossible = "";
  }

  /** Return where the course leads, or ask for it and return null. */
  standing() {
    const { state, start } = this.asked();
    if (!state.course.length) return start;
    return this.known.get(JSON.stringify(state.course)) ?? null;
  }

  /** Return who holds what where the plan begins, with the new armies placed. */
  start() {
    const { board, state, start } = this.asked();
    return heldBy(board, state, start.position);
  }

  /** Return who holds what now. */
  held() {
    const { state } = this.asked();
    return stood(this.start(), state.mover, state.course);
  }

  /** Whether the last battle may go on. */
  goesOn(standing) {
    const last = this.asked().state.course.at(-1);
    const { board } = this.asked();
    return Boolean(
      last?.theirs &&
        standing?.move &&
        board.territories[last.from] === standing.move.from &&
        board.territories[last.to] === standing.move.to,
    );
  }

  /** Show the form for how a battle ended. */
  open() {
    const { on } = this;
    const { move } = this.standing();
    on["follow-begin"].hidden = true;
    on.fought.hidden = false;
    [on["left-label"].textContent, on["theirs-label"].textContent] = move.asked;
    on.left.value = "";
    on.theirs.value = "0";
    on.left.focus();
  }

  /** Tell the server how a battle ended, or let it roll the dice. */
  async tell(attack, roll = null) {
    const { board, state } = this.asked();
    const standing = this.standing();
    if (!standing?.move || this.isBusy) return;
    const goesOn = this.goesOn(standing);
    const now = this.held();
    const body = { position: goesOn ? now.before : now };
    if (roll) {
      if (goesOn) body.attack = attackOf(board, state.course.at(-1));
      body.roll = { seed: crypto.getRandomValues(new Uint32Array(1))[0], ...roll };
    } else {
      body.attack = { from: standing.move.from, to: standing.move.to, ...attack };
    }
    const told = await this.ask(body, state.course);
    if (told) this.take([...state.course, foughtOf(board, told.attack)], told);
  }

  /** Change how many armies moved in after the last battle. */
  async advance(moved) {
    const { board, state } = this.asked();
    const attack = { ...attackOf(board, state.course.at(-1)), moved };
    const told = await this.ask({ position: this.held().before, attack }, state.course.slice(0, -1));
    if (told) this.take([...state.course.slice(0, -1), foughtOf(board, told.attack)], told);
  }

  take(course, told) {
    this.known.set(JSON.stringify(course), told);
    this.went(course);
  }

  /** Ask where the plan is, and for the battles of the course before in words. */
  async ask({ position, ...body }, course) {
    const { on } = this;
    const { board, state, question, start } = this.asked();
    const { player, territories } = positionOf(board, state, position);
    on["follow-wrong"].textContent = "";
    this.isBusy = true;
    on.follow.setAttribute("aria-busy", "true");
    try {
      const asked = { question, plan: start.plan, position: { player, territories }, course: course.map((each) => attackOf(board, each)), ...body };
      return await patiently(() => posted("/api/plan/follow", asked));
    } catch (error) {
      on["follow-wrong"].textContent = error.message;
      return null;
    } finally {
      this.isBusy = false;
      on.follow.removeAttribute("aria-busy");
    }
  }

  /** Show where the plan is; ask for it first if the page has just been loaded. */
  async show() {
    const { on } = this;
    const { board, state } = this.asked();
    const { course } = state;
    const standing = this.standing();
    on.undo.disabled = !course.length;
    on.anew.disabled = !course.length;
    on.fought.hidden = true;
    on["follow-begin"].hidden = !standing?.move;
    if (!standing) {
      await this.find(course);
      return;
    }
    const last = course.at(-1);
    on.course.replaceChildren(...standing.course.map((text) => element("li", {}, text)));
    on["follow-told"].replaceChildren(
      ...standing.sentences.map((text, k) => element("p", k === standing.sentences.length - 1 ? { className: "next" } : {}, text)),
    );
    on.advance.hidden = !last || last.theirs > 0 || last.left - (standing.least_stay ?? 1) < 2;
    on.moved.value = last ? String(last.moved) : "";
    on["follow-wrong"].textContent = "";
  }

  /** Ask where the plan is after a course; one that cannot be is said to be so, once. */
  async find(course) {
    const { on } = this;
    const { board } = this.asked();
    const key = JSON.stringify(course);
    on.advance.hidden = true;
    on.course.replaceChildren();
    if (this.impossible === key) return;
    on["follow-told"].replaceChildren(element("p", {}, "Looking up this turn …"));
    if (this.isBusy) return;
    const attack = attackOf(board, course.at(-1));
    const found = await this.ask({ position: this.held().before, attack }, course.slice(0, -1));
    if (found) {
      this.known.set(key, found);
      this.went(this.asked().state.course);
    } else {
      this.impossible = key;
      on["follow-told"].replaceChildren(element("p", {}, "The plan cannot go on from this turn. Undo its last battle, or make a new plan from here."));
    }
  }

  /** Save the turn so far as a file. */
  download() {
    const { board, state, question, start } = this.asked();
    const { player, territories } = positionOf(board, state, this.held());
    const battles = state.course.map((each, k) => ({
      ...attackOf(board, each),
      value: this.known.get(JSON.stringify(state.course.slice(0, k + 1)))?.value ?? null,
    }));
    saved("turn.json", { question, start: start.position, battles, position: { player, territories } });
  }
}

/** Return who holds what in a position that the server sent. */
function heldBy(board, state, position) {
  const { territories } = position;
  const all = board.territories.map((name) => Object.hasOwn(territories, name) && territories[name]);
  return {
    owners: all.map((each) => (each ? state.players.indexOf(each.owner) : -1)),
    armies: all.map((each) => (each ? each.armies : 0)),
  };
}

/** @param {Fought} each */
function attackOf(board, { from, to, left, theirs, moved }) {
  const attack = { from: board.territories[from], to: board.territories[to], left, their_left: theirs };
  return theirs ? attack : { ...attack, moved };
}

/** @returns {Fought} */
function foughtOf(board, { from, to, left, their_left: theirs, moved = 0 }) {
  return { from: board.territories.indexOf(from), to: board.territories.indexOf(to), left, theirs, moved };
}

const number = (text) => (/^\s*\d+\s*$/.test(text) ? Number(text) : text);

/** Save an object as a file of JSON. */
export function saved(name, content) {
  const link = element("a", { download: name });
  link.href = URL.createObjectURL(new Blob([JSON.stringify(content, null, 2)], { type: "application/json" }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
