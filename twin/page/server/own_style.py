"""Style and keys of the page, beside what its library brings."""

from __future__ import annotations

STYLE = """
:root[data-mantine-color-scheme="light"] { --mantine-color-dimmed: #5a636c !important; }
:root[data-mantine-color-scheme="dark"] { --mantine-color-dimmed: #b4bcc5 !important; }
.mantine-Slider-markLabel { font-size: 11px !important; color: #495057 !important;
  margin-top: 5px !important; }
[data-mantine-color-scheme="dark"] .mantine-Slider-markLabel { color: #c9cfd6 !important; }
.mantine-Slider-bar { left: var(--twin-left, 0) !important;
  width: var(--twin-width, var(--slider-bar-width)) !important; }
.mantine-Slider-bar::before { display: none; }
.mantine-Slider-mark { display: none !important; }
[role=tab] { padding: 0 8px !important; }
.mantine-Notifications-root { top: auto !important; bottom: 12px !important; }
.uplot { position: relative; }
.uplot .u-legend { display: none; }
.uplot:hover .u-legend { display: block; position: absolute; left: 54px; right: 8px; top: 30px;
  margin: 0; padding: 2px 6px; font-size: 11px; text-align: left; pointer-events: none; z-index: 2;
  background: rgba(255, 255, 255, 0.9); border-radius: 4px; }
[data-mantine-color-scheme="dark"] .uplot:hover .u-legend { background: rgba(30, 32, 36, 0.9); }
.uplot .u-legend .u-series:first-child, .uplot .u-legend .twin-unseen,
.uplot .u-legend .u-off { display: none; }
"""

KEYS = """
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
  const thumbs = node => node.querySelectorAll?.("[role=slider]") ?? [];
  new MutationObserver(changes => {
    for (const change of changes) {
      if (change.type === "attributes") fill(change.target);
      else for (const node of change.addedNodes) thumbs(node).forEach(fill);
    }
  }).observe(document, {subtree: true, childList: true, attributeFilter:
    ["aria-valuenow", "aria-valuemin", "aria-valuemax"]});
  // Space pauses, r begins anew, h goes home; arrows move the slider that was last used.
  const keys = {" ": ["Pause", "Run"], r: ["Reset and run", "Reset"], h: ["Home"]};
  addEventListener("keydown", event => {
    const names = keys[event.key];
    if (!names || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.target.closest?.("input, textarea, select, [role=tab]")) return;
    const buttons = [...document.querySelectorAll("button")];
    const found = names.map(name => buttons.find(button => button.textContent.trim() === name));
    const button = found.find(Boolean);
    if (!button) return;
    event.preventDefault();
    event.stopPropagation();
    button.click();
  }, true);
})();
"""


def own_head() -> bytes:
    """Return what is added to the head of the page."""
    return f"<style>{STYLE}</style><script>{KEYS}</script></head>".encode()
