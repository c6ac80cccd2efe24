// A row of territories or fronts: each has its own input, and can be moved and removed.

import {announce} from "./page.js";

const ONE = /^[1-9]\d{0,2}(,\d{3})+,?$/;  // 8,200 is one number
const ENTRY = /^([^:@~]*)(?::([^@~]*))?(?:@([^~]*))?(?:~(.*))?$/;

export class Row {
  /** Replaces the input that holds the whole row; that input is still what is sent. */
  constructor(input, rules, changed) {
    Object.assign(this, {input, changed, current: 0});
    this.word = input.name === "fronts" ? "Front" : "Territory";
    const field = input.closest(".field");
    const label = field.querySelector("label");
    this.frame = make("div", {className: "row-edit", role: "group"});
    this.frame.setAttribute("aria-labelledby", `label-${input.name}`);
    this.frame.setAttribute("aria-describedby", input.getAttribute("aria-describedby"));
    label.replaceWith(make("span", {id: `label-${input.name}`, className: "label", textContent: label.textContent}));
    this.list = make("ol", {className: "chips"});
    this.tools = make("div", {className: "tools"});
    this.which = make("span", {className: "which"});
    this.earlier = this.tool("←", "Earlier", () => this.move(this.current, this.current - 1));
    this.later = this.tool("→", "Later", () => this.move(this.current, this.current + 1));
    this.less = this.tool("×", "Remove", () => this.remove(this.current, true));
    const more = this.tool(`+ ${this.word}`, "", () => this.add(this.texts.length, ""));
    this.tools.append(more, this.earlier, this.later, this.less, this.which);
    this.frame.append(this.list, this.tools);
    if (input.name === "territories" && rules) {
      this.frame.append(this.ownDetails(rules));
      field.querySelector(".help").hidden = true;  // it is about how to write what they hold
    }
    const box = input.parentElement;
    input.type = "hidden";
    input.required = false;
    box.after(this.frame);
    box.hidden = true;
    this.texts = entries(input.value).filter(Boolean);
    if (!this.texts.length) this.texts = [""];
    this.current = 0;
    this.render();
    this.listen();
  }

  tool(words, name, act) {
    const button = make("button", {type: "button", className: "tool", textContent: words, title: name});
    if (name) button.setAttribute("aria-label", name);
    button.addEventListener("click", act);
    return button;
  }

  /** Returns the inputs for what only one territory has. */
  ownDetails(rules) {
    this.heading = make("summary", {});
    const frame = make("details", {className: "own"});
    const fields = make("div", {className: "tools"});
    frame.append(this.heading, fields);
    const own = make("select", {});
    own.append(make("option", {value: "", textContent: "as in the campaign"}));
    for (const each of rules.querySelectorAll("option[data-line]")) {
      const name = each.textContent;
      own.append(make("option", {value: name.replaceAll(" ", "-"), textContent: name}));
    }
    const number = () => make("input", {type: "text", inputMode: "numeric", autocomplete: "off", size: 3});
    this.details = [own, number(), number()];
    const words = ["Rules", "Garrison", "Stop at"];
    this.details.forEach((each, index) => {
      const label = make("label", {textContent: words[index]});
      label.append(each);
      fields.append(label);
      each.addEventListener("input", event => {
        event.stopPropagation();
        const [, defenders] = ENTRY.exec(this.texts[this.current]) ?? ["", this.texts[this.current]];
        const marks = [":", "@", "~"];
        this.texts[this.current] = defenders + this.details
          .map((detail, place) => detail.value.trim() && marks[place] + detail.value.trim()).join("");
        this.chips[this.current].value = this.texts[this.current];
        fit(this.chips[this.current]);
        this.save();
      });
    });
    return frame;
  }

  get chips() {
    return [...this.list.querySelectorAll("input")];
  }

  /** Shows the row again. */
  render() {
    this.list.replaceChildren(...this.texts.map((text, index) => {
      const chip = make("li", {className: "chip"});
      const input = make("input", {type: "text", value: text, autocomplete: "off", spellcheck: false});
      input.inputMode = this.word === "Front" ? "text" : "numeric";
      input.setAttribute("aria-label", `${this.word} ${index + 1}`);
      input.setAttribute("autocapitalize", "off");
      fit(input);
      chip.append(input);
      return chip;
    }));
    this.select(Math.min(this.current, this.texts.length - 1));
    this.save(false);
  }

