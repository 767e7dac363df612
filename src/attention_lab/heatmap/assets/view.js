// The living heatmap: a state, and `render`, which makes everything on the page follow it.
class HeadsView {
  constructor(host, root, scene) {
    this.host = host;
    this.root = root;
    this.status = make("p", {class: "for-the-ear", "aria-live": "polite", "aria-atomic": "true"});
    this.build(scene);
    watchTheme(() => this.readTheme() !== this.theme && this.render());
    new ResizeObserver(() => this.root.clientWidth !== this.width && this.render()).observe(host);
  }

  // Show another scene; what the reader has chosen stays chosen where it still exists.
  build(scene) {
    const before = this.state;
    this.scene = scene;
    this.labels = {queries: scene.queries, keys: scene.keys};
    const last = scene.queries.length - 1;
    this.state = {
      head: scene.head,
      compare: scene.compare,
      mark: {q: scene.row, k: null},
      hover: null,
      perRow: scene.keys.length > 48,
      table: false,
      ...before,
      settings: scene.controls.map(control => control.start),
    };
    const heads = Math.max(...scene.frames.map(frame => frame.heads));
    if (heads && this.state.head >= heads) this.state.head = 0;
    if (this.state.compare?.control >= scene.controls.length) this.state.compare = null;
    if (before && (before.mark.q > last || before.mark.k >= scene.keys.length)) {
      this.state.mark = {q: scene.row, k: null};
    }
    this.layOut(heads);
    this.render();
  }

  layOut(heads) {
    const {scene, state} = this;
    this.controls = scene.controls.map((control, i) =>
      controlFor(control, index => this.choose(i, index)));
    const comparisons = [
      ["", "Compare…"],
      ...scene.controls.flatMap(({kind, values}, i) => kind === "slider" ? []
        : values.map((_, index) => [`control ${i} ${index}`, `with ${this.nameOf(i, index)}`])),
      ...Array.from({length: heads}, (_, h) => [`head ${h}`, `with head ${h}`]),
    ];
    this.comparison = chooser("Compare with", comparisons, value => this.change({compare: parse(value)}));
    this.comparison.element.hidden = comparisons.length < 3;
    this.scaling = switchButton("Scale rows", "Give every row its own highest colour",
      () => this.change({perRow: !state.perRow}));
    this.tabular = switchButton("Table", "Show the numbers as a table",
      () => this.change({table: !state.table}));
    const save = make("button", {title: "Save this view as a picture", onclick: () => this.save()}, "PNG");
    this.tools = make("div", {class: "tools"},
      this.comparison.element, this.scaling.element, this.tabular.element, save);
    this.thumbnails = Array.from({length: heads}, (_, h) => new Thumbnail(h));
    const group = radioGroup("Head", this.thumbnails.map(t => t.button), h => this.change({head: h}));
    group.className = "thumbnails";
    const listen = {
      hover: (q, k) => this.change({hover: {q, k}}),
      leave: () => this.state.hover && this.change({hover: null}),
      pick: (q, k) => this.change({mark: {q, k}, hover: null}),
      move: key => this.move(key),
    };
    this.maps = [0, 1, 2].map(() => new HeatMap(listen));
    this.notes = make("div", {class: "notes"});
    this.reading = make("div");
    this.bars = new RowBars();
    this.side = make("div", {class: "side"}, this.reading, this.bars.elements);
    this.numbers = make("div", {class: "numbers", role: "region", tabindex: "0", "aria-label": "Table of weights"});
    this.stage = make("div", {class: "stage"},
      group,
      make("div", {class: "close-up"}, this.maps.map(map => map.element), this.side));
    this.root.setAttribute("aria-label", scene.title);
    this.root.replaceChildren(
      make("header", {},
        make("h2", {}, scene.title),
        this.controls.map(control => control.element),
        this.tools),
      this.notes, this.stage, this.numbers, this.status);
  }

  change(part) {
    const {head, compare} = this.state;
    if (part.head !== undefined && compare?.head === part.head) part.compare = {head};
    Object.assign(this.state, part);
    this.render();
  }

  choose(control, index) {
    const {settings, compare} = this.state;
    if (compare?.control === control && compare.index === index) {
      this.state.compare = {control, index: settings[control]};
    }
    settings[control] = index;
    this.render();
  }

