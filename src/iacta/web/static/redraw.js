// Redrawing: elements that do not change stay in the page, with their focus and their text.

const OWN = ["open", "style"]; // a visitor's open details stay open; styles are set as properties

/**
 * Return an element. A child may be a list; null, false and undefined are skipped.
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
 * Turn the children of an element into the wanted children. A child with an `id` or a `key` keeps
 * its identity when it moves; other children are identified by their position.
 * @param {Element} place
 * @param {...unknown} wanted the new children, as `element` accepts them
 */
export function redraw(place, ...wanted) {
  const focused = document.activeElement;
  const fragment = new DocumentFragment();
  fragment.append(...shown(wanted));
  become(place, fragment);
  if (place.contains(focused)) focused.focus({ preventScroll: true }); // moving an element removes its focus
}

const keyOf = (node) => node.id || node.key;

function become(place, wanted) {
  const nodes = [...wanted.childNodes];
  const keys = new Set(nodes.map(keyOf));
  for (const each of [...place.childNodes])
    if (keyOf(each) && !keys.has(keyOf(each))) each.remove();
  const keyed = new Map([...place.childNodes].map((each) => [keyOf(each), each]));
  let next = place.firstChild;
  const drop = () => {
    const gone = next;
    next = next.nextSibling;
    gone.remove();
  };
  for (const node of nodes) {
    let old = keyOf(node) ? keyed.get(keyOf(node)) : next;
    while (old && !keyOf(old) && old.nodeName !== node.nodeName) old = old.nextSibling;
    if (old?.nodeName !== node.nodeName || keyOf(old) !== keyOf(node)) {
      place.insertBefore(node, next);
      continue;
    }
    if (!keyOf(node)) while (next !== old) drop();
    if (next === old) next = next.nextSibling;
    else place.insertBefore(old, next);
    if (node.nodeType === Node.TEXT_NODE) {
      if (old.data !== node.data) old.data = node.data;
    } else if (node.given || !old.isEqualNode(node)) {
      become(old, node);
      resemble(old, node);
    }
  }
  while (next) drop();
}

/** Give an element the attributes and properties of another; text that a user is typing stays. */
function resemble(old, node) {
  for (const { name } of [...old.attributes])
    if (!OWN.includes(name) && !node.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of node.attributes)
    if (!OWN.includes(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const key of Object.keys(old.given ?? {}))
    if (key.startsWith("on") && !node.given[key]) old[key] = null;
  for (const [key, value] of Object.entries(node.given ?? {})) {
    const isTyped = key === "value" && old === document.activeElement && old.type === "text";
    if (!isTyped && old[key] !== value) old[key] = value;
  }
  old.given = node.given;
}

/** Return a table of text cells; the first cell of each row is its heading. */
export function table(heads, rows) {
  const cell = (text, k) =>
    k ? element("td", { className: "num" }, text) : element("th", { scope: "row" }, text);
  const head = heads.map((text, k) =>
    element(text ? "th" : "td", { ...(text && { scope: "col" }), className: k ? "num" : "" }, text),
  );
  const body = rows.map((cells) => element("tr", {}, cells.map(cell)));
  return element(
    "table",
    {},
    element("thead", {}, element("tr", {}, head)),
    element("tbody", {}, body),
  );
}