  /** Selects the entry that the tools change. */
  select(index) {
    this.current = index;
    this.list.querySelectorAll(".chip").forEach((chip, place) => chip.classList.toggle("current", place === index));
    this.earlier.disabled = index === 0;
    this.later.disabled = index === this.texts.length - 1;
    this.less.disabled = this.texts.length === 1;
    if (!this.details) {
      this.which.textContent = `${this.word} ${index + 1} of ${this.texts.length}`;
    } else {
      this.heading.textContent = `Only for territory ${index + 1} of ${this.texts.length}`;
      const [, , ...own] = ENTRY.exec(this.texts[index]) ?? ["", "", "", "", ""];
      this.details.forEach((each, place) => { each.value = (own[place] ?? "").replaceAll(" ", "-"); });
    }
  }

  save(isChanged = true) {
    this.input.value = this.texts.filter(Boolean).join(" ");
    if (isChanged) this.changed();
  }

  focus(index) {
    const input = this.chips[index];
    input.focus();
    input.select();
  }

  add(index, text) {
    this.texts.splice(index, 0, text);
    this.current = index;
    this.render();
    this.focus(index);
    if (text) this.changed();
  }

  remove(index, isAnnounced) {
    if (this.texts.length === 1) return;
    this.texts.splice(index, 1);
    this.current = Math.min(index, this.texts.length - 1);
    this.render();
    this.changed();
    if (isAnnounced) announce(`Removed; ${this.texts.length} left`);
  }

  move(index, to) {
    if (to < 0 || to >= this.texts.length || to === index) return;
    this.texts.splice(to, 0, ...this.texts.splice(index, 1));
    this.current = to;
    this.render();
    this.changed();
    announce(`Moved to ${to + 1} of ${this.texts.length}`);
  }

  listen() {
    const at = event => this.chips.indexOf(event.target);
    this.list.addEventListener("focusin", event => {
      if (at(event) >= 0) this.select(at(event));
    });
    this.list.addEventListener("input", event => {
      event.stopPropagation();
      const index = at(event);
      const parts = entries(event.target.value);
      if (parts.length > 1) {  // pasted, or the end of an entry
        const filled = parts.filter(Boolean);
        this.texts.splice(index, 1, ...filled, ...(parts.at(-1) ? [] : [""]));
        if (!this.texts.length) this.texts = [""];
        this.current = Math.min(index + parts.length - 1, this.texts.length - 1);
        this.render();
        this.focus(this.current);
        this.changed();
        return;
      }
      this.texts[index] = event.target.value;
      fit(event.target);
      this.select(index);
      if (event.target.value) this.save();
    });
    this.list.addEventListener("change", event => {
      event.stopPropagation();
      this.save();
    });
    this.list.addEventListener("keydown", event => this.press(event, at(event)));
  }

  press(event, index) {
    if (index < 0) return;
    const {key, target} = event;
    const last = this.texts.length - 1;
    const isStart = target.selectionStart === 0 && target.selectionEnd === 0;
    const isEnd = target.selectionStart === target.value.length;
    const sideways = {ArrowLeft: -1, ArrowRight: 1}[key];
    if (event.altKey && sideways) {
      this.move(index, index + sideways);
      this.focus(this.current);
    } else if (key === "ArrowUp" || key === "ArrowDown") {
      const number = /^\d+/.exec(target.value)?.[0];
      if (number === undefined) return;
      const moved = Math.max(1, Number(number) + (key === "ArrowUp" ? 1 : -1) * (event.shiftKey ? 10 : 1));
      target.value = this.texts[index] = moved + target.value.slice(number.length);
      fit(target);
      this.save();
    } else if (key === "Enter") {
      if (index === last && target.value) this.add(index + 1, "");
      else if (index < last) this.focus(index + 1);
    } else if (key === "Backspace" && !target.value && last) {
      this.remove(index, true);
      this.focus(Math.max(index - 1, 0));
    } else if (sideways === -1 && isStart && index) {
      this.focus(index - 1);
    } else if (sideways === 1 && isEnd && index < last) {
      this.focus(index + 1);
    } else {
      return;
    }
    event.preventDefault();
  }
}

/** Returns what spaces and commas separate; an empty one at the end is still to be typed. */
function entries(text) {
  const found = text.split(/\s+/).flatMap(each => each.split(ONE.test(each) ? /,$/ : ","));
  return found.filter((each, place) => each || place === found.length - 1);
}

function fit(input) {
  input.style.width = `calc(${Math.max(2, Math.min(input.value.length, 14))}ch + 1rem)`;
}

function make(tag, given) {
  return Object.assign(document.createElement(tag), given);
}
