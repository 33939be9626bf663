"use strict";
// Whole pages inside this one, each behind a link of the header and in a frame of its own.

const SHEET = 703; // width of a sheet of A4 within its margins

// The page that the address names is unpacked when it is first opened. What stands behind ? in the address is its own.
async function showTab() {
  const names = all("a.tab").map((link) => link.hash.slice(1));
  const name = location.hash.slice(1).split("?")[0];
  const chosen = names.includes(name) ? name : "";
  document.documentElement.classList.toggle("in-tab", chosen !== "");
  for (const link of all("a.tab")) {
    if (link.hash === `#${chosen}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  for (const frame of all("iframe")) frame.hidden = frame.id !== `frame-${chosen}`;
  if (!chosen || byId(`frame-${chosen}`)) return;
  const title = all("a.tab")[names.indexOf(chosen)].textContent;
  const frame = byId("main").parentNode.insertBefore(make("iframe", { id: `frame-${chosen}`, title }), byId("main"));
  frame.srcdoc = await unpacked(`tab-${chosen}`);
}

// A frame as wide as a sheet and as high as its content, laid out by its rules for paper, so that nothing is cut off.
function fitPaper(frame, onPaper) {
  const rules = [...frame.contentDocument.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
  for (const rule of rules.filter(({ media }) => media?.mediaText === (onPaper ? "print" : "print, screen")))
    rule.media.mediaText = onPaper ? "print, screen" : "print";
  frame.style.width = onPaper ? `${SHEET}px` : "";
  frame.style.height = "";
  if (onPaper) frame.style.height = `${frame.contentDocument.body.scrollHeight + 16}px`;
}

document.addEventListener("DOMContentLoaded", () => {
  const open = () => all("iframe:not([hidden])");
  for (const link of all("a.tab")) link.hidden = false;
  addEventListener("hashchange", showTab);
  addEventListener("beforeprint", () => open().forEach((frame) => fitPaper(frame, true)));
  addEventListener("afterprint", () => open().forEach((frame) => fitPaper(frame, false)));
  showTab();
});