  frame(settings) {
    return this.scene.frames[settings.reduce(
      (index, setting, i) => index * this.scene.controls[i].values.length + setting, 0)];
  }

  // What stands large: the chosen head, and with a comparison the other one and the difference.
  panes() {
    const {settings, head, compare, perRow} = this.state;
    const named = compare?.control !== undefined;
    const pane = (chosen, h) => {
      const variant = named && this.nameOf(compare.control, chosen[compare.control]);
      return {
        title: named ? `head ${h}, ${variant}` : `head ${h}`,
        short: variant || `head ${h}`,
        label: this.frame(chosen).names[h],
        table: headTable(this.frame(chosen), h, perRow),
      };
    };
    const panes = [pane(settings, head)];
    if (!compare) return panes;
    const other = [...settings];
    if (named) other[compare.control] = compare.index;
    if (this.frame(other).error) return panes;
    panes.push(pane(other, named ? head : compare.head));
    panes.push(difference(panes[0], panes[1]));
    return panes;
  }

  nameOf(control, index) {
    const {name, kind, values} = this.scene.controls[control];
    if (kind === "toggle") return `${name} ${values[index] === "1" ? "on" : "off"}`;
    return kind === "slider" ? `${name} ${values[index]}` : values[index];
  }

  readTheme() {
    return readTheme(this.host, this.scene.palette, this.theme);
  }

  render() {
    const {state} = this;
    this.theme = this.readTheme();
    this.root.dataset.theme = this.theme.name;
    const frame = this.frame(state.settings);
    this.renderToolbar();
    this.renderNotes(frame);
    this.tools.hidden = this.stage.hidden = Boolean(frame.error);
    this.numbers.hidden = !state.table || Boolean(frame.error);
    const panes = frame.error ? [] : this.panes();
    this.measure(panes.length);
    if (frame.error) return;
    this.thumbnails.forEach(thumbnail => thumbnail.render(frame, state, this.thumbnailSize, this.theme));
    check(this.thumbnails.map(t => t.button), state.head);
    this.renderPanes(panes);
  }

  renderToolbar() {
    const {settings, compare, head, perRow, table} = this.state;
    this.controls.forEach((control, i) => control.update(settings[i]));
    const shown = [`head ${head}`, ...settings.map((index, i) => `control ${i} ${index}`)];
    this.comparison.update(!compare ? "" : compare.head !== undefined
      ? `head ${compare.head}` : `control ${compare.control} ${compare.index}`, shown);
    this.scaling.update(perRow);
    this.tabular.update(table);
  }

  renderNotes({error, notes}) {
    const all = error ? [error] : notes;
    refill(this.notes, all.join("\n"), () => all.map(note =>
      make("p", {role: "note"}, make("span", {"aria-hidden": "true"}, "⚠ "), note)));
  }

  // How much room there is. Asked before anything else changes, or the browser would have to lay
  // out the page once more to answer.
  measure(panes) {
    this.width = this.root.clientWidth;
    this.thumbnailSize = this.thumbnails[this.state.head]?.canvas.clientWidth || 96;
    const {clientWidth} = this.side.parentElement;
    const beside = this.labels.keys.length <= 20 && clientWidth > 560;
    this.room = panes === 1 ? clientWidth - (beside ? 256 : 0)
      : clientWidth < 480 ? clientWidth : Math.floor(clientWidth / 2) - 8;
  }

  renderPanes(panes) {
    const mark = this.marked(panes[0].table);
    this.maps.forEach((map, i) => {
      map.element.hidden = i >= panes.length;
      if (i < panes.length) map.show(panes[i], this.labels, mark, this.room, this.theme);
    });
    this.reading.replaceChildren(...readCell(panes, mark, this.labels));
    this.bars.show(panes[0].table, mark, this.labels);
    const {settings, head, compare, table} = this.state;
    if (table) refill(this.numbers, JSON.stringify([settings, head, compare]),
      () => panes.map(pane => weightTable(pane, this.labels)));
  }

  // The cell under the pointer, or the one picked, or the strongest of the picked row.
  marked(table) {
    const {hover, mark} = this.state;
    if (hover) return hover;
    if (mark.k !== null) return mark;
    const row = table.values.subarray(mark.q * table.S, (mark.q + 1) * table.S);
    return {q: mark.q, k: Math.max(0, row.indexOf(row.reduce((a, b) => Math.max(a, b), -Infinity)))};
  }

