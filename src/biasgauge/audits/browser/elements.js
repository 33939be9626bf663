"use strict";
// Elements of the page and drawings. Text from data is set as text and never parsed as HTML. Positions of marks and
// ticks are shares of one width, so that they agree at every width and on paper.

const byId = (id) => document.getElementById(id);
// In the page of an audit this page is a frame, and the address is that of the whole page: report.html#workbench?x=…
const framed = frameElement !== null;
const host = framed ? parent : window;
document.documentElement.classList.toggle("framed", framed);
const PREFIX = framed ? "#workbench?" : "#";
const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const option = (value, text) => make("option", { value }, text);

const shape = (name) =>
  draw("svg", { class: "shape", width: 20, height: 20, "aria-hidden": "true" }, draw("use", { href: `#mark-${name}`, width: 20, height: 20 }));

// An axis over some values and 0, with a margin; `at` gives a position in percent.
function axisOver(values, withZero = true) {
  const defined = values.filter((value) => value !== null && Number.isFinite(value));
  let low = Math.min(...defined, ...(withZero ? [0] : []));
  let high = Math.max(...defined, ...(withZero ? [0] : []));
  const margin = 0.07 * (high - low || 1);
  [low, high] = [low - margin, high + margin];
  const at = (value) => (100 * (value - low)) / (high - low);
  const step = [1, 2, 5, 10].map((factor) => factor * 10 ** Math.floor(Math.log10((high - low) / 5))).find((size) => (high - low) / size <= 5.5);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const ticks = [];
  for (let count = Math.ceil(low / step); count * step <= high; count++) ticks.push([at(count * step), (count * step).toFixed(digits).replace("-", "−")]);
  return { at, ticks, low, high };
}

const tickRow = (axis, title = "") =>
  make("div", { class: "axis", "aria-hidden": "true" }, ...axis.ticks.map(([x, text]) => make("span", { style: `left:${x}%` }, text)), ...(title ? [make("em", {}, title)] : []));

// One interval with its point on an axis, over the band of contrasts too small to matter.
function intervalDrawing(axis, value, low, high, band, tone) {
  const svg = draw("svg", { class: tone, "aria-hidden": "true" });
  svg.append(draw("rect", { class: "band", x: `${axis.at(-band)}%`, width: `${axis.at(band) - axis.at(-band)}%`, height: "100%" }));
  svg.append(draw("line", { class: "zero", x1: `${axis.at(0)}%`, x2: `${axis.at(0)}%`, y1: 0, y2: "100%" }));
  if (low !== null) svg.append(draw("line", { class: "reach", x1: `${axis.at(low)}%`, x2: `${axis.at(high)}%`, y1: "50%", y2: "50%" }));
  if (value !== null) svg.append(draw("circle", { cx: `${axis.at(value)}%`, cy: "50%", r: 5.5, fill: "currentColor" }));
  return svg;
}

// A bar from 0 to a value.
function barDrawing(axis, value) {
  const [left, right] = [axis.at(Math.min(0, value)), axis.at(Math.max(0, value))];
  return draw(
    "svg",
    { "aria-hidden": "true" },
    draw("rect", { x: `${left}%`, width: `${Math.max(right - left, 0.4)}%`, y: "10%", height: "80%", class: value < 0 ? "against" : null }),
    draw("line", { class: "zero", x1: `${axis.at(0)}%`, x2: `${axis.at(0)}%`, y1: 0, y2: "100%" }),
  );
}

// Points of a list on an axis, with their median.
function stripDrawing(axis, values, names) {
  const sorted = [...values].sort((one, two) => one - two);
  const median = (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
  const points = values.map((value, index) =>
    draw("circle", { cx: `${axis.at(value)}%`, cy: `${30 + ((index * 37) % 41)}%`, r: 3.5 }, draw("title", {}, names[index])),
  ); // prettier-ignore
  const line = draw("line", { class: "median", x1: `${axis.at(median)}%`, x2: `${axis.at(median)}%`, y1: "8%", y2: "92%" });
  return draw("svg", { "aria-hidden": "true" }, ...points, line);
}

// Words on two axes; labels that would cover another are left out and told when pointed at.
function planeDrawing(points, names, width) {
  const height = Math.round(Math.min(520, Math.max(320, width * 0.6)));
  const [across, along] = [axisOver(points.map(({ x }) => x)), axisOver(points.map(({ y }) => y))];
  const px = (value) => (across.at(value) * width) / 100;
  const py = (value) => height - (along.at(value) * height) / 100;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": `${points.length} words between ${names.left} and ${names.right}, ${names.down} and ${names.up}; the numbers are in the table below` });
  svg.append(draw("line", { class: "zero", x1: px(0), x2: px(0), y1: 0, y2: height }), draw("line", { class: "zero", x1: 0, x2: width, y1: py(0), y2: py(0) }));
  const end = (text, x, y, anchor) => draw("text", { class: "end", x, y, "text-anchor": anchor }, text);
  svg.append(end(`← ${names.left}`, 2, py(0) - 5, "start"), end(`${names.right} →`, width - 2, py(0) - 5, "end"));
  svg.append(end(`↑ ${names.up}`, px(0) + 5, 12, "start"), end(`↓ ${names.down}`, px(0) + 5, height - 4, "start"));
  const boxes = [[0, py(0) - 16, 110, 16], [width - 110, py(0) - 16, 110, 16], [px(0), 0, 120, 16], [px(0), height - 16, 120, 16]]; // prettier-ignore
  const free = ([x, y, w, h]) => x >= 0 && x + w <= width && boxes.every(([x2, y2, w2, h2]) => x + w <= x2 || x2 + w2 <= x || y + h <= y2 || y2 + h2 <= y);
  for (const { x, y } of points) boxes.push([px(x) - 4, py(y) - 4, 8, 8]);
  for (const { word, x, y, list } of points) {
    svg.append(draw("circle", { cx: px(x), cy: py(y), r: 4, class: list }, draw("title", {}, `${word}: ${signed(x)}, ${signed(y)}`)));
    const size = word.length * 6.6;
    for (const [left, anchor, dx] of [[px(x) + 6, "start", 6], [px(x) - 6 - size, "end", -6]]) {
      const box = [left, py(y) - 7, size, 13];
      if (!free(box)) continue;
      boxes.push(box);
      svg.append(draw("text", { x: px(x) + dx, y: py(y) + 4, "text-anchor": anchor }, word));
      break;
    }
  }
  return svg;
}

function tableOf(caption, heads, rows) {
  const head = make("thead", {}, make("tr", {}, ...heads.map((name, index) => make("th", { scope: "col", class: index ? "number" : null }, name))));
  const body = rows.map((row) => make("tr", {}, ...row.map((cell, index) => make(index ? "td" : "th", index ? { class: "number" } : { scope: "row" }, cell))));
  return make("table", {}, make("caption", {}, caption), head, make("tbody", {}, ...body));
}
