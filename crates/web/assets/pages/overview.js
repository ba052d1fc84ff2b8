import { h, json, address, host, table, right, moment } from "/assets/dom.js";
import { rate } from "/assets/units.js";
import { list } from "/assets/pages/incident.js";
import { offer } from "/assets/pages/demonstration.js";
import { bar } from "/assets/pages/progress.js";
const STANDS = { running: "under way", missing: "its agent is silent", waiting: "waits" };
// What agents measure now, and how far the period of the plan is.
function measured(now) {
  if (!now) return null;
  const of = now.known ? h("p", null, h("label", null, `${Math.min(now.measured, now.known)} of ${now.known} pairs have a result of the last ${now.period_s >= 7200 ? `${Math.round(now.period_s / 360) / 10} hours` : `${now.period_s} s`} `, h("progress", { max: now.known, value: Math.min(now.measured, now.known) }))) : null;
  return [h("h2", null, "Measured now"), of, now.runs.length ? [h("p", { class: "quiet" }, `${now.running} under way, ${now.waiting} planned.`),
    h("details", null, h("summary", null, "Which"), table(["due", "test", "from", "to", ""], now.runs.map((run) => [moment(run.due_unix_ns), run.test, host(run.from), host(run.to), STANDS[run.progress]])))] : h("p", { class: "quiet" }, "No run is planned yet: agents of hosts in the plan get them.")];
}
export async function overview(values) {
  const search = values.get("search") || "";
  const data = await json(address("/view/v1/overview", { search }));
  const form = h("form", { class: "row", role: "search", onsubmit: (event) => { event.preventDefault(); location.assign(address("/", { search: form.querySelector("input").value })); } },
    h("label", null, "Search ", h("input", { type: "search", name: "search", value: search })), h("button", null, "Search"));
  const none = (text, command) => h("p", { class: "quiet" }, text, " ", h("code", null, command));
  const more = (count) => count ? h("p", { class: "quiet" }, `${count} more match: search for a part of a name`) : null;
  const outcome = (run) => run.outcome.state === "complete" ? "" : run.outcome.detail || "failed";
  const running = data.running ? [h("h2", null, "Measured now"), data.running.map((one) => [h("p", null, h("a", { href: `/round/${one.id}` }, one.title || one.id), ", since ", moment(one.started_unix_ns)), bar(one)])] : null;
  const offered = data.incidents && !data.rounds.length && !data.is_reading ? await offer() : null;
  const incidents = data.incidents ? [h("h2", null, "Incidents"), data.incidents.length ? list(data.incidents) : h("p", { class: "quiet" }, data.rounds.length ? "None. What is worse than usual will be here." : "None, and no result yet.")] : null;
  const rounds = data.incidents
    ? [h("h2", null, "Latest results"), data.is_reading ? h("p", { class: "quiet", role: "status" }, "What was measured is being read; this page shows it as soon as it is there.") : data.rounds.length ? h("p", null, h("a", { href: "/round/latest" }, "Grid of all pairs")) : [h("p", { class: "quiet" }, "No result yet. ", offered ? h("a", { href: "/plan" }, "Give the hub a plan") : ["This gives the hub a plan: ", h("code", null, "linerate hub plan DIR PLAN")]),
      offered || [none("This shows all of it on this machine, live: a hub, 5 agents, a fault that is yours to find. It needs root, or user namespaces:", "linerate hub demo --by-hand"),
        none("Where the machine cannot do that, this makes a hub with a history to look at, in virtual time:", "linerate hub replay DEMO nrao-overlay-offload && linerate view DEMO")]]]
    : null;
  return { title: data.source.split("/").filter(Boolean).pop() || data.source, live: !search ? address("/view/v1/overview", { search }) : null, isReading: data.is_reading, parts: [data.source.includes("/") ? h("p", { class: "quiet" }, h("code", null, data.source)) : null, form, running, incidents, measured(data.activity), rounds ||
    [h("h2", null, "Rounds"), data.rounds.length ? table(["started", "plan", right("hosts"), right("tests"), right("failed")], data.rounds.map((round) =>
      [moment(round.started_unix_ns), h("a", { href: `/round/${round.id}` }, round.title || round.id), right(round.hosts), right(round.tests), right(round.tests_failed)]))
      : none("No round. This makes one:", "linerate round PLAN"), more(data.more.rounds)],
    h("h2", null, "Runs"), data.runs.length ? table(["started", data.runs.some((run) => run.hosts) ? "from, to" : "peer", "protocol", right("goodput"), right("retransmits"), "failure"], data.runs.map((run) =>
      [moment(run.started_unix_ns), h("a", { href: `/run/${run.id}` }, run.hosts ? `${run.hosts.from} to ${run.hosts.to}` : run.peer), run.protocol, right(run.goodput_bps === undefined ? "" : rate(run.goodput_bps)), right(run.retransmits ?? ""), outcome(run)]))
      : data.incidents ? h("p", { class: "quiet" }, "No run yet: agents run what the plan asks for.") : none("No run. This makes one:", "linerate test HOST"), more(data.more.runs),
    h("h2", null, "Hosts"), data.hosts.length ? h("p", null, data.hosts.flatMap((name, at) => [at ? ", " : "", host(name)])) : data.incidents ? none("No agent has joined. This makes a token for one:", "linerate hub token DIR") : none("No host is known. This reads one:", "linerate host snapshot"), more(data.more.hosts),
    h("h2", null, "What if"), h("p", null, h("a", { href: "/what-if" }, "Simulate a transfer over a path"))] };
}
