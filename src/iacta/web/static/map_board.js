// The map: a board drawn as SVG, on which territories are chosen by mouse, touch and keyboard.
//
// A colour says one thing. While a position is set up, land and badge have the colour of the owner.
// Where a plan's chances differ, land is shaded by the chance to own it, in grey, which is nobody's;
// owners are then told by their badges alone. Every territory has its name on the map, or a letter
// there and its name below the map, if need be on a larger map; labels keep clear of badges, arrows
// and each other.

/** @typedef {import("./map_state.js").Board} Board */

/**
 * What is shown on the map.
 * @typedef {object} View
 * @property {number[]} owners
 * @property {number[]} armies
 * @property {number} mover
 * @property {string[]} players
 * @property {string[]} tones the colour of each player
 * @property {number|null} chosen the territory that is chosen
 * @property {number[]} targets territories of the goal
 * @property {number[]} stay territories that may not attack
 * @property {Record<number, number>} keep
 * @property {(number|null)[]|null} chances to own each territory, where they are shown
 * @property {{from: number, to: number, number: number, isMain: boolean, isNext: boolean}[]} arrows
 */

const SVG = "http://www.w3.org/2000/svg";
const NOBODY = "nobody";
// Shapes with room for a number, so that owners can be told apart without colours too.
const SHAPES = [
  "M-1,0A1,1 0 1 1 1,0A1,1 0 1 1 -1,0Z",
  "M-.92,-.92H.92V.92H-.92Z",
  "M0,-1.3L1.3,0L0,1.3L-1.3,0Z",
  "M0,-1.15L1.05,-.3L.85,.95H-.85L-1.05,-.3Z",
  "M-1,-.9H1L.9,.4L0,1.15L-.9,.4Z",
  "M-.6,-1.05H.6L1.15,0L.6,1.05H-.6L-1.15,0Z",
  "M-.45,-1.05H.45L1.05,-.45V.45L.45,1.05H-.45L-1.05,.45V-.45Z",
  "M-1.15,-.85H1.15L.75,.95H-.75Z",
];
const ALONG = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74];
const LONGEST = 24;
const APART = 72; // pixels between territories
const MOST_ZOOM = 6;
const NEAR = 24; // pixels from a badge in which a click still means its territory
const DIRECTIONS = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowDown: [0, 1],
  ArrowUp: [0, -1],
};

/**
 * Return an element of SVG.
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

/** @param {string} name */
export const cut = (name) => (name.length <= LONGEST ? name : `${name.slice(0, LONGEST - 1)}…`);

/** @param {number} player */
export const shape = (player) => SHAPES[player % SHAPES.length];

/**
 * Return the colour of digits on a badge: white, or ink on badges that are light.
 * @param {string} tone
 */
export function digitsOn(tone) {
  const parts = [1, 3, 5].map((k) => parseInt(tone.slice(k, k + 2), 16) / 255);
  const linear = parts.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  const light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05;
  return 1.05 / light > light / 0.0656 ? "#ffffff" : "#1f2328";
}

/** Return a number of armies that fits on a badge. */
export function short(count) {
  for (const [size, letter] of [[1e9, "b"], [1e6, "m"], [1e3, "k"]]) {
    if (count < size) continue;
    const whole = Math.floor(count / size);
    return `${whole >= 10 ? whole : Math.floor((10 * count) / size) / 10}${letter}`;
  }
  return String(count);
}

/** Return the letters that stand for a name: a to z, aa, ab and so on. */
const key = (number) => (number < 26 ? "" : key(Math.floor(number / 26) - 1)) + String.fromCharCode(97 + (number % 26));

const around = (x, y, halfWidth, halfHeight) => ({
  left: x - halfWidth,
  top: y - halfHeight,
  right: x + halfWidth,
  bottom: y + halfHeight,
});
const meet = (a, b) =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** Return whether a line has a part inside a box, as Liang and Barsky clip it. */
function crosses([[x, y], [x2, y2]], box) {
  let first = 0;
  let last = 1;
  for (const [start, way, low, high] of [
    [x, x2 - x, box.left, box.right],
    [y, y2 - y, box.top, box.bottom],
  ]) {
    if (!way) {
      if (start <= low || start >= high) return false;
      continue;
    }
    const [near, far] = [(low - start) / way, (high - start) / way].sort((a, b) => a - b);
    first = Math.max(first, near);
    last = Math.min(last, far);
  }
  return first < last;
}

