import { h, json, address, host, table, right, pair as link, moment } from "/assets/dom.js";
import { rate, span } from "/assets/units.js";
import { form, field, may, post } from "/assets/session.js";
import { list } from "/assets/pages/incident.js";
import { plot } from "/assets/plot.js";
export async function pair(values) {
  const data = await json(address("/view/v1/pair", values));
  const rated = data.results.filter((one) => one.goodput_bps !== undefined);
  const tests = data.tests || [], several = tests.length > 1;
  const choose = several ? h("p", null, h("label", null, "Levels and changes of test ", h("select", { onchange: (event) => { values.set("test", event.target.value); location.assign(address("/pair", values)); } }, tests.map((test) => h("option", { value: test, selected: test === data.test }, test))))) : null;
  const into = h("div", { class: "plot", role: "img", "aria-label": "goodput over time" });
  const day = (s) => moment(s * 1e9);
  const drawn = async () => {
    if (!rated.length) return;
    const of = (label, list) => ({ label, at: list.map((one) => one.started_unix_ns / 1e9), values: list.map((one) => one.goodput_bps), dots: true });
    const series = several ? tests.slice(0, 4).map((test) => of(test, rated.filter((one) => one.test === test))) : [of("goodput", rated)];
    for (const [key, label] of [["level_bps", "level"], ["low_bps", "95 of 100 above"]]) series.push({ label, at: data.levels.flatMap((one) => [one.from_s, one.until_s]), values: data.levels.flatMap((one) => [one[key], one[key]]) });
    await plot(into, "goodput", series.filter((one) => one.at.length), rate, "date");
  };
  const labels = await may("operator") ? await json("/api/v1/pairs").then(({ series }) => [...new Set(series.filter((one) => one.from === data.from && one.to === data.to && one.metric === "goodput").map((one) => one.test))]).catch(() => []) : [];
  const now = labels.length ? form({ class: "row" }, [field("Test", { name: "test" }, "select", labels.map((label) => h("option", null, label))), h("button", null, "Run it now")], async ({ test }) => `It goes before all others: ${(await post("/api/v1/run", { test, from: data.from, to: data.to })).runs.join(", ")}`) : null;
  const empty = h("p", { class: "quiet" }, data.outside ? `No result in this period; ${data.outside} outside of it. ` : "No result of this pair. This makes one: ", data.outside ? h("a", { href: address("/pair", { from: data.from, to: data.to }) }, "show all") : h("code", null, `linerate test ${data.to}`));
  return { title: `${data.from} to ${data.to}`, drawn, parts: [h("p", null, host(data.from), ", ", host(data.to), ", other direction: ", link(data.to, data.from), rated.some((one) => one.protocol === "tcp") ? [", ", h("a", { href: address("/what-if", { from: data.from, to: data.to, ...(data.network ? { network: data.network } : {}) }) }, "what if")] : null), now, data.results.length ? [choose, into] : empty,
    data.incidents ? [h("h2", null, "Incidents"), list(data.incidents)] : null,
    h("h2", null, several ? `Changes of goodput, ${data.test}` : "Changes of goodput"), data.changes.length ? table(["when", "what", right("before"), right("after")], data.changes.map((one) => [day(one.at_s), one.shape, right(one.shape === "share" ? one.before.toFixed(2) : rate(one.before)), right(one.shape === "share" ? one.after.toFixed(2) : rate(one.after))]))
      : h("p", { class: "quiet" }, rated.length >= 10 ? "None found." : `Not judged: ${rated.length === 1 ? "1 result is" : `${rated.length} results are`} too few for a baseline.`),
    data.results.length ? [h("h2", null, "Results"), table(["when", several ? "test" : "protocol", right("goodput"), right("retransmits"), right("RTT under load"), ""], data.results.slice(-200).reverse().map((one) => [one.run ? h("a", { href: `/run/${one.run}` }, moment(one.started_unix_ns)) : moment(one.started_unix_ns), several ? one.test || "" : one.protocol, right(one.goodput_bps === undefined ? one.failure || "failed" : rate(one.goodput_bps)), right(one.retransmits ?? ""), right(one.loaded_rtt_us === undefined ? "" : span(one.loaded_rtt_us)), one.round ? h("a", { href: `/round/${one.round}` }, "round") : ""]))] : null,
    data.log.length ? [h("h2", null, "Changes on the hosts"), table(["when", "host", "fact", "before", "after"], data.log.map((one) => [moment(one.time_unix_ns), one.host, one.fact, one.old ?? "none", one.new ?? "none"]))] : null] };
}
