// Parts of a page that are drawn again and again: what is as before stays, with its focus and its text.

const OWN = ["open", "style"]; // what a visitor opens stays open; styles are set as properties

/**
 * Return an element; a child can be a list, and what is not to be shown is null, false or undefined.
 * @param {string} name
 * @param {Record<string, unknown>} properties
 * @param {...unknown} children
 */
export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.given = properties;
  made.append(...shown(children));
  return made;
}

const shown = (children) => children.flat(Infinity).filter((each) => each || each === 0);

/**
 * Give a place the children that are wanted, by changing those that it has.
 * @param {Element} place
 * @param {...unknown} wanted children, as `element` takes them
 */
export function redraw(place, ...wanted) {
  const fragment = new DocumentFragment();
  fragment.append(...shown(wanted));
  become(place, fragment);
}

function become(place, wanted) {
  const old = [...place.childNodes];
  const nodes = [...wanted.childNodes];
  nodes.forEach((node, k) => {
    if (old[k] === undefined) place.append(node);
    else if (old[k].nodeName !== node.nodeName || old[k].id !== node.id) old[k].replaceWith(node);
    else if (node.nodeType === Node.TEXT_NODE) {
      if (old[k].data !== node.data) old[k].data = node.data;
    } else {
      become(old[k], node);
      resemble(old[k], node);
    }
  });
  for (const each of old.slice(nodes.length)) each.remove();
}

/** Give an element the attributes and properties of another; what somebody is typing stays. */
function resemble(old, node) {
  for (const { name } of [...old.attributes]) if (!OWN.includes(name) && !node.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of node.attributes) if (!OWN.includes(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const key of Object.keys(old.given ?? {})) if (key.startsWith("on") && !node.given[key]) old[key] = null;
  for (const [key, value] of Object.entries(node.given ?? {})) {
    const isTyped = key === "value" && old === document.activeElement && old.type === "text";
    if (!isTyped && old[key] !== value) old[key] = value;
  }
  old.given = node.given;
}

/**
 * Return a table of texts.
 * @param {(string|Node[])[]} heads
 * @param {string[][]} rows the first cell of a row names it
 */
export function table(heads, rows) {
  const cell = (text, k) => (k ? element("td", { className: "number" }, text) : element("th", { scope: "row" }, text));
  const head = heads.map((text, k) => element(text ? "th" : "td", { ...(text && { scope: "col" }), className: k ? "number" : "" }, text));
  const body = rows.map((cells) => element("tr", {}, cells.map(cell)));
  return element("table", {}, element("thead", {}, element("tr", {}, head)), element("tbody", {}, body));
}