export class BoardMap {
  /**
   * @param {{root: SVGSVGElement, view: HTMLElement, names: HTMLElement,
   *   click: (territory: number) => void, choose: (territory: number) => void,
   *   type: (territory: number, key: string) => boolean}} parts
   *   `click` is told which territory was clicked or tapped, `choose` to which an arrow key went,
   *   `type` which other key was pressed there; it says whether that meant anything.
   */
  constructor({ root, view, names, click, choose, type }) {
    Object.assign(this, { root, view, names, click, choose, type });
    /** @type {Board|null} */
    this.board = null;
    this.zoom = null;
    this.shown = null;
    root.addEventListener("click", (event) => {
      const t = this.at(event);
      if (t !== null) this.click(t);
    });
    root.addEventListener("keydown", (event) => this.pressed(event));
    let width = 0;
    new ResizeObserver(() => {
      if (Math.abs(view.clientWidth - width) < 2) return;
      width = view.clientWidth;
      this.draw();
    }).observe(view);
  }

  /** @param {Board} board */
  setBoard(board) {
    this.board = board;
    this.zoom = null;
    this.drawnWidth = null;
    this.labelled = "";
    this.ground = svg("g", { "aria-hidden": "true" });
    this.lines = svg("g", { "aria-hidden": "true" });
    this.badges = svg("g");
    this.above = svg("g", { "aria-hidden": "true", class: "above" });
    this.spots = board.territories.map((_, t) => {
      const ring = svg("path", { class: "ring" });
      const badge = svg("path", { class: "badge" });
      const digits = svg("text", { class: "digits" });
      const spot = svg("g", { class: "spot", role: "button", tabindex: t ? -1 : 0, "data-t": t });
      const title = svg("title", {}, board.territories[t]);
      spot.append(title, ring, badge, digits);
      this.badges.append(spot);
      return { spot, ring, badge, digits };
    });
    this.root.replaceChildren(this.ground, this.lines, this.badges, this.above);
    this.near = board.territories.map(() => []);
    for (const { from, to, lines } of board.borders) {
      const back = [...lines].reverse().map(([a, b]) => [b, a]);
      this.near[from].push({ t: to, lines });
      this.near[to].push({ t: from, lines: back });
    }
  }

  /** Return how large a map must be, as a part of what fits, for its territories to be told apart. */
  usualZoom() {
    const [, , wide, high] = this.board.frame;
    const crowded = this.view.clientWidth * Math.sqrt(high / wide / this.board.territories.length);
    return Math.min(Math.max(APART / crowded, 1), MOST_ZOOM);
  }

  /** Return the territory where the player who moves has the most armies. */
  largest() {
    const { owners, armies, mover } = this.shown;
    const mine = armies.map((count, t) => (owners[t] === mover ? count : -1));
    return mine.indexOf(Math.max(...mine));
  }

  /** @param {View} shown */
  show(shown) {
    this.shown = shown;
    this.draw();
  }

  /** Show the map larger or smaller, around the same point. */
  zoomBy(factor) {
    const { view } = this;
    const middle = [view.scrollLeft + view.clientWidth / 2, view.scrollTop + view.clientHeight / 2];
    const before = this.width;
    this.zoom = Math.min(Math.max(this.zoom * factor, 1), MOST_ZOOM);
    this.draw();
    const grown = this.width / before;
    view.scrollLeft = middle[0] * grown - view.clientWidth / 2;
    view.scrollTop = middle[1] * grown - view.clientHeight / 2;
  }

  /** Show some territories as large as they fit. */
  closeUp(territories) {
    const { view, board } = this;
    const chosen = new Set(territories);
    const points = [...chosen].flatMap((t) => [board.places[t], ...(board.outlines[t] ?? []).flat()]);
    this.zoom = this.usualZoom();
    if (points.length) {
      const xs = points.map(([x]) => x);
      const ys = points.map(([, y]) => y);
      const wide = Math.max(...xs) - Math.min(...xs) + 1e-9;
      const part = (1.12 * wide) / board.frame[2];
      const most = view.clientWidth < 600 ? 3 : 2;
      this.zoom = Math.min(Math.max(0.97 / part, 1), Math.max(most, this.zoom));
    }
    this.draw();
    if (!points.length) return;
    const at = points.map((point) => this.pixel(point));
    const middle = [0, 1].map((k) => (Math.min(...at.map((p) => p[k])) + Math.max(...at.map((p) => p[k]))) / 2);
    view.scrollLeft = middle[0] - view.clientWidth / 2;
    view.scrollTop = middle[1] - view.clientHeight / 2;
  }

