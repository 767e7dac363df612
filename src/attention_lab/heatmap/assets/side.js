// Beside the map: what the marked cell says, and the whole row of its query as bars.
const MOST_BARS = 16;

function readCell(panes, {q, k}, {queries, keys}) {
  const readings = panes.map(({title, table}) => make("li", {},
    make("b", {}, say(table.values[q * table.S + k])), ` ${title}`,
    table.sums ? make("small", {}, ` row sum ${brief(table.sums[q])}`) : ""));
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

function rowBars(table, {q, k}, {keys}) {
  const row = [...table.values.subarray(q * table.S, (q + 1) * table.S)];
  const order = row.map((_, key) => key);
  if (row.length > MOST_BARS) order.sort((a, b) => (row[b] || 0) - (row[a] || 0));
  const [low, high] = table.span;
  const bars = order.slice(0, MOST_BARS).map(key => {
    const part = Math.max(0, Math.min(1, (row[key] - low) / (high - low))) || 0;
    const masked = row[key] === -Infinity;
    return make("li", {class: masked ? "masked" : null, "aria-current": key === k ? "true" : null},
      make("span", {class: "word", title: keys[key]}, keys[key]),
      make("span", {class: "track"},
        make("span", {class: "bar", style: `width:${masked ? 100 : part * 100}%`})),
      make("span", {class: "number"}, say(row[key])));
  });
  const rest = order.slice(MOST_BARS).filter(key => row[key] > 0);
  const left = rest.reduce((sum, key) => sum + row[key], 0);
  const note = rest.length ? make("p", {class: "quiet"}, `${rest.length} more keys: ${left.toFixed(3)}`) : "";
  return [make("ol", {class: "bars"}, bars), note];
}

function legend(table, theme) {
  const bar = make("canvas", {width: 120, height: 10, "aria-hidden": "true"});
  const context = bar.getContext("2d", {willReadFrequently: true});
  const [low, high] = table.signed ? [-table.span[1], table.span[1]] : table.span;
  const colour = colouring({...table, perRow: false}, [], theme);
  for (let x = 0; x < 120; x++) {
    context.fillStyle = `rgb(${colour(low + ((high - low) * x) / 119)})`;
    context.fillRect(x, 0, 1, 10);
  }
  const top = table.perRow ? "highest of its row" : brief(high, table.signed);
  const masked = table.values.includes(-Infinity)
    ? [make("span", {class: "swatch"}), "masked"] : [];
  return make("p", {class: "legend quiet"}, table.signed ? "difference " : "", brief(low, table.signed), bar, top, masked);
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
