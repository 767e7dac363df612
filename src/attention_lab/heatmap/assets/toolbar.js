// The controls of a scene and the switches of the view. Each returns an element and an `update`.
function controlFor({name, kind, values}, change) {
  if (kind === "toggle") {
    const button = make("button", {onclick: () => change(1 - button.index)}, name);
    return {
      element: button,
      update(index) {
        button.index = index;
        button.setAttribute("aria-pressed", String(values[index] === "1"));
      },
    };
  }
  if (kind === "slider") {
    const output = make("output");
    const input = make("input", {
      type: "range", min: 0, max: values.length - 1, step: 1, "aria-label": name,
      oninput: () => change(Number(input.value)),
    });
    return {
      element: make("label", {}, `${name} `, input, output),
      update(index) {
        input.value = index;
        output.value = values[index];
        input.setAttribute("aria-valuetext", values[index]);
      },
    };
  }
  if (values.length <= 4) {
    const buttons = values.map(value => make("button", {}, value));
    return {
      element: radioGroup(name, buttons, change),
      update: index => check(buttons, index),
    };
  }
  return chooser(name, values.map((value, i) => [String(i), value]), i => change(Number(i)));
}

function chooser(name, options, change) {
  const select = make("select", {"aria-label": name, onchange: () => change(select.value)},
    options.map(([value, text]) => make("option", {value}, text)));
  return {
    element: select,
    update(value, closed = []) {
      select.value = String(value);
      for (const option of select.options) option.disabled = closed.includes(option.value);
    },
  };
}

function switchButton(text, title, flip) {
  const button = make("button", {title, onclick: flip}, text);
  return {element: button, update: on => button.setAttribute("aria-pressed", String(on))};
}
