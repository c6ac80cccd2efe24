// Updates of the page: unchanged elements stay in the page, with their focus and their text.

const OWN = ["open", "style"]; // kept attributes: the user opens details; properties set styles

/**
 * Create an element. Children may be nested lists; null, false and undefined are skipped.
 * @param {string} name
 * @param {Record<string, unknown>} properties
 * @param {...unknown} children
 */
export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.given = properties;
  made.append(...flattenChildren(children));
  return made;
}

const flattenChildren = (children) => children.flat(Infinity).filter((each) => each || each === 0);

/**
 * Update the children of an element. A child with an `id` or a `key` is the same element after it
 * moves; other children are matched by their position.
 * @param {Element} place
 * @param {...unknown} wanted the new children, as `element` accepts them
 */
export function redraw(place, ...wanted) {
  const focused = document.activeElement;
  const fragment = new DocumentFragment();
  fragment.append(...flattenChildren(wanted));
  replaceContents(place, fragment);
  if (place.contains(focused)) focused.focus({ preventScroll: true }); // moving an element removes its focus
}

const findKey = (node) => node.id || node.key;

function replaceContents(place, wanted) {
  const nodes = [...wanted.childNodes];
  const keys = new Set(nodes.map(findKey));
  for (const each of [...place.childNodes])
    if (findKey(each) && !keys.has(findKey(each))) each.remove();
  const keyed = new Map([...place.childNodes].map((each) => [findKey(each), each]));
  let next = place.firstChild;
  const drop = () => {
    const gone = next;
    next = next.nextSibling;
    gone.remove();
  };
  for (const node of nodes) {
    let old = findKey(node) ? keyed.get(findKey(node)) : next;
    while (old && !findKey(old) && old.nodeName !== node.nodeName) old = old.nextSibling;
    if (old?.nodeName !== node.nodeName || findKey(old) !== findKey(node)) {
      place.insertBefore(node, next);
      continue;
    }
    if (!findKey(node)) while (next !== old) drop();
    if (next === old) next = next.nextSibling;
    else place.insertBefore(old, next);
    if (node.nodeType === Node.TEXT_NODE) {
      if (old.data !== node.data) old.data = node.data;
    } else if (node.given || !old.isEqualNode(node)) {
      replaceContents(old, node);
      copyProperties(old, node);
    }
  }
  while (next) drop();
}

/** Copy attributes and properties to an element, except for text that the user is typing. */
function copyProperties(old, node) {
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
  return makeTable(
    head,
    rows.map((cells) => element("tr", {}, cells.map(cell))),
  );
}

/** Return a table from the cells of its head and the rows of its body. */
export const makeTable = (head, rows) =>
  element("table", {}, element("thead", {}, element("tr", {}, head)), element("tbody", {}, rows));
