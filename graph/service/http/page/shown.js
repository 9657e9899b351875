// An answer as the blocks that people see, read as graph/policy/answer/layout.py reads it: a test holds the two together.

const DEEPEST = 9; // lists within lists; what is deeper is read as words
const NUMBERS = /[ \n]?((?:\[\d{1,3}\])+)(?=\s|$)/;
const FENCE = /^(`{3,})[\w+-]*\s*$/;
const HEADING = /^(#{1,9}) +(?=\S)/;
const ITEM = /^( *)([-*•–]|\(?\d{1,3}[.)]|\(?(?:[a-z]|[ivxl]{1,5})[.)]) +(?=\S)/;
const CELL = /^((?:[^:;\n]|:(?! )){1,150}): (.*)$/;
const NEXT_CELL = /; (?=(?:[^:;\n]|:(?! )){1,150}: )/;

const words = (text, gap = "") => ({ kind: "words", text, numbers: [], gap });
const listing = (...items) => ({ kind: "listing", items });
const indent = (line) => line.length - line.trimStart().length;

export function blocks(answer) {
  const found = [];
  const parts = answer.split(NUMBERS);
  for (let at = 0; at < parts.length; at += 2) {
    const [text, numbers] = [parts[at], parts[at + 1] || ""];
    const gap = text.match(/^\s*/)[0];
    for (const block of read(text.trim().split("\n"), gap === " " || gap === "\n" ? gap : "")) add(found, block);
    if (numbers && found.length) behind(found.at(-1), numbers.match(/\d+/g).map(Number));
  }
  return grouped(found);
}

// Of an item of a numbered list, else null.
export function number(mark) {
  const digits = mark.replace(/[().]/g, "");
  return /^\d+$/.test(digits) ? Number(digits) : null;
}

function read(lines, gap, depth = 0) {
  const found = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at++];
    const [fence, heading, item] = [FENCE, HEADING, ITEM].map((form) => line.match(form));
    if (!line.trim()) gap = "";
    else if (fence) {
      const begin = at;
      while (at < lines.length && !(lines[at].trim().startsWith(fence[1]) && /^[ `]*$/.test(lines[at]))) at++;
      const text = lines.slice(begin, at++).join("\n");
      if (text.trim()) found.push({ kind: "code", text, numbers: [] });
      gap = "";
    } else if (heading) {
      found.push({ kind: "heading", level: heading[1].length, text: line.slice(heading[0].length).trim(), numbers: [] });
      gap = "";
    } else if (item && depth < DEEPEST) {
      const begin = at;
      while (at < lines.length && within(lines, at, item[1].length)) at++;
      const inner = [line.slice(item[0].length), ...dedented(lines.slice(begin, at))];
      const mark = "-*•–".includes(item[2]) ? "" : item[2];
      add(found, listing({ kind: "item", mark, blocks: read(inner, "", depth + 1) }));
      gap = "";
    } else {
      found.push(words(line.trim(), gap));
      gap = "\n";
    }
  }
  return found;
}

// Whether a line is part of the item above it, whose mark stands at `column`.
function within(lines, at, column) {
  while (at < lines.length && !lines[at].trim()) at++;
  return at < lines.length && indent(lines[at]) > column;
}

function dedented(lines) {
  const room = Math.min(...lines.filter((line) => line.trim()).map(indent));
  return lines.map((line) => (line.trim() ? line.slice(room) : ""));
}

function add(found, block) {
  const last = found.at(-1);
  if (block.kind === "listing" && last?.kind === "listing" && goesOn(last.items.at(-1), block.items[0])) last.items.push(...block.items);
  else found.push(block);
}

function goesOn(last, item) {
  const [before, after] = [number(last.mark), number(item.mark)];
  if (before === null || after === null) return before === after && !last.mark === !item.mark;
  return after === before + 1;
}

function behind(block, numbers) {
  if (block.kind === "listing") {
    if (block.items.at(-1).blocks.length) behind(block.items.at(-1).blocks.at(-1), numbers);
  } else if (block.numbers) block.numbers.push(...numbers);
}

// Rows made a table, and lines a paragraph.
function grouped(found, top = true) {
  const made = [];
  let open = false; // whether the paragraph goes on
  for (let at = 0; at < found.length; at++) {
    const block = found[at];
    if (block.kind !== "words") {
      if (block.kind === "listing") for (const item of block.items) item.blocks = grouped(item.blocks, false);
      made.push(block);
      open = false;
      continue;
    }
    const [columns, rows] = table(found.slice(at));
    if (rows.length > 1) {
      made.push({ kind: "table", columns, rows: rows.map((row) => filled(columns, row)) });
      at += rows.length - 1;
      open = false;
    } else if (top && columns.length > 2 && !/[.!?]$/.test(block.text)) {
      made.push(pairs(block));
      open = false;
    } else if (open && block.gap) made.at(-1).words.push(block);
    else {
      made.push({ kind: "paragraph", words: [{ ...block, gap: "" }] });
      open = true;
    }
  }
  return made;
}

// Name → value of a row, "Cone: 6; Hold: 15 minutes"; nothing when it is none.
function cells(line) {
  const found = line.split(NEXT_CELL).map((part) => part.match(CELL));
  const row = new Map(found.filter(Boolean).map((cell) => [cell[1].trim(), cell[2].trim()]));
  return row.size === found.length && row.size > 1 ? row : new Map();
}

// The rows of one table with which this begins, and its columns. Empty cells are left out of rows.
function table(found) {
  let columns = [];
  const rows = [];
  for (const block of found) {
    const names = block.kind === "words" ? [...cells(block.text).keys()] : [];
    const [wide, narrow] = names.length > columns.length ? [names, columns] : [columns, names];
    let at = 0;
    for (const name of wide) if (name === narrow[at]) at++;
    if (!names.length || at < narrow.length) break;
    columns = wide;
    rows.push(block);
  }
  return [columns, rows];
}

function filled(columns, row) {
  const values = cells(row.text);
  const made = columns.map((name) => words(values.get(name) || ""));
  made.at(-1).numbers = row.numbers;
  return made;
}

// A row that stands alone, which would be a wide table of one.
function pairs(row) {
  const lines = [...cells(row.text)].map(([name, value]) => words(`${name}: ${value}`));
  lines.at(-1).numbers = row.numbers;
  return listing(...lines.map((line) => ({ kind: "item", mark: "", blocks: [{ kind: "paragraph", words: [line] }] })));
}
