// Watches for an element of this class, put anywhere in the page by a widget, and shows the
// scene that is its text whenever that changes. While it is there, the widgets do the choosing.
const listenTo = channel => view => {
  let latest = "";
  let waiting = false;
  const look = async () => {
    waiting = false;
    const element = document.querySelector(`.${channel}`);
    view.root.classList.toggle("driven", Boolean(element));
    if (!element || element.textContent === latest) return;
    latest = element.textContent;
    view.build(await decode(JSON.parse(latest)));
  };
  const soon = () => {
    if (!waiting) queueMicrotask(look);
    waiting = true;
  };
  new MutationObserver(soon).observe(document.body, {childList: true, subtree: true});
  look();
};
