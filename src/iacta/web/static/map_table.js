// The table of all territories: whatever can be done on the map can be done here.

/**
 * Return an element.
 * @param {string} name
 * @param {Record<string, unknown>} properties
 * @param {...(Node|string)} children
 */
export function element(name, properties = {}, ...children) {
  const { aria, ...others } = properties;
  const made = Object.assign(document.createElement(name), others);
  if (aria) made.setAttribute("aria-label", aria);
  made.append(...children);
  return made;
}

/**
 * Return a table of texts.
 * @param {string[]} heads
 * @param {string[][]} rows the first cell of a row names it
 */
export function table(heads, rows) {
  const head = element("tr", {}, ...heads.map((text, k) => element(text ? "th" : "td", k ? { className: "number" } : {}, text)));
  for (const cell of head.querySelectorAll("th")) cell.scope = "col";
  const body = rows.map((cells) =>
    element(
      "tr",
      {},
      ...cells.map((text, k) => (k ? element("td", { className: "number" }, text) : element("th", { scope: "row" }, text))),
    ),
  );
  return element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
}

export class TerritoryTable {
  /**
   * @param {HTMLElement} place
   * @param {{hold: Function, aim: Function, stay: Function, keep: Function, choose: Function}} changed
   *   what is called for each change, with the territory and the new value
   */
  constructor(place, changed) {
    this.place = place;
    this.changed = changed;
    this.key = "";
  }

  /** Show a view of the map; the rows are made anew only for another board or other players. */
  show(board, view, { canAim, isFixed }) {
    const key = JSON.stringify([board.name, board.territories, view.players]);
    if (key !== this.key) {
      this.key = key;
      this.make(board, view.players);
    }
    this.armies = view.armies.map(String);
    this.rows.forEach((row, t) => {
      const owner = view.owners[t];
      put(row.owner, String(owner));
      put(row.armies, String(view.armies[t]));
      put(row.keep, view.keep[t] ? String(view.keep[t]) : "");
      row.stay.checked = view.stay.includes(t);
      row.aim.checked = view.targets.includes(t);
      row.aim.disabled = !canAim || isFixed;
      for (const input of [row.owner, row.armies, row.keep, row.stay]) input.disabled = isFixed;
      row.line.classList.toggle("chosen", view.chosen === t);
    });
  }

  make(board, players) {
    const { changed } = this;
    const homes = board.continents.map(({ name, bonus, territories }) => ({ name: `${name}, bonus ${bonus}`, territories }));
    const seen = new Set();
    const groups = homes.map(({ name, territories }) => ({
      name,
      territories: territories.filter((t) => !seen.has(t) && seen.add(t)),
    }));
    const rest = board.territories.map((_, t) => t).filter((t) => !seen.has(t));
    if (rest.length) groups.push({ name: groups.length ? "No continent" : "", territories: rest });
    this.rows = [];
    const made = element("table");
    const heads = ["Territory", "Owner", "Armies", "Goal", "Stays", "Keep"];
    const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
    made.append(element("thead", {}, head));
    for (const { name, territories } of groups) {
      const body = element("tbody");
      if (name) body.append(element("tr", {}, element("th", { colSpan: heads.length, scope: "rowgroup", className: "group" }, name)));
      for (const t of territories) {
        const of = board.territories[t];
        const options = ["nobody", ...players].map((each, k) => element("option", { value: String(k - 1) }, each));
        const number = { type: "text", inputMode: "numeric", autocomplete: "off", size: 4 };
        const row = {
          owner: element("select", { aria: `Owner of ${of}` }, ...options),
          armies: element("input", { ...number, aria: `Armies on ${of}` }),
          aim: element("input", { type: "checkbox", aria: `Take ${of}` }),
          stay: element("input", { type: "checkbox", aria: `${of} may not attack` }),
          keep: element("input", { ...number, aria: `Armies to keep on ${of}` }),
        };
        row.owner.addEventListener("change", () => changed.hold(t, { owner: Number(row.owner.value) }));
        row.armies.addEventListener("change", () => {
          if (/^\s*\d+\s*$/.test(row.armies.value)) changed.hold(t, { armies: Number(row.armies.value) });
          else row.armies.value = this.armies[t];
        });
        row.aim.addEventListener("change", () => changed.aim(t, row.aim.checked));
        row.stay.addEventListener("change", () => changed.stay(t, row.stay.checked));
        row.keep.addEventListener("change", () => changed.keep(t, Number(row.keep.value) || 0));
        const cells = [row.owner, row.armies, row.aim, row.stay, row.keep].map((input) => element("td", {}, input));
        row.line = element("tr", {}, element("th", { scope: "row" }, of), ...cells);
        row.line.addEventListener("focusin", () => changed.choose(t));
        this.rows[t] = row;
        body.append(row.line);
      }
      made.append(body);
    }
    this.place.replaceChildren(made);
  }
}

/** Give an input a value, unless somebody is typing it. */
function put(input, value) {
  if (input !== document.activeElement || input.tagName === "SELECT") input.value = value;
}
