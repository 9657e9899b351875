// Uploads while they are read: each file with what became of it, also after the page was opened anew.

import { json } from "/page/api.js";
import { $, make } from "/page/view.js";

const OVER = ["done", "cancelled", "failed"];
const BAD = ["quarantined", "failed"];

function outcome({ name, status, reason, notes, chunks }) {
  const passages = chunks ? `, ${chunks} passage${chunks > 1 ? "s" : ""}` : "";
  return `${name}: ${status}${passages}${reason ? ` (${reason})` : ""}${notes?.length ? `; not read: ${notes.join("; ")}` : ""}`;
}

// Only lines that changed are touched: they are read out.
function list(files, rows) {
  files.forEach((file, at) => {
    const row = rows.children[at] ?? rows.appendChild(make("li"));
    const text = outcome(file);
    if (row.textContent === text) return;
    row.textContent = text;
    row.className = BAD.includes(file.status) ? "error" : file.status === "reading" ? "working" : "";
  });
}

async function follow(job, line, whenRead, told) {
  const bar = make("progress", { max: job.total, "aria-label": "Files read" });
  const what = make("span");
  const rows = make("ul");
  const stop = make("button", { onclick: () => json(`/v1/jobs/${job.job_id}`, { method: "DELETE" }).catch(told) }, "Stop");
  const scrolled = make("div", { class: "files", tabindex: 0, role: "region", "aria-label": "Files of this upload" }, rows);
  line.replaceChildren(bar, what, " ", stop, scrolled);
  for (;;) {
    bar.value = job.done;
    what.textContent = ` ${job.done} of ${job.total} read`;
    list(job.files, rows);
    if (OVER.includes(job.state)) break;
    await new Promise((resolve) => setTimeout(resolve, 400));
    job = await json(`/v1/jobs/${job.job_id}`);
  }
  const bad = job.files.flatMap((file, at) => (BAD.includes(file.status) ? [rows.children[at]] : []));
  rows.prepend(...bad); // what was not read is seen first
  what.textContent = ` ${job.done - bad.length} of ${job.total} read`;
  bar.remove();
  stop.replaceWith(make("button", { onclick: () => line.remove() }, "Dismiss"));
  whenRead();
}

export async function upload(files, whenRead, told) {
  if (!files.length) return;
  const form = new FormData();
  for (const file of files) form.append("files", file);
  const line = make("li", {}, `Sending ${files.length} file${files.length > 1 ? "s" : ""}…`);
  $("jobs").prepend(line);
  try {
    await follow(await json("/v1/documents", { method: "POST", body: form }), line, whenRead, told);
  } catch (error) {
    const why = error.status === 403 ? "You may not upload: that needs the role uploader." : error.message;
    line.replaceChildren(make("span", { class: "error" }, why));
  }
}

// Those under way that an earlier page began. Who may not upload has none.
export async function resume(whenRead, told) {
  $("jobs").replaceChildren();
  const { jobs } = await json("/v1/jobs").catch(() => ({ jobs: [] }));
  for (const job of jobs.filter((one) => !OVER.includes(one.state))) {
    const line = make("li");
    $("jobs").append(line);
    follow(job, line, whenRead, told).catch(told);
  }
}
