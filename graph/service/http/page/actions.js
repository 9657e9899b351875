// What a person may do with an answer: keep it, share it, say whether it was right, ask again.

import { json } from "/page/api.js";
import { make } from "/page/view.js";

const post = (body) => ({ method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

// `on` has what the page does: keep(path, name), edit(question), again(question), told(error).
export function actions(reply, on) {
  const run = `/v1/runs/${encodeURIComponent(reply.run_id)}`;
  const note = make("span", { class: "quiet", role: "status" });
  const button = (text, title, onclick) => make("button", { type: "button", class: "save", title, onclick }, text);
  const done = (asked, words) => asked.then(() => (note.textContent = words)).catch(on.told);
  const rate = (rating, why) => done(json(`${run}/feedback`, post({ rating, why })), "On record. Thank you.");
  const wrong = () => {
    const why = prompt("What should it have said? It is kept with the question, for those who run Cordon.");
    if (why !== null) rate("wrong", why.trim().slice(0, 1000));
  };
  const link = async () => {
    await json(`${run}/link`, post({}));
    await navigator.clipboard?.writeText(address(reply.run_id)).catch(() => {});
    const back = () => done(json(`${run}/link`, { method: "DELETE" }), "Nobody else reads it any more.");
    note.replaceChildren("Colleagues who may read its documents can open ", make("a", { href: address(reply.run_id) }, "this link"), ". ", button("Take it back", "", back));
  };
  const answered = reply.decision === "answer";
  return make(
    "div",
    { class: "row actions" },
    answered ? button("Save as PDF", "", () => on.keep(`${run}/answer.pdf`, "answer.pdf")) : null,
    answered ? button("Link", "Share it with colleagues", () => link().catch(on.told)) : null,
    button("Edit the question", "", () => on.edit(reply.question)),
    button("Ask again", "", () => on.again(reply.question)),
    button("Right", "The answer was right", () => rate("right", "")),
    button("Wrong", "The answer was wrong", wrong),
    note,
  );
}

// An answer that a colleague shared, as the address names it; null where it names none. Signing in with a provider
// leaves this page and comes back without the name, so it is kept until it has been opened.
export async function shared() {
  named();
  const run = sessionStorage.getItem(NAMED);
  sessionStorage.removeItem(NAMED);
  if (!run) return null;
  return json(`/v1/runs/${encodeURIComponent(run)}/shared`).catch((error) => {
    if (error.status === 404) error.message = "That answer is not shared with you, or not any more.";
    throw error;
  });
}

function named() {
  const run = new URLSearchParams(location.hash.slice(1)).get("answer");
  if (run) sessionStorage.setItem(NAMED, run);
}

const NAMED = "cordon-answer";
named();

const address = (run) => `${location.origin}/#answer=${run}`;
