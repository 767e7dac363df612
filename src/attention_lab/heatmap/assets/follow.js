// Shows the steps of a list one at a time: buttons, a slider, arrow keys.
class Walk {
  constructor(host, title, list) {
    this.host = host;
    this.steps = [...list.children];
    this.root = make("section", {class: "heads walk", "aria-label": title});
    this.slider = make("input", {
      type: "range", min: 0, max: this.steps.length - 1, step: 1, value: 0, "aria-label": "Step",
      oninput: () => this.show(Number(this.slider.value)),
    });
    this.back = make("button", {onclick: () => this.show(this.index - 1)}, "← Back");
    this.next = make("button", {onclick: () => this.show(this.index + 1)}, "Next →");
    this.where = make("p", {"aria-live": "polite"});
    this.root.append(
      make("header", {}, make("h2", {}, title), this.back, this.slider, this.next, this.where), list);
    this.root.addEventListener("keydown", event => this.press(event));
    for (const table of list.querySelectorAll("table")) {
      const label = table.caption.textContent;
      table.replaceWith(make("div", {class: "scroll", role: "group", tabindex: "0", "aria-label": label}, table.cloneNode(true)));
    }
    watchTheme(() => this.follow());
    this.follow();
    this.show(0);
  }

  follow() {
    this.root.dataset.theme = isDark(this.host) ? "dark" : "light";
  }

  show(index) {
    this.index = Math.max(0, Math.min(this.steps.length - 1, index));
    this.steps.forEach((step, i) => (step.hidden = i !== this.index));
    this.slider.value = this.index;
    const name = this.steps[this.index].querySelector(".title").textContent;
    this.slider.setAttribute("aria-valuetext", name);
    const number = this.index ? `Step ${this.index} of ${this.steps.length - 1}` : "Start";
    this.where.textContent = `${number}: ${name}`;
    this.back.disabled = this.index === 0;
    this.next.disabled = this.index === this.steps.length - 1;
  }

  press(event) {
    if (event.target === this.slider) return;
    const to = {
      ArrowLeft: this.index - 1, ArrowRight: this.index + 1, Home: 0, End: this.steps.length - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.show(to);
  }
}

function mountWalk(host, title) {
  host.dataset.lmSuppressShortcuts = "true";
  host.addEventListener("keydown", event => event.stopPropagation());
  const walk = new Walk(host, title, host.querySelector("ol"));
  host.attachShadow({mode: "open"}).append(make("style", {}, STYLE), walk.root);
}
