// Reads what payload.py wrote. Masked cells become -Infinity, cells without a number NaN.
async function decode(scene) {
  const T = scene.queries.length, S = scene.keys.length;
  const bytes = await inflate(scene.data);
  const count = bytes.length / 2;
  const values = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    values[i] = expand(((bytes[i] | (bytes[count + i] << 8)) << 16) >> 16, scene.steps);
  }
  let start = 0;
  scene.frames.forEach((frame, index) => {
    const end = start + frame.heads * T * S;
    const cells = values.subarray(start, end);
    Object.assign(frame, {index, T, S, values: cells, broken: cells.some(Number.isNaN)});
    start = end;
  });
  return scene;
}

async function inflate(base64) {
  const deflated = Uint8Array.from(atob(base64), character => character.charCodeAt(0));
  const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function expand(code, [step, ratio]) {
  if (code === -32768) return -Infinity;
  if (code === 32767) return NaN;
  const size = Math.abs(code), knee = 0.2, steps = Math.round(knee / step);
  if (size === 32766) return Math.sign(code) * Infinity;
  return Math.sign(code) * (size <= steps ? size * step : knee * (1 + ratio) ** (size - steps));
}

// How a value reads, also aloud. Beyond 1 a third decimal would be finer than the codes.
function say(value) {
  if (value === -Infinity) return "masked";
  return Number.isNaN(value) ? "NaN" : value.toFixed(Math.abs(value) > 1.001 ? 2 : 3).replace("-", "−");
}
