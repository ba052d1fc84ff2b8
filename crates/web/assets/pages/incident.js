import { h, json, host, table, moment } from "/assets/dom.js";
import { percent } from "/assets/units.js";
import { form, field, isDemonstrated, may, post, again, session } from "/assets/session.js";
import { why } from "/assets/pages/why.js";
export const cause = (one) => one.explanation ? `${one.explanation.cause} ${one.explanation.place.startsWith("between ") ? "" : "at "}${one.explanation.place} (${percent(one.explanation.probability)})` : "not explained yet";
export const list = (incidents) => table(["since", "incident", "cause"], incidents.map((one) => [moment(one.since_unix_ns), h("a", { href: `/incident/${one.id}` }, one.title), cause(one)]));
function copy(text) {
  const button = h("button", { type: "button", onclick: async () => { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } }, "Copy");
  return navigator.clipboard ? button : null;
}
export async function incident(values, id) {
  const data = await json(`/view/v1/incident/${id}`);
  const step = (word, text) => h("p", null, text, " ", h("code", null, `linerate hub incidents DIR ${data.id} --${word}`));
  const open = data.status !== "closed";
  const { has_accounts } = await session;
  const best = data.diagnosis && data.explanation ? data.diagnosis.problems.flatMap((one) => one.ranking).find((one) => one.cause === data.explanation.cause) : null;
  const fixes = data.fixes.length ? h("section", null, h("h2", null, "Fix"), h("p", null, `${data.fixes.length > 1 ? "Each of these fixes a part of it" : "This fixes it"}. It shows what it changes, asks whether to keep it, and can be undone.`),
    data.fixes.map((one) => h("p", null, "On ", host(one.host), ": ", h("code", null, one.command), " ", copy(one.command))),
    h("p", { class: "quiet" }, "The next results say whether it has helped; then this incident is verified. ", h("code", null, "linerate host undo"), " takes it back.")) : null;
  const send = (asked) => post("/api/v1/incident", { id: data.id, text: "", ...asked }).then(again);
  const steps = [["note", "note"], ["explain", "the cause is known"], ["fix", "something was done: measurements say whether it helped"], ["accept", "the present level was meant"], ["close", "close it"]];
  const acts = open && await may("operator") ? h("section", null, h("h2", null, "What to do next"),
    data.status === "open" ? form({ class: "row" }, h("button", null, "Acknowledge: somebody knows"), () => send({ step: "acknowledge" })) : null,
    form({ class: "row" }, [field("Step", { name: "step" }, "select", steps.map(([value, label]) => h("option", { value }, label))), field("Text", { name: "text", required: "", maxlength: "4000" }), h("button", null, "Record it")], send),
    form({ class: "row" }, [field("Notify nobody for", { name: "hours", type: "number", min: "1", max: "720", value: "12" }), "hours", h("button", null, "Silence")], ({ hours }) => send({ step: "silence", for_s: hours * 3600 }))) : null;
  return { title: data.title, live: open ? `/view/v1/incident/${id}` : null, parts: [
    h("p", { class: "verdict" }, best ? h("span", null, `${best.title.charAt(0).toUpperCase()}${best.title.slice(1)}: `, h("strong", null, cause(data))) : cause(data)), h("p", { class: "quiet" }, `${data.id}, ${data.status}`, data.hosts.flatMap((name) => [", ", host(name)])),
    h("p", null, h("a", { href: `/incident/${data.id}/report` }, "Post-mortem"), ", ", h("a", { href: `/incident/${data.id}/network` }, "where it is in the network")), fixes, acts,
    open && !has_accounts && !await isDemonstrated() ? h("details", null, h("summary", null, "What to do next"), step("acknowledge", "Say that somebody knows:"), step("note TEXT", "Add a note:"), step("silence 12h", "Notify nobody for a while:"), step("fix TEXT", "Say what was done; measurements say whether it helped:"), step("close TEXT", "Close it, with the reason:")) : null,
    h("h2", null, "Time line"), table(["when", "what"], data.timeline.map((one) => [moment(one.at_unix_ns), one.text])),
    h("h2", null, "Symptoms"), table(["since", "what", "until"], data.symptoms.map((one) => [moment(one.since_unix_ns), one.text, one.recovered_unix_ns ? moment(one.recovered_unix_ns) : "now"])),
    h("h2", null, "Diagnosis"), data.diagnosis ? why(data.diagnosis) : h("p", { class: "quiet" }, "None yet: it follows once the hosts have sent their facts.")] };
}
