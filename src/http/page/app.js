"use strict";
// Polls /status once a second and shows it. Whatever comes from there is text, never markup.

const el = (id) => document.getElementById(id);
const put = (id, text) => { const at = el(id); if (at.textContent !== text) at.textContent = text; };
const make = (name, text, kind) => {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
};

const unknown = "–";
const known = (value) => value !== null && value !== undefined;
const whole = (value) => known(value) ? Math.round(value).toLocaleString("en") : unknown;
function bytes(value) {
  if (!known(value)) return unknown;
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) { value /= 1000; unit++; }
  return value.toFixed(unit === 0 || value >= 100 ? 0 : 1) + " " + units[unit];
}
function time(seconds) {
  if (!known(seconds)) return unknown;
  if (seconds === 0) return "0 s";
  if (seconds < 0.001) return Math.round(seconds * 1e6) + " µs";
  if (seconds < 1) return (seconds * 1e3).toFixed(seconds < 0.01 ? 2 : 0) + " ms";
  if (seconds < 60) return seconds.toFixed(1) + " s";
  if (seconds < 3600) return Math.floor(seconds / 60) + " min " + Math.floor(seconds % 60) + " s";
  if (seconds < 86400) return Math.floor(seconds / 3600) + " h " + Math.floor(seconds % 3600 / 60) + " min";
  return Math.floor(seconds / 86400) + " d " + Math.floor(seconds % 86400 / 3600) + " h";
}
const rate = (value) => known(value) ? (value < 10 ? value.toFixed(1) : whole(value)) : unknown;
const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString("en-GB");

function list(id, pairs) {
  const at = el(id);
  const nodes = [];
  for (const [name, value] of pairs) nodes.push(make("dt", name), make("dd", value));
  at.replaceChildren(...nodes);
}

const states = {
  starting: ["warn", "The relay is starting."],
  standby: ["good", "Another relay holds the slot. This one takes over when the slot is free."],
  snapshot: ["good", "Rows from before the slot are being published."],
  catching_up: ["warn", "Streaming, and behind."],
  streaming: ["good", "Streaming."],
  waiting_postgres: ["bad", "Waiting for PostgreSQL. The slot keeps the rows; the relay tries again by itself."],
  waiting_broker: ["bad", "Waiting for NATS. The slot keeps the rows; the relay tries again by itself."],
  draining: ["warn", "The relay is stopping and waits for acks."],
  halted: ["bad", "Halted: an operator must decide."],
};

// Rows that no message could be made of until now; unknown where they were not counted.
function openLetters(of) {
  const letters = of.dead_letters.facts;
  return letters ? letters.row + letters.broker : null;
}

function verdict(of) {
  if (of.state === "streaming" && of.lag_seconds === 0) {
    const aside = openLetters(of);
    if (aside > 0) {
      return whole(aside) + (aside === 1 ? " row is" : " rows are") +
        " set aside; every other row that the slot has sent is in the stream.";
    }
    return known(aside) ? "Every row that the slot has sent is in the stream."
      : "Every row that the slot has sent is in the stream or set aside.";
  }
  const words = (states[of.state] || ["warn", of.state])[1];
  return of.lag_seconds > 0 && of.state !== "standby"
    ? words + " The oldest row that is not in the stream was committed " + time(of.lag_seconds) + " ago." : words;
}

function note(text, command) {
  const item = make("li");
  item.append(make("p", text));
  if (command) {
    const line = make("p");
    line.append(make("code", command), " ");
    const copy = make("button", "copy");
    copy.type = "button";
    copy.addEventListener("click", () => {
      const done = navigator.clipboard ? navigator.clipboard.writeText(command) : Promise.reject();
      done.then(() => { copy.textContent = "copied"; }, () => { copy.textContent = "not copied: select it"; });
    });
    line.append(copy);
    item.append(line);
  }
  return item;
}

// The one that a button offers: it looks, and changes nothing.
function safeCommand(of) {
  const found = of.fix.match(/walrelay (?:verify|check|find|(?:dead-letter|bookmark|replay) (?:list|show))/);
  return found ? found[0] : "walrelay check";
}

