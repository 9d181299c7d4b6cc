// Faults of layout in the present window: a list of texts.
() => {
  const found = [];
  const words = element => element.textContent.trim().replace(/\s+/g, " ").slice(0, 40);
  const width = document.documentElement.clientWidth;
  const shown = element => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const scrolls = style => ["auto", "scroll"].includes(style.overflowX);
  if (document.documentElement.scrollWidth > width + 1) {
    found.push(`the page is ${document.documentElement.scrollWidth} pixels wide in a window of ${width}`);
  }
  const labels = [];
  for (const element of document.querySelectorAll("body *")) {
    const style = getComputedStyle(element);
    const own = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    if (!own || !shown(element)) continue;
    const hidden = style.overflowX === "hidden" || style.overflowX === "clip";
    if (hidden && style.textOverflow !== "ellipsis" && element.clientWidth > 2 && element.scrollWidth > element.clientWidth + 1) {
      found.push(`clipped: "${words(element)}"`);
    }
    if (element.closest("svg")) {
      if (element.tagName === "text") labels.push(element);
    }
  }
  // Labels of one picture must not lie on each other.
  for (const picture of new Set(labels.map(label => label.ownerSVGElement))) {
    const boxes = labels.filter(label => label.ownerSVGElement === picture)
      .map(label => [label, label.getBoundingClientRect()]);
    boxes.forEach(([one, a], index) => {
      for (const [other, b] of boxes.slice(index + 1)) {
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > 2 && down > 0.3 * Math.min(a.height, b.height)) {
          found.push(`"${words(one)}" lies on "${words(other)}"`);
        }
      }
    });
  }
  return found;
}