  /** Return the territory that an event is on: on its land or near its badge. */
  at(event) {
    const on = event.target.closest?.("[data-t]");
    if (on) return Number(on.getAttribute("data-t"));
    const box = this.root.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const far = this.board.places.map((place) => {
      const [px, py] = this.pixel(place);
      return Math.hypot(px - x, py - y);
    });
    const nearest = Math.min(...far);
    return nearest <= NEAR ? far.indexOf(nearest) : null;
  }

  pressed(event) {
    const spot = event.target.closest?.(".spot");
    if (!spot || event.ctrlKey || event.altKey || event.metaKey) return;
    const t = Number(spot.getAttribute("data-t"));
    const way = DIRECTIONS[event.key];
    const next = way ? this.towards(t, way) : null;
    const isMeant = way ? true : this.type(t, event.key);
    if (isMeant) event.preventDefault();
    if (next === null) return;
    this.choose(next);
    this.focus(next);
  }

  /** Return the territory that lies in a direction: a neighbour if there is one. */
  towards(t, [x, y]) {
    const cost = ([ax, ay], [bx, by]) => {
      const [dx, dy] = [bx - ax, by - ay];
      const length = Math.hypot(dx, dy) || 1e-9;
      const along = (dx * x + dy * y) / length;
      return along < 0.5 ? Infinity : length * (1 + 2 * (1 - along));
    };
    const { places } = this.board;
    const best = (found) => {
      const [least] = found.filter(([far]) => far < Infinity).sort((a, b) => a[0] - b[0]);
      return least ? least[1] : null;
    };
    const near = this.near[t].map(({ t: other, lines }) => {
      const [first, last] = [lines[0], lines.at(-1)];
      const whole = [last[1][0] - last[0][0] + first[1][0], last[1][1] - last[0][1] + first[1][1]];
      return [cost(places[t], lines.length > 1 ? whole : places[other]), other];
    });
    return best(near) ?? best(places.map((place, other) => [other === t ? Infinity : cost(places[t], place), other]));
  }

  /** Move the focus to a territory, and bring it into sight. */
  focus(t) {
    this.spots[t].spot.focus({ preventScroll: true });
    this.reveal(t);
  }

  /** Bring a territory into sight. */
  reveal(t) {
    const { view } = this;
    const [x, y] = this.pixel(this.board.places[t]);
    const margin = Math.min(60, view.clientWidth / 4);
    if (x < view.scrollLeft + margin || x > view.scrollLeft + view.clientWidth - margin) {
      view.scrollLeft = x - view.clientWidth / 2;
    }
    if (y < view.scrollTop + margin || y > view.scrollTop + view.clientHeight - margin) {
      view.scrollTop = y - view.clientHeight / 2;
    }
  }

  pixel([x, y]) {
    const [left, top] = this.board.frame;
    return [(x - left) * this.scale, (y - top) * this.scale];
  }

  // Drawing.

  draw() {
    const { board, shown, root, view } = this;
    if (!board || !shown || !view.clientWidth) return;
    const isFirst = this.zoom === null;
    this.zoom ??= this.usualZoom();
    const [, , wide, high] = board.frame;
    this.width = Math.floor((view.clientWidth - 2) * this.zoom);
    this.scale = this.width / wide;
    this.height = Math.ceil(high * this.scale);
    root.setAttribute("width", this.width);
    root.setAttribute("height", this.height);
    root.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    const crowded = Math.sqrt((this.width * this.height) / board.territories.length);
    this.half = Math.min(Math.max(crowded / 9, 7.5), 11.5);
    this.letters = Math.min(Math.max(this.half, 10), 11.5);
    if (this.drawnWidth !== this.width) this.drawGround();
    this.paintGround();
    this.drawBadges();
    // Labels are placed anew only where something else may be in their way.
    const labelled = JSON.stringify([this.width, shown.arrows, shown.chances]);
    if (this.labelled !== labelled) {
      this.labelled = labelled;
      this.taken = board.places.map((place) => around(...this.pixel(place), this.half + 1, this.half + 1));
      this.arrowLines = [];
      const arrows = this.drawArrows();
      this.above.replaceChildren(...arrows, ...this.drawNames());
    }
    this.drawnWidth = this.width;
    if (isFirst) this.reveal(this.largest());
  }

