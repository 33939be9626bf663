"use strict";
const byId = (id) => document.getElementById(id);

// Bytes that the page carries: base64 of zlib's format.
async function unpackedBytes(id) {
  const bytes = Uint8Array.from(atob(byId(id).textContent), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function start() {
  const lists = JSON.parse(new TextDecoder().decode(await unpackedBytes("lists")));
  const vocabulary = new Vocabulary(lists, await unpackedBytes("numbers"));
  window.workbench = {
    vocabulary,
    evaluate: (typed, options) => evaluateLists(vocabulary, typed, options),
    leaveOneOut,
  };
  document.documentElement.dataset.ready = "yes";
}

document.addEventListener("DOMContentLoaded", start);
