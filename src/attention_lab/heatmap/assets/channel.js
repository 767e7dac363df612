// Watches for an element of this class, put anywhere in the page by a widget, and shows the
// scene that is its text whenever that changes. In a reopened notebook there are no widgets: then
// their absence need not be told above a picture with sliders of its own.
const listenTo = channel => view => {
  let latest = "";
  let waiting = false;
  const look = async () => {
    waiting = false;
    const element = document.querySelector(`.${channel}`);
    const widgets = view.host.closest(".jp-OutputArea-child")?.previousElementSibling;
    if (widgets?.textContent.startsWith("Error displaying widget")) widgets.style.display = "none";
    if (!element || element.textContent === latest) return;
    const text = (latest = element.textContent);
    const scene = await decode(JSON.parse(text));
    if (text === latest) view.build(scene);
  };
  const soon = () => {
    if (!waiting) queueMicrotask(look);
    waiting = true;
  };
  new MutationObserver(soon).observe(document.body, {childList: true, subtree: true});
  look();
};