  /** Draw land and the lines of borders. */
  drawGround() {
    const { board } = this;
    const paper = [];
    this.lands = board.territories.map((_, t) => {
      const shapes = board.outlines[t] ?? [];
      if (board.outlines.length && shapes.length) {
        const points = (polygon) => polygon.map((p) => this.pixel(p).map((n) => n.toFixed(1)).join(","));
        const d = shapes.filter((each) => each.length).map((each) => `M${points(each).join("L")}Z`).join("");
        return { land: svg("path", { d, "data-t": t }), edge: svg("path", { d }) };
      }
      const [cx, cy] = this.pixel(board.places[t]);
      const disc = { cx: cx.toFixed(1), cy: cy.toFixed(1), r: (1.5 * this.half).toFixed(1) };
      paper.push(svg("circle", { ...disc, class: "land-paper" }));
      return { land: svg("circle", { ...disc, "data-t": t }), edge: svg("circle", disc) };
    });
    const seas = [];
    const heads = [];
    for (const border of board.borders) {
      if (!border.is_drawn) continue;
      for (const [a, b] of border.lines) {
        const [[x1, y1], [x2, y2]] = [this.pixel(a), this.pixel(b)];
        seas.push(svg("line", { x1, y1, x2, y2, class: board.outlines.length ? "sea" : "border" }));
        if (border.one_way) heads.push(this.head((x1 + 2 * x2) / 3, (y1 + 2 * y2) / 3, x2 - x1, y2 - y1, "one-way"));
      }
    }
    const land = [...paper, ...this.lands.map((each) => each.land)];
    const edges = this.lands.map((each) => each.edge);
    this.ground.replaceChildren(...(board.outlines.length ? [...land, ...seas] : [...seas, ...land]), ...edges, ...heads);
  }

  /** Give each land the colour of its owner, or the shade of its chance. */
  paintGround() {
    const { shown } = this;
    this.lands.forEach(({ land, edge }, t) => {
      const owner = shown.owners[t];
      const chance = shown.chances?.[t];
      let look = "land empty";
      land.removeAttribute("fill");
      land.removeAttribute("fill-opacity");
      if (shown.chances) {
        look = "land shaded";
        land.setAttribute("fill-opacity", (chance === null ? 0 : 0.04 + 0.34 * chance).toFixed(3));
      } else if (owner >= 0) {
        look = "land";
        land.setAttribute("fill", shown.tones[owner]);
        land.setAttribute("fill-opacity", 0.3);
      }
      land.setAttribute("class", look);
      edge.setAttribute("class", this.edge(t));
    });
  }

  edge(t) {
    const { chosen, targets } = this.shown;
    const isTarget = targets.includes(t) ? " target" : "";
    return `edge${isTarget}${chosen === t ? " chosen" : ""}`;
  }

  drawBadges() {
    const { board, shown, half } = this;
    this.spots.forEach(({ spot, ring, badge, digits }, t) => {
      const [x, y] = this.pixel(board.places[t]);
      const owner = shown.owners[t];
      const isTarget = shown.targets.includes(t);
      spot.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
      spot.setAttribute("tabindex", t === (shown.chosen ?? 0) ? 0 : -1);
      spot.setAttribute("aria-label", this.told(t));
      spot.setAttribute("aria-pressed", shown.chosen === t);
      spot.setAttribute("class", `spot${shown.chosen === t ? " chosen" : ""}`);
      const tone = owner < 0 ? "" : shown.tones[owner];
      badge.setAttribute("d", owner < 0 ? SHAPES[0] : shape(owner));
      badge.setAttribute("transform", `scale(${(owner < 0 ? half * 0.55 : half).toFixed(2)})`);
      if (owner < 0) badge.removeAttribute("fill");
      else badge.setAttribute("fill", tone);
      badge.setAttribute("class", owner < 0 ? "badge empty" : "badge");
      ring.setAttribute("d", SHAPES[0]);
      ring.setAttribute("transform", `scale(${(half * 1.6).toFixed(2)})`);
      ring.setAttribute("class", `ring${isTarget ? " target" : ""}`);
      const text = owner < 0 ? "" : short(shown.armies[t]);
      digits.textContent = text;
      digits.setAttribute("font-size", (half * [1.25, 1.25, 1.15, 0.92, 0.72, 0.6][Math.min(text.length, 5)]).toFixed(1));
      if (tone) digits.setAttribute("fill", digitsOn(tone));
    });
  }

