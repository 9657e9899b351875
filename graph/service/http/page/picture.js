// The page of a PDF or an office file as it looks, beside its text: fetched with the key.

import { call } from "/page/api.js";
import { $, make } from "/page/view.js";

let shown = null; // {path, page, pages, quote, name}, of the citation that is open

export function closePicture() {
  shown = null;
  $("picture").replaceChildren();
  $("source-page").hidden = $("source-note").hidden = true;
  $("source").classList.remove("pictured");
}

// In office files the service finds the page, as page 0, by the quote.
const PAGED = /\.pdf$/i;
const LAID_OUT = /\.(docx|docm|dotx|dotm|pptx|pptm|ppsx|potx|xlsx|xlsm|xltx|xltm|rtf|odt|ott|ods|ots|odp)$/i;

// Of a citation of this run: nothing where its file has no pages.
export async function openPicture(citation, run) {
  closePicture();
  const first = PAGED.test(citation.filename) ? citation.page : LAID_OUT.test(citation.filename) ? 0 : null;
  if (!run || first == null) return;
  const query = new URLSearchParams({ run, citation: citation.n });
  const path = (page) => `/v1/documents/${encodeURIComponent(citation.doc_id)}/pages/${page}.png?${query}`;
  await turnTo({ path, page: first, pages: 0, quote: citation.quote, name: citation.filename });
}

async function turnTo(wanted) {
  shown = wanted;
  if (!wanted.page) note("The page is being drawn."); // for some seconds, the first time
  try {
    const response = await call(wanted.path(wanted.page));
    const picture = await asAddress(await response.blob());
    if (shown !== wanted) return; // another one was opened meanwhile
    const told = new Map((response.headers.get("X-Cordon-Page") || "").split("; ").map((part) => part.split("=")));
    wanted.pages = Number(told.get("pages"));
    wanted.page = wanted.page || Number(told.get("page"));
    draw(picture, Number(told.get("mark")));
  } catch (error) {
    if (shown !== wanted) return;
    closePicture();
    if (error.code === "unsupported") return; // without LibreOffice on the server there are none: nothing is missing
    note(error.status === 404 ? "There is no picture of this page." : error.message);
  }
}

function note(text) {
  $("source-note").textContent = text;
  $("source-note").hidden = !text;
}

// What an img may show here: the policy of the page allows pictures of its own, and none of blobs.
const asAddress = (blob) =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });

function draw(picture, mark) {
  const { name, page, pages, quote } = shown;
  const marked = !Number.isNaN(mark);
  const alt = `Page ${page} of ${name}.${marked ? ` Marked: ${quote}` : ""}`;
  const box = $("picture");
  const down = () => (box.scrollTop = marked ? mark * box.scrollHeight - box.clientHeight / 3 : 0);
  const first = $("source-page").hidden;
  $("source").classList.add("pictured");
  $("source-page").hidden = false;
  if (first) $("source-text").querySelector("mark")?.scrollIntoView({ block: "center" }); // the text has other lines now
  note("");
  $("page-number").textContent = `Page ${page} of ${pages}${marked ? "" : ", without the quote"}`;
  $("page-before").disabled = page <= 1;
  $("page-after").disabled = page >= pages;
  box.replaceChildren(make("img", { src: picture, alt, onload: down }));
}

for (const [name, step] of [["page-before", -1], ["page-after", 1]])
  $(name).addEventListener("click", () => shown && turnTo({ ...shown, page: shown.page + step }));
$("enlarge").addEventListener("click", () => {
  const large = $("picture").classList.toggle("large");
  $("enlarge").setAttribute("aria-pressed", String(large));
});
