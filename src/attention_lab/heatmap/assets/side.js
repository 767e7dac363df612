// Beside the map: what the marked cell says, and the whole row of its query as bars.
const MOST_BARS = 16;

function readCell(panes, {q, k}, {queries, keys}) {
  const readings = panes.map(({title, table}) => make("li", {},
    make("b", {}, say(table.values[q * table.S + k])), ` ${title}`,
    table.sums ? make("small", {}, ` row sum ${briefSum(table.sums[q])}`) : ""));
  return [
    make("p", {}, make("b", {}, queries[q]), " looks at ", make("b", {}, keys[k])),
    make("ul", {class: "readings"}, readings),
  ];
}

// The same for the ear, in one line.
function sayCell(panes, {q, k}, {queries, keys}) {
  const said = panes.map(({title, table}) => `${say(table.values[q * table.S + k])} in ${title}`);
  return `${queries[q]} looks at ${keys[k]}: ${said.join(", ")}`;
}

// The row of the marked query, one bar a key; of a long row the strongest keys.
class RowBars {
  constructor() {
    this.bars = Array.from({length: MOST_BARS}, () => {
      const word = make("span", {class: "word"}), number = make("span", {class: "number"});
      const bar = make("span", {class: "bar"});
      const item = make("li", {}, word, make("span", {class: "track"}, bar), number);
      return {item, word, bar, number};
    });
    this.rest = make("p", {class: "quiet"});
    this.elements = [make("ol", {class: "bars"}, this.bars.map(bar => bar.item)), this.rest];
  }

  show({values, S, span: [low, high]}, {q, k}, {keys}) {
    const row = values.subarray(q * S, (q + 1) * S);
    const order = keys.map((_, key) => key);
    if (S > MOST_BARS) order.sort((a, b) => (row[b] || 0) - (row[a] || 0));
    this.bars.forEach(({item, word, bar, number}, i) => {
      item.hidden = i >= S;
      if (item.hidden) return;
      const key = order[i], masked = row[key] === -Infinity;
      const part = masked ? 1 : Math.max(0, Math.min(1, (row[key] - low) / (high - low))) || 0;
      item.className = masked ? "masked" : "";
      item.ariaCurrent = String(key === k);
      word.title = keys[key];
      setText(word, keys[key]);
      bar.style.transform = `scaleX(${part})`;
      setText(number, say(row[key]));
    });
    const rest = order.slice(MOST_BARS).map(key => row[key]).filter(value => value > 0);
    const left = rest.reduce((sum, value) => sum + value, 0);
    setText(this.rest, rest.length ? `${rest.length} more ${rest.length > 1 ? "keys" : "key"}: ${left.toFixed(3)}` : "");
  }
}

function legend(table, theme) {
  const [low, high] = table.span;
  const colour = colouring({...table, perRow: false}, [], theme);
  const stops = Array.from({length: 13}, (_, i) => `rgb(${colour(low + ((high - low) * i) / 12)})`);
  return [
    brief(low, table.signed),
    make("span", {class: "ramp", style: `background:linear-gradient(to right,${stops})`}),
    table.perRow ? "highest of its row" : brief(high, table.signed),
    ...(table.values.includes(-Infinity) ? [make("span", {class: "swatch"}), "masked"] : []),
  ];
}

function weightTable(pane, {queries, keys}) {
  const {T, S, values} = pane.table;
  const rows = Array.from({length: T}, (_, q) => make("tr", {},
    make("th", {scope: "row"}, queries[q]),
    Array.from({length: S}, (_, k) => make("td", {}, say(values[q * S + k])))));
  return make("table", {},
    make("caption", {}, `${pane.title}: rows are queries, columns are keys`),
    make("thead", {}, make("tr", {}, make("td"), keys.map(key => make("th", {scope: "col"}, key)))),
    make("tbody", {}, rows));
}
