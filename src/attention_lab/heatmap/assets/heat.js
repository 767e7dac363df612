// Paints cells (T, S) into a rectangle. `table` has T, S, values, span [low, high], and
// `perRow`: each row has its own highest colour. `signed`: zero is paper, less and more have
// a ramp each. `broken`: there are cells without a number. Masked cells are hatched: the
// hatching lies below, and they are left open.
function paintHeat(context, [x, y, width, height], table, theme) {
  const ratio = context.getTransform().a;
  const rows = Math.min(table.T, Math.max(1, Math.round(height * ratio)));
  const columns = Math.min(table.S, Math.max(1, Math.round(width * ratio)));
  if (table.values.includes(-Infinity)) {
    context.fillStyle = hatching(context, theme, 1);
    context.fillRect(x, y, width, height);
  }
  context.imageSmoothingEnabled = false;
  context.drawImage(paintCells(table, rows, columns, theme), x, y, width, height);
  if (table.broken) strikeOut(context, [x, y, width, height], table, theme);
}

// One pixel a cell, or, where there are more cells than pixels, the largest open one. They are
// painted on one and the same canvas every time, as a new one takes long to make.
const cellCanvas = make("canvas");

function paintCells(table, rows, columns, theme) {
  const context = sized(cellCanvas, columns, rows);
  const image = context.createImageData(columns, rows);
  const pooled = pool(table, rows, columns);
  for (let row = 0; row < rows; row++) {
    const cells = pooled.subarray(row * columns, (row + 1) * columns);
    const colour = colouring(table, cells, theme);
    for (let column = 0; column < columns; column++) {
      const value = cells[column];
      if (value === -Infinity) continue;
      const at = (row * columns + column) * 4, [red, green, blue] = colour(value);
      image.data[at] = red;
      image.data[at + 1] = green;
      image.data[at + 2] = blue;
      image.data[at + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
  return cellCanvas;
}

// The context of a canvas of that many pixels.
function sized(canvas, width, height) {
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, {width, height});
  return canvas.getContext("2d", {willReadFrequently: true});
}

function pool({T, S, values}, rows, columns) {
  if (rows === T && columns === S) return values;
  const pooled = new Float32Array(rows * columns).fill(-Infinity);
  for (let q = 0; q < T; q++) {
    const row = Math.floor((q * rows) / T) * columns;
    for (let k = 0; k < S; k++) {
      const at = row + Math.floor((k * columns) / S);
      pooled[at] = Math.max(pooled[at], values[q * S + k]);
    }
  }
  return pooled;
}

// The function from a value of this row to its colour.
function colouring(table, row, theme) {
  const [low, high] = table.perRow ? [0, row.reduce((a, b) => Math.max(a, b || 0), 1e-9)] : table.span;
  const step = ramp => part => ramp[Math.max(0, Math.min(255, Math.round(part * 255))) || 0];
  const less = step(theme.ramp), more = step(theme.more);
  // The last part of the ramp is left out: both ends would be nearly one colour.
  if (table.signed) return value => (value < 0 ? less(-0.85 * value / high) : more(0.85 * value / high));
  return value => less((value - low) / (high - low));
}

function strikeOut(context, [x, y, width, height], table, theme) {
  context.fillStyle = hatching(context, theme, -1);
  table.values.forEach((value, i) => {
    if (!Number.isNaN(value)) return;
    const q = Math.floor(i / table.S), k = i % table.S;
    const wide = width / table.S, high = height / table.T;
    context.fillRect(x + k * wide, y + q * high, wide, high);
  });
}

function hatching(context, theme, slope) {
  const name = `hatching ${slope}`, size = 6;
  if (theme[name]) return theme[name];
  const tile = make("canvas");
  const pen = sized(tile, size, size);
  pen.fillStyle = theme.hatch[0];
  pen.fillRect(0, 0, size, size);
  pen.fillStyle = slope < 0 ? theme.mark : theme.hatch[1];
  for (let i = 0; i < size; i++) pen.fillRect(i, slope > 0 ? size - 1 - i : i, 1, 1);
  return (theme[name] = context.createPattern(tile, "repeat"));
}
