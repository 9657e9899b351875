// Elements out of data. Text from documents, models and people goes in as text: never as markup, link or image.

import { blocks, number } from "/page/shown.js";

export const $ = (id) => document.getElementById(id);

// Where a citation's quote stands: page, sheet and row, those it has.
export function places(c) {
  const page = c.page_end && c.page_end !== c.page ? `pages ${c.page}-${c.page_end}` : c.page && `page ${c.page}`;
  return [page, c.sheet && `sheet ${c.sheet}`, c.row && `row ${c.row}`].filter(Boolean);
}

export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

const CONFIDENCE = {
  high: "The sentences stand close to their sources.",
  medium: "The sources support it, but not every word of it closely. Check them.",
  low: "Weakly supported. Read the sources before relying on it.",
};
const REFUSED = {
  InjectionDetected: "It tries to give the system new instructions. Ask only for what you want to know.",
  LeakageRisk: "It asks for personal data, secrets or another tenant’s documents, which nobody gets here.",
  NotApproved: "A person read the answer and decided not to give it.",
  AccessDenied: "Nothing that you may read bears on it.",
};

// What became of a question, in plain words: [kind, heading, explanation].
export function inWords(reply) {
  if (reply.decision === "unavailable") return ["bad", "Not available now", "Something Cordon needs is down. Nothing was answered."];
  if (reply.decision === "pending_review") return ["warn", "Waits for a reviewer", "A person reads it before anything is given. What becomes of it appears here."];
  if (reply.decision === "refusal") {
    const code = reply.refusal && reply.refusal.code;
    return ["bad", "Refused", REFUSED[code] || reply.reasoning || ""];
  }
  if (reply.decision === "no_answer") return ["warn", "No answer", reply.reasoning || "The documents do not contain it."];
  const guarded = reply.verdict.action === "ALLOW_WITH_GUARDRAILS";
  const how = guarded ? "Answered with care: " + (reply.verdict.safe_response || "the question was narrowed to what the rules allow.") : "";
  return [guarded ? "warn" : "good", `Confidence ${reply.confidence}`, [how, CONFIDENCE[reply.confidence]].filter(Boolean).join(" ")];
}

