// What pages do beyond links and forms: nothing here is needed to use them.

const $ = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// Copy buttons appear only where there is a clipboard.
function copyButtons(within) {
  if (!navigator.clipboard) return;
  for (const b of all("[data-copy]", within)) b.hidden = false;
}

document.addEventListener("click", async (e) => {
  const b = e.target.closest?.("[data-copy]");
  if (!b) return;
  await navigator.clipboard.writeText(b.dataset.copy);
  const was = b.textContent;
  b.textContent = "Copied";
  setTimeout(() => { b.textContent = was; }, 1200);
});

// Live: what changes outside shows up. A page whose main has data-live is fetched again; others say so.
async function refresh() {
  const main = $("main");
  const busy = main.contains(document.activeElement) && document.activeElement.matches("input, select, textarea");
  if (!$("[data-live]") || busy) {
    $("#live").hidden = false;
    return;
  }
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const open = new Set(all("details[open][id]", main).map((d) => d.id));
  const next = $("main", fresh);
  for (const d of all("details[id]", next)) if (open.has(d.id)) d.open = true;
  main.replaceChildren(...next.childNodes);
  window.htmx?.process(main);
  copyButtons(main);
  stack(main);
}

if (document.body.dataset.live !== "off" && $("header nav")) {
  const source = new EventSource("/api/memory/events");
  let timer = 0;
  source.addEventListener("memory", () => {
    clearTimeout(timer);
    timer = setTimeout(refresh, 300);
  });
  source.addEventListener("job", (e) => {
    const job = JSON.parse(e.data);
    const shown = $(`[data-job="${CSS.escape(job.jobId)}"]`);
    if (shown && job.state !== "running") location.reload();
  });
  addEventListener("pagehide", () => source.close());
}

// How much is selected in a list.
document.addEventListener("change", () => {
  const shown = $("#selected");
  if (!shown) return;
  const on = all("input[data-tokens]:checked");
  const sum = on.reduce((n, box) => n + Number(box.dataset.tokens), 0);
  shown.textContent = on.length ? `${on.length} selected, ${sum.toLocaleString("en")} tokens` : "";
});

// Keyboard: / and Ctrl-K search, ? help, j and k move in a list, g and a letter go to a screen, Esc leaves a field or dialog.
let going = false;

function typing(el) { return el?.matches("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]"); }

function move(step) {
  const rows = all("[data-row]").filter((r) => r.offsetParent !== null);
  if (!rows.length) return;
  const at = rows.indexOf(document.activeElement);
  const to = rows[Math.min(rows.length - 1, Math.max(0, at < 0 ? 0 : at + step))];
  to.focus();
  to.scrollIntoView({ block: "nearest" });
}

function help() {
  let box = $("#keys");
  if (!box) {
    box = document.createElement("dialog");
    box.id = "keys";
    box.setAttribute("aria-label", "Keyboard shortcuts");
    const links = all("header [data-go]").map((a) => [`g ${a.dataset.go}`, a.textContent]);
    const table = document.createElement("table");
    for (const [keys, what] of [["/  or  Ctrl-K", "Search"], ["j  k", "Next, previous row"], ["Enter", "Open"], ["Esc", "Leave a field, close"], ["?", "This list"], ["g g", "Home"], ...links]) {
      const row = table.insertRow();
      const k = document.createElement("kbd");
      k.textContent = keys;
      row.insertCell().append(k);
      row.insertCell().textContent = what;
    }
    const close = document.createElement("form");
    close.method = "dialog";
    const button = document.createElement("button");
    button.textContent = "Close";
    close.append(button);
    box.append(table, close);
    document.body.append(box);
  }
  box.showModal();
}

document.addEventListener("keydown", (e) => {
  if (e.key === "k" && (e.ctrlKey || e.metaKey)) {
    e.preventDefault();
    $("#find").focus();
    return;
  }
  if (e.key === "Escape") {
    going = false;
    if (typing(document.activeElement)) document.activeElement.blur();
    return;
  }
  if (e.ctrlKey || e.metaKey || e.altKey || typing(document.activeElement) || $("dialog[open]")) return;
  if (going) {
    going = false;
    if (e.key === "g") location.assign("/");
    else $(`header [data-go="${CSS.escape(e.key)}"]`)?.click();
    return;
  }
  const act = { "/": () => $("#find").focus(), "?": help, j: () => move(1), k: () => move(-1), g: () => { going = true; setTimeout(() => { going = false; }, 1500); } }[e.key];
  if (act) {
    e.preventDefault();
    act();
  }
});

document.addEventListener("click", (e) => {
  if (!e.target.closest?.('[data-key="?"]')) return;
  e.preventDefault();
  help();
});

// Parts of a composition are moved by their buttons, which work without this, or by dragging.
function sortable(list) {
  let held = null;
  for (const item of list.children) {
    item.draggable = true;
    item.addEventListener("dragstart", () => { held = item; });
    item.addEventListener("dragover", (e) => {
      e.preventDefault();
      if (!held || held === item) return;
      const after = e.clientY > item.getBoundingClientRect().top + item.offsetHeight / 2;
      list.insertBefore(held, after ? item.nextSibling : item);
    });
    item.addEventListener("drop", (e) => {
      e.preventDefault();
      list.closest("form").dispatchEvent(new Event("change", { bubbles: true }));
    });
  }
}

// On a phone a row of a table is a card, and each value has the heading of its column.
function stack(within) {
  for (const table of all("table", within)) {
    const heads = all("thead th", table).map((th) => th.textContent.trim());
    if (heads.length < 3 || table.matches(".blame")) continue;
    table.classList.add("stacked");
    for (const row of all("tbody tr", table)) {
      [...row.cells].forEach((cell, i) => { if (cell.tagName === "TD" && heads[i] && cell.colSpan === 1) cell.dataset.label = heads[i]; });
    }
  }
}

// On a phone the tabs are wider than the screen: the present one is in view.
const tab = $("header nav [aria-current]");
if (tab) tab.parentElement.scrollLeft = tab.offsetLeft - tab.parentElement.offsetLeft - 24;

for (const list of all("[data-sortable]")) sortable(list);
copyButtons(document);
stack(document);
for (const event of ["htmx:afterSwap", "htmx:after:swap"]) {
  document.addEventListener(event, () => {
    copyButtons(document);
    stack(document);
    for (const list of all("[data-sortable]")) sortable(list);
  });
}
