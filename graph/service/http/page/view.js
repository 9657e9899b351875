// Elements out of data. Text from documents, models and people goes in as text: never as markup, link or image.

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
  AccessDenied: "Nothing that you may read bears on it.",
};

// What became of a question, in plain words: [kind, heading, explanation].
export function inWords(reply) {
  if (reply.decision === "unavailable") return ["bad", "Not available now", "Something Cordon needs is down. Nothing was answered."];
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

export function sentence(text, citations, open) {
  const marks = citations.map((c) => {
    const place = [c.filename, c.section, c.page && `page ${c.page}`, c.sheet && `sheet ${c.sheet}`].filter(Boolean).join(", ");
    return make("button", { type: "button", class: "cite", title: place, "aria-label": `Source ${c.n}: ${place}`, onclick: (e) => open(c, e.currentTarget) }, String(c.n));
  });
  const blocks = prose(text);
  let end = blocks.at(-1); // the marks stand behind the last words, be they in a list within a list
  while (["UL", "OL", "LI"].includes(end.lastElementChild?.tagName)) end = end.lastElementChild;
  end.append(...marks);
  return blocks.length === 1 ? blocks[0] : make("div", {}, ...blocks);
}

// Paragraphs, headings and lists of a text, as its line beginnings say; the words of each go in as text.
export function prose(text) {
  const blocks = [];
  let lists = []; // the open lists, the innermost last: [depth, element]
  let open = null; // the paragraph that goes on
  for (const line of text.split("\n")) {
    const [, space, mark, item] = line.match(/^( *)([-*•]|\d{1,3}[.)]) +(.*)$/) || [];
    const [, heading] = line.match(/^#{1,4} +(.*)$/) || [];
    if (mark) {
      while (lists.length && lists.at(-1)[0] > space.length) lists.pop();
      if (!lists.length || lists.at(-1)[0] < space.length) {
        const list = /\d/.test(mark) ? make("ol", { start: parseInt(mark) }) : make("ul");
        if (lists.length) lists.at(-1)[1].lastElementChild.append(list);
        else blocks.push(list);
        lists.push([space.length, list]);
      }
      lists.at(-1)[1].append(make("li", {}, item));
      open = null;
    } else if (lists.length && line.startsWith(" ") && line.trim()) {
      lists.at(-1)[1].lastElementChild.append(" ", line.trim()); // an item goes on
    } else {
      if (open && line.trim() && !heading) open.append("\n", line);
      else if (line.trim()) blocks.push(heading ? make("h3", {}, heading) : make("p", {}, line));
      open = line.trim() && !heading ? blocks.at(-1) : null;
      lists = [];
    }
  }
  return blocks.length ? blocks : [make("p", {}, "")];
}

// The text with the quote marked; of several places, the one nearest to where the citation says.
export function marked(text, quote, near) {
  const places = [];
  for (let at = text.indexOf(quote); quote && at >= 0; at = text.indexOf(quote, at + 1)) places.push(at);
  if (!places.length) return null;
  const at = places.reduce((a, b) => (Math.abs(b - near) < Math.abs(a - near) ? b : a));
  const mark = make("mark", { tabindex: "-1" }, text.slice(at, at + quote.length));
  return { before: text.slice(0, at), mark, after: text.slice(at + quote.length) };
}
