// Light or dark, as the page around us is: notebooks have themes of their own, so what counts is
// the colour behind the host, and only without one what the system prefers.
function isDark(host) {
  for (let element = host; element; element = element.parentElement) {
    const [red, green, blue, alpha = 1] =
      (getComputedStyle(element).backgroundColor.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
    if (alpha > 0.5) return luminance([red, green, blue]) < 0.4;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

// Calls `changed` whenever the page may have another theme. Style sheets arrive after the
// attribute that announces them, so look again a little later.
function watchTheme(changed) {
  const later = () => [0, 100, 500].forEach(delay => setTimeout(changed, delay));
  const observer = new MutationObserver(later);
  const attributeFilter = ["class", "style", "theme", "data-theme", "data-jp-theme-name"];
  observer.observe(document.documentElement, {attributes: true, attributeFilter});
  observer.observe(document.body, {attributes: true, attributeFilter});
  for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) {
    matchMedia(query).addEventListener("change", later);
  }
}

// The colours canvases are painted with; those of `before` while its theme lasts.
function readTheme(host, palette, before) {
  const forced = matchMedia("(forced-colors: active)").matches;
  const name = forced ? "forced" : isDark(host) ? "dark" : "light";
  if (before?.name === name) return before;
  const {ramp, more, ...colours} = {
    light: () => ({
      paper: "#ffffff", ink: "#1b1f24", quiet: "#57606a", line: "#c9d1d9", mark: "#c2410c",
      hatch: ["#f4f6f8", "#bcc5ce"], ramp: palette.light, more: palette.moreLight,
    }),
    dark: () => ({
      paper: "#10151c", ink: "#e6edf3", quiet: "#9da7b1", line: "#3d444d", mark: "#ffb454",
      hatch: ["#1b222b", "#48525e"], ramp: palette.dark, more: palette.moreDark,
    }),
    forced: systemColours,
  }[name]();
  return {name, ...colours, ramp: lookup(ramp), more: lookup(more)};
}

function systemColours() {
  const probe = document.body.appendChild(make("i"));
  const [paper, ink, mark] = ["Canvas", "CanvasText", "Highlight"].map(name => {
    probe.style.color = name;
    const rgb = getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3);
    return "#" + rgb.map(c => Math.round(c).toString(16).padStart(2, "0")).join("");
  });
  probe.remove();
  return {
    paper, ink, quiet: ink, line: ink, mark, hatch: [paper, ink],
    ramp: [paper, ink], more: [paper, mark],
  };
}

// 256 colours [red, green, blue], evenly from the first anchor to the last.
function lookup(anchors) {
  const colours = anchors.map(a => [1, 3, 5].map(i => parseInt(a.slice(i, i + 2), 16)));
  return Array.from({length: 256}, (_, i) => {
    const at = (i / 255) * (colours.length - 1);
    const from = Math.min(Math.floor(at), colours.length - 2);
    return colours[from].map((c, j) => Math.round(c + (at - from) * (colours[from + 1][j] - c)));
  });
}

const luminance = ([red, green, blue]) => (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
