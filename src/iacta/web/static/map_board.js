// The map: a scene drawn as SVG. Mouse, touch and keyboard select territories.
//
// The server computes the layout. This module zooms the map, and omits labels that do not fit.
// Colour has a single meaning: the owner of a territory.

import { redraw } from "./redraw.js";

/**
 * The contents of the map. `players`, `owners`, `armies`, `mover`, `targets`, `stay` and `keep` are
 * the same as in a state.
 * @typedef {object} View
 * @property {{colour: string, digits: string, shape: string}[]} labels the look of each player
 * @property {number} step the number of the step after which the map is shown
 * @property {number|null} chosen the selected territory
 * @property {number|null} aimed the territory about to be attacked
 * @property {string[]|null} figures the chance to own each territory at the end of the turn; null
 *   if the chances hardly differ
 * @property {{chances: (number|null)[], figures: string[]}|null} danger the chance that each
 *   territory of the player to move falls
 * @property {number[]|null} lands the territories to emphasise
 * @property {{from: number, to: number}|null} strike the ends of an arrow beside the scene
 * @property {object|null} scene the arrows and labels; null for the scene of the board
 */

const SVG = "http://www.w3.org/2000/svg";
const NOBODY = "nobody";
const CIRCLE = "M-1,0A1,1 0 1 1 1,0A1,1 0 1 1 -1,0Z";
const EMPTY = { colour: "none", digits: "none", shape: CIRCLE };
const UNIT = 1.25; // pixels per unit on small maps, where names are 11 pixels high and badges 32 apart
const GROWTH = [0.5, 0.75]; // units grow with the map to this power: usually, and on projectors
const MAX_ZOOM = 6;
const MAX_STRETCH = 1.25; // the map grows in one direction by up to this factor to fill the view
const BESIDE = 40; // the minimum distance of revealed territories from the view's edges, in pixels
const MAX_BADGE_DISTANCE = 24; // the maximum distance of a click from the badge of its territory, in pixels
const LONG = 500; // the duration of a long press, in milliseconds
const MAX_PRESS_MOVEMENT = 10; // the maximum movement of a finger during a long press, in pixels
const MOVE = 200; // milliseconds in which armies move and numbers count
const TWICE = 350; // the maximum pause between the taps of a double tap, in milliseconds
const DIRECTIONS = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowDown: [0, 1],
  ArrowUp: [0, -1],
};

/**
 * Return an SVG element.
 * @param {string} name
 * @param {Record<string, string|number>} attributes
 * @param {...(Node|string)} children
 */
export function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

/** Whether the user prefers a page that does not move. */
export const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Format a number of armies to fit on a badge. */
function formatArmies(count) {
  for (const [size, letter] of [
    [1e9, "b"],
    [1e6, "m"],
    [1e3, "k"],
  ]) {
    if (count < size) continue;
    const whole = Math.floor(count / size);
    return `${whole >= 10 ? whole : Math.floor((10 * count) / size) / 10}${letter}`;
  }
  return String(count);
}

const STAR = "M0-1L.29-.4.95-.31.48.15.59.81 0 .5-.59.81-.48.15-.95-.31-.29-.4Z"; // a star in a circle

export class BoardMap {
  /**
   * `callbacks` has four functions. The map calls `click` with a clicked or tapped territory,
   * `press` after a long press on a territory, and `choose` with the territory that an arrow key
   * selects. It calls `type` with a territory and any other key; `type` returns whether the key has
   * a function.
   */
  constructor(elements, callbacks) {
    Object.assign(this, elements, { callbacks });
    const { root, view } = elements;
    this.board = null;
    this.zoom = null; // relative to the width at which the whole map fits
    this.shown = null;
    view.addEventListener("click", (event) => {
      const t = this.findTerritory(event);
      if (this.isHeld) this.isHeld = false;
      else if (t !== null) this.callbacks.click(t);
      else this.handleTap(event);
    });
    this.listenToFingers();
    root.addEventListener("keydown", (event) => this.handleKey(event));
    let room = [0, 0];
    new ResizeObserver(() => {
      const { offsetWidth: width, offsetHeight: height } = view;
      if (!this.board || (Math.abs(width - room[0]) < 2 && Math.abs(height - room[1]) < 2)) return;
      room = [width, height];
      this.draw();
    }).observe(view);
  }

