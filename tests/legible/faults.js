// Faults of layout in the present window: a list of texts.
() => {
  const found = new Set();
  const words = element => (element.value || element.textContent).trim().replace(/\s+/g, " ").slice(0, 40);
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth + 1) {
    found.add(`the page is ${root.scrollWidth} pixels wide in a window of ${root.clientWidth}`);
  }

  // Tables are seen whole, apart from windows that are narrow.
  for (const table of document.querySelectorAll("table")) {
    let frame = table.parentElement;
    while (frame !== root && getComputedStyle(frame).overflowX === "visible") frame = frame.parentElement;
    if (root.clientWidth >= 1200 && frame.clientWidth && table.offsetWidth > frame.clientWidth + 1) {
      found.add(`a table wider than its column: "${words(table)}"`);
    }
  }

  // Who copies a listing gets what is seen of it.
  for (const listing of document.querySelectorAll("pre")) {
    if (listing.checkVisibility() && listing.innerText.trimEnd() !== listing.textContent.trimEnd()) {
      found.add(`a listing that lost blanks: "${words(listing)}"`);
    }
  }

  // Boxes are [left, top, right, bottom] in pixels.
  const everywhere = [-Infinity, -Infinity, Infinity, Infinity];
  const box = ({ left, top, right, bottom }) => [left, top, right, bottom];
  const common = (a, b) => a.map((edge, k) => k < 2 ? Math.max(edge, b[k]) : Math.min(edge, b[k]));
  const size = ([left, top, right, bottom]) => [right - left, bottom - top];

  // What is seen of an element's parts at present, and what can be seen when everything has been scrolled to.
  const known = new Map([root, document.body].map(element => [element, { now: everywhere, ever: everywhere }]));
  const seen = element => {
    if (known.has(element)) return known.get(element);
    const style = getComputedStyle(element);
    const outer = style.position === "fixed" ? root : style.position === "absolute" && element.offsetParent;
    let { now, ever } = seen(outer || element.parentElement);
    const flows = [style.overflowX, style.overflowY, style.overflowX, style.overflowY];
    if ((style.display !== "inline" || element.tagName === "svg") && flows.some(flow => flow !== "visible")) {
      const own = box(element.getBoundingClientRect());
      const inside = [common(now, own), common(ever, own)];
      now = now.map((edge, k) => flows[k] === "visible" ? edge : inside[0][k]);
      const reached = { visible: ever, hidden: inside[1], clip: inside[1] };
      ever = flows.map((flow, k) => (reached[flow] || everywhere)[k]);
    }
    known.set(element, { now, ever });
    return known.get(element);
  };

  // Lines of text that are seen; some are cut off.
  const lines = [];
  const range = document.createRange();
  for (const element of document.querySelectorAll("body *")) {
    const label = element.tagName === "text";
    const texts = [...element.childNodes].filter(node => node.nodeType === 3 && node.data.trim());
    const field = element.matches("input, textarea");
    if (!(element.closest("svg") ? label : field || texts.length)) continue;
    if (element.closest("[role=tooltip]")) continue;  // it lies over texts while the pointer rests
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    for (const text of element.closest("pre, code") ? [] : texts) {
      for (const { 0: number, index } of text.data.matchAll(/\d[\d.]*e-\d+/g)) {
        range.setStart(text, index);
        range.setEnd(text, index + number.length);
        if (range.getClientRects().length > 1) found.add(`a number on two lines: "${number}"`);
      }
    }
    if (field && isFinite(element.value) && element.scrollWidth > element.clientWidth + 1) found.add(`clipped: "${words(element)}"`);
    const { now, ever } = seen(element);
    const boxes = label ? [element.getBoundingClientRect()] : texts.flatMap(text => {
      range.selectNodeContents(text);
      return [...range.getClientRects()];
    });
    for (const whole of boxes.map(box)) {
      const [width, height] = size(whole);
      const [across, down] = size(common(whole, ever));
      if (across < 2 || down < 2) continue;
      if (width - across > 2 || height - down > 0.3 * height) found.add(`clipped: "${words(element)}"`);
      const part = common(whole, now);
      if (size(part).every(length => length > 0)) lines.push([element, part]);
    }
  }

  // They must not lie on each other. Signs of a formula may: their boxes are taller than they are.
  lines.sort(([, a], [, b]) => a[1] - b[1]);
  let above = [];
  for (const [element, part] of lines) {
    above = above.filter(([, other]) => other[3] > part[1]);
    for (const [other, its] of above) {
      const [across, down] = size(common(part, its));
      if (across <= 2 || down <= 0.3 * Math.min(size(part)[1], size(its)[1])) continue;
      if (element.contains(other) || other.contains(element)) continue;
      const formula = element.closest("math");
      if (formula && formula === other.closest("math")) continue;
      found.add(`"${words(other)}" lies on "${words(element)}"`);
    }
    above.push([element, part]);
  }
  return [...found];
}