let attentionShown = "";
function attention(of) {
  const found = [];
  if (of.reason) found.push([of.reason + (of.fix ? ". Fix: " + of.fix : ""),
    safeCommand(of)]);
  for (const each of of.findings.facts || []) {
    if (each.severity !== "note") found.push([each.what + ". Fix: " + each.fix, "walrelay check"]);
  }
  // What the alerts fire for; a sentence begins with a capital here.
  for (const each of of.attention) found.push([each.what[0].toUpperCase() + each.what.slice(1) + ".", each.command]);
  const now = JSON.stringify(found);
  if (now === attentionShown) return;
  attentionShown = now;
  el("attention").hidden = found.length === 0;
  el("attention-list").replaceChildren(...found.map(([text, command]) => note(text, command)));
}

let logShown = "";
function log(of) {
  const now = JSON.stringify(of.log);
  if (now === logShown) return;
  logShown = now;
  el("log").replaceChildren(...of.log.slice().reverse().map((line) =>
    make("li", clock(line.time) + " " + line.level + "  " + line.text,
      line.level === "error" ? "bad" : line.level === "warning" ? "warn" : "")));
}

// A row is a heading cell with the name and one cell for each number; a narrow page shows the title of
// the column with each.
const titlesOf = (list) => [...el(list).closest("table").querySelectorAll("thead th")].map((each) => each.textContent);
function row(titles, name, values) {
  const made = make("tr");
  const head = make("th", name);
  head.scope = "row";
  made.append(head, ...values.map((value, index) => {
    const cell = make("td", value);
    cell.dataset.name = titles[index + 1];
    return cell;
  }));
  return made;
}

let lastRows = null;
function tables(of) {
  const passed = lastRows ? of.now - lastRows.now : 0;
  const titles = titlesOf("tables");
  el("tables").replaceChildren(...of.tables.map((table, index) => row(titles, table.name, [
    passed > 0 ? rate(Math.max(0, table.rows - lastRows.rows[index]) / passed) : unknown,
    whole(table.rows), whole(table.written_back), whole(table.dead_letters), whole(table.deleted),
    !known(table.cleanup_lag_seconds) ? unknown : table.cleanup_lag_seconds < 60 ? "on time" : time(table.cleanup_lag_seconds) + " late",
  ])));
  if (!lastRows || passed > 0) lastRows = { now: of.now, rows: of.tables.map((table) => table.rows) };
}

function letters(of) {
  const newest = of.dead_letters.facts ? of.dead_letters.facts.newest : [];
  el("letters").hidden = newest.length === 0;
  const titles = titlesOf("letters-list");
  el("letters-list").replaceChildren(...newest.map((one) => row(titles, whole(one.id), [
    time(Math.max(0, of.now - one.dead_at)) + " ago", one.table, one.message_id || unknown, one.reason,
    "walrelay dead-letter show " + one.id])));
  const all = openLetters(of);
  put("letters-sum", (newest.length < all ? "The newest of " + whole(all) + ". " : "") +
    "All: walrelay dead-letter list --open. Send them again, once the cause is gone: walrelay dead-letter retry --all.");
}

let replaysShown = "";
function replays(all) {
  const now = JSON.stringify(all);
  if (now === replaysShown) return;
  replaysShown = now;
  el("replays").replaceChildren(...all.map((one) => {
    const item = make("li", "Replay " + one.number + ": " + whole(one.rows_written) + " of " + whole(one.rows_planned) + " rows written.");
    for (const [why, verb] of [["look", "show"], ["go on", "resume"], ["end it", "cancel"]]) {
      item.append(" To " + why + ": ", make("code", "walrelay replay " + verb + " " + one.number));
    }
    return item;
  }));
}

