"use strict";
// Figures: two widths for all of them, words that do not overlap, names for screen readers, and files to take away.

const GRID = { column: 340, full: 700 }; // outer widths, labels included
const SMALL_TYPE = "8px"; // type of words inside a chart, where larger ones would overlap

// Charts of panels, and those whose height follows from their rows, are not fitted by the library.
const isPanelled = (spec) =>
  ["facet", "hconcat", "vconcat", "concat", "repeat"].some((name) => name in spec) || typeof spec.height === "object";
const outerWidth = (canvas) => Number(canvas.querySelector("svg")?.getAttribute("width"));

// A copy of a specification whose panels are so many times as wide.
function widened(spec, factor) {
  if (Array.isArray(spec)) return spec.map((part) => widened(part, factor));
  const copy = { ...spec };
  for (const name of ["hconcat", "vconcat", "concat", "layer", "spec"])
    if (copy[name]) copy[name] = widened(copy[name], factor);
  if (typeof copy.width === "number") copy.width *= factor;
  return copy;
}

// Draw into an element at exactly this outer width. How wide labels are is known only once they are drawn: a chart of
// panels is drawn again with panels of another width, where outer width = factor × panels + labels.
async function drawOnGrid(canvas, spec, width, config) {
  const plot = (one) => biasgaugePlot(canvas, one, config, showTip);
  if (!isPanelled(spec)) return plot({ ...spec, width, autosize: { type: "fit-x", contains: "padding" } });
  if (spec.height && !("width" in spec)) spec = { ...spec, width: width * 0.7 };
  let view = await plot(spec);
  const tried = [[1, outerWidth(canvas)]];
  while (tried.length < 5 && Math.abs(tried.at(-1)[1] - width) > 1) {
    const [[factor, outer], before] = [tried.at(-1), tried.at(-2)];
    const slope = before ? (outer - before[1]) / (factor - before[0]) : outer / factor;
    const next = Math.max(0.1, factor + (width - outer) / (slope || outer));
    view.finalize();
    canvas.replaceChildren();
    view = await plot(widened(spec, next));
    tried.push([next, outerWidth(canvas)]);
  }
  return view;
}

const gridWidth = (box) => GRID[box.closest("figure")?.dataset.width] ?? GRID.full;

// --- words and names ------------------------------------------------------------------------------------------------

function overlap(words) {
  const boxes = words.map((word) => word.getBoundingClientRect()).filter((box) => box.width > 0);
  boxes.sort((a, b) => a.left - b.left);
  return boxes.some((one, place) => {
    for (let at = place + 1; at < boxes.length && boxes[at].left < one.right - 0.5; at++)
      if (boxes[at].top < one.bottom - 1 && one.top < boxes[at].bottom - 1) return true;
    return false;
  });
}

// Words inside a chart that would overlap become smaller; where that is not enough they go: the table has the numbers.
function makeRoom(box) {
  for (const group of all("g.mark-text.role-mark", box)) {
    const words = all("text", group);
    if (!overlap(words)) continue;
    for (const word of words) word.style.fontSize = SMALL_TYPE;
    if (overlap(words)) group.remove();
  }
}

// Every mark that says to be a picture has a name, or is no picture of its own.
function nameMarks(box) {
  for (const mark of all("[role^='graphics'], [role='img']", box)) {
    if (mark.getAttribute("aria-label")?.trim()) continue;
    if (mark.getAttribute("role") !== "graphics-object") mark.setAttribute("aria-hidden", "true");
    mark.removeAttribute("role");
    mark.removeAttribute("aria-roledescription");
  }
}

// --- files ----------------------------------------------------------------------------------------------------------

// A copy of a specification with the colors of a light page in the place of variables: a file knows no page.
function inkOnPaper(part) {
  if (typeof part === "string")
    return part.replace(/^var\((--[\w-]+)\)$/, (_, name) => lightColors().getPropertyValue(name).trim());
  if (Array.isArray(part)) return part.map(inkOnPaper);
  if (part === null || typeof part !== "object") return part;
  const copy = {};
  for (const [name, value] of Object.entries(part))
    copy[name] = name === "datasets" || name === "data" ? value : inkOnPaper(value);
  return copy;
}

