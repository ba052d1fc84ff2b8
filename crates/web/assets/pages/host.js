import { h, json, address, host as link, table, moment } from "/assets/dom.js";
import { when } from "/assets/units.js";
// What is set otherwise here than on hosts of its kind.
function compared(data) {
  if (!data.peers.length) return [h("p", { class: "quiet" }, "No other host whose facts are known.")];
  const whom = h("p", { class: "quiet" }, data.group ? `Of ${data.group}: ` : "All hosts: ", data.peers.flatMap((name, at) => [at ? ", " : "", link(name)]), `. ${data.alike} settings are alike.`);
  const others = (one) => one.elsewhere.map((value) => h("div", null, `${value.value} at ${value.hosts.length > 3 ? `${value.hosts.length} others` : value.hosts.join(", ")}`));
  return [whom, data.differences.length ? table(["setting", "here", "elsewhere", "rules"], data.differences.map((one) => [one.setting, one.here, h("div", null, others(one)), one.rules.slice(0, 3).join(", ")])) : h("p", { class: "quiet" }, "Nothing is set otherwise here.")];
}
export async function host(values) {
  const data = await json(address("/view/v1/host", { name: values.get("name") || "" }));
  const audit = data.audit, facts = data.facts;
  // Each rule once, however many devices it was asked of, as `linerate host audit` counts them.
  const rules = audit ? audit.summary.by_rule || audit.summary : null;
  const findings = audit ? audit.findings.map((one) => h("li", null, h("strong", null, `${one.severity}  ${one.rule}`), ` ${one.title}`, h("div", null, one.why), one.fix.map((step) => h("div", null, h("code", null, step.command))))) : [];
  const beside = h("section", null, h("p", { class: "quiet" }, "Is being compared"));
  const drawn = async () => { if (facts) beside.replaceChildren(...compared(await json(address("/view/v1/host/peers", { name: data.name }))).flat(Infinity).filter(Boolean)); };
  return { title: data.name, drawn, parts: [
    facts ? h("p", { class: "quiet" }, `facts of ${when(facts.taken_unix_ns)}, read by ${facts.software}`) : h("p", { class: "quiet" }, "No facts of this host. This reads them: ", h("code", null, "linerate host snapshot")),
    h("h2", null, "Findings"), audit ? [h("p", { class: "quiet" }, `${audit.summary.rules} rules: ${rules.fail} fired, ${rules.pass} passed, ${rules.unknown} unknown, ${rules.not_applicable} not applicable`), h("ul", null, findings)] : h("p", { class: "quiet" }, "Not judged: no facts."),
    facts ? [h("h2", null, "Beside its peers"), beside] : null,
    h("h2", null, "Change log"), data.changes.length ? table(["when", "fact", "before", "after", "seen by", "notes"], data.changes.map((one) => [moment(one.time_unix_ns), one.subject ? `${one.subject} ${one.fact}` : one.fact, one.old ?? "none", one.new ?? "none", one.source, (one.notes || []).map((note) => note.text).join("; ")])) : h("p", { class: "quiet" }, "No change so far. The agent of a hub and ", h("code", null, "linerate host watch"), " enter what is changed while they run."),
    facts ? h("details", null, h("summary", null, "All facts as JSON"), h("pre", null, JSON.stringify(facts, null, 1).slice(0, 200000))) : null] };
}
