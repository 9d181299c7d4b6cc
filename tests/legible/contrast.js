// Contrast below 4.5:1 in a part of the page: what axe-core finds on elements in colours that are not among those known,
// and the colours that are sound. Elements of the same colours, sizes and backgrounds need to be looked at only once.
async ([known, part]) => {
  const grounds = new Map([[null, ""]]);
  const ground = element => {
    if (!grounds.has(element)) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
      grounds.set(element, `${ground(element.parentElement)} ${backgroundColor}${backgroundImage}${opacity}`.replaceAll(" rgba(0, 0, 0, 0)none1", ""));
    }
    return grounds.get(element);
  };
  const colours = new Set(known);
  const elements = [];
  for (const element of (document.querySelector(part) || document.body).querySelectorAll("*")) {
    const text = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    if (!(text || element.matches("input, select, textarea")) || !element.checkVisibility()) continue;
    const { color, fontSize, fontWeight } = getComputedStyle(element);
    const own = `${color} ${fontSize} ${fontWeight} on${ground(element)}`;
    if (!colours.has(own)) elements.push(element);
    colours.add(own);
  }
  if (!elements.length) return [known, []];
  const rules = { runOnly: { type: "rule", values: ["color-contrast"] }, resultTypes: ["violations"], preload: false };
  const found = (await axe.run({ include: elements }, rules)).violations;
  return [found.length ? known : [...colours], found];
}
