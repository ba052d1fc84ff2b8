import { h, json, address, host, table, right, moment } from "/assets/dom.js";
import { rate, span, bytes } from "/assets/units.js";
import { plot } from "/assets/plot.js";
const BASIS = ["run", "heading", "from", "to", "network"];
// A form over the simulator. The address holds what is varied, so that a form is a link.
export async function whatIf(values) {
  const base = new URLSearchParams([...values].filter(([name]) => BASIS.includes(name)));
  let refused = null;
  const data = await json(address("/view/v1/what-if", values)).catch((error) => {
    if (![400, 503].includes(error.status) || [...values.keys()].every((name) => BASIS.includes(name))) throw error;
    refused = error;
    return json(address("/view/v1/what-if", base));
  });
  const shown = (one) => values.get(one.name) ?? one.value;
  const hint = (one) => [one.own !== undefined && one.own !== shown(one) ? `the run has ${one.own || "none"}` : "", one.from && one.value && !values.has(one.name) ? `${one.how}: ${one.from}` : "", one.value ? "" : `e.g. ${one.example}`].filter(Boolean).join("; ");
  const control = (one) => one.choices ? h("select", { name: one.name }, [...new Set([shown(one), ...one.choices])].map((choice) => h("option", { value: choice, selected: choice === shown(one) }, choice)))
    : h("input", { name: one.name, value: shown(one), autocomplete: "off", spellcheck: "false" });
  const send = (event) => {
    event.preventDefault();
    const next = new URLSearchParams(base);
    for (const one of data.parameters) {
      const value = form.elements[one.name].value.trim();
      if (value && value !== one.own && (values.has(one.name) || value !== one.value)) next.set(one.name, value);
    }
    location.assign(address("/what-if", next));
  };
  const form = h("form", { class: "stack", onsubmit: send }, h("div", { class: "fields" }, data.parameters.map((one) => h("label", { class: values.has(one.name) ? "varied" : null }, one.label, control(one), h("span", { class: "quiet" }, hint(one))))),
    h("div", { class: "row" }, h("button", null, "Simulate"), values.size > base.size ? h("a", { href: address("/what-if", base) }, data.basis ? "as the run has it" : "from the beginning") : null));
  const predicted = [["predicted, as it was", data.as_it_was], [data.basis ? "predicted, varied" : "predicted", data.varied]].filter(([, one]) => one);
  const all = [["measured", data.measured], ...predicted].filter(([, one]) => one);
  const rows = all.map(([name, one]) => [name, right(rate(one.goodput_bps)), right(one.steady_bps === undefined ? "" : rate(one.steady_bps)), one.because || "", right(one.retransmits ?? "unknown")]);
  const cut = predicted.some(([, one]) => one.is_cut);
  const short = predicted.filter(([, one]) => one.is_cut).map(([name, one]) => `${name}: ${span(one.simulated_us)}`);
  const into = ["goodput", "RTT", "congestion window"].map((name) => h("div", { class: "plot", role: "img", "aria-label": `${name} over time` }));
  const drawn = async () => {
    const series = (list, key) => list.filter(([, one]) => one[key] && one[key].length > 1).map(([label, one]) => ({ label, at: one.at_us.map((us) => us / 1e6), values: one[key] }));
    await plot(into[0], "goodput", series(all, "interval_bps"), rate, "span");
    if (!predicted.length) return;
    await plot(into[1], "RTT of the first stream, simulated", series(predicted, "rtt_us"), span, "span");
    await plot(into[2], "congestion window of the first stream, simulated", series(predicted, "cwnd_bytes"), bytes, "span");
  };
  const basis = data.basis;
  return { title: basis ? `What if: ${basis.from} to ${basis.to}` : "What if", drawn: all.length && !refused ? drawn : null, parts: [
    basis ? h("p", null, host(basis.from), " to ", host(basis.to), ", ", h("a", { href: `/run/${basis.run}` }, "run of ", moment(basis.started_unix_ns)), ", ", h("a", { href: address("/pair", { from: basis.from, to: basis.to }) }, "history"))
      : h("p", { class: "quiet" }, values.has("from") ? "No transfer over TCP of this pair yet: these are hosts that nobody tuned." : "Hosts that nobody tuned, over a path without other traffic. The page of a run or a pair leads here with its own values."),
    refused ? h("p", { class: "problem", role: "alert" }, [refused.message, refused.hint].filter(Boolean).join("; ")) : null,
    data.missing && !refused ? h("p", { class: "problem" }, `Not predicted: ${data.missing}. Fill in what is empty.`) : null,
    refused ? null : [table(["", right("goodput"), right("after the start"), "limited by", right("retransmits")], rows),
      cut ? h("p", { class: "quiet" }, `Only the beginning was simulated here (${short.join(", ")}); the rest is taken to go on as its end. The command below simulates all of it.`) : null, all.length ? into[0] : null],
    h("h2", null, "Vary"), form, refused || !predicted.length ? null : [into[1], into[2]],
    data.command && !refused ? h("details", null, h("summary", null, "The same on a command line"), h("p", null, h("code", null, data.command))) : null] };
}
