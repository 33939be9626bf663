"use strict";
// The lists as a lexicon, as a command, as Python, and as a study to be preregistered.

const quoted = (text) => JSON.stringify(text).replaceAll("\u007f", "\\u007f");
const isShipped = (state) => Boolean(state.lexicon) && !state.changed;
const lexiconName = (state) => (isShipped(state) ? state.lexicon : `${fileName(state)}.toml`);
const fileName = (state) => (isShipped(state) ? state.lexicon : "my_test");

function wordsArray(words) {
  const lines = [""];
  for (const word of words.map(quoted)) {
    if (lines.at(-1) && lines.at(-1).length + word.length > 100) lines.push("");
    lines[lines.length - 1] += `${word}, `;
  }
  return `[\n${lines.map((line) => `  ${line.trimEnd()}\n`).join("")}]`;
}

// A lexicon that biasgauge reads. Words that nearness in these vectors suggested are recorded, so that an audit of the
// same vectors knows that they prove nothing.
function lexiconToml(vocabulary, state, lists, tries) {
  const roles = ROLES.map((role) => `[${role}]\nname = ${quoted(state.names[role] || role.toUpperCase())}\nwords = ${wordsArray(lists[role])}\n`);
  const count = tries === 1 ? "1 try" : `${tries} tries`;
  const caution = `Lists settled on after ${count} in the workbench of ${vocabulary.model}: in those vectors their result is exploratory.`;
  const { x, y, a, b } = Object.fromEntries(ROLES.map((role) => [role, state.names[role] || role.toUpperCase()]));
  const lines = [
    `name = ${quoted(fileName(state))}`,
    'kind = "test"',
    `title = ${quoted(`${x} and ${y}, ${a} and ${b}`)}`,
    `language = ${quoted(vocabulary.language)}`,
    `source = ${quoted(`biasgauge ${vocabulary.version}, workbench of ${vocabulary.model}, ${new Date().toISOString().slice(0, 10)}`)}`,
    ...(tries > 1 ? [`beware = [${quoted(caution)}]`] : []),
    "",
    ...roles,
  ];
  const words = ROLES.flatMap((role) => lists[role]);
  const suggested = [...new Set(words.filter((word) => state.suggested.includes(word)))];
  if (suggested.length) {
    const seeds = [...new Set(words.filter((word) => !state.suggested.includes(word) && vocabulary.row(word) >= 0))];
    const pairs = seeds.slice(0, 24).map((word, index) => [word, seeds[index + 1]]).filter(([, next]) => next); // prettier-ignore
    const cosine = ([one, two]) => dot(vocabulary.unit(vocabulary.row(one)), vocabulary.unit(vocabulary.row(two))).toFixed(5);
    lines.push(`[made]\nmethod = "neighbors"\nvectors = ${quoted(vocabulary.model)}\nseed_words = ${wordsArray(seeds)}`);
    if (pairs.length) lines.push(`cosines = [\n${pairs.map((pair) => `  [${pair.map(quoted).join(", ")}, ${cosine(pair)}],`).join("\n")}\n]`);
  }
  return `${lines.join("\n").trimEnd()}\n`;
}

const shellWord = (text) => (/^[\w,.\/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

// Vectors that ship, as Python loads them and as a command names them.
const SHIPPED = {
  glove: ["bg.vectors.load_default()", "DEFAULT_PATH"],
  replicates: ["bg.vectors.load_default_replicates()[0]", "replicate_path(0)"],
};

function commandText(vocabulary, state, lists) {
  const shipped = SHIPPED[vocabulary.shipped];
  const file = shipped ? `"$(python -c 'import biasgauge; print(biasgauge.vectors.${shipped[1]})')"` : shellWord(vocabulary.source);
  const sets = ROLES.map((role) => `  --${role} ${shellWord(lists[role].length === 1 ? `${lists[role][0]},` : lists[role].join(","))}`);
  const audit = `biasgauge audit ${file} --lexicon ${lexiconName(state)} --smallest ${vocabulary.rules.smallest}`;
  return `# the contrast, as it is and at equal word frequency\nbiasgauge weat ${file} \\\n${sets.join(" \\\n")}\n\n# the verdict, with the lists saved as a lexicon (TOML)\n${audit}\n`;
}

function pythonText(vocabulary, state, lists) {
  const load = SHIPPED[vocabulary.shipped]?.[0] ?? `bg.load(${quoted(vocabulary.source)})`;
  const sets = ROLES.map((role) => `    ${quoted(role)}: [${lists[role].map(quoted).join(", ")}],`);
  return `import biasgauge as bg

vectors = ${load}
lists = {
${sets.join("\n")}
}
test = bg.weat(vectors, **lists)
print(test.contrast.adjusted, test.p_equal_frequency)

# the verdict, with the lists saved as a lexicon (TOML)
rules = bg.audits.Rules(smallest=${vocabulary.rules.smallest})
audit = bg.audit(vectors, lexicons=["${lexiconName(state)}"], rules=rules)
print(audit.verdicts[0].sentence)
`;
}

function studyText(vocabulary, state, lists, tries) {
  const name = fileName(state);
  return `# 1. Save the lexicon (TOML) as ${name}.toml and this as ${name}_study.toml.
# 2. Name vectors below that nobody has looked at with these lists${tries ? ` (in ${vocabulary.model} ${tries === 1 ? "one was" : `${tries} were`} tried)` : ""}.
# 3. biasgauge study preregister ${name}_study.toml     freezes every choice and the words, with a checksum
# 4. Deposit ${name}_study.preregistration.json where it cannot be changed, then: biasgauge study run ${name}_study.toml

[study]
name = ${quoted(`${name.replaceAll("_", "-")}-study`)}
title = ${quoted(`${state.names.x || "X"} and ${state.names.y || "Y"}, ${state.names.a || "A"} and ${state.names.b || "B"}`)}
seed = 0

[vectors.new]
path = "VECTORS"

[analyses.verdict]
kind = "audit"
of = ["new"]
settings = { lexicons = [${quoted(lexiconName(state))}], rules = { smallest = ${vocabulary.rules.smallest} } }

[report]
`;
}

const FORMATS = {
  toml: { label: "lexicon (TOML)", ending: ".toml", text: lexiconToml, remark: "A test for biasgauge audit, weat, plan and study." },
  command: { label: "command", ending: ".sh", text: commandText, remark: "The same numbers from the whole file, up to rounding." },
  python: { label: "Python", ending: ".py", text: pythonText, remark: "The same numbers from the whole file, up to rounding." },
  study: { label: "preregistered lexicon (study, TOML)", ending: "_study.toml", text: studyText, remark: "Preregistered lexicon: freezes the lists with a checksum before other vectors are asked. A p value means what it says only for lists that were fixed before." },
  link: { label: "link", ending: ".txt", text: () => host.location.href, remark: "Opens the same file with these lists: send the file, and the part of the link from # on." },
}; // prettier-ignore