  setBoard(board) {
    this.board = board;
    this.shown = null;
    this.zoom = this.followed = null;
    this.drawnSize = "";
    this.ground = svg("g", { "aria-hidden": "true" });
    this.shafts = svg("g", { "aria-hidden": "true", class: "above" });
    this.badges = svg("g");
    this.token = svg("g", { "aria-hidden": "true", class: "above" });
    this.overlay = svg("g", { "aria-hidden": "true", class: "above" });
    this.root.replaceChildren(this.ground, this.shafts, this.badges, this.overlay, this.token);
    this.near = board.territories.map(() => []);
    for (const { start, to, pieces } of board.scene.borders) {
      const back = [...pieces].reverse().map(([a, b]) => [b, a]);
      this.near[start].push({ t: to, pieces });
      this.near[to].push({ t: start, pieces: back });
    }
  }

  /**
   * Return the width in pixels at which the whole map fits into the view, and the factors by which
   * it then grows to the right and down to fill the view.
   */
  measureRoom() {
    const [, , wide, high] = this.board.scene.frame;
    const [right, down] = [this.view.offsetWidth - 2, this.view.offsetHeight - 2];
    const width = Math.min(right, (down * wide) / high);
    const grow = (room, used) => Math.min(Math.max(room / used, 1), MAX_STRETCH);
    return { width, stretch: [grow(right, width), grow(down, (width * high) / wide)] };
  }

  /** Return the zoom at which territories are large enough for taps, relative to the whole map. */
  findUsualZoom() {
    const { width } = this.measureRoom();
    return Math.min(Math.max((this.board.scene.width * UNIT) / width, 1), MAX_ZOOM);
  }

  /** Return the territory with the most armies of the player to move. */
  findLargestStack() {
    const { owners, armies, mover } = this.shown;
    const mine = armies.map((count, t) => (owners[t] === mover ? count : -1));
    return mine.indexOf(Math.max(...mine));
  }

  /**
   * Show a view. If its goal or the first attack of its plan has changed, scroll there.
   * @param {View} shown
   */
  show(shown) {
    const before = this.shown;
    this.shown = shown;
    this.draw();
    if (before && before.step !== shown.step && !isCalm()) this.animate(before);
    if (!shown.scene || this.view.classList.contains("picking")) return;
    const { arrows } = shown.scene;
    const ends = arrows.slice(0, 1).flatMap(({ start, to }) => [start, to]);
    const wanted = [
      ...ends,
      ...(shown.targets.length ? shown.targets : arrows.map(({ to }) => to)),
    ];
    if (String(wanted) !== this.followed && wanted.length) this.scrollToAll(wanted);
    this.followed = String(wanted);
  }

  /** Let changed numbers count, and armies that moved go along their arrow, from an earlier view. */
  animate(before) {
    const { armies, owners } = this.shown;
    const isTaken = (t) => owners[t] !== before.owners[t];
    const starts = armies.map((_, t) => (isTaken(t) ? 0 : before.armies[t]));
    const changed = [...armies.keys()].filter((t) => armies[t] !== starts[t]);
    const targets = changed.filter((t) => armies[t] > starts[t]);
    const isSource = (t) => armies[t] < starts[t] && owners[t] === owners[targets[0]];
    const from = changed.find(isSource);
    if (targets.length === 1 && from !== undefined) this.moveToken(from, targets[0]);
    this.count(starts, changed);
  }

