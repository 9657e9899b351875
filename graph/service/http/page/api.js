// The service as the page uses it. A key lives in this tab only; whoever signed in has a cookie that no script can read.

const KEPT = "cordon-key";

export const key = {
  get: () => sessionStorage.getItem(KEPT) || "",
  set: (value) => sessionStorage.setItem(KEPT, value),
  clear: () => sessionStorage.removeItem(KEPT),
};

export class Refused extends Error {
  constructor(status, message, code = "") {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export async function call(path, options = {}) {
  const known = key.get();
  let response;
  try {
    response = await fetch(path, {
      ...options,
      headers: { ...(known ? { Authorization: `Bearer ${known}` } : {}), ...(options.headers || {}) },
    });
  } catch {
    throw new Refused(0, "The service cannot be reached.");
  }
  if (!response.ok) throw new Refused(response.status, ...(await reason(response)));
  return response;
}

export const json = async (path, options) => {
  const response = await call(path, options);
  return response.status === 204 ? null : response.json();
};

async function reason(response) {
  try {
    const told = await response.json(); // a problem, or the reply of a turn that something needed was down for
    return told.error ? [told.error.message, told.error.code] : [told.answer];
  } catch {
    return [`The service answered ${response.status}.`];
  }
}

// Yields [event, data] of a stream of server-sent events as they arrive.
export async function* ask(body) {
  const response = await call("/v1/ask", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...body, stream: true, stages: true }),
  });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    buffer += value;
    let end;
    while ((end = buffer.indexOf("\n\n")) >= 0) {
      const lines = buffer.slice(0, end).split("\n");
      buffer = buffer.slice(end + 2);
      const field = (name) => lines.filter((l) => l.startsWith(name)).map((l) => l.slice(name.length)).join("\n");
      const event = field("event: ");
      if (event) yield [event, JSON.parse(field("data: "))];
    }
  }
}
