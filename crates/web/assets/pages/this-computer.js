import { h, json, address, table, right, moment } from "/assets/dom.js";
import { rate } from "/assets/units.js";
import { form, field, session } from "/assets/session.js";
import { falls } from "/assets/pages/run.js";
const TESTS = [["download", "reverse", "Download, hub to this computer"], ["upload", "forward", "Upload, this computer to hub"]];
const LENGTH_MS = 10000, AGAIN_MS = 250, LOOKS = 40;
const WHY_NOT = { busy: "Another test runs here: one at a time. Start again in half a minute.", off: "The settings of this hub forbid tests from browsers (browser_tests in hub.toml).", demonstration: "A demonstration is shown here in place of the hub's own pages: end it first." };
const state = (expect) => json(address("/api/v1/testing", expect ? { expect } : {}));
// Conducts one direction in a worker; what it says goes to `each`. Whoever cancels is heard until the end.
function tested(name, expect, cancel, each) {
  const worker = new Worker("/assets/ndt7.js", { type: "module" });
  return new Promise((done, failed) => {
    worker.onmessage = ({ data }) => { if (data.over) done(data); else each(data); };
    worker.onerror = (event) => failed(new Error(event.message || "the script of the test did not start"));
    cancel.onabort = () => worker.postMessage({ cancel: true });
    worker.postMessage({ address: `${location.origin.replace(/^http/, "ws")}${address(`/ndt/v7/${name}`, expect ? { expect } : {})}`, upload: name === "upload" });
  }).finally(() => worker.terminate());
}
// The run as the hub has stored it, which takes it a moment.
async function stored(run) {
  for (let look = 0; run && look < LOOKS; look += 1) {
    try { return await json(`/view/v1/run/${run}`); } catch (error) { if (error.status !== 404 && error.status !== 503) throw error; }
    await new Promise((later) => setTimeout(later, AGAIN_MS));
  }
  throw new Error("the hub has not stored this test");
}
function shown(title, data) {
  const found = (data.measurement || {}).totals || [];
  const drawn = falls(data);
  return h("section", null, h("h2", null, title),
    data.outcome.state === "complete" ? null : h("p", { class: "problem" }, data.outcome.detail),
    found.length ? h("p", null, h("b", null, rate(found[0].goodput_bps)), found[0].retransmits === undefined ? "" : `, ${found[0].retransmits} segments retransmitted`, ". ", h("a", { href: `/run/${data.id}` }, `All of this ${title.split(",")[0].toLowerCase()}: RTT and window over time`)) : null,
    drawn.length ? drawn : h("p", { class: "quiet" }, "Where the rate went is not judged: there are too few samples of it."));
}
const earlier = (tests) => [h("h2", null, "Your tests"), tests.length ? table(["started", "direction", right("goodput"), "failure"], tests.map((one) =>
  [moment(one.started_unix_ns), h("a", { href: `/run/${one.run}` }, one.direction === "reverse" ? "download" : "upload"), right(one.goodput_bps === undefined ? "unknown" : rate(one.goodput_bps)), one.failure || ""]))
  : h("p", { class: "quiet" }, "None yet.")];
export async function thisComputer(values) {
  const title = "Test from this computer";
  if (!(await session).name) return { title, parts: [h("p", null, "A hub that runs answers this, for whoever has signed in. Without one: ", h("code", null, "linerate serve --ndt7 8080"))] };
  const there = await state();
  const results = h("div"), list = h("div", null, earlier(there.tests));
  const rows = TESTS.map(([name, , label]) => { const bar = h("progress", { max: LENGTH_MS, value: 0 }), says = h("span", null, "waits"); return { name, bar, says, row: h("p", null, h("label", null, `${label} `, bar), " ", says) }; });
  const progress = h("div", { hidden: "" }, rows.map((one) => one.row));
  let cancel = null;
  const stop = h("button", { type: "button", hidden: "", onclick: () => cancel.abort() }, "Cancel");
  const start = h("button", null, "Start the test");
  const running = (is) => { start.hidden = is; stop.hidden = !is; made.elements.expect.disabled = is; };
  const one = async ({ name, bar, says }, label, expect) => {
    says.textContent = "connects";
    const end = await tested(name, expect, cancel.signal, ({ bytes, ms, elapsed }) => { bar.value = Math.min(elapsed, LENGTH_MS); says.textContent = ms ? rate(bytes * 8e3 / ms) : "starts"; });
    if (!end.opened) {
      if (cancel.signal.aborted) return;
      throw new Error(WHY_NOT[(await state(expect)).state] || "The connection could not be made. A proxy between this browser and the hub has to pass WebSockets on.");
    }
    if (!end.run && cancel.signal.aborted) return;
    bar.value = LENGTH_MS;
    const data = await stored(end.run);
    const [total] = (data.measurement || {}).totals || [];
    says.textContent = cancel.signal.aborted ? "cancelled" : total ? rate(total.goodput_bps) : "nothing was measured";
    results.append(shown(label, data));
  };
  const made = form({ class: "stack" }, [field("Your line should carry (optional)", { name: "expect", value: values.get("expect") || "", placeholder: "100Mbit/s", autocomplete: "off", spellcheck: "false" }), h("div", { class: "row" }, start, stop)], async ({ expect }) => {
    const now = await state(expect);
    if (now.state !== "free") throw new Error(WHY_NOT[now.state]);
    const status = made.querySelector(".says");
    status.className = "says";
    status.textContent = "The test runs, 20 s.";
    cancel = new AbortController();
    results.replaceChildren();
    progress.hidden = false;
    rows.forEach(({ bar, says }) => { bar.value = 0; says.textContent = "waits"; });
    running(true);
    stop.focus();
    try { for (const [at, [, , label]] of TESTS.entries()) if (!cancel.signal.aborted) await one(rows[at], label, expect); } finally {
      running(false);
      start.focus();
      list.replaceChildren(...earlier((await state()).tests).flat());
    }
    return cancel.signal.aborted ? "Cancelled. What was measured until then is stored." : "Both directions are measured and stored.";
  });
  return { title, parts: [
    h("p", null, "Ten seconds from this hub to this computer, then ten seconds back, as fast as the path carries it: close other transfers first, and mind a line that is paid by volume. The results are stored at the hub with your name and address."),
    there.state === "free" ? null : h("p", { class: "problem" }, WHY_NOT[there.state]), made, progress, results, list] };
}
