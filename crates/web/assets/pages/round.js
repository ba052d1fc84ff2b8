import { h, json, address, host, pair, table, right } from "/assets/dom.js";
import { span, when, shown } from "/assets/units.js";
import { grid } from "/assets/grid.js";
import { why } from "/assets/pages/why.js";
import { bar, rows } from "/assets/pages/progress.js";
export async function round(values, id, only) {
  const data = await json(`/view/v1/round/${id}`);
  const reason = h("section", null, h("p", { class: "quiet" }, "Diagnosis is being worked out"));
  const progress = data.progress;
  // What changes with each test is worked out where somebody asks for it.
  const diagnosed = progress && !only ? reason.replaceChildren(h("p", { class: "quiet" }, "The round is not over: ", h("a", { href: `/round/${id}/why` }, "diagnosis of what was measured so far"), ".")) : json(`/view/v1/round/${id}/why`).then((found) => reason.replaceChildren(...why(found).flat(Infinity).filter(Boolean)), (error) => reason.replaceChildren(h("p", { class: "problem" }, error.message)));
  const facts = h("p", { class: "quiet" }, `${when(data.started_unix_ns)}, ${span(data.elapsed_us)}, ${data.hosts.length} hosts, ${data.tests} tests${progress ? " so far" : ""}`);
  const now = progress ? h("section", null, h("h2", null, "Measured now"), bar(progress), rows(progress)) : null;
  if (only) { await diagnosed; return { title: `Why: ${data.title}`, parts: [facts, h("p", null, h("a", { href: `/round/${id}` }, "grid of this round")), reason] }; }
  const view = h("div", { class: "plot" });
  const attributes = [...new Set(data.hosts.flatMap((one) => Object.keys(one.attributes || {})))];
  const go = (name) => (event) => { values.set(name, event.target.value); location.assign(address(location.pathname, values)); };
  const choose = (label, name, options, first) => h("label", null, `${label} `, h("select", { onchange: go(name) }, options.map(([value, text]) => h("option", { value, selected: (values.get(name) || first || options[0][0]) === value }, text))));
  const controls = h("div", { class: "row" }, data.metrics.length > 1 ? choose("Metric", "metric", data.metrics.map((one) => [one.key, one.title]), data.worst) : null,
    attributes.length ? choose("Group by", "group", [["", "order of the plan"], ...attributes.map((one) => [one, one])]) : null);
  let worst = null;
  if (data.metrics.length) {
    const found = await json(address(`/view/v1/round/${id}/grid`, { metric: values.get("metric") || data.worst || data.metrics[0].key }));
    const by = values.get("group"), of = new Map(data.hosts.map((one) => [one.name, (one.attributes || {})[by] || ""]));
    const order = found.hosts.map((_, at) => at);
    if (by) order.sort((a, b) => of.get(found.hosts[a]).localeCompare(of.get(found.hosts[b])) || a - b);
    view.replaceChildren(grid(found, order), found.hosts_left_out ? h("p", { class: "quiet" }, `The grid has the ${found.hosts.length} hosts of the worst pairs; ${found.hosts_left_out} more were measured.`) : "");
    if (found.worst.length) worst = [h("h2", null, "Worst pairs"), table(["pair", right("of what it should be"), right("value")], found.worst.map((one) => [pair(one.from, one.to), right(`${one.percent} %`), right(shown(one.value, found.unit))]))];
  } else if (progress) view.replaceChildren(h("p", { class: "quiet" }, "No result that has a grid yet."));
  else view.replaceChildren(h("p", { class: "quiet" }, "Nothing that has a grid was measured in this round. ", h("code", null, "linerate round show ROUND"), " says what was."));
  const silent = data.hosts.filter((one) => one.failure);
  return { title: data.title || id, live: progress ? `/view/v1/round/${id}` : null, parts: [facts, now, controls, view, h("h2", null, "Why"), h("p", null, h("a", { href: `/round/${id}/why` }, "diagnosis by itself"), ", ", h("a", { href: `/round/${id}/network` }, "picture of the network"), data.metrics.some((one) => one.key.startsWith("download")) ? [", ", h("a", { href: "/downloads" }, "downloads over time")] : null), reason, worst,
    silent.length ? [h("h2", null, "Hosts that took no part"), h("ul", null, silent.map((one) => h("li", null, host(one.name), `: ${one.failure}`)))] : null,
    h("h2", null, "Hosts"), h("p", null, data.hosts.slice(0, 200).flatMap((one, at) => [at ? ", " : "", host(one.name)]))] };
}
