// The list of all pages shows where the reader is.
addEventListener("DOMContentLoaded", () => {
  const page = document.querySelector(".sidebar-scroll .current-page");
  const list = page?.closest(".sidebar-scroll");
  if (list) list.scrollTop = page.offsetTop - 0.4 * list.clientHeight;
});

// The page of a search that has not been asked for anything says what to do.
addEventListener("DOMContentLoaded", () => {
  const results = document.getElementById("search-results");
  if (results && !new URLSearchParams(location.search).get("q")) {
    results.innerHTML = "<h1>Search</h1><p>Type words into the search field of the list of pages, and press Enter.</p>";
  }
});
