// The list of all pages shows where the reader is.
addEventListener("DOMContentLoaded", () => {
  const page = document.querySelector(".sidebar-scroll .current-page");
  const list = page?.closest(".sidebar-scroll");
  if (list) list.scrollTop = page.offsetTop - 0.4 * list.clientHeight;
});
