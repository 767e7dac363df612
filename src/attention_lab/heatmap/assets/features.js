// Styles the tables of features, and lets wide ones scroll by themselves.
function mountFeatures(host, title) {
  const root = make("section", {class: "heads features", "aria-label": title});
  root.append(make("h2", {}, title));
  for (const table of host.querySelectorAll("table")) {
    const label = table.getAttribute("aria-label");
    const scroll = {class: "scroll", role: "region", tabindex: "0", "aria-label": label};
    root.append(make("div", scroll, table.cloneNode(true)));
  }
  const follow = () => (root.dataset.theme = isDark(host) ? "dark" : "light");
  watchTheme(follow);
  follow();
  host.dataset.lmSuppressShortcuts = "true";
  host.attachShadow({mode: "open"}).append(make("style", {}, STYLE), root);
}