  /** Return what a territory is, in words. */
  told(t) {
    const { board, shown } = this;
    const owner = shown.owners[t];
    const parts = [board.territories[t]];
    parts.push(owner < 0 ? NOBODY : `${shown.players[owner]}, ${shown.armies[t]}`);
    if (shown.targets.includes(t)) parts.push("goal");
    if (shown.keep[t]) parts.push(`keep ${shown.keep[t]}`);
    if (shown.stay.includes(t)) parts.push("stays");
    const chance = shown.chances?.[t];
    if (chance !== null && chance !== undefined) parts.push(`${percent(chance)} to own it at the end`);
    return parts.join(", ");
  }

  /** Return a head of an arrow. */
  head(x, y, dx, dy, className) {
    const angle = (Math.atan2(dy, dx) * 180) / Math.PI;
    const place = `translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${angle.toFixed(1)})`;
    return svg("path", { d: "M4,0L-5,-4.5L-5,4.5Z", transform: place, class: className });
  }

  drawArrows() {
    const { shown, half } = this;
    const pairs = new Set(shown.arrows.map(({ from, to }) => `${from} ${to}`));
    const drawn = shown.arrows.map((arrow) => {
      const border = this.near[arrow.from].find(({ t }) => t === arrow.to);
      const ends = (border?.lines ?? []).map(([a, b]) => [this.pixel(a), this.pixel(b)]);
      const lane = pairs.has(`${arrow.to} ${arrow.from}`) ? 3.5 : 0;
      const lines = ends.map(([a, b], k) => shortened(a, b, k === 0, k === ends.length - 1, lane, half));
      return { ...arrow, lines };
    });
    for (const { lines } of drawn) this.arrowLines.push(...lines);
    const found = [];
    for (const { lines, isMain, isNext } of drawn) {
      const look = isNext ? " next" : isMain ? "" : " rare";
      for (const [[x1, y1], [x2, y2]] of lines) {
        found.push(svg("line", { x1, y1, x2, y2, class: "halo" }));
        found.push(svg("line", { x1, y1, x2, y2, class: `shaft${look}` }));
      }
      if (!lines.length) continue;
      const [a, b] = lines.at(-1);
      found.push(this.head(b[0], b[1], b[0] - a[0], b[1] - a[1], `head${look}`));
      this.taken.push(around(b[0], b[1], 4, 4));
    }
    const radius = Math.min(Math.max(half * 0.8, 7), 8.5);
    for (const { lines, number, isMain, isNext } of drawn) {
      if (!lines.length) continue;
      const [x, y] = this.beside(lines, radius);
      this.taken.push(around(x, y, radius + 1, radius + 1));
      const look = isNext ? " next" : isMain ? "" : " rare";
      found.push(svg("circle", { cx: x, cy: y, r: radius, class: `disc${look}` }));
      const size = (String(number).length > 1 ? 1.2 : 1.4) * radius;
      found.push(svg("text", { x, y, "font-size": size, class: `step-number${look}` }, String(number)));
    }
    return found;
  }

  /** Return the place for the number of an arrow: on it, or beside it. */
  beside(mine, radius) {
    const longest = [...mine].sort((a, b) => length(b) - length(a))[0];
    const [[ax, ay], [bx, by]] = longest;
    const far = length(longest) || 1;
    const [x, y] = [(bx - ax) / far, (by - ay) / far];
    const offs = far >= 2 * radius + 10 ? [0] : [];
    for (const off of [radius + 3, radius + 8, radius + 14]) offs.push(off, -off);
    const others = this.arrowLines.filter((line) => !mine.includes(line));
    let best = null;
    let rank = 0;
    for (const off of offs) {
      for (const part of ALONG) {
        const at = [ax + part * (bx - ax) - off * y, ay + part * (by - ay) + off * x];
        const box = around(...at, radius, radius);
        const hits = this.taken.filter((each) => meet(each, box)).length + !this.isInside(box);
        const crossed = others.filter((line) => crosses(line, box)).length;
        const cost = 1000 * hits + 10 * crossed + rank++;
        if (best === null || cost < best.cost) best = { cost, at };
      }
    }
    return best.at;
  }

  isInside(box) {
    return box.left >= 0 && box.top >= 0 && box.right <= this.width && box.bottom <= this.height;
  }