export function verdict(reply) {
  const [kind, heading, words] = inWords(reply);
  const box = make("div", { class: `verdict ${kind}` }, make("b", {}, heading), " ", words);
  const rows = [
    ["Risk", `${reply.verdict.risk_score} of 100`],
    ["Why", reply.verdict.risk_rationale],
    ...(reply.verdict.threats || []).map((t) => [t.type.replaceAll("_", " "), `${t.severity.toLowerCase()}${t.evidence ? `: “${t.evidence}”` : ""}`]),
    ["What to do", (reply.verdict.recommended_controls || []).join("; ")],
    ["How it came", reply.reasoning],
    ["Notes", (reply.safety_flags || []).map((f) => f.replaceAll("_", " ")).join(", ")],
    ["Run", reply.run_id],
  ].filter(([, value]) => value);
  const list = make("dl", {}, ...rows.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
  const shown = (event) => event.target.open && event.target.scrollIntoView({ block: "nearest" });
  box.append(make("details", { ontoggle: shown }, make("summary", {}, "Why"), list));
  return box;
}

// An answer's blocks as nodes. `cited` are the citations by number; `open` is called with one and its button.
export function answer(text, cited, open) {
  return blocks(text).map((block) => drawn(block, cited, open));
}

function drawn(block, cited, open) {
  const line = (words) => spans(words, cited, open);
  const inner = (block) => drawn(block, cited, open);
  if (block.kind === "heading") return make("h3", {}, block.text, ...marks(block.numbers, cited, open));
  if (block.kind === "paragraph") return make("p", {}, ...block.words.flatMap(line));
  if (block.kind === "code") {
    const code = make("pre", { tabindex: "0" }, make("code", {}, block.text));
    return block.numbers.length ? make("div", { class: "coded" }, code, ...marks(block.numbers, cited, open)) : code;
  }
  if (block.kind === "table") {
    const head = make("tr", {}, ...block.columns.map((name) => make("th", { scope: "col" }, name)));
    const rows = block.rows.map((row) => make("tr", {}, ...row.map((cell) => make("td", {}, ...line(cell)))));
    return make("div", { class: "wide", tabindex: "0" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
  }
  const first = number(block.items[0].mark);
  const items = block.items.map((item) => {
    const own = first === null && item.mark ? `${item.mark} ` : null; // "(b)" stands as written
    const [opening, ...rest] = item.blocks;
    if (opening?.kind !== "paragraph") return make("li", {}, own, ...item.blocks.map(inner));
    return make("li", {}, own, ...opening.words.flatMap(line), ...rest.map(inner));
  });
  return first === null ? make("ul", { class: block.items[0].mark && "own" }, ...items) : make("ol", { start: first }, ...items);
}

const MASKED = "Personal data or a secret: it is masked for everybody.";

function spans({ text, numbers, gap }, cited, open) {
  const parts = (gap + text).split("[REDACTED]");
  const shown = parts.flatMap((part, at) => (at ? [make("span", { class: "masked", title: MASKED }, "[REDACTED]"), part] : [part]));
  return [...shown, ...marks(numbers, cited, open)];
}

function marks(numbers, cited, open) {
  return numbers.map((n) => {
    const c = cited[n];
    if (!c) return `[${n}]`;
    const place = [c.filename, c.section, ...places(c)].filter(Boolean).join(", ");
    return make("button", { type: "button", class: "cite", title: place, "aria-label": `Source ${n}: ${place}`, onclick: (e) => open(c, e.currentTarget) }, String(n));
  });
}

// What was kept from the answer, passage by passage, and why; `names` are those of the documents by id.
export function leftOut(reply, names) {
  const lines = [];
  const say = (where, why) => lines.push(make("li", {}, make("b", {}, where), `: ${why}`));
  const passages = (reply.retrieval && reply.retrieval.candidates) || [];
  for (const c of passages) {
    if (c.withheld) say(names[c.doc_id] || c.doc_id, `${count(c.withheld, "sentence")} withheld, for trying to give instructions instead of information.`);
    if (c.masked) say(names[c.doc_id] || c.doc_id, `${count(c.masked, "place")} masked, as personal data or a secret.`);
  }
  const flags = reply.safety_flags || [];
  if (flags.includes("unsupported_removed")) say("The model’s draft", "what the documents do not support was left out.");
  if (!lines.length) return null;
  const sum = (name) => passages.reduce((total, c) => total + (c[name] || 0), 0);
  const parts = [
    sum("withheld") && `${count(sum("withheld"), "sentence")} withheld`,
    sum("masked") && `${count(sum("masked"), "place")} masked`,
    flags.includes("unsupported_removed") && "part of the draft dropped",
  ];
  const title = `Left out of what was read: ${parts.filter(Boolean).join(", ")}`;
  return make("details", { class: "left-out" }, make("summary", {}, title), make("ul", {}, ...lines));
}

// The sentences that are withheld of a document; `say` is called with what to tell the service of one.
export function withheld(rows, say) {
  if (!rows.length) return "";
  const items = rows.map((row) => {
    const place = [...places(row), row.section].filter(Boolean).join(", ");
    const said = row.says ? `${row.says}${row.by && ` by ${row.by}`}, ${row.at.slice(0, 10)}` : "withheld";
    const button = (what, done, text) =>
      make("button", { type: "button", disabled: row.says === done, onclick: () => say({ [what]: [row.sha256] }) }, text);
    return make(
      "li",
      {},
      make("q", {}, row.text),
      make("p", { class: "quiet" }, [`score ${row.score.toFixed(2)}`, row.why, place, said].filter(Boolean).join(" · ")),
      make("div", { class: "row" }, button("release", "released", "Honest: show it"), button("confirm", "confirmed", "Rightly withheld")),
    );
  });
  const shut = rows.filter((row) => row.says !== "released").length;
  return make("details", { open: true }, make("summary", {}, `${count(shut, "sentence")} withheld from answers`), make("ul", {}, ...items));
}

const count = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

// The text with the quote marked; of several places, the one nearest to where the citation says.
export function marked(text, quote, near) {
  const places = [];
  for (let at = text.indexOf(quote); quote && at >= 0; at = text.indexOf(quote, at + 1)) places.push(at);
  if (!places.length) return null;
  const at = places.reduce((a, b) => (Math.abs(b - near) < Math.abs(a - near) ? b : a));
  const mark = make("mark", { tabindex: "-1" }, text.slice(at, at + quote.length));
  return { before: text.slice(0, at), mark, after: text.slice(at + quote.length) };
}
