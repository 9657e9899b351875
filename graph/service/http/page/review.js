// What a reviewer sees: what waits, a draft with its evidence, and the decision. And how an asker waits and appeals.

import { json } from "/page/api.js";
import { answer, make, places } from "/page/view.js";

const POST = (body) => ({ method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
const WHY = { guarded: "answered under guardrails", assessment: "an assessment" };
const day = (at) => new Date(at).toLocaleString([], { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

// What waits, or null for those who do not review.
export async function waiting() {
  try {
    return (await json("/v1/reviews")).reviews;
  } catch (error) {
    if (error.status === 403) return null;
    throw error;
  }
}

export function row(one, open) {
  const what = one.kind === "appeal" ? "Appeal" : one.why === "assessment" ? "Assessment" : "Answer";
  const label = [make("b", {}, what), make("span", { class: "quiet" }, ` ${one.user_id}, ${day(one.since)}`), make("br"), one.question];
  return make("li", {}, make("button", { "data-run": one.run_id, onclick: () => open(one.run_id) }, ...label));
}

// One that waits, whole. `source` opens a citation; `done` is called with the reply once it is decided.
export async function opened(runId, source, done) {
  const found = await json(`/v1/reviews/${encodeURIComponent(runId)}`);
  const cited = Object.fromEntries((found.citations || []).map((c) => [c.n, c]));
  const threats = (found.verdict.threats || []).map((t) => `${t.type.replaceAll("_", " ")} ${t.score}`).join(", ");
  const facts = [
    ["Asked by", `${found.user_id}, ${day(found.since)}; waits until ${day(found.expires)}`],
    ["Waits because", found.kind === "appeal" ? "it was refused, and the asker appealed" : WHY[found.why]],
    ["Verdict", `${found.verdict.action.replaceAll("_", " ").toLowerCase()}, risk ${found.verdict.risk_score} of 100`],
    ["Rationale", found.verdict.risk_rationale],
    ["Found", threats],
    ["Asked as", found.rewrite],
    ["The asker says", found.kind === "appeal" ? found.why : ""],
    ["Run", found.run_id],
  ].filter(([, value]) => value);
  const parts = [
    make("p", { class: "asked" }, found.question),
    make("dl", { class: "facts" }, ...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])),
  ];
  if (found.kind === "appeal") parts.push(make("h3", {}, "The refusal"), make("p", { class: "said" }, found.refusal.text));
  else parts.push(make("h3", {}, "Draft"), make("div", { class: "said draft" }, ...answer(found.answer, cited, source)), evidence(found));
  return make("article", { class: "turn review" }, ...parts, decision(found, done));
}

function evidence(found) {
  const cited = new Set(found.citations.map((c) => c.chunk_id));
  const items = found.evidence.map((item) => {
    const place = [...places(item), item.section, item.visibility].filter(Boolean).join(", ");
    const head = make("p", {}, make("b", {}, item.title || item.filename), make("span", { class: "quiet" }, ` ${place}${cited.has(item.chunk_id) ? " · cited" : ""}`));
    return make("li", {}, head, make("p", { class: "passage" }, item.text));
  });
  const title = `Evidence: ${items.length} passage${items.length === 1 ? "" : "s"} as the model read ${items.length === 1 ? "it" : "them"}`;
  return make("details", { class: "evidence" }, make("summary", {}, title), make("ol", {}, ...items));
}

function decision(found, done) {
  const appeal = found.kind === "appeal";
  if (found.own) return make("p", { class: "quiet" }, "You asked this yourself: somebody else has to decide.");
  const error = make("p", { class: "error", role: "alert" });
  const text = make("textarea", { rows: "8", "aria-label": "The answer in other words" });
  text.value = (found.sentences || []).map((s) => s.text).join("\n");
  const reason = make("textarea", { rows: "2", maxlength: "1000", "aria-label": "Reason", placeholder: "Why? The asker reads it." });
  const buttons = [];
  const say = async (body) => {
    error.textContent = "";
    for (const button of buttons) button.disabled = true;
    try {
      done(await json(`/v1/reviews/${encodeURIComponent(found.run_id)}`, POST(body)));
    } catch (problem) {
      error.textContent = problem.message;
    } finally {
      for (const button of buttons) button.disabled = button.dataset.never === "true";
    }
  };
  const button = (label, act, kind = "", never = false) => {
    const made = make("button", { type: "button", class: kind, onclick: act, disabled: never, "data-never": String(never) }, label);
    buttons.push(made);
    return made;
  };
  const form = (hint, field, label, body) =>
    make("div", { class: "other", hidden: true }, make("p", { class: "quiet" }, hint), field, button(label, () => say(body()), "primary"));
  const what = found.why === "assessment" ? "what the documents say, one statement a line; the rest of the brief stays" : "the whole answer";
  const edit = form(`Write ${what}. Every sentence must be supported by the evidence; sources are found anew.`, text, "Release this text", () => ({ decision: "edit", text: text.value }));
  const refuse = form(appeal ? "The refusal stands." : "The answer is not given.", reason, appeal ? "Uphold the refusal" : "Refuse", () => ({ decision: "refuse", reason: reason.value }));
  const only = (one) => () => {
    for (const part of [edit, refuse]) part.hidden = part !== one || !part.hidden;
    if (!one.hidden) one.querySelector("textarea").focus();
  };
  const never = appeal && !found.grantable;
  const acts = [
    button(appeal ? "Grant: answer it under guardrails" : "Approve", () => say({ decision: "approve" }), "primary", never),
    appeal ? null : button("Edit…", only(edit)),
    button(appeal ? "Uphold…" : "Refuse…", only(refuse)),
  ];
  const note = never ? make("p", { class: "quiet" }, "It cannot be granted: it asks for what the asker may not read.") : null;
  return make("section", { class: "decision", "aria-label": "Decision" }, note, make("div", { class: "row" }, ...acts), edit, refuse, error);
}

// Under a reply that waits: it is looked at again until it is decided, for as long as it is on the page.
export function wait(reply, show) {
  const line = make("p", { class: "quiet" });
  const look = async () => {
    try {
      const found = await json(`/v1/runs/${encodeURIComponent(reply.run_id)}`);
      if (found.decision !== "pending_review") return show(found);
      line.textContent = `Not decided yet (looked at ${new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}).`;
    } catch (error) {
      line.textContent = error.message;
    }
  };
  const timer = setInterval(() => (box.isConnected ? look() : clearInterval(timer)), 15000);
  const box = make("div", { class: "row waits" }, make("button", { type: "button", onclick: look }, "Look again"), line);
  return box;
}

// Under a refusal: have a person look at it.
export function appeal(reply, show) {
  const note = make("textarea", { rows: "2", maxlength: "1000", "aria-label": "Why it should be answered", placeholder: "Why should it be answered?" });
  const error = make("p", { class: "error", role: "alert" });
  const send = async () => {
    try {
      show(await json("/v1/appeals", POST({ run_id: reply.run_id, note: note.value })));
    } catch (problem) {
      error.textContent = problem.message;
    }
  };
  return make(
    "details",
    { class: "appeal" },
    make("summary", {}, "Wrongly refused? Appeal"),
    make("p", { class: "quiet" }, "A reviewer of your organisation sees the question, with personal data masked, and why it was refused."),
    note,
    make("div", { class: "row" }, make("button", { type: "button", onclick: send }, "Send the appeal"), error),
  );
}
