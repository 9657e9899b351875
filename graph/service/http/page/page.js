// The page: sign in, ask, see the answer arrive sentence by sentence, open a sentence's source, keep documents.

import { actions, shared } from "/page/actions.js";
import { ask, call, json, key, Refused } from "/page/api.js";
import { closePicture, openPicture } from "/page/picture.js";
import { appeal, opened, row, wait, waiting } from "/page/review.js";
import { resume, upload } from "/page/uploads.js";
import { $, answer, leftOut, make, marked, places, verdict, withheld } from "/page/view.js";

const state = { thread: null, opener: null, documents: [] };

// -- signing in -------------------------------------------------------------------------------------------------

async function enter() {
  try {
    const me = await json("/v1/me");
    $("person").textContent = me.name || me.user_id;
  } catch (error) {
    return signIn(error.status === 401 ? lost(error, "That key is not valid, or was revoked.") : error.message);
  }
  refreshThreads().catch(() => {});
  $("sign-in").hidden = true;
  $("app").hidden = false;
  begin();
  refreshDocuments();
  refreshReviews();
  resume(refreshDocuments, told);
  $("question").focus();
  await openShared();
}

async function openShared() {
  const answer = await shared().catch(told);
  if (!answer) return;
  begin();
  show(answer, turn(answer.question));
}
addEventListener("hashchange", () => $("app").hidden || openShared());

function signIn(why = "") {
  $("app").hidden = true;
  $("sign-in").hidden = false;
  $("sign-in-error").textContent = why;
  $("key").value = "";
  ($("provider").hidden ? $("key") : $("provider-link")).focus();
}

// Why a credential opens nothing any more; nothing to say of somebody who has not signed in yet.
function lost(error, why = "The key is not valid any more.") {
  if (!key.get()) return error.code === "session_ended" ? error.message : "";
  key.clear();
  return why;
}

