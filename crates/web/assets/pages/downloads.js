import { h, json, table, right, pair, moment } from "/assets/dom.js";
import { rate, percent } from "/assets/units.js";
import { plot } from "/assets/plot.js";
// The same file from each site: a plot for each site, in which servers and proxies are lines.
export async function downloads() {
  const { series } = await json("/view/v1/downloads");
  const title = "Downloads";
  if (!series.length) return { title, parts: [h("p", { class: "quiet" }, "No file was fetched yet. This makes a plan that has each site fetch one every week, directly and through a proxy: ", h("code", null, "linerate plan downloads --file PATH --site HOST --server HOST --proxy HOST"))] };
  const sites = [...new Set(series.map((one) => one.to))].sort();
  const into = new Map(sites.map((site) => [site, h("div", { class: "plot", role: "img", "aria-label": `downloads of ${site} over time` })]));
  const drawn = async () => {
    for (const [site, box] of into) {
      const of = series.filter((one) => one.to === site).slice(0, 6);
      await plot(box, site, of.map((one) => ({ label: `${one.test}, ${one.from}`, at: one.results.map((at) => at.at_unix_ns / 1e9), values: one.results.map((at) => at.goodput_bps), dots: true })), rate, "date");
    }
  };
  const rows = series.map((one) => [pair(one.from, one.to), one.test, moment(one.results[one.results.length - 1].at_unix_ns), right(rate(one.latest_bps)), right(rate(one.usual_bps)), right(percent(one.latest_bps / one.usual_bps)), right(one.results.length)]);
  return { title, drawn, parts: [h("p", { class: "quiet" }, "Where lines of one site differ, the proxy or a server is slow; where all lines of one site are low, its network is."),
    table(["from, to", "test", "latest", right("goodput"), right("usually"), right("of that"), right("results")], rows), [...into.values()]] };
}
