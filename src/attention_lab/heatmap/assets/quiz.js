// Questions, one at a time. One that is answered wrongly comes again after the others; where there
// is only one, it can be tried again at once.
class Quiz {
  constructor(host, name, questions) {
    this.host = host;
    this.name = name;
    this.count = questions.length;
    this.waiting = questions.map((question, index) => ({...question, index}));
    this.missed = new Set();
    this.root = make("section", {class: "heads quiz"});
    this.form = make("div");
    this.reply = make("div", {"aria-live": "polite"});
    this.next = make("button", {class: "next", onclick: () => this.ask(true)}, "Next question");
    this.root.append(this.form, this.reply, this.next);
    watchTheme(() => this.follow());
    this.follow();
    this.ask(false);
  }

  follow() {
    this.root.dataset.theme = isDark(this.host) ? "dark" : "light";
  }

  ask(focus) {
    const question = (this.question = this.waiting[0]);
    this.next.hidden = true;
    this.reply.replaceChildren();
    if (!question) {
      this.form.replaceChildren(make("p", {}, `All answered. ${this.progress()}`));
      return;
    }
    const legend = make("legend", {tabindex: "-1"}, prose(question.ask));
    if (this.count > 1) legend.append(make("span", {class: "quiet"}, ` (${this.progress()})`));
    const body = question.model === undefined ? this.options(question) : this.ownWords(question);
    this.form.replaceChildren(make("fieldset", {}, legend, body));
    if (focus) legend.focus();
  }

  options(question) {
    return question.options.map((option, i) => {
      const button = make(
        "button", {"aria-pressed": "false", onclick: () => this.choose(button, option)},
        make("b", {}, `${"abcdefgh"[i]} `), option.text);
      return make("div", {}, button);
    });
  }

  choose(button, option) {
    button.setAttribute("aria-pressed", "true");
    button.classList.add(option.right ? "right" : "wrong");
    this.answered(option.right, option.why);
  }

  // A sentence of one's own cannot be judged here: the learner compares it with a model answer.
  ownWords(question) {
    const text = make("textarea", {rows: 3, "aria-label": "Your sentence"});
    const compare = make("button", {onclick: () => {
      compare.disabled = true;
      this.reply.replaceChildren(
        make("p", {}, make("b", {}, "One way to say it: "), prose(question.model)),
        make("p", {}, "Does yours say the same? ",
          make("button", {onclick: () => this.answered(true, "")}, "Yes"), " ",
          make("button", {onclick: () => this.answered(false, "")}, "Not quite")));
    }}, "Compare");
    return [text, make("div", {}, compare)];
  }

  answered(right, why) {
    const {index} = this.question;
    tellKernel(this.host, {name: this.name, index, right});
    const done = right || this.count > 1;
    if (done) {
      this.waiting.shift();
      for (const field of this.root.querySelectorAll("fieldset button, textarea")) field.disabled = true;
    }
    if (!right && this.count > 1) {
      this.missed.add(index);
      this.waiting.push(this.question);
    }
    const sign = right ? "✓ " : "✗ ";
    const again = right || this.count > 1 ? "" : " Try again.";
    this.reply.replaceChildren(make("p", {}, make("b", {}, sign), prose(why + again || "It comes again.")));
    if (right && !why) this.reply.replaceChildren(make("p", {}, make("b", {}, sign), "Good."));
    this.next.hidden = this.count === 1;
    if (!this.next.hidden) this.next.focus();
  }

  progress() {
    const right = this.count - this.waiting.length;
    const again = this.waiting.filter(question => this.missed.has(question.index)).length;
    return `${right} of ${this.count} right` + (again ? `, ${again} to come again` : "");
  }
}

// Text in which `code` is set as code.
const prose = text => text.split("`").map((part, i) => (i % 2 ? make("code", {}, part) : part));

// The kernel, if there is one, has put a text field in the page for this; see `attention_lab.quiz`.
function tellKernel(host, answer) {
  const find = place => place?.querySelector(`.${CHANNEL} input`);
  const field = find(host.closest(".jp-OutputArea")) ?? find(document);
  if (!field) return;
  field.value = JSON.stringify({...answer, at: Date.now()});
  for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, {bubbles: true}));
}

// Without its kernel the field is an error message, of which nobody has any use.
function hideDeadField(host) {
  const field = host.closest(".jp-OutputArea-child")?.previousElementSibling;
  if (field?.textContent.startsWith("Error displaying widget")) field.style.display = "none";
}

const CHANNEL = "attention-lab-answers";

function mountQuiz(host, name, questions) {
  host.dataset.lmSuppressShortcuts = "true";
  host.addEventListener("keydown", event => event.stopPropagation());
  const quiz = new Quiz(host, name, questions);
  host.attachShadow({mode: "open"}).append(make("style", {}, STYLE), quiz.root);
  for (const delay of [0, 500, 3000]) setTimeout(() => hideDeadField(host), delay);
}
