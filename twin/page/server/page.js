// Keys, sliders, pictures, films and links of the page, beside what its library brings.
(() => {
  // Sliders fill from zero where zero lies between their ends.
  const fill = thumb => {
    const [low, high, now] = ["min", "max", "now"].map(name =>
      parseFloat(thumb.getAttribute("aria-value" + name)));
    const bar = thumb.closest(".mantine-Slider-root")?.querySelector(".mantine-Slider-bar");
    if (!bar || !(low < 0 && high > 0)) return;
    const share = value => 100 * (Math.min(Math.max(value, low), high) - low) / (high - low);
    const ends = [share(0), share(now)].sort((a, b) => a - b);
    bar.style.setProperty("--twin-left", ends[0] + "%");
    bar.style.setProperty("--twin-width", (ends[1] - ends[0]) + "%");
  };
  // Inputs and buttons have names for those who hear the page, and messages are short.
  const row_of = control => {
    while (control && !control.querySelector("label")) control = control.parentElement;
    return control;
  };
  const name = control => {
    if (control.labels?.length || control.ariaLabel || control.textContent) return;
    const row = row_of(control);
    const inputs = row ? [...row.querySelectorAll("input:not([type=hidden])")] : [];
    const axis = inputs.length === 3 ? " " + "xyz"[inputs.indexOf(control)] : "";
    if (row) control.ariaLabel = row.querySelector("label").textContent + axis;
  };
  const tidy = root => {
    root.querySelectorAll('.mantine-Paper-root[style*="position: fixed"]').forEach(sheet =>
      sheets.observe(sheet));
    root.querySelectorAll("[role=slider]").forEach(fill);
    root.querySelectorAll("input:not([type=hidden])").forEach(name);
    root.querySelectorAll("button").forEach(button => {
      if (button.textContent.trim() || button.ariaLabel) return;
      button.ariaLabel = button.closest(".mantine-Notification-root") ? "Close" : "Connection and scene";
    });
    for (const text of root.querySelectorAll(".mantine-Notification-description")) {
      if (text.textContent.startsWith("WebGL is running in software mode"))
        text.textContent = "Without a graphics card pictures come slower.";
    }
  };
  // On a phone the scene has what the sheet of controls leaves; messages are as wide as the scene.
  const set = (name, value) => document.documentElement.style.setProperty(name, value);
  const sheets = new ResizeObserver(([{target}]) =>
    set("--twin-sheet", target.offsetHeight + "px"));
  const scenes = new ResizeObserver(([{target}]) => set("--twin-scene", target.offsetWidth + "px"));
  new MutationObserver(changes => {
    for (const change of changes) {
      if (change.attributeName === "data-engine") scenes.observe(change.target);
      else if (change.type === "attributes") fill(change.target);
      else for (const node of change.addedNodes) if (node.parentElement) tidy(node.parentElement);
    }
  }).observe(document, {subtree: true, childList: true, attributeFilter:
    ["aria-valuenow", "aria-valuemin", "aria-valuemax", "data-engine"]});
  // Arrows move the slider that was used last, or turn the view after a click on the scene.
  const sliders = () => [...document.querySelectorAll("[role=slider]")];
  const label_of = control => row_of(control)?.querySelector("label").textContent;
  let used = null;
  for (const kind of ["pointerdown", "focusin"]) addEventListener(kind, event => {
    const label = label_of(event.target);
    if (event.target.matches("canvas[data-engine]")) used = null;
    else if (sliders().some(slider => label_of(slider) === label)) used = label;
  }, true);
  const move = event => {
    const slider = sliders().find(each => each.offsetParent && label_of(each) === used);
    if (!slider) return;
    event.preventDefault();
    event.stopPropagation();
    // One that does not bubble reaches the slider alone: the library turns the view by arrows, too.
    slider.dispatchEvent(new KeyboardEvent("keydown", {key: event.key, code: event.code}));
  };
  // Space pauses, r begins anew, h goes home.
  const keys = {" ": ["Pause", "Run"], r: ["Reset and run", "Reset"], h: ["Home"]};
  addEventListener("keydown", event => {
    if (!event.isTrusted || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.("input, textarea, select, [role=tab]")) return;
    if (event.key.startsWith("Arrow")) return move(event);
    const names = keys[event.key];
    if (!names || event.repeat) return;
    const buttons = [...document.querySelectorAll("button")];
    const found = names.map(name => buttons.find(button => button.textContent.trim() === name));
    const button = found.find(Boolean);
    if (!button) return;
    event.preventDefault();
    event.stopPropagation();
    button.click();
  }, true);

  // The library keeps the share of the time span that a chart shows. Where a chart is made anew while
  // its first data come in, as with another scheme, it keeps a share beside the data.
  setInterval(() => {
    for (const {chart} of Object.values(window.__viserTestpoints?.uplots ?? {})) {
      const {min, max} = chart.scales.x, [time] = chart.data;
      const [first, last] = [time[0], time[time.length - 1]];
      if (first < last && (max <= first || min >= last)) chart.setScale("x", {min: first, max: last});
    }
  }, 500);

  // What the server asks a newly opened page for: the scheme of the system, and the set-up that its
  // address ends in, which is used once: reloading the page changes nothing.
  const tell = (name, value) => localStorage.setItem("viser-user:twin-" + name, value);
  const system = matchMedia("(prefers-color-scheme: dark)");
  tell("scheme", system.matches ? "dark" : "light");
  system.addEventListener("change", () => location.reload());
  const set_up = location.hash.slice(1);
  if (set_up) {
    tell("set-up", set_up);
    history.replaceState(null, "", location.pathname + location.search);
  }
  addEventListener("hashchange", () => location.reload());

  const save = (blob, ending) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    const machine = document.querySelector("a.twin-link")?.dataset.machine ?? document.title;
    link.download = machine.replace(/[^\w.-]+/g, "_") + ending;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };
  // Films are recorded as they are seen, on a canvas of opaque pixels.
  let film = null;
  const actions = {
    "Save picture": scene => scene.toBlob(blob => save(blob, ".png")),
    "Record film": (scene, label) => {
      const pieces = [];
      film = new MediaRecorder(scene.captureStream(30), {videoBitsPerSecond: 8e6});
      film.ondataavailable = event => pieces.push(event.data);
      film.onstop = () => { save(new Blob(pieces, {type: film.mimeType}), ".webm"); film = null; };
      film.start();
      label.firstChild.data = "End film";
    },
    "End film": (scene, label) => {
      film?.stop();
      label.firstChild.data = "Record film";
    },
  };
  addEventListener("click", event => {
    const link = event.target.closest?.("a.twin-link");
    if (link) {
      event.preventDefault();
      history.replaceState(null, "", link.href);
      navigator.clipboard?.writeText(link.href);
      link.textContent = "Link copied; it is in the address bar, too";
    }
    const label = event.target.closest?.("button")?.querySelector(".mantine-Button-label");
    const scene = document.querySelector("canvas[data-engine]");
    if (label && scene) actions[label.textContent.trim()]?.(scene, label);
  });
})();