function kept(of) {
  const facts = of.kept_positions && of.kept_positions.facts;
  el("kept").hidden = !facts || facts.positions.length + facts.replays.length === 0;
  if (!facts) return;
  replays(facts.replays);
  put("kept-sum", "They hold " + bytes(facts.held_bytes) + " of WAL together" +
    (known(of.kept_positions.max_wal_bytes) ? "; at most " + bytes(of.kept_positions.max_wal_bytes) + "." : "."));
  const titles = titlesOf("kept-list");
  el("kept-list").replaceChildren(...facts.positions.map((one) => row(titles, one.kind === "trail" ? "the trail" : one.name, [
    one.state, known(one.covers_from) ? time(Math.max(0, of.now - one.covers_from)) + " ago" : unknown, bytes(one.held_bytes),
    known(one.expires_at) ? "in " + time(Math.max(0, one.expires_at - of.now)) : unknown,
  ])));
}

// A halted relay holds neither server, and asks both.
function connection(id, up, halted) {
  put(id, halted ? (up ? "answers; let go, as the relay has halted" : "no answer; the relay has halted")
    : up ? "connected" : "not connected");
  el(id).className = up ? "good" : "bad";
}

function show(of) {
  const [kind] = states[of.state] || ["warn"];
  document.title = of.state.replace("_", " ") + " – walrelay " + of.slot.name;
  put("route", "slot " + of.slot.name + " → stream " + of.stream.name);
  put("state", of.state.replace("_", " "));
  el("state").className = "state " + kind;
  const holder = of.holder.facts;
  put("role", of.leader ? "holds the slot" : holder ? "held by " + (holder.application || "process " + holder.process) +
    (holder.address ? " at " + holder.address : known(holder.connected_for_seconds) ? " on the server's machine" : "") +
    " for " + time(holder.connected_for_seconds) + ", heard " + time(holder.heard_ago_seconds) + " ago" : "");
  put("up", "up " + time(of.now - of.started) + ", version " + of.version);
  put("verdict", verdict(of));
  const standby = of.state === "standby";
  const halted = of.state === "halted";
  connection("postgres-state", of.postgres_connected, halted);
  if (standby) { put("postgres-state", "standing by"); el("postgres-state").className = "good"; }
  connection("broker-state", of.broker_connected, halted);
  const slot = of.slot.facts || {};
  list("postgres", [["database", of.slot.database || unknown], ["plugin", of.slot.plugin || unknown],
    ["slot lag", bytes(slot.lag_bytes)], ["WAL held", bytes(slot.retained_bytes)],
    ["status", slot.wal_status || unknown], ["asked", known(of.slot.age_seconds) ? time(of.slot.age_seconds) + " ago" : unknown]]);
  put("relay-state", of.window.reading_paused ? "not reading" : of.state.replace("_", " ") + " for " + time(of.now - of.since));
  const minute = of.last_minute;
  list("relay", [["rows", rate(minute.rows_per_second) + "/s"], ["p50 / p99", time(minute.p50_seconds) + " / " + time(minute.p99_seconds)],
    ["slowest", minute.slowest ? time(minute.slowest.seconds) : unknown], ["lag", standby ? unknown : time(of.lag_seconds)],
    ["write-backs", whole(of.write_back_pending_rows)],
    ["window", whole(of.window.messages) + " of " + whole(of.window.limit_messages)]]);
  el("window").value = of.window.limit_messages ? of.window.messages / of.window.limit_messages : 0;
  const stream = of.stream.facts || {};
  list("broker", [["messages", whole(stream.messages)], ["size", bytes(stream.bytes)], ["last sequence", whole(stream.last_sequence)],
    ["stored here", whole(of.totals.messages_stored)],
    ["last ack", known(of.last_stored) ? time(Math.max(0, of.now - of.last_stored)) + " ago" : unknown],
    ["asked", known(of.stream.age_seconds) ? time(of.stream.age_seconds) + " ago" : unknown]]);
  tables(of);
  letters(of);
  kept(of);
  attention(of);
  log(of);
}