  /** Let the numbers of territories count from their starts. */
  count(starts, changed) {
    const { armies } = this.shown;
    let began = null;
    const draw = (now) => {
      if (String(this.shown?.armies) !== String(armies)) return;
      began ??= now;
      const part = Math.min((now - began) / MOVE, 1);
      for (const t of changed) {
        const number = Math.round(starts[t] + part * (armies[t] - starts[t]));
        this.badges.children[t].querySelector(".digits").textContent = formatArmies(number);
      }
      if (part < 1) requestAnimationFrame(draw);
    };
    if (changed.length) requestAnimationFrame(draw);
  }

  /** Let a badge move from one territory to another. */
  moveToken(from, to) {
    const { shape, colour } = this.shown.labels[this.shown.owners[to]];
    const size = `scale(${this.board.scene.sizes[0]})`;
    this.token.replaceChildren(
      svg("path", { class: "badge", d: shape, transform: size, fill: colour }),
    );
    const frames = this.findWay(from, to).flatMap((piece) =>
      piece.map((point) => {
        const [x, y] = this.locate(point);
        return { transform: `translate(${x}px, ${y}px)` };
      }),
    );
    const end = () => this.token.replaceChildren();
    this.token.animate(frames, { duration: MOVE }).onfinish = end;
  }

  /** Return the pieces of the straight way between the badges of two territories. */
  findWay(from, to) {
    const { badges } = this.board.scene;
    const border = this.near[from].find(({ t }) => t === to);
    const pieces = border?.pieces ?? [[badges[from], badges[to]]];
    return pieces.map(([a, b]) => [a.slice(0, 2), b.slice(0, 2)]);
  }

  /** Return the bounding box of territories in pixels, and whether it is entirely visible. */
  findBox(territories) {
    const { view } = this;
    const at = territories.map((t) => this.locatePixel(this.board.scene.badges[t]));
    const [low, high] = [Math.min, Math.max].map((end) =>
      [0, 1].map((k) => end(...at.map((each) => each[k]))),
    );
    const seen = [
      [view.scrollLeft, view.clientWidth],
      [view.scrollTop, view.clientHeight],
    ];
    const isSeen = seen.every(
      ([from, long], k) => low[k] >= from + BESIDE / 2 && high[k] <= from + long - BESIDE / 2,
    );
    return { low, high, isSeen };
  }

  /** Scroll and zoom to show all given territories, at most at the zoom that the player chose. */
  scrollToAll(territories) {
    const { view } = this;
    if (this.measureRoom().width <= 0) return;
    const before = this.findBox(territories);
    const fits = [view.clientWidth, view.clientHeight].map(
      (long, k) => (long - 2 * BESIDE) / (before.high[k] - before.low[k]),
    );
    const zoom = Math.min(Math.max(this.zoom * Math.min(...fits), 1), this.chosen);
    if (before.isSeen && zoom <= this.zoom) return;
    const isZoomed = zoom !== this.zoom;
    this.zoom = zoom;
    this.draw();
    const { low, high } = this.findBox(territories);
    const [left, top] = [view.clientWidth, view.clientHeight].map(
      (long, k) => (low[k] + high[k] - long) / 2,
    );
    view.scrollTo({ left, top, behavior: isZoomed || isCalm() ? "instant" : "smooth" });
  }

  /** Scroll to a territory unless it is already visible. */
  reveal(t) {
    if (!this.findBox([t]).isSeen) this.scrollToAll([t]);
  }

  /** Show a new position: the whole map, or an empty board large enough for taps. */
  begin() {
    this.zoom = this.shown.owners.every((owner) => owner < 0) ? this.chosen : 1;
    this.draw();
  }

  /** Zoom by a factor around the centre. */
  zoomBy(factor) {
    const box = this.view.getBoundingClientRect();
    this.zoomAt(factor, [box.left + box.width / 2, box.top + box.height / 2]);
  }

  /** Zoom by a factor around a point, which does not move on the screen. */
  zoomAt(factor, [x, y]) {
    const { view } = this;
    const box = view.getBoundingClientRect();
    const [dx, dy] = [x - box.left, y - box.top];
    const before = this.width;
    this.zoom = this.chosen = Math.min(Math.max(this.zoom * factor, 1), MAX_ZOOM);
    this.draw();
    const grown = this.width / before;
    view.scrollLeft = (view.scrollLeft + dx) * grown - dx;
    view.scrollTop = (view.scrollTop + dy) * grown - dy;
  }