  /** Return names, and the chances that stand under badges; names without room stand below. */
  drawNames() {
    const { board, shown } = this;
    const found = [];
    const order = board.territories.map((_, t) => t);
    const first = new Set(shown.arrows.flatMap(({ from, to }) => [from, to]));
    order.sort((a, b) => first.has(b) - first.has(a));
    if (shown.chances) {
      for (const t of order) {
        const chance = shown.chances[t];
        if (!first.has(t) || shown.owners[t] === shown.mover) continue;
        this.place(found, t, [percent(chance)], "chance", false);
      }
    }
    const left = [];
    for (const t of order) {
      const words = cut(board.territories[t]).split(" ");
      const forms = [[words.join(" ")]];
      for (let k = 1; k < words.length; k++) forms.push([words.slice(0, k).join(" "), words.slice(k).join(" ")]);
      if (forms.some((form) => this.place(found, t, form, "name", false))) continue;
      // Where there is no room even for a letter, the map must be shown larger.
      const letter = key(left.length);
      if (this.place(found, t, [letter], "name key", true)) left.push([letter, board.territories[t]]);
    }
    this.names.hidden = !left.length;
    this.names.replaceChildren(
      ...left.map(([letter, name]) => {
        const item = document.createElement("li");
        const bold = document.createElement("b");
        bold.textContent = letter;
        item.append(bold, ` ${cut(name)}`);
        return item;
      }),
    );
    return found;
  }

  /** Add a label near a place, or farther away too, if there is room; return whether there is. */
  place(found, t, lines, className, isFarToo) {
    const [x, y] = this.pixel(this.board.places[t]);
    const size = className === "chance" ? this.letters * 0.95 : this.letters;
    const halfWidth = Math.max(...lines.map((line) => measured(line, size))) / 2 + 1;
    const high = size * 1.15;
    const halfHeight = (high * lines.length) / 2;
    const [below, aside] = [this.half + halfHeight + 1.5, this.half + halfWidth + 2.5];
    const near = [[0, below], [0, -below], [aside, 0], [-aside, 0]];
    for (const v of [1, -1]) for (const h of [1, -1]) near.push([h * aside * 0.8, v * below]);
    for (const v of [1, -1]) for (const h of [1, -1]) near.push([h * halfWidth * 0.6, v * below]);
    near.push([0, below + 4], [0, -below - 4], [aside + 4, 0], [-aside - 4, 0]);
    if (isFarToo) {
      for (let away = 6; away < 44; away += 2) {
        for (let turn = 0; turn < 12; turn++) {
          near.push([away * Math.cos((turn * Math.PI) / 6), away * Math.sin((turn * Math.PI) / 6)]);
        }
      }
    }
    const isFree = (box) =>
      this.isInside(box) &&
      !this.taken.some((each) => meet(each, box)) &&
      !this.arrowLines.some((line) => crosses(line, box));
    const spots = near.map(([dx, dy]) => around(x + dx, y + dy, halfWidth, halfHeight));
    const box = spots.find(isFree);
    if (!box) return false;
    this.taken.push(box);
    lines.forEach((line, k) => {
      const at = { x: ((box.left + box.right) / 2).toFixed(1), y: (box.top + high * (k + 0.5)).toFixed(1) };
      found.push(svg("text", { ...at, class: className, "font-size": size.toFixed(1) }, line));
    });
    return true;
  }
}

const length = ([[ax, ay], [bx, by]]) => Math.hypot(bx - ax, by - ay);

/** Return a line that leaves room for the badges at its ends. */
function shortened(a, b, isFirst, isLast, lane, off) {
  const far = length([a, b]) || 1;
  const [x, y] = [(b[0] - a[0]) / far, (b[1] - a[1]) / far];
  const back = isLast ? off + 5 : 0;
  const front = isFirst ? Math.min(off + 2, Math.max(far - back - 6, 0)) : 0;
  return [
    [a[0] + front * x - lane * y, a[1] + front * y + lane * x],
    [b[0] - back * x - lane * y, b[1] - back * y + lane * x],
  ];
}

let ruler = null;
const widths = new Map();

/** Return how wide a text is. */
function measured(text, size) {
  if (!ruler) {
    ruler = document.createElement("canvas").getContext("2d");
    ruler.font = `100px ${getComputedStyle(document.body).fontFamily}`;
  }
  if (!widths.has(text)) widths.set(text, ruler.measureText(text).width / 100);
  return widths.get(text) * size;
}

/** Return a chance as a map has it; only what is certain is called so. */
export function percent(chance, digits = 0) {
  const shown = (100 * chance).toFixed(digits);
  const least = (10 ** -digits).toFixed(digits);
  const most = (100 - 10 ** -digits).toFixed(digits);
  if (chance < 1 && Number(shown) >= 100) return `> ${most}%`;
  if (chance > 0 && Number(shown) <= 0) return `< ${least}%`;
  return `${shown}%`;
}