const lightColors = () => document.styleSheets[0].cssRules[0].style; // the first rule of the page's own style sheet

async function viewForFile(box) {
  const config = { ...inkOnPaper(looks(false)), background: "#ffffff" };
  return drawOnGrid(make("div"), inkOnPaper(box.spec), gridWidth(box), config);
}

const FILES = {
  svg: async (box) => new Blob([await (await viewForFile(box)).toSVG()], { type: "image/svg+xml" }),
  png: async (box) => {
    const canvas = await (await viewForFile(box)).toCanvas(3);
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  },
  csv: async (box) => new Blob([csvOf(dataOf(box.spec))], { type: "text/csv" }),
};

// The tables that a chart draws.
function dataOf(spec) {
  const named = Object.values(spec.datasets ?? {});
  const inline = [];
  const look = (part) => {
    if (part === null || typeof part !== "object") return;
    if (Array.isArray(part.data?.values)) inline.push(part.data.values);
    for (const [name, value] of Object.entries(part)) if (name !== "datasets" && name !== "data") look(value);
  };
  look(spec);
  return [...named, ...inline].filter((table) => table.some((row) => Object.keys(row).length));
}

// Rows as CSV; of several tables, the first column says which.
function csvOf(tables) {
  const several = tables.length > 1;
  const rows = tables.flatMap((table, place) =>
    table.map((row) => (several ? { table: place + 1, ...row } : row)),
  );
  const names = [...new Set(rows.flatMap(Object.keys))].filter((name) => !name.startsWith("_"));
  const lines = [names, ...rows.map((row) => names.map((name) => row[name]))];
  return lines.map((line) => line.map(csvCell).join(",") + "\n").join("");
}

// A spreadsheet must not take text for a formula: such text gets a quote before it, as spreadsheets expect.
function csvCell(value) {
  if (value === null || value === undefined) return "";
  let text = typeof value === "object" ? JSON.stringify(value) : String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text) && !isNumber(text)) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const isNumber = (text) => text.trim() !== "" && Number.isFinite(Number(text));

async function saveFile(figure, kind) {
  const content = isPicture(figure)
    ? await PICTURE_FILES[kind](figure)
    : await FILES[kind](figure.querySelector(".plot"));
  const link = make("a", { href: URL.createObjectURL(content), download: `${figure.id}.${kind}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

// --- the figures of a page ------------------------------------------------------------------------------------------

function takeaways(figure) {
  const title = figure.dataset.title ?? figure.querySelector("h3, h4")?.textContent ?? "figure";
  const button = (kind) =>
    make(
      "button",
      { type: "button", "aria-label": `${kind.toUpperCase()}: ${title}`, onclick: () => saveFile(figure, kind) },
      kind.toUpperCase(),
    );
  const link = make("a", { href: `#${figure.id}`, "aria-label": `Link: ${title}` }, "link");
  const line = make("p", { class: "takeaways" });
  line.append(...Object.keys(FILES).flatMap((kind) => [button(kind), " · "]), link);
  const plot = figure.querySelector(":scope > .plot");
  const numbers = figure.querySelector(":scope > .numbers-of");
  if (plot) plot.after(line);
  else if (numbers) numbers.before(line);
  else figure.append(line);
}

// The figure that the address names is shown, also from a folded part or another group.
function showLinked() {
  const figure = linked();
  if (!figure?.matches("figure")) return;
  for (let part = figure.parentElement; part; part = part.parentElement) if (part.matches("details")) part.open = true;
  const select = figure.dataset.group && figure.closest("section")?.querySelector("select[data-groups]");
  if (select && select.value !== figure.dataset.group) {
    select.value = figure.dataset.group;
    select.dispatchEvent(new Event("change"));
  }
  figure.scrollIntoView();
}

document.addEventListener("DOMContentLoaded", () => {
  all("figure[id], .forest[id]")
    .filter((figure) => isPicture(figure) || figure.querySelector(".plot"))
    .forEach(takeaways);
  addEventListener("hashchange", showLinked);
  showLinked();
  const shown = () => all("figure .plot").forEach(makeRoom); // what was hidden could not be measured
  document.addEventListener("toggle", shown, true);
  all("select[data-groups]").forEach((select) => select.addEventListener("change", shown));
});
