// One head, large: tokens on both axes, numbers where they fit, sums of rows, a marked cell.
class HeatMap {
  // `listen` has hover(q, k), leave() and pick(q, k), and move(key) for keys.
  constructor(listen) {
    this.title = make("span");
    this.label = make("small");
    this.canvas = make("canvas", {
      tabindex: "0",
      role: "application",
      "aria-roledescription": "heat map",
      onkeydown: event => listen.move(event.key) && event.preventDefault(),
      onpointerdown: event => this.point(event, listen.pick),
      onpointermove: event => this.point(event, event.buttons ? listen.pick : listen.hover),
      onpointerleave: listen.leave,
    });
    this.legend = make("figcaption");
    this.element = make("figure", {}, make("h3", {}, this.title, " ", this.label), this.canvas, this.legend);
  }

  show({title, label, table}, labels, mark, room, theme) {
    setText(this.title, title);
    setText(this.label, label);
    this.canvas.ariaLabel = `${title}, ${label}. Arrow keys move from cell to cell.`;
    this.draw(table, labels, mark, room, theme);
    const says = [theme.name, table.span, table.perRow, table.values.includes(-Infinity)];
    refill(this.legend, says.join(), () => legend(table, theme));
  }

  // `table` as in heat.js, with `sums` of its rows or none; `labels` {queries, keys};
  // `room` the width there is, in CSS pixels.
  draw(table, labels, mark, room, theme) {
    this.table = table;
    if (this.labels !== labels || this.room !== room) this.place(labels, room);
    const {left, top, cell, width, height} = this;
    const ratio = window.devicePixelRatio || 1;
    const context = sized(this.canvas, Math.ceil(width * ratio), Math.ceil(height * ratio));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = theme.paper;
    context.fillRect(0, 0, width, height);
    paintHeat(context, [left, top, table.S * cell, table.T * cell], table, theme);
    context.strokeStyle = theme.line;
    context.strokeRect(left - 0.5, top - 0.5, table.S * cell + 1, table.T * cell + 1);
    if (cell >= 26) this.writeNumbers(context, table, theme);
    this.writeLabels(context, labels, mark, theme);
    if (this.right > 4 && table.sums) this.writeSums(context, table, mark, theme);
    if (mark) this.drawMark(context, table, mark, theme);
  }

  place(labels, room) {
    Object.assign(this, {labels, room});
    const context = this.canvas.getContext("2d", {willReadFrequently: true});
    const T = labels.queries.length, S = labels.keys.length;
    context.font = font(12);
    const longest = words => Math.max(...words.map(word => context.measureText(shorten(word, 12)).width));
    this.left = Math.ceil(longest(labels.queries)) + 10;
    this.top = Math.ceil(longest(labels.keys)) + 12;
    const fit = right => Math.min(Math.min(room - this.left - right - 4, 520) / S, 560 / T, 56);
    this.right = fit(66) >= 12 ? 66 : 4; // sums of rows, where they can be read
    const cell = fit(this.right);
    this.cell = cell >= 4 ? Math.floor(cell) : cell;
    this.width = Math.ceil(this.left + S * this.cell + this.right + 4);
    this.height = Math.ceil(this.top + T * this.cell + 4);
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
  }

  point(event, heard) {
    const box = this.canvas.getBoundingClientRect();
    const k = Math.floor((event.clientX - box.left - this.left) / this.cell);
    const q = Math.floor((event.clientY - box.top - this.top) / this.cell);
    this.canvas.title = (k < 0 ? this.labels.queries[q] : q < 0 ? this.labels.keys[k] : "") ?? "";
    if (q >= 0 && k >= 0 && q < this.table.T && k < this.table.S) heard(q, k);
  }

  writeNumbers(context, {T, S, values, signed}, theme) {
    context.font = font(this.cell >= 40 ? 12 : this.cell >= 36 ? 11 : 10);
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (let q = 0; q < T; q++) {
      const row = values.subarray(q * S, (q + 1) * S);
      const colour = colouring(this.table, row, theme);
      for (let k = 0; k < S; k++) {
        if (row[k] === -Infinity) continue;
        const [x, y] = this.centre(q, k);
        context.fillStyle = contrasting(Number.isNaN(row[k]) ? theme.paper : colour(row[k]), theme);
        context.fillText(brief(row[k], signed), x, y);
      }
    }
  }

  writeLabels(context, labels, mark, theme) {
    const every = Math.ceil(13 / this.cell);
    const write = (words, chosen, at) => words.forEach((word, i) => {
      if (i % every && i !== chosen) return;
      if (i !== chosen && chosen >= 0 && every > 1 && Math.abs(i - chosen) < every) return;
      context.font = font(this.cell < 13 ? 10 : 12, i === chosen);
      context.fillStyle = i === chosen ? theme.mark : theme.ink;
      at(shorten(word, 12), (i + 0.5) * this.cell);
    });
    context.textBaseline = "middle";
    context.textAlign = "right";
    write(labels.queries, mark?.q, (word, middle) => {
      context.fillText(word, this.left - 6, this.top + middle);
    });
    context.textAlign = "left";
    write(labels.keys, mark?.k, (word, middle) => {
      context.save();
      context.translate(this.left + middle, this.top - 6);
      context.rotate(-Math.PI / 2);
      context.fillText(word, 0, 0);
      context.restore();
    });
  }

  writeSums(context, {sums, T, S}, mark, theme) {
    const x = this.left + S * this.cell + 6;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.font = font(10);
    context.fillStyle = theme.quiet;
    context.fillText("sum", x, this.top - 8);
    for (let q = 0; q < T; q++) {
      const wrong = isWrong(sums[q]);
      context.font = font(this.cell < 13 ? 10 : 11, wrong || q === mark?.q);
      context.fillStyle = wrong ? theme.mark : theme.quiet;
      context.fillText(briefSum(sums[q]) + (wrong ? " ≠ 1" : ""), x, this.top + (q + 0.5) * this.cell);
    }
  }

  drawMark(context, {S}, {q, k}, theme) {
    const {left, top, cell} = this;
    context.strokeStyle = theme.mark;
    context.lineWidth = 1;
    context.strokeRect(left - 0.5, top + q * cell - 0.5, S * cell + 1, cell + 1);
    context.lineWidth = 2;
    context.strokeRect(left + k * cell - 1, top + q * cell - 1, cell + 2, cell + 2);
    context.lineWidth = 1;
  }

  centre(q, k) {
    return [this.left + (k + 0.5) * this.cell, this.top + (q + 0.5) * this.cell];
  }
}

const isWrong = sum => !(Math.abs(sum - 1) < 0.0015);

// A wrong sum never reads 1.00.
function briefSum(sum) {
  const text = brief(sum);
  return isWrong(sum) && text === "1.00" ? sum.toFixed(3) : text;
}

const font = (size, bold) => `${bold ? "600 " : ""}${size}px system-ui, sans-serif`;

function contrasting(colour, theme) {
  if (typeof colour === "string") return theme.ink;
  return luminance(colour) > 0.45 ? "#10151c" : "#ffffff";
}

// A number short enough for a cell. A difference has its sign instead of its leading zero.
function brief(value, signed) {
  if (value === null || Number.isNaN(value)) return "NaN";
  const text = Math.abs(value) < 99.95 ? value.toFixed(2) : value.toPrecision(2);
  if (/^-?0\.00$/.test(text)) return "0";
  if (!signed) return text.replace("-", "−");
  return (value < 0 ? "−" : "+") + text.replace("-", "").replace(/^0/, "");
}
