// Shows one item of a list, chosen by its name.
function mountChoice(host, label, names) {
  host.dataset.lmSuppressShortcuts = "true";
  host.addEventListener("keydown", event => event.stopPropagation());
  const list = host.querySelector("ol");
  const items = [...list.children];
  items.forEach((item, i) => item.querySelector("details").replaceWith(...item.querySelectorAll("details > :not(summary)")));
  const select = make("select", {onchange: () => show()}, names.map((name, i) => make("option", {value: i}, name)));
  const root = make("section", {class: "heads choice"}, make("label", {}, label, select), list);
  list.setAttribute("aria-live", "polite");
  for (const item of items) item.tabIndex = 0; // it scrolls sideways where there is little room
  const show = () => items.forEach((item, i) => (item.hidden = i !== Number(select.value)));
  const follow = () => (root.dataset.theme = isDark(host) ? "dark" : "light");
  watchTheme(follow);
  follow();
  show();
  host.attachShadow({mode: "open"}).append(make("style", {}, STYLE), root);
}
