import { h, json, address, table, right } from "/assets/dom.js";
import { rate, span, bytes, percent, when } from "/assets/units.js";
import { plot } from "/assets/plot.js";
const TITLES = { goodput_bps: ["goodput", rate], rtt_us: ["smoothed RTT", span], probe_rtt_us: ["RTT of probes", span], cwnd_bytes: ["congestion window", bytes] };
// Of each direction, what of the line rate was delivered and what took the rest.
export function falls(data) {
  const bar = (name, part, good) => { const fill = h("i", { class: good ? "good" : "" }); fill.style.width = `${Math.max(0, Math.min(100, part * 100))}%`; return h("div", { class: "bar" }, h("span", null, name), h("span", null, percent(part)), fill); };
  const word = (name) => name.replaceAll("_", " ");
  return (data.waterfalls || []).map((fall) => h("section", null, h("h2", null, `Where the rate went, ${fall.heading}`), bar("delivered", fall.line_bytes ? fall.delivered_bytes / fall.line_bytes : 0, true),
    fall.shares.map((share) => bar(word(share.cause), share.part_of_line_rate)), h("ul", null, fall.facts.map((fact) => h("li", null, fact.text)))));
}
export async function run(values, id) {
  const data = await json(`/view/v1/run/${id}`);
  const found = data.measurement || {};
  const sure = { at_most: "at most ", at_least: "at least " };
  const count = (part) => part.packets === undefined ? "unknown" : `${sure[part.certainty] || ""}${part.packets}${part.certainty === "path_or_unknown" ? " or unknown" : ""}`;
  const balances = (data.datagram_balances || []).map((one) => h("section", null, h("h2", null, `Where the datagrams went, ${one.heading}`), table(["", right("datagrams")], [["handed to the socket", right(one.handed_packets)],
    ["dropped in the sender", right(count(one.dropped_in_sender))], ["lost on the path", right(count(one.lost_on_path))], ["dropped in the receiver", right(count(one.dropped_in_receiver))], ["received", right(one.received_packets)]])));
  const latency = found.latency || {};
  const rtts = [["idle", latency.idle], ["under load", latency.loaded]].filter(([, of]) => of && of.median_us !== undefined);
  const plots = h("div");
  const samples = await json(address(`/view/v1/run/${id}/samples`, { points: 800 }));
  const draw = async () => {
    for (const [quantity, [title, format]] of Object.entries(TITLES)) {
      const series = samples.series.filter((one) => one.quantity === quantity && one.at_us.length > 1).slice(0, 6);
      if (!series.length) continue;
      const into = h("div", { class: "plot", role: "img", "aria-label": `${title} over time` });
      plots.append(into);
      await plot(into, title, series.map((one) => ({ label: one.stream ? `stream ${one.stream}, ${one.whose}` : "probes", at: one.at_us.map((us) => us / 1e6), values: one.high })), format, "span");
    }
    if (!plots.childElementCount) plots.append(h("p", { class: "quiet" }, "This run has no samples."));
  };
  return { title: `Run to ${data.target || (data.peer || {}).target || id}`, drawn: draw, parts: [h("p", { class: "quiet" }, when(data.started_unix_ns), " ", h("code", null, (data.command || []).join(" "))),
    data.spec.protocol === "tcp" && (found.totals || []).length ? h("p", null, found.totals.map((total, at) => [at ? ", " : "", h("a", { href: address("/what-if", { run: id, heading: total.heading }) }, found.totals.length > 1 ? `What if, ${total.heading}` : "What if: simulate it with other settings")])) : null,
    data.outcome.state === "complete" ? null : h("p", { class: "problem" }, data.outcome.detail || "failed"),
    table(["direction", right("goodput"), right("retransmits"), right("time")], (found.totals || []).map((total) => [total.heading, right(rate(total.goodput_bps)), right(total.retransmits ?? "unknown"), right(span(total.elapsed_us))])),
    falls(data), balances, rtts.length ? [h("h2", null, "RTT"), table(["", right("median"), right("p95"), right("greatest"), right("lost")], rtts.map(([name, of]) => [name, right(span(of.median_us)), right(span(of.p95_us)), right(span(of.max_us)), right(`${of.lost} of ${of.sent}`)]))] : null,
    h("h2", null, "Samples"), h("p", { class: "quiet" }, "Drag to zoom, double click to zoom out."), plots, (found.anomalies || []).length ? [h("h2", null, "What was odd"), h("ul", null, found.anomalies.map((line) => h("li", null, line)))] : null] };
}