$("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  key.set($("key").value.trim());
  enter();
});
$("sign-out").addEventListener("click", async () => {
  let to = "/";
  try {
    const asked = { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" };
    if (!key.get()) ({ to } = await json("/sign-out", asked));
  } catch (error) {
    return told(error); // still signed in, unless the session was over
  }
  key.clear();
  closeSource();
  state.documents = [];
  $("turns").replaceChildren();
  if (to !== "/") return location.assign(to);
  signIn();
});

// -- asking -----------------------------------------------------------------------------------------------------

function begin() {
  state.thread = null;
  $("turns").replaceChildren(
    make(
      "div",
      { class: "empty" },
      make("strong", {}, "What would you like to know?"),
      "Answers come from your documents and the public ones, with the place of every sentence.",
      make("div", { id: "examples" }),
    ),
  );
  examples();
  current();
}

// Questions to begin with, of the documents that this key may see: own ones and those with a title first.
function examples() {
  const later = (d) => (d.visibility === "public" ? 1 : 0) + (/ /.test(d.title) && !d.title.includes("_") ? 0 : 2);
  const some = state.documents.filter((d) => d.title && d.title.length <= 80).sort((a, b) => later(a) - later(b));
  const [one, other] = new Set(some.map((d) => d.title));
  const questions = [
    "Which documents do you have?",
    one && `What is “${one}” about?`,
    one && `What are the main points of “${one}”?`,
    other && `What is “${other}” about?`,
  ];
  const buttons = questions.filter(Boolean).map((text) => make("button", { type: "button", onclick: () => submit(text) }, text));
  $("turns").querySelector("#examples")?.replaceChildren(...(state.documents.length ? buttons : ["Upload a document to begin."]));
}

function turn(question) {
  $("turns").querySelector(".empty")?.remove();
  const said = make("div", { class: "said", "aria-live": "polite" });
  const node = make("article", { class: "turn" }, make("p", { class: "asked" }, question), said);
  $("turns").append(node);
  node.scrollIntoView({ block: "end" });
  return said;
}

function show(reply, said) {
  const cited = Object.fromEntries((reply.citations || []).map((c) => [c.n, c]));
  const places = [...(reply.citations || []), ...state.documents];
  const names = Object.fromEntries(places.map((d) => [d.doc_id, d.title || d.filename]));
  const lines = [...understood(reply), ...answer(reply.answer, cited, (c, opener) => openSource(c, opener, reply.run_id)), leftOut(reply, names), verdict(reply)];
  const again = (found) => show(found, said);
  if (reply.decision === "pending_review") lines.push(wait(reply, again));
  lines.push(reply.asked_by ? make("p", { class: "quiet" }, `Asked by ${reply.asked_by}`) : actions(reply, { keep, edit, again: submit, told }));
  if (reply.appeal) lines.push(appeal(reply, again));
  said.replaceChildren(...lines.filter(Boolean));
}

function edit(question) {
  $("question").value = question;
  $("question").focus();
}

async function keep(path, name) {
  try {
    const file = await (await call(path)).blob();
    const address = URL.createObjectURL(file);
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  } catch (error) {
    told(error);
  }
}

function understood({ understood: found }) {
  return found ? [make("p", { class: "quiet" }, `${found.follow_up ? "Understood as" : "Searched for"}: ${found.text}`)] : [];
}

// A question asked before the last one is answered is shown, and waits for it: a conversation has one turn at a time.
let before = Promise.resolve();

function submit(question) {
  if (!question) return;
  const last = before;
  before = send(question, last).then(() => $("question").focus());
}

const STAGES = {
  searching: "Searching the documents",
  reading: "Reading what was found",
  writing: "Writing the answer",
  checking: "Checking each sentence against its source",
};

async function send(question, last) {
  state.thread ??= `page-${crypto.randomUUID()}`;
  const body = { question, thread_id: state.thread, memory: $("memory").value, style: $("style").value, mode: $("mode").value };
  const said = turn(question);
  said.setAttribute("aria-busy", "true"); // read out once it is whole
  const wait = make("p", { class: "quiet working" }, "Reading the question");
  const come = make("div");
  said.append(come, wait);
  let text = "";
  let before = ""; // the sentence before, as graph/policy/answer/prose.py puts them together
  const cited = {};
  await last;
  try {
    for await (const [event, data] of ask(body)) {
      if (event === "sentence") {
        for (const c of data.citations) cited[c.n] = c;
        const apart = `${before}${data.text}`.includes("\n") || !/[.!?…:;。！？؟۔।]["'”’»)\]]*(?: \([^()]*\))?\s*$/.test(before);
        text += `${apart ? "\n\n" : " "}${data.text}${data.text.endsWith("```") ? "\n" : " "}${data.citations.map((c) => `[${c.n}]`).join("")}`;
        before = data.text;
        come.replaceChildren(...answer(text, cited, openSource));
      } else if (event === "stage") wait.textContent = STAGES[data.stage];
      else if (event === "reply") show(data, said);
      else if (event === "error") throw new Refused(503, data.error.message);
    }
    if (wait.isConnected) throw new Refused(0, "The connection was lost. The answer so far is verified, but it is not whole.");
  } catch (error) {
    wait.replaceWith(make("p", { class: "error", role: "alert" }, error.message));
    if (error.status === 401) return signIn(lost(error));
  } finally {
    said.removeAttribute("aria-busy");
  }
  said.lastElementChild?.scrollIntoView({ block: "nearest" });
  refreshThreads().catch(() => {});
}

$("ask-form").addEventListener("submit", (event) => {
  event.preventDefault();
  submit($("question").value.trim());
  $("question").value = "";
});
$("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    $("ask-form").requestSubmit();
  }
});

// -- conversations ----------------------------------------------------------------------------------------------

async function refreshThreads() {
  const words = $("find").value.trim();
  const { threads } = await json(words ? `/v1/threads?q=${encodeURIComponent(words)}` : "/v1/threads");
  if (words !== $("find").value.trim()) return; // another search has begun
  const rows = threads.map((t) =>
    make(
      "li",
      {},
      make("button", { "data-thread": t.thread_id, title: t.title, onclick: () => openThread(t.thread_id) }, t.title || t.thread_id),
      make("button", { class: "icon more", title: "Rename", "aria-label": `Rename the conversation: ${t.title}`, onclick: () => rename(t) }, "✎"),
      make("button", { class: "icon more", title: "Save with its sources", "aria-label": `Save the conversation: ${t.title}`, onclick: () => keep(`/v1/threads/${encodeURIComponent(t.thread_id)}/export`, "conversation.md") }, "⤓"),
      make("button", { class: "icon", title: "Forget", "aria-label": `Forget the conversation: ${t.title}`, onclick: () => forget(t) }, "✕"),
    ),
  );
  $("threads").replaceChildren(...(rows.length ? rows : [make("li", { class: "quiet" }, words ? "Nothing found." : "None yet.")]));
  current();
}

