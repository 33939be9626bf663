"use strict";
// Files of what the page draws of its own elements (forest plot, strips, histograms, bars): a copy is laid out at one
// width, in the colors of a light page, and what stands where becomes shapes, which an SVG or a canvas takes.

const PICTURES = { forest: 1200, "bars-of": 960 }; // widths in pixels; others have that of a column and a half
const MARGIN = 12;
const SHARPNESS = 3; // pixels of a PNG for each of the page

const isPicture = (figure) => figure.matches(".forest, .drawing");

function pictureOf(figure) {
  const root = document.documentElement;
  const theme = root.dataset.theme;
  const copy = figure.cloneNode(true);
  for (const part of all(".numbers-of, .takeaways, .panel, .on-screen, .unseen", copy)) part.remove();
  const stage = make("div", { class: "stage", "aria-hidden": "true" }, copy);
  const kind = Object.keys(PICTURES).find((name) => figure.classList.contains(name));
  stage.style.width = `${PICTURES[kind] ?? 520}px`;
  root.dataset.theme = "light";
  document.body.append(stage);
  try {
    const origin = copy.getBoundingClientRect();
    const shapes = [];
    const walker = document.createTreeWalker(copy, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) shapes.push(...shapesOf(walker.currentNode, origin.x - MARGIN, origin.y - MARGIN));
    return { width: origin.width + 2 * MARGIN, height: origin.height + 2 * MARGIN, shapes };
  } finally {
    stage.remove();
    if (theme === undefined) delete root.dataset.theme;
    else root.dataset.theme = theme;
  }
}

function shapesOf(node, left, top) {
  if (node.nodeType === Node.TEXT_NODE) return node.parentNode.localName === "title" ? [] : wordsOf(node, left, top);
  if (!(node instanceof SVGGraphicsElement)) return [];
  const look = getComputedStyle(node);
  const number = (name) => node[name].baseVal.value;
  const matrix = (node.localName === "use" ? node.parentNode : node).getScreenCTM();
  const at = (x, y) => {
    const point = new DOMPoint(x, y).matrixTransform(matrix);
    return [point.x - left, point.y - top];
  };
  const stroke = { stroke: look.stroke, width: parseFloat(look.strokeWidth), dash: look.strokeDasharray };
  const fill = { fill: look.fill, opacity: Number(look.fillOpacity) };
  if (node.localName === "line")
    return [{ kind: "line", from: at(number("x1"), number("y1")), to: at(number("x2"), number("y2")), ...stroke }];
  if (node.localName === "rect")
    return [{ kind: "rect", at: at(number("x"), number("y")), size: [number("width"), number("height")], ...fill }];
  if (node.localName === "circle")
    return [{ kind: "circle", at: at(number("cx"), number("cy")), radius: number("r"), ...fill }];
  if (node.localName !== "use") return [];
  const corner = at(number("x"), number("y"));
  const size = number("width");
  const center = corner.map((end) => end + size / 2);
  return [{ kind: "mark", at: center, scale: size / 16, parts: partsOf(node, look.color) }];
}

// What a mark of the forest plot is made of, in its own coordinates.
function partsOf(use, color) {
  const ink = (value) => (value === "currentColor" ? color : value === "var(--paper)" ? "#ffffff" : (value ?? "none"));
  return [...byId(use.getAttribute("href").slice(1)).children].map((part) => {
    const radius = part.getAttribute("r");
    const half = (sign) => `a${radius} ${radius} 0 1 0 ${sign * 2 * radius} 0`;
    return {
      path: radius ? `M${-radius} 0${half(1)}${half(-1)}` : part.getAttribute("d"),
      fill: part.hasAttribute("fill") ? ink(part.getAttribute("fill")) : "none",
      stroke: ink(part.getAttribute("stroke")),
      width: Number(part.getAttribute("stroke-width") ?? 1),
    };
  });
}

// The words of a text, those of one line together.
function wordsOf(node, left, top) {
  const look = getComputedStyle(node.parentElement);
  const lines = [];
  let end = 0;
  for (const match of node.data.matchAll(/[^\s\-–]*[\-–]|[^\s\-–]+/g)) {
    const range = document.createRange();
    range.setStart(node, match.index);
    range.setEnd(node, match.index + match[0].length);
    const box = range.getBoundingClientRect();
    const gap = match.index > end ? " " : "";
    end = match.index + match[0].length;
    if (!box.width) continue;
    const middle = box.y + box.height / 2 - top;
    const line = lines.at(-1);
    if (line && Math.abs(line.at[1] - middle) < 2) {
      line.text += gap + match[0];
      line.length = box.right - left - line.at[0];
    } else {
      const fill = node.parentElement instanceof SVGElement ? look.fill : look.color;
      const type = { fill, size: parseFloat(look.fontSize), weight: look.fontWeight, length: box.width };
      lines.push({ kind: "text", text: match[0], at: [box.x - left, middle], ...type });
    }
  }
  return lines;
}