// Samples of /status/history, by the names of its columns; what is not known is null.
const span = 900;
const width = 900;
let samples = [];
const drawing = (name) => document.createElementNS("http://www.w3.org/2000/svg", name);
const graphs = [
  ["Rows and messages a second", ["rows_per_second", "messages_per_second"], rate, ["rows", "messages"]],
  ["Lag", ["lag_seconds"], time, []],
  ["Latency, p50 and p99", ["p50_seconds", "p99_seconds"], time, ["p50", "p99"]],
  ["Window in use", ["window_share"], (value) => known(value) ? Math.round(value * 100) + " %" : unknown, []],
  ["WAL not confirmed", ["slot_lag_bytes"], bytes, []], ["WAL held", ["retained_bytes"], bytes, []],
].map(([name, columns, text, legend], number) => {
  const figure = make("figure");
  const caption = make("figcaption");
  const now = make("span");
  caption.append(make("span", name), now);
  const svg = drawing("svg");
  svg.id = "graph-" + number;
  svg.setAttribute("viewBox", "0 0 " + width + " 100");
  svg.setAttribute("preserveAspectRatio", "none");
  // Left and right go from sample to sample, as a slider does.
  svg.setAttribute("role", "slider");
  svg.setAttribute("tabindex", "0");
  const paths = columns.map((column, index) => {
    const path = drawing("path");
    if (index > 0) path.setAttribute("class", "second");
    svg.append(path);
    return path;
  });
  const cursor = drawing("path");
  cursor.setAttribute("class", "cursor");
  svg.append(cursor);
  const grid = drawing("path");
  grid.setAttribute("class", "grid");
  grid.setAttribute("d", "M0 4H900M0 51H900M0 98H900");
  svg.prepend(grid);
  const values = [make("span"), make("span"), make("span")];
  const from = make("span"), read = make("span", undefined, "read");
  const above = make("p", undefined, "axis"), below = make("p", undefined, "axis");
  const plot = make("div", undefined, "plot"), scale = make("div", undefined, "scale");
  scale.append(...values);
  plot.append(scale, svg);
  legend.forEach((each, index) => above.append(make("span", each, index ? "key second" : "key")));
  below.append(from, read, make("span", "now"));
  figure.append(caption, above, plot, below);
  const graph = { name, columns, text, now, svg, paths, cursor, values, from, read, figure, at: null };
  // Which sample is read; null reads the last one.
  const move = (to) => { graph.at = to; mark(graph); };
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    move(nearest(latest() - shown() * (1 - (event.clientX - box.left) / box.width)));
  });
  svg.addEventListener("pointerleave", () => move(null));
  svg.addEventListener("blur", () => move(null));
  svg.addEventListener("keydown", (event) => {
    const index = graph.at === null ? samples.length - 1 : samples.findIndex((each) => each.time >= graph.at);
    const to = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: samples.length - 1 }[event.key];
    if (event.key === "Escape") move(null);
    if (to === undefined || samples.length === 0) return;
    event.preventDefault();
    move(samples[Math.min(Math.max(to, 0), samples.length - 1)].time);
  });
  return graph;
});

const latest = () => samples.length ? samples[samples.length - 1].time : 0;
// As long as there are samples of, so that a young relay's are not squeezed into a corner.
const minute = 60;
const shown = () => Math.min(span, Math.max(1, Math.ceil((samples.length ? latest() - samples[0].time : 0) / minute)) * minute);
const across = (at) => width * (1 - (latest() - at) / shown());
function nearest(at) {
  let best = null;
  for (const each of samples) if (best === null || Math.abs(each.time - at) < Math.abs(best - at)) best = each.time;
  return best;
}

function mark(graph) {
  const one = graph.at === null ? null : samples.find((each) => each.time >= graph.at);
  const values = one ? clock(one.time) + ": " + graph.columns.map((column) => graph.text(one[column])).join(" / ") : "";
  graph.read.textContent = values;
  graph.cursor.setAttribute("d", one ? "M" + across(one.time).toFixed(1) + " 0V100" : "");
  graph.svg.setAttribute("aria-valuemin", "0");
  graph.svg.setAttribute("aria-valuemax", String(Math.max(0, samples.length - 1)));
  graph.svg.setAttribute("aria-valuenow", String(one ? samples.indexOf(one) : Math.max(0, samples.length - 1)));
  graph.svg.setAttribute("aria-valuetext", values || "the last sample: " + graph.now.textContent);
}