function current() {
  for (const button of document.querySelectorAll("[data-thread]")) {
    if (button.dataset.thread === state.thread) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
}

async function openThread(id) {
  const { turns } = await json(`/v1/threads/${encodeURIComponent(id)}`).catch(() => ({ turns: [] }));
  begin();
  state.thread = id;
  for (const reply of turns) show(reply, turn(reply.question));
  current();
  closeMenu();
}

async function rename(thread) {
  const title = prompt("Title of the conversation; empty for its first question", thread.title);
  if (title === null) return;
  const body = JSON.stringify({ title: title.trim().slice(0, 80) });
  const options = { method: "PATCH", headers: { "Content-Type": "application/json" }, body };
  await json(`/v1/threads/${encodeURIComponent(thread.thread_id)}`, options).catch(told);
  await refreshThreads().catch(told);
}

$("find").addEventListener("input", () => refreshThreads().catch(told));

async function forget(thread) {
  if (!confirm(`Forget this conversation?\n\n${thread.title}`)) return;
  await json(`/v1/threads/${encodeURIComponent(thread.thread_id)}`, { method: "DELETE" }).catch(told);
  if (state.thread === thread.thread_id) begin();
  await refreshThreads().catch(told);
}

$("new").addEventListener("click", () => {
  begin();
  closeMenu();
  $("question").focus();
});

// -- reviews ----------------------------------------------------------------------------------------------------

async function refreshReviews() {
  const rows = await waiting().catch(() => null);
  $("reviewing").hidden = rows === null;
  const none = make("li", { class: "quiet" }, "Nothing.");
  $("reviews").replaceChildren(...(rows?.length ? rows.map((one) => row(one, openReview)) : [none]));
}

async function openReview(runId) {
  begin();
  closeMenu();
  try {
    const decided = (reply) => {
      $("turns").replaceChildren();
      show(reply, turn(reply.question));
      refreshReviews();
    };
    $("turns").replaceChildren(await opened(runId, openSource, decided));
    for (const button of document.querySelectorAll("[data-run]")) {
      if (button.dataset.run === runId) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  } catch (error) {
    told(error);
    refreshReviews();
  }
}

// -- documents --------------------------------------------------------------------------------------------------

async function refreshDocuments() {
  try {
    const { documents } = await json("/v1/documents");
    state.documents = documents;
    examples();
    const rows = documents.map((d) =>
      make(
        "li",
        {},
        make("button", { title: d.filename, onclick: (e) => openDocument(d, e.currentTarget) }, d.title || d.filename),
        ...(d.groups.length ? [make("span", { class: "quiet" }, d.groups.join(", "))] : []),
        d.visibility === "public"
          ? make("span", { class: "quiet" }, "public")
          : make("button", { class: "icon", "aria-label": `Remove ${d.title}`, onclick: () => remove(d) }, "✕"),
      ),
    );
    $("documents").replaceChildren(...(rows.length ? rows : [make("li", { class: "quiet" }, "None yet.")]));
  } catch (error) {
    told(error);
  }
}

async function remove(document_) {
  if (!confirm(`Remove this document for everybody in your organisation?\n\n${document_.title}`)) return;
  const which = `?groups=${encodeURIComponent(document_.groups.join(","))}`;
  await json(`/v1/documents/${encodeURIComponent(document_.doc_id)}${which}`, { method: "DELETE" }).catch(told);
  refreshDocuments();
}

$("files").addEventListener("change", (event) => {
  upload([...event.target.files], refreshDocuments, told);
  event.target.value = "";
});
for (const name of ["dragover", "dragleave", "drop"])
  $("drop").addEventListener(name, (event) => {
    event.preventDefault();
    $("drop").classList.toggle("over", name === "dragover");
    if (name === "drop") upload([...event.dataTransfer.files], refreshDocuments, told);
  });

// -- sources ----------------------------------------------------------------------------------------------------

// Of a run that is whole: while it streams, nothing of it is on record that a picture could be asked for.
async function openSource(citation, opener, run) {
  const place = [citation.section, ...places(citation), citation.visibility];
  await present(citation.doc_id, citation.filename, place.filter(Boolean).join(" · "), opener, citation, run);
}

async function openDocument(d, opener) {
  await present(d.doc_id, d.title || d.filename, [d.filename, d.visibility].join(" · "), opener);
  if (d.visibility === "private" && state.opener === opener) showWithheld(d.doc_id, opener);
}

// What no answer shows of a document, for those who may release it: others get 403 and see nothing.
async function showWithheld(docId, opener, said) {
  const posted = said && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(said) };
  try {
    const found = await json(`/v1/documents/${encodeURIComponent(docId)}/withheld`, posted);
    if (state.opener !== opener) return;
    $("withheld").replaceChildren(withheld(found.withheld, (said) => showWithheld(docId, opener, said)));
    if (said) $("withheld").querySelector("summary")?.focus();
  } catch (error) {
    if (said) told(error);
  }
}

async function present(docId, title, place, opener, citation, run) {
  document.querySelectorAll(".cite[aria-current]").forEach((c) => c.removeAttribute("aria-current"));
  if (citation) opener.setAttribute("aria-current", "true");
  state.opener = opener;
  $("source").hidden = false;
  $("source-title").textContent = title;
  $("source-place").textContent = place;
  $("source-text").replaceChildren("Opening…");
  $("withheld").replaceChildren();
  closePicture();
  if (citation) openPicture(citation, run);
  try {
    const { text } = await json(`/v1/documents/${encodeURIComponent(docId)}`);
    const found = citation && marked(text, citation.quote, citation.start);
    if (found) {
      $("source-text").replaceChildren(found.before, found.mark, found.after);
      found.mark.scrollIntoView({ block: "center" });
    } else $("source-text").replaceChildren(citation?.gone ? `The document was ${citation.gone} since this was answered.` : citation ? `The quote is not in the document as it stands now:\n\n${citation.quote}` : text);
  } catch (error) {
    $("source-text").replaceChildren(error.status === 404 ? "The document is not there any more." : error.message);
  }
  $("source-title").focus();
}

function closeSource() {
  $("source").hidden = true;
  closePicture();
  document.querySelectorAll(".cite[aria-current]").forEach((c) => c.removeAttribute("aria-current"));
  state.opener?.focus();
  state.opener = null;
}
$("close").addEventListener("click", closeSource);

// -- the rest ---------------------------------------------------------------------------------------------------

function told(error) {
  if (error.status === 401) return signIn(lost(error));
  $("status").textContent = error.code === "forbidden" ? "Your role may not do that." : error.message;
  setTimeout(() => ($("status").textContent = ""), 6000);
}

function closeMenu() {
  $("side").classList.remove("open");
  $("menu").setAttribute("aria-expanded", "false");
}
$("menu").addEventListener("click", () => $("menu").setAttribute("aria-expanded", String($("side").classList.toggle("open"))));
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  if (!$("source").hidden) closeSource();
  else closeMenu();
});

function theme(name) {
  document.documentElement.dataset.theme = name;
  $("theme").textContent = name === "dark" ? "Light" : "Dark"; // what pressing it gives
}
theme(localStorage.getItem("cordon-theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
$("theme").addEventListener("click", () => {
  const name = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("cordon-theme", name);
  theme(name);
});

async function start() {
  const ways = await fetch("/sign-in/ways").then((response) => response.json()).catch(() => ({}));
  $("provider").hidden = !ways.provider;
  $("key-button").textContent = ways.provider ? "Use this key" : "Sign in";
  $("key-button").classList.toggle("primary", !ways.provider);
  if (key.get() || ways.provider) enter();
  else signIn();
}
start();