// --- to a file ------------------------------------------------------------------------------------------------------

const FONT = "system-ui, sans-serif";

function element(name, attributes, ...children) {
  const made = document.createElementNS(document.querySelector("svg").namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const rounded = (value) => Math.round(value * 100) / 100;

const TO_SVG = {
  line: ({ from, to, stroke, width, dash }) => {
    const ends = { x1: rounded(from[0]), y1: rounded(from[1]), x2: rounded(to[0]), y2: rounded(to[1]) };
    return element("line", { ...ends, stroke, "stroke-width": width, "stroke-dasharray": dash === "none" ? null : dash });
  },
  rect: ({ at, size, fill, opacity }) => {
    const place = { x: rounded(at[0]), y: rounded(at[1]), width: rounded(size[0]), height: rounded(size[1]) };
    return element("rect", { ...place, fill, "fill-opacity": opacity });
  },
  circle: ({ at, radius, fill, opacity }) =>
    element("circle", { cx: rounded(at[0]), cy: rounded(at[1]), r: radius, fill, "fill-opacity": opacity }),
  mark: ({ at, scale, parts }) => {
    const draw = ({ path, fill, stroke, width }) => element("path", { d: path, fill, stroke, "stroke-width": width });
    const transform = `translate(${rounded(at[0])} ${rounded(at[1])}) scale(${scale})`;
    return element("g", { transform }, ...parts.map(draw));
  },
  text: ({ text, at, fill, size, weight, length }) => {
    const place = { x: rounded(at[0]), y: rounded(at[1]), textLength: rounded(length), lengthAdjust: "spacingAndGlyphs" };
    const type = { fill, "font-size": size, "font-weight": weight, "dominant-baseline": "central" };
    return element("text", { ...place, ...type }, text);
  },
};

const TO_CANVAS = {
  line: (paper, { from, to, stroke, width, dash }) => {
    paper.setLineDash(dash === "none" ? [] : dash.split(/[ ,]+/).map(parseFloat));
    paper.strokeStyle = stroke;
    paper.lineWidth = width;
    paper.stroke(new Path2D(`M${from}L${to}`));
    paper.setLineDash([]);
  },
  rect: (paper, { at, size, fill, opacity }) => {
    paper.globalAlpha = opacity;
    paper.fillStyle = fill;
    paper.fillRect(...at, ...size);
    paper.globalAlpha = 1;
  },
  circle: (paper, { at, radius, fill, opacity }) => {
    paper.globalAlpha = opacity;
    paper.fillStyle = fill;
    paper.beginPath();
    paper.arc(...at, radius, 0, 2 * Math.PI);
    paper.fill();
    paper.globalAlpha = 1;
  },
  mark: (paper, { at, scale, parts }) => {
    paper.save();
    paper.translate(...at);
    paper.scale(scale, scale);
    for (const part of parts) {
      const path = new Path2D(part.path);
      paper.fillStyle = part.fill;
      if (part.fill !== "none") paper.fill(path);
      paper.strokeStyle = part.stroke;
      paper.lineWidth = part.width;
      if (part.stroke !== "none") paper.stroke(path);
    }
    paper.restore();
  },
  text: (paper, { text, at, fill, size, weight }) => {
    paper.fillStyle = fill;
    paper.font = `${weight} ${size}px ${FONT}`;
    paper.textBaseline = "middle";
    paper.fillText(text, ...at);
  },
};

const PICTURE_FILES = {
  svg: async (figure) => {
    const { width, height, shapes } = pictureOf(figure);
    const paper = element("rect", { width: "100%", height: "100%", fill: "#ffffff" });
    const drawn = shapes.map((shape) => TO_SVG[shape.kind](shape));
    const whole = { width: rounded(width), height: rounded(height), "font-family": FONT };
    const text = new XMLSerializer().serializeToString(element("svg", whole, paper, ...drawn));
    return new Blob([text], { type: "image/svg+xml" });
  },
  png: async (figure) => {
    const { width, height, shapes } = pictureOf(figure);
    const canvas = make("canvas", { width: Math.ceil(SHARPNESS * width), height: Math.ceil(SHARPNESS * height) });
    const paper = canvas.getContext("2d");
    paper.scale(SHARPNESS, SHARPNESS);
    paper.fillStyle = "#ffffff";
    paper.fillRect(0, 0, width, height);
    for (const shape of shapes) TO_CANVAS[shape.kind](paper, shape);
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  },
  csv: async (figure) => new Blob([(await data("pictures-data"))[figure.id]], { type: "text/csv" }),
};