function draw() {
  const over = shown() > minute ? "the last " + shown() / minute + " minutes" : "the last minute";
  put("lines-title", "The" + over.slice(3));
  for (const graph of graphs) {
    const of = (column) => samples.map((each) => each[column]).filter(known);
    const most = Math.max(0, ...graph.columns.flatMap(of));
    graph.columns.forEach((column, index) => {
      let drawn = "";
      let pen = false;
      for (const each of samples) {
        if (!known(each[column])) { pen = false; continue; }
        const y = (98 - (most > 0 ? each[column] / most : 0) * 94).toFixed(1);
        drawn += (pen ? "L" : "M") + across(each.time).toFixed(1) + " " + y + (pen ? "" : "h0.1");
        pen = true;
      }
      graph.paths[index].setAttribute("d", drawn);
    });
    const last = graph.columns.map((column) => {
      const all = of(column);
      return all.length ? graph.text(all[all.length - 1]) : unknown;
    }).join(" / ");
    graph.now.textContent = last;
    [most, most / 2, 0].forEach((value, index) => {
      graph.values[index].textContent = value > 0 || index === 2 ? graph.text(value) : "";
    });
    graph.from.textContent = clock(latest() - shown());
    graph.svg.setAttribute("aria-label", graph.name + " over " + over + ": last " + last + ", most " + graph.text(most));
    mark(graph);
  }
}

function extend(of) {
  // What the relay samples itself is fetched again after a gap; in between, one point a second.
  const before = samples.length ? samples[samples.length - 1] : null;
  if (before && of.now - before.time < 0.9) return;
  const earlier = lastTotals;
  lastTotals = { now: of.now, rows: of.tables.reduce((sum, table) => sum + table.rows, 0), messages: of.totals.messages_stored };
  const passed = earlier ? of.now - earlier.now : 0;
  if (passed <= 0) return;
  const slot = of.slot.facts || {};
  samples.push({
    time: of.now,
    rows_per_second: Math.max(0, lastTotals.rows - earlier.rows) / passed,
    messages_per_second: Math.max(0, lastTotals.messages - earlier.messages) / passed,
    lag_seconds: of.lag_seconds, p50_seconds: of.last_second.p50_seconds, p99_seconds: of.last_second.p99_seconds,
    window_share: of.window.limit_messages ? of.window.messages / of.window.limit_messages : 0,
    slot_lag_bytes: slot.lag_bytes, retained_bytes: slot.retained_bytes,
  });
  samples = samples.filter((each) => of.now - each.time <= span);
}

let lastTotals = null;
let answered = 0;
let wait = 1000;
let paused = false;
let timer = 0;
let polling = false;

async function fetched(path) {
  const answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(5000) });
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.json();
}

async function poll() {
  clearTimeout(timer);
  if (polling || paused || document.hidden) return;
  polling = true;
  try {
    const away = Date.now() - answered;
    if (away > 5000) {
      const history = await fetched("status/history");
      samples = history.samples.map((values) => Object.fromEntries(history.columns.map((name, index) => [name, values[index]])));
      lastTotals = null;
    }
    const of = await fetched("status");
    answered = Date.now();
    wait = 1000;
    document.body.classList.remove("stale");
    put("updated", "updated " + clock(of.now));
    show(of);
    extend(of);
    draw();
  } catch (failure) {
    wait = Math.min(wait * 2, 10000);
    document.body.classList.add("stale");
    put("state", "no answer");
    el("state").className = "state bad";
    put("verdict", "The relay does not answer. What is shown below is old.");
    put("updated", answered ? "no answer for " + time((Date.now() - answered) / 1000) : "no answer yet");
  }
  polling = false;
  timer = setTimeout(poll, wait);
}

el("lines").append(...graphs.map((graph) => graph.figure));
el("pause").addEventListener("click", () => {
  paused = !paused;
  el("pause").textContent = paused ? "go on" : "pause";
  poll();
});
document.addEventListener("visibilitychange", poll);
poll();