  /** Handle a tap outside territories: a double tap zooms in, or out to the whole map. */
  handleTap({ clientX, clientY, timeStamp }) {
    const isSecond = timeStamp - (this.lastTap ?? -TWICE) < TWICE;
    this.lastTap = isSecond ? -TWICE : timeStamp;
    if (isSecond) this.zoomAt(this.zoom < 2 ? 2 : 1 / MAX_ZOOM, [clientX, clientY]);
  }

  /** Handle touch: two fingers zoom, a long press calls `press`, a moving finger scrolls. */
  listenToFingers() {
    const { root, view } = this;
    let far = 0;
    let timer = 0;
    let began = null;
    const apart = ([a, b]) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    view.addEventListener(
      "touchstart",
      ({ touches }) => {
        far = touches.length === 2 ? apart(touches) : 0;
      },
      { passive: true },
    );
    view.addEventListener(
      "touchmove",
      (event) => {
        const { touches } = event;
        if (touches.length !== 2 || !far) return;
        event.preventDefault();
        const now = apart(touches);
        const middle = [
          (touches[0].clientX + touches[1].clientX) / 2,
          (touches[0].clientY + touches[1].clientY) / 2,
        ];
        this.zoomAt(now / far, middle);
        far = now;
      },
      { passive: false },
    );
    const end = () => clearTimeout(timer);
    root.addEventListener("pointerdown", (event) => {
      this.isHeld = false;
      const t = this.findTerritory(event);
      if (t === null || !event.isPrimary || event.button) return;
      began = [event.clientX, event.clientY];
      timer = setTimeout(() => {
        this.isHeld = true;
        this.callbacks.press(t);
      }, LONG);
    });
    root.addEventListener("pointermove", ({ clientX, clientY }) => {
      if (began && Math.hypot(clientX - began[0], clientY - began[1]) > MAX_PRESS_MOVEMENT) end();
    });
    for (const name of ["pointerup", "pointercancel", "pointerleave"])
      root.addEventListener(name, end);
    root.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  /**
   * Return the territory of an event: the land under the pointer, or the nearest badge if it is close.
   */
  findTerritory(event) {
    const on = event.target.closest?.("[data-t]");
    const t = on ? Number(on.getAttribute("data-t")) : null;
    if (on?.matches(".land")) return t;
    const box = this.root.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const far = this.board.scene.badges.map((place) => {
      const [px, py] = this.locatePixel(place);
      return Math.hypot(px - x, py - y);
    });
    const nearest = Math.min(...far);
    return nearest <= MAX_BADGE_DISTANCE ? far.indexOf(nearest) : t;
  }

  handleKey(event) {
    const spot = event.target.closest?.(".spot");
    if (!spot || event.ctrlKey || event.altKey || event.metaKey) return;
    const t = Number(spot.getAttribute("data-t"));
    const way = DIRECTIONS[event.key];
    const next = way ? this.findInDirection(t, way) : null;
    const isMeant = way ? true : this.callbacks.type(t, event.key);
    if (isMeant) event.preventDefault();
    if (next === null) return;
    this.callbacks.choose(next);
    this.focus(next);
  }

  /** Return the closest territory in a direction, preferably a neighbour. */
  findInDirection(t, [x, y]) {
    const cost = ([ax, ay], [bx, by]) => {
      const [dx, dy] = [bx - ax, by - ay];
      const length = Math.hypot(dx, dy) || 1e-9;
      const along = (dx * x + dy * y) / length;
      return along < 0.5 ? Infinity : length * (1 + 2 * (1 - along));
    };
    const places = this.board.scene.badges;
    const best = (found) => {
      const [least] = found.filter(([far]) => far < Infinity).sort((a, b) => a[0] - b[0]);
      return least ? least[1] : null;
    };
    const near = this.near[t].map(({ t: other, pieces }) => {
      const [first, last] = [pieces[0], pieces.at(-1)];
      const whole = [last[1][0] - last[0][0] + first[1][0], last[1][1] - last[0][1] + first[1][1]];
      return [cost(places[t], pieces.length > 1 ? whole : places[other]), other];
    });
    return (
      best(near) ??
      best(places.map((place, other) => [other === t ? Infinity : cost(places[t], place), other]))
    );
  }

  /** Move the focus to a territory and make it visible. */
  focus(t) {
    this.badges.children[t].focus({ preventScroll: true });
    this.reveal(t);
  }

  /** Return the place of an anchor on the map, in units. */
  locate([x, y, dx = 0, dy = 0]) {
    const [left, top] = this.board.scene.frame;
    const [right, down] = this.stretch;
    return [(x - left) * this.scale * right + dx, (y - top) * this.scale * down + dy];
  }

  /** Return the place of an anchor on the map, in pixels. */
  locatePixel(anchor) {
    return this.locate(anchor).map((n) => n * this.unit);
  }

  // Drawing.

  draw() {
    const { board, shown, root } = this;
    const { width, stretch } = board ? this.measureRoom() : { width: 0 };
    if (!shown || width <= 0) return;
    const isFirst = this.zoom === null;
    if (isFirst) this.zoom = this.chosen = this.findUsualZoom();
    const [, , wide, high] = board.scene.frame;
    const pixels = width * this.zoom;
    const growth = GROWTH[Number(document.body.classList.contains("projecting"))];
    this.stretch = stretch;
    this.width = Math.floor(pixels * stretch[0]);
    this.unit = Math.max((pixels / board.scene.width) ** growth, UNIT);
    this.units = pixels / this.unit;
    this.scale = this.units / wide;
    const height = high * this.scale * stretch[1];
    root.setAttribute("width", this.width);
    root.setAttribute("height", Math.floor(height * this.unit));
    root.setAttribute("viewBox", `0 0 ${this.units * stretch[0]} ${height}`);
    const size = `${this.width} ${height}`;
    if (this.drawnSize !== size) this.drawGround();
    this.drawnSize = size;
    this.paintGround();
    redraw(
      this.badges,
      board.territories.map((_, t) => this.spot(t)),
    );
    const { arrows, labels } = shown.scene ?? board.scene;
    const strike = this.findStrike();
    this.shafts.replaceChildren(...[...strike, ...arrows].flatMap((each) => this.shaft(each)));
    this.overlay.replaceChildren(
      ...strike.map(({ paths }) => this.tip(...paths.at(-1), "head next")),
      ...arrows.flatMap((each) => this.head(each)),
      ...this.drawLabels(labels),
    );
    if (isFirst) this.reveal(this.findLargestStack());
  }

  path(points, end = "") {
    return `M${points
      .map((each) =>
        this.locate(each)
          .map((n) => n.toFixed(1))
          .join(","),
      )
      .join("L")}${end}`;
  }

  drawGround() {
    const { outlines, rims, badges, borders, sizes } = this.board.scene;
    const half = sizes[0];
    const paper = [];
    this.view.classList.toggle("ocean", outlines.length > 0);
    this.lands = badges.map((badge, t) => {
      const shapes = (outlines[t] ?? []).filter((each) => each.length);
      if (shapes.length) {
        const d = shapes.map((each) => this.path(each, "Z")).join("");
        return { d, land: svg("path", { d, "data-t": t }), edge: svg("path", { d }) };
      }
      const [cx, cy] = this.locate(badge);
      const disc = { cx: cx.toFixed(1), cy: cy.toFixed(1), r: 1.5 * half };
      paper.push(svg("circle", { ...disc, class: "land-paper" }));
      return { d: "", land: svg("circle", { ...disc, "data-t": t }), edge: svg("circle", disc) };
    });
    const d = this.lands.map((each) => each.d).join("");
    const seas = [];
    const heads = [];
    for (const border of borders.filter((each) => each.is_drawn)) {
      for (const [a, b] of border.pieces) {
        seas.push(svg("path", { d: this.path([a, b]), class: outlines.length ? "sea" : "border" }));
        const at = [0, 1].map((k) => (a[k] + 2 * b[k]) / 3);
        if (border.is_one_way) heads.push(this.tip(a, at, "one-way"));
      }
    }
    const land = [...paper, ...this.lands.map((each) => each.land)];
    const edges = [
      svg("path", { d: rims.map((rim) => this.path(rim)).join(""), class: "rim" }),
      ...this.lands.map((each) => each.edge),
    ];
    this.ground.replaceChildren(
      ...(outlines.length
        ? [
            svg("path", { d, class: "shelf" }),
            ...seas,
            svg("path", { d, class: "land-paper" }),
            ...land,
          ]
        : [...seas, ...land]),
      ...edges,
      ...heads,
    );
  }

  paintGround() {
    const { shown } = this;
    this.lands.forEach(({ land, edge }, t) => {
      const owner = shown.owners[t];
      const { danger, lands } = shown;
      const chance = danger?.chances[t] ?? null;
      const isPale = danger ? chance === null : lands && !lands.includes(t);
      const look = chance !== null ? " danger" : isPale ? " pale" : lands ? " deep" : "";
      land.setAttribute("class", owner < 0 ? "land empty" : `land${look}`);
      land.style.setProperty("--chance", chance ?? 0);
      land.setAttribute("fill", shown.labels[owner]?.colour ?? "none");
      edge.setAttribute("class", this.edge(t));
    });
  }

  edge(t) {
    const { chosen, aimed, targets } = this.shown;
    const isTarget = targets.includes(t) ? " target" : "";
    return `edge${isTarget}${chosen === t || aimed === t ? " chosen" : ""}`;
  }

  /** Return the badge of a territory: a button whose label describes the territory. */
  spot(t) {
    const { board, shown } = this;
    const half = board.scene.sizes[0];
    const [x, y] = this.locate(board.scene.badges[t]);
    const owner = shown.owners[t];
    const isEmpty = owner < 0;
    const { colour, digits, shape } = shown.labels[owner] ?? EMPTY;
    const text = isEmpty ? "" : formatArmies(shown.armies[t]);
    const size = half * [1.25, 1.25, 1.15, 0.92, 0.72, 0.6][Math.min(text.length, 5)];
    const about = {
      role: "button",
      tabindex: t === (shown.chosen ?? 0) ? 0 : -1,
      "aria-label": this.words(t),
      "aria-pressed": shown.chosen === t,
    };
    return svg(
      "g",
      {
        ...about,
        class: `spot${shown.chosen === t || shown.aimed === t ? " chosen" : ""}`,
        "data-t": t,
        transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
      },
      svg("title", {}, board.territories[t]),
      svg("path", {
        class: "ring",
        d: CIRCLE,
        transform: `scale(${(half * 1.6).toFixed(2)})`,
      }),
      svg("path", {
        class: isEmpty ? "badge empty" : "badge",
        d: shape,
        transform: `scale(${(isEmpty ? half * 0.55 : half).toFixed(2)})`,
        fill: colour,
      }),
      svg("text", { class: "digits", "font-size": size.toFixed(1), fill: digits }, text),
      this.markCapital(t, half),
    );
  }

  /** Return the mark of a capital: a star with the number of its defence dice; "" for none. */
  markCapital(t, half) {
    const capital = this.shown.capitals.find(({ territory }) => territory === t);
    if (!capital) return "";
    return svg(
      "g",
      { class: "capital", transform: `translate(${1.25 * half} ${-half}) scale(${half})` },
      svg("path", { d: STAR }),
      svg("text", { "font-size": 0.75, y: 0.05 }, String(capital.dice)),
    );
  }

  words(t) {
    const { board, shown } = this;
    const owner = shown.owners[t];
    const parts = [board.territories[t]];
    parts.push(
      owner < 0
        ? NOBODY
        : `${shown.players[owner]}, ${shown.armies[t]} ${shown.armies[t] === 1 ? "army" : "armies"}`,
    );
    if (shown.aimed === t) parts.push("attacked");
    if (shown.targets.includes(t)) parts.push("goal");
    const capital = shown.capitals.find(({ territory }) => territory === t);
    if (capital) parts.push(`capital of ${capital.player}, ${capital.dice} defence dice`);
    if (shown.keep[t]) parts.push(`keep ${shown.keep[t]}`);
    if (shown.stay.includes(t)) parts.push("may not attack");
    if (shown.danger?.chances[t] != null) parts.push(`${shown.danger.figures[t] || "<1%"} to fall`);
    if (shown.figures) parts.push(`${shown.figures[t]} to own it at the end`);
    return parts.join(", ");
  }

  tip(before, at, className) {
    const [[x1, y1], [x, y]] = [this.locate(before), this.locate(at)];
    const angle = (Math.atan2(y - y1, x - x1) * 180) / Math.PI;
    const place = `translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${angle.toFixed(1)})`;
    return svg("path", { d: "M4,0L-5,-4.5L-5,4.5Z", transform: place, class: className });
  }

  /** Return the arrow between the badges of the territories of `strike`, in a list. */
  findStrike() {
    const { strike } = this.shown;
    if (!strike) return [];
    const { sizes } = this.board.scene;
    const paths = this.findWay(strike.from, strike.to);
    const [[x1, y1], [x2, y2]] = paths.at(-1);
    const gap = (2 * sizes[0]) / this.scale / Math.hypot(x2 - x1, y2 - y1); // as far as the badge
    paths.at(-1)[1] = [x2 - gap * (x2 - x1), y2 - gap * (y2 - y1)];
    return [{ paths, look: "next" }];
  }

  shaft({ paths, look }) {
    const d = paths.map((path) => this.path(path)).join("");
    return [svg("path", { d, class: "halo" }), svg("path", { d, class: `shaft ${look}` })];
  }

  head({ paths, disc, number, look }) {
    const [x, y] = this.locate(disc);
    const r = this.board.scene.sizes[3];
    const size = (String(number).length > 1 ? 1.2 : 1.4) * r;
    return [
      this.tip(...paths.at(-1).slice(-2), `head ${look}`),
      svg("circle", { cx: x, cy: y, r, class: `disc ${look}` }),
      svg("text", { x, y, "font-size": size, class: `step-number ${look}` }, String(number)),
    ];
  }

  /** Draw the labels that fit. List the names of territories with a letter below the map. */
  drawLabels(labels) {
    const { board, units } = this;
    const [, size, line] = board.scene.sizes;
    const fitting = labels.filter(
      ({ least, most }) => least <= units && (most === null || units < most),
    );
    const lands = labels.filter(({ kind }) => kind === "continent");
    const isBare =
      this.shown.owners.every((owner) => owner < 0) &&
      lands.some((each) => !fitting.includes(each));
    const shown = isBare ? lands : fitting; // on an empty board, continents take precedence
    const keys = shown.filter(({ kind }) => kind === "key");
    this.names.hidden = !keys.length;
    this.names.replaceChildren(
      ...keys.map(({ lines, territory }) => {
        const [item, bold] = ["li", "b"].map((name) => document.createElement(name));
        bold.textContent = lines[0];
        item.append(bold, ` ${board.short[territory]}`);
        return item;
      }),
    );
    return shown.flatMap(({ kind, lines, middle }) => {
      const [x, y] = this.locate(middle);
      const place = (k) => ({
        x: x.toFixed(1),
        y: (y + (k - (lines.length - 1) / 2) * line).toFixed(1),
      });
      return lines.map((text, k) =>
        svg("text", { ...place(k), class: `name ${kind}`, "font-size": size }, text),
      );
    });
  }
}
