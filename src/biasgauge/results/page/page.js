"use strict";
// The page without this script is whole: it only draws, sorts, filters and looks words up. Text from data is set as
// textContent and never parsed as HTML.

const byId = (id) => document.getElementById(id);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// Text that the page carries packed: base64 of zlib's format.
async function unpacked(id) {
  const bytes = Uint8Array.from(atob(byId(id).textContent), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

const data = async (id) => (byId(id) ? JSON.parse(await unpacked(id)) : null);
const NARROW = 640;
const LABEL = 125; // room for a label of an axis on a narrow page
const extras = {}; // scripts of single sections: by the id of their data, a function that starts them

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const shown = (value, digits = 3) => (value === null ? "–" : value.toFixed(digits).replace("-", "−"));
const between = (low, high) => (low === null || high === null ? "–" : `${shown(low)} to ${shown(high)}`);

// --- charts ---------------------------------------------------------------------------------------------------------

function looks(narrow) {
  const guide = {
    labelColor: "var(--ink)",
    titleColor: "var(--soft)",
    titleFontWeight: "normal",
    labelFontSize: 12,
    titleFontSize: 12,
  };
  return {
    background: null,
    font: "system-ui, sans-serif",
    numberFormat: ".4~r",
    view: { stroke: null },
    axis: {
      ...guide,
      gridColor: "var(--line)",
      domainColor: "var(--line)",
      tickColor: "var(--line)",
      labelLimit: narrow ? 125 : 300,
      labelSeparation: 6,
    },
    legend: { ...guide, orient: narrow ? "bottom" : "right", columns: narrow ? 2 : 1, labelLimit: 220 },
    header: guide,
    title: { color: "var(--ink)", subtitleColor: "var(--soft)" },
    text: { color: "var(--ink)" },
  };
}

// A copy of a specification that fits into a column of this width: narrower, and below each other what was side by side.
function fitted(spec, room) {
  if (room >= NARROW) return spec;
  const copy = { ...spec };
  if (copy.layer) copy.layer = copy.layer.filter((part) => part.encoding?.y?.axis?.orient !== "right"); // numbers at the side
  if (typeof copy.width === "number") copy.width = Math.max(140, Math.min(copy.width, room - 150));
  if (copy.facet && copy.facet.row && copy.facet.column) {
    const across = copy.facet.column.sort?.length ?? 2; // a grid stays one, with narrower panels
    copy.spec = { ...copy.spec, width: Math.max(80, (room - 120) / across - 20) };
    return shortLabels(copy);
  }
  if (copy.facet && copy.facet.column) {
    copy.facet = { row: { ...copy.facet.column, header: { labelOrient: "top", labelAnchor: "start" } } };
  }
  if (copy.hconcat) {
    copy.vconcat = copy.hconcat;
    delete copy.hconcat;
  }
  if (copy.columns) copy.columns = 1;
  if (copy.vconcat) copy.vconcat = copy.vconcat.map((part) => fitted(part, room));
  if (copy.spec) copy.spec = fitted(copy.spec, room);
  return shortLabels(copy);
}

// A copy of a part of a specification whose axes, words and legends leave at most so much room to each label.
function shortLabels(part) {
  if (Array.isArray(part)) return part.map(shortLabels);
  if (part === null || typeof part !== "object") return part;
  const copy = { ...part };
  for (const [name, value] of Object.entries(part)) {
    if (name === "labelLimit") copy[name] = Math.min(value, LABEL);
    else if (name === "limit") copy[name] = Math.min(value, room() / 2);
    else if (name === "legend" && value?.columns > 2) copy[name] = { ...value, columns: 2 };
    else if (name !== "datasets" && name !== "data") copy[name] = shortLabels(value);
  }
  return copy;
}

const room = () => byId("content").clientWidth || byId("main").clientWidth; // the first is 0 while it is folded

function clear(box) {
  if (box.view) box.view.finalize();
  box.view = null;
  box.replaceChildren();
}

async function draw(box, spec) {
  clear(box);
  box.spec = spec;
  const canvas = box.appendChild(make("div"));
  const across = Math.min(box.clientWidth || room(), room());
  try {
    const width = Math.min(gridWidth(box), across);
    const view = await drawOnGrid(canvas, fitted(spec, across), width, looks(across < NARROW));
    if (!canvas.isConnected) return void view.finalize(); // another chart took its place meanwhile
    box.view = view;
    makeRoom(box);
    nameMarks(box);
    walkable(box);
  } catch (problem) {
    box.textContent = "This chart could not be drawn; its numbers are in the table.";
    console.error(problem);
  }
}

async function drawAll(charts) {
  delete document.documentElement.dataset.ready;
  for (const figure of all("figure[data-chart]")) {
    await draw(figure.querySelector(".plot"), charts[figure.dataset.chart]);
    await new Promise((done) => setTimeout(done)); // the page answers between two charts
  }
  document.documentElement.dataset.ready = "yes";
}

const tip = make("div", { id: "tip", role: "tooltip", hidden: "" });

function showTip(_handler, event, _item, value) {
  tip.hidden = value === null || value === undefined || value === "";
  if (tip.hidden) return;
  const rows = typeof value === "object" ? Object.entries(value) : [["", String(value)]];
  tip.replaceChildren(
    ...rows.map(([name, one]) =>
      make("div", {}, make("span", {}, name.replaceAll("_", " ")), make("bdi", {}, String(one))),
    ),
  );
  const size = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - size.width - 8))}px`;
  tip.style.top = `${Math.max(4, Math.min(event.clientY + 14, innerHeight - size.height - 8))}px`;
}

// Points of a chart by keyboard: each mark that has something to tell, once, in the order in which they are drawn.
const spoken = make("div", { class: "unseen", role: "status" });
const told = (mark) => (typeof mark.__data__?.tooltip === "object" ? JSON.stringify(mark.__data__.tooltip) : null);

function walkable(box) {
  const telling = all("svg path, svg rect, svg line, svg text", box).filter((mark) => told(mark));
  box.marks = [...new Map(telling.map((mark) => [told(mark), mark])).values()];
  box.at = -1;
  if (!box.marks.length) return box.removeAttribute("tabindex");
  const name = box.closest("figure")?.querySelector("h3")?.textContent ?? "";
  const count = box.marks.length === 1 ? "1 point" : `${box.marks.length} points`;
  const label = `${name}: ${count}; arrow keys go from one to the next`;
  for (const [key, value] of Object.entries({ tabindex: "0", role: "group", "data-count": count, "aria-label": label }))
    box.setAttribute(key, value);
  box.onkeydown = (event) => walk(box, event);
  box.onblur = () => leave(box);
}

function walk(box, event) {
  const last = box.marks.length - 1;
  const next = Math.min(box.at + 1, last);
  const before = Math.max(box.at - 1, 0);
  const way = { ArrowRight: next, ArrowDown: next, ArrowLeft: before, ArrowUp: before, Home: 0, End: last };
  if (event.key === "Escape") return leave(box);
  if (!(event.key in way)) return;
  event.preventDefault();
  leave(box);
  box.at = way[event.key];
  const mark = box.marks[box.at];
  mark.classList.add("at");
  mark.scrollIntoView({ block: "nearest", inline: "nearest" });
  const place = mark.getBoundingClientRect();
  showTip(null, { clientX: place.right, clientY: place.bottom }, null, mark.__data__.tooltip);
  const rows = Object.entries(mark.__data__.tooltip).map(([key, value]) => `${key.replaceAll("_", " ")} ${value}`);
  spoken.textContent = `${box.at + 1} of ${box.marks.length}: ${rows.join(", ")}`;
}

function leave(box) {
  box.marks?.[box.at]?.classList.remove("at");
  tip.hidden = true;
}

function chooseGroups(select) {
  const section = byId(select.dataset.groups);
  const show = () => {
    for (const figure of all("figure[data-group]", section))
      figure.classList.toggle("away", figure.dataset.group !== select.value);
  };
  select.closest("[hidden]").hidden = false;
  select.addEventListener("change", show);
  show();
}

// --- tables ---------------------------------------------------------------------------------------------------------

function sortable(table) {
  const heads = all("thead th", table);
  heads.forEach((head, column) => {
    if (!head.textContent.trim()) return;
    head.replaceChildren(
      make("button", { type: "button", onclick: () => sortBy(table, heads, column) }, head.textContent),
    );
  });
  if (table.tBodies[0].rows.length > 15) filterable(table);
}

function sortBy(table, heads, column) {
  const down = heads[column].getAttribute("aria-sort") === "ascending";
  heads.forEach((head, place) => {
    if (place === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
  const keys = new Map([...table.tBodies[0].rows].map((row) => [row, keyOf(row.cells[column])]));
  const sorted = [...keys.keys()].sort((a, b) => compare(keys.get(a), keys.get(b), down ? -1 : 1));
  table.tBodies[0].append(...sorted);
}

// What a cell is sorted by: its number, given or read from its text, else the text.
function keyOf(cell) {
  if (cell.dataset.order !== undefined) return Number(cell.dataset.order);
  const text = cell.textContent.trim();
  return /^−?[\d,]*\.?\d+$/.test(text) ? Number(text.replace("−", "-").replaceAll(",", "")) : text;
}

// Numbers by size and text by letter; what has no number comes last whichever way.
function compare(a, b, sign) {
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return sign * (typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true }));
}

function filterable(table) {
  const rows = [...table.tBodies[0].rows];
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const count = make("span", { class: "soft", role: "status" });
  const filter = (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    for (const row of rows) row.hidden = !texts.get(row).includes(wanted);
    count.textContent = wanted ? `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows` : "";
  };
  const input = make("input", { type: "search", spellcheck: "false", oninput: filter });
  table.parentElement.before(make("p", { class: "controls" }, make("label", {}, "Filter rows ", input), count));
}

function fill(table, caption, columns, rows) {
  const head = columns.map((name, place) => make("th", { scope: "col", class: place ? "number" : null }, name));
  const body = rows.map((row) =>
    make(
      "tr",
      {},
      ...row.map((cell, place) => make(place ? "td" : "th", place ? { class: "number" } : { scope: "row" }, cell)),
    ),
  );
  table.replaceChildren(
    make("caption", {}, caption),
    make("thead", {}, make("tr", {}, ...head)),
    make("tbody", {}, ...body),
  );
}

// --- the page -------------------------------------------------------------------------------------------------------

function themes(button) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const now = () => document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");
  const label = () => (button.textContent = now() === "dark" ? "Light page" : "Dark page");
  button.hidden = false;
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = now() === "dark" ? "light" : "dark";
    label();
  });
  dark.addEventListener("change", label);
  label();
}

function contents() {
  if (!byId("contents")) return;
  const links = new Map(all("#contents a").map((link) => [link.hash.slice(1), link]));
  const mark = (entries) => {
    const seen = entries.find((entry) => entry.isIntersecting);
    if (!seen) return;
    for (const link of links.values()) link.removeAttribute("aria-current");
    links.get(seen.target.id).setAttribute("aria-current", "true");
  };
  const observer = new IntersectionObserver(mark, { rootMargin: "-10% 0px -80% 0px" });
  for (const id of links.keys()) observer.observe(byId(id));
  const fold = () => (byId("contents").open = innerWidth >= 1000);
  for (const link of links.values()) link.addEventListener("click", fold);
  fold();
}

// Text to be copied: a quotation or a listing beside the button.
function copies(button) {
  const box = button.closest(".quote, .listing");
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    const text = box.querySelector("blockquote, pre").textContent.trim();
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(box.querySelector("blockquote, pre"));
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
}

// What the address names, without what stands behind ?; null where there is no such thing.
function linked() {
  try {
    return byId(decodeURIComponent(location.hash.slice(1).split("?")[0]));
  } catch {
    return null; // a link that was cut off
  }
}

// A link to something inside a folded part opens it.
function unfold() {
  const target = linked();
  if (!target) return;
  for (let box = target.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
  target.scrollIntoView();
}

// On paper the appendix is open, with every figure.
function printWhole() {
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = all("details.fold:not([open]), details.more-figures:not([open])");
    for (const part of folded) part.open = true;
  });
  addEventListener("afterprint", () => folded.forEach((part) => (part.open = false)));
}

// Draws everything; again when the column becomes narrower or wider.
async function drawPage() {
  const code = make("script");
  code.textContent = await unpacked("plots-code"); // the page's policy knows this very text
  document.head.append(code);
  const charts = (await data("charts-data")) ?? {};
  const redraws = [];
  for (const [id, begin] of Object.entries(extras)) redraws.push(begin(await data(id)));
  const drawEverything = async () => {
    for (const redraw of redraws) await redraw();
    await drawAll(charts);
  };
  let drawnFor = Math.min(room(), NARROW);
  addEventListener("resize", () => {
    const width = Math.min(room(), NARROW);
    if (Math.abs(width - drawnFor) < 16) return;
    drawnFor = width;
    drawEverything();
  });
  return drawEverything();
}

function start() {
  document.body.append(tip, spoken);
  all("button.copy").forEach(copies);
  addEventListener("hashchange", unfold);
  unfold();
  printWhole();
  themes(byId("theme"));
  contents();
  all("table.sortable").forEach(sortable);
  all("select[data-groups]").forEach(chooseGroups);
  if (byId("plots-code")) drawPage();
  else document.documentElement.dataset.ready = "yes";
}

document.addEventListener("DOMContentLoaded", start);