  // A key pressed on a map; true if it meant something.
  move(key) {
    const T = this.labels.queries.length, S = this.labels.keys.length;
    const panes = this.panes();
    const {q, k} = this.marked(panes[0].table);
    const to = {
      ArrowUp: [q - 1, k], ArrowDown: [q + 1, k], ArrowLeft: [q, k - 1], ArrowRight: [q, k + 1],
      Home: [q, 0], End: [q, S - 1], PageUp: [0, k], PageDown: [T - 1, k],
    }[key];
    if (!to) return false;
    const mark = {q: Math.max(0, Math.min(T - 1, to[0])), k: Math.max(0, Math.min(S - 1, to[1]))};
    this.change({mark, hover: null});
    this.status.textContent = sayCell(panes, mark, this.labels);
    return true;
  }

  save() {
    const canvases = this.maps.filter(map => !map.element.hidden).map(map => map.canvas);
    const picture = make("canvas", {
      width: canvases.reduce((sum, canvas) => sum + canvas.width, 0),
      height: Math.max(...canvases.map(canvas => canvas.height)),
    });
    const context = picture.getContext("2d", {willReadFrequently: true});
    context.fillStyle = this.theme.paper;
    context.fillRect(0, 0, picture.width, picture.height);
    let x = 0;
    for (const canvas of canvases) {
      context.drawImage(canvas, x, 0);
      x += canvas.width;
    }
    make("a", {download: `head-${this.state.head}.png`, href: picture.toDataURL("image/png")}).click();
  }
}

class Thumbnail {
  constructor(h) {
    this.h = h;
    this.canvas = make("canvas", {"aria-hidden": "true"});
    this.label = make("small");
    this.button = make("button", {}, this.canvas, make("span", {}, `head ${h}`), this.label);
  }

  render(frame, state, size, theme) {
    this.button.hidden = this.h >= frame.heads;
    this.button.classList.toggle("compared", state.compare?.head === this.h);
    const painted = [frame.index, state.perRow, theme.name, size].join();
    if (this.button.hidden || (this.painted === painted && this.frame === frame)) return;
    Object.assign(this, {painted, frame});
    setText(this.label, frame.names[this.h].replace(/ (?=\S+$)/, "\u00a0"));
    const ratio = window.devicePixelRatio || 1;
    const context = sized(this.canvas, Math.round(size * ratio), Math.round(size * ratio));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    paintHeat(context, [0, 0, size, size], headTable(frame, this.h, state.perRow), theme);
  }
}

function headTable(frame, h, perRow) {
  const {T, S, span} = frame;
  const weights = span[0] === 0 && span[1] === 1;
  const sums = frame.sums?.slice(h * T, (h + 1) * T) ?? Array(T).fill(1);
  return {
    T, S, span, broken: frame.broken, perRow: perRow && weights,
    values: frame.values.subarray(h * T * S, (h + 1) * T * S),
    sums: weights ? sums : null,
  };
}

// First minus second. Cells masked in both stay masked; a masked cell counts as zero.
function difference(first, second) {
  const a = first.table.values, b = second.table.values;
  const open = value => (value === -Infinity ? 0 : value);
  const values = a.map((value, i) =>
    value === -Infinity && b[i] === -Infinity ? value : open(value) - open(b[i]));
  const most = values.reduce((m, v) => (v === -Infinity ? m : Math.max(m, Math.abs(v) || 0)), 0);
  const {T, S} = first.table;
  return {
    title: `${first.short} − ${second.short}`,
    label: most < 0.002 ? "no difference" : `difference up to ${most.toFixed(2)}`,
    table: {T, S, values, span: [-Math.max(most, 0.05), Math.max(most, 0.05)], signed: true, sums: null},
  };
}

function parse(value) {
  const [kind, ...numbers] = value.split(" ");
  if (kind === "head") return {head: Number(numbers[0])};
  return kind ? {control: Number(numbers[0]), index: Number(numbers[1])} : null;
}

// Bring a host element alive. Its content, for pages without scripts, stays beneath.
async function mountHeads(host, scene) {
  host.dataset.lmSuppressShortcuts = "true";
  host.addEventListener("keydown", event => event.stopPropagation());
  await decode(scene);
  const root = make("section", {class: "heads"});
  host.attachShadow({mode: "open"}).append(make("style", {}, STYLE), root);
  return new HeadsView(host, root, scene);
}
