// Elements in one call: make("button", {class: "x", onclick: f, "aria-pressed": "true"}, "text").
// A property that is null or undefined is left out.
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat());
  return element;
}

// New text or children, but only where they say something else than before: what is left alone
// needs no new layout.
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function refill(element, says, children) {
  if (element.says === says) return;
  element.says = says;
  element.replaceChildren(...children());
}

// One of several, with a roving tabindex: Tab goes to the chosen one, arrows choose another.
function radioGroup(label, buttons, choose) {
  const group = make("div", {role: "radiogroup", "aria-label": label}, buttons);
  const steps = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1};
  buttons.forEach((button, i) => {
    button.setAttribute("role", "radio");
    button.addEventListener("click", () => choose(i));
  });
  group.addEventListener("keydown", event => {
    const now = buttons.findIndex(button => button.getAttribute("aria-checked") === "true");
    const next = {Home: 0, End: buttons.length - 1}[event.key]
      ?? (now + steps[event.key] + buttons.length) % buttons.length;
    if (!(next >= 0)) return;
    event.preventDefault();
    choose(next);
    buttons[next].focus();
  });
  return group;
}

function check(buttons, chosen) {
  buttons.forEach((button, i) => {
    button.setAttribute("aria-checked", String(i === chosen));
    button.tabIndex = i === chosen ? 0 : -1;
  });
}

const shorten = (text, length) => (text.length > length ? text.slice(0, length - 1) + "…" : text);
