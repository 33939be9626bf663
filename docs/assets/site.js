// Menu on a phone, colors, copying of code, and search; everything else works without.
"use strict"

const root = document.documentElement
const find = (selector, within = document) => within.querySelector(selector)

const menu = find(".menu")
menu.addEventListener("click", () => {
  const open = root.classList.toggle("menu-open")
  menu.setAttribute("aria-expanded", String(open))
})
const current = find(".contents [aria-current]")
if (current && getComputedStyle(menu).display === "none") {
  const contents = find(".contents")
  contents.scrollTop = current.offsetTop - contents.clientHeight / 3
}

const THEMES = ["auto", "light", "dark"]
const themeButton = find(".theme")
const showTheme = theme => {
  root.dataset.theme = theme
  themeButton.textContent = { auto: "Auto", light: "Light", dark: "Dark" }[theme]
  themeButton.setAttribute("aria-label", `${themeButton.textContent}: colors of the page; press to change`)
}
showTheme(THEMES.includes(root.dataset.theme) ? root.dataset.theme : "auto")
themeButton.addEventListener("click", () => {
  const theme = THEMES[(THEMES.indexOf(root.dataset.theme) + 1) % THEMES.length]
  showTheme(theme)
  try { localStorage.setItem("biasgauge-theme", theme) } catch { /* it holds for this page alone */ }
})

if (navigator.clipboard) {
  for (const box of document.querySelectorAll("main .highlight")) {
    const button = document.createElement("button")
    button.type = "button"
    button.className = "copy"
    button.textContent = "Copy"
    button.addEventListener("click", async () => {
      const text = find("code", box).textContent
      const commands = text.split("\n").every(line => line === "" || line.startsWith("$ ") || line.startsWith(" "))
      await navigator.clipboard.writeText(commands ? text.replace(/^\$ /gm, "") : text)
      button.textContent = "Copied"
      setTimeout(() => { button.textContent = "Copy" }, 1500)
    })
    box.append(button)
  }
}

// Search: all words must occur, as beginnings of words; a hit in a title counts most. The index is a script, so that
// it can be read from a disk, and is fetched when somebody first asks.
const input = find(".search input")
const found = find("#found")
let index = null
const load = () => index ??= new Promise(resolve => {
  const script = document.createElement("script")
  script.src = `${window.siteBase}/search/search_index.js`
  script.addEventListener("load", () => resolve(window.searchIndex.docs))
  document.head.append(script)
})
const plain = text => text.toLowerCase().normalize("NFKD").replace(/\p{Diacritic}/gu, "")
const pattern = word => new RegExp(`(?<![\\p{L}\\p{N}])${word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`, "gu")

const search = (docs, words) => {
  const hits = []
  for (const doc of docs) {
    doc.title_plain ??= plain(doc.title)
    doc.text_plain ??= plain(doc.text)
    let score = 0
    for (const word of words) {
      const inTitle = doc.title_plain.match(word)?.length ?? 0
      const inText = doc.text_plain.match(word)?.length ?? 0
      if (!inTitle && !inText) { score = 0; break }
      score += 20 * inTitle + Math.min(inText, 8)
    }
    if (score) hits.push([score * (doc.location.includes("#") ? 1 : 1.3), doc])
  }
  return hits.sort((one, other) => other[0] - one[0]).slice(0, 12).map(hit => hit[1])
}

const show = (hits, asked) => {
  found.replaceChildren()
  found.hidden = !asked
  if (asked && !hits.length) found.append(Object.assign(document.createElement("p"), { textContent: "Nothing found." }))
  for (const doc of hits) {
    const link = document.createElement("a")
    link.href = `${window.siteBase}/${doc.location}`
    const title = Object.assign(document.createElement("b"), { textContent: doc.title })
    const first = doc.text_plain.search(asked[0])
    const start = Math.max(0, first - 50)
    const text = (start ? "… " : "") + doc.text.slice(start, start + 130).trim()
    link.append(title, Object.assign(document.createElement("span"), { textContent: text }))
    found.append(link)
  }
}

const ask = async () => {
  const words = plain(input.value).split(/\s+/).filter(word => word.length > 1).map(pattern)
  const typed = input.value
  const docs = words.length ? await load() : []
  if (input.value === typed) show(search(docs, words), words.length ? words : null)
}
input.addEventListener("input", ask)
input.addEventListener("focus", ask)
find(".search").addEventListener("submit", event => {
  event.preventDefault()
  const first = find("a", found)
  if (first) location.href = first.href
})
document.addEventListener("keydown", event => {
  if (event.key === "Escape") { found.hidden = true; input.blur() }
  if (event.key === "/" && !event.target.matches("input, textarea")) { event.preventDefault(); input.focus() }
})
document.addEventListener("click", event => { if (!event.target.closest(".search")) found.hidden = true })
root.dataset.ready = ""
