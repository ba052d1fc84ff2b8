import { h, json, table, right, moment } from "/assets/dom.js";
import { span, bytes } from "/assets/units.js";
import { form, field, has, post } from "/assets/session.js";
const resource = (one) => typeof one === "string" ? one : Object.entries(one).map(([kind, name]) => `${kind} ${typeof name === "string" ? name : JSON.stringify(name)}`).join(", ");
// What a plan needs of a day, and the first hours of one.
function shown({ checked, agents, others }) {
  const { fit, day } = checked;
  return [h("p", null, `${fit.heavy_runs} heavy and ${fit.light_runs} light runs a day. Agents: ${agents.join(", ") || "none yet"}.`, others.length ? ` Without an agent, so they only answer: ${others.join(", ")}.` : ""),
    fit.warnings.length ? h("ul", null, fit.warnings.map((one) => h("li", null, one))) : null,
    h("h2", null, "What it uses"), table(["host or segment", right("runs a day"), right("busy a day"), right("moved a day")], fit.loads.slice(0, 50).map((one) => [resource(one.resource), right(one.runs), right(span(one.busy_us)), right(one.bytes ? bytes(one.bytes) : "unknown")])),
    day ? [h("h2", null, checked.length_us < 86400e6 ? `The next ${span(checked.length_us)}` : "The day from now on"), day.missed.length ? h("p", { class: "problem" }, `${day.missed.length} runs find no room: ${day.missed[0].why}`) : null,
      table(["begins", "test", "from", "to", right("waits")], day.runs.slice(0, 100).map((one) => [moment(one.begins), one.test, one.from, one.to, right(one.waited_us ? span(one.waited_us) : "")]))] : null].flat(Infinity).filter(Boolean);
}
export async function plan() {
  const there = await json("/api/v1/plan").catch((error) => { if (error.status === 404) return null; throw error; });
  const result = h("div", { role: "status" }, there ? shown(there) : null);
  const text = h("textarea", { name: "text", rows: "24", spellcheck: "false" }, there ? there.text : "");
  const [checks, sets] = ["check", "set"].map((value) => ({ name: "what", value }));
  const operator = await has("operator");
  return { title: "Plan", parts: [there ? null : h("p", null, "No plan yet. This writes a first one from what hosts know of themselves: ", h("code", null, "linerate plan init HOST... > plan.toml")),
    form({ class: "stack" }, [h("label", null, "Hosts, groups and tests, as TOML", text), h("div", { class: "row" }, h("button", checks, "Check"), operator ? h("button", sets, "Check, and give it to the hub") : null)], async ({ text, what }) => {
      result.replaceChildren();
      result.replaceChildren(...shown(await post(what === "set" ? "/api/v1/plan" : "/api/v1/plan/check", { text })));
      return what === "set" ? "The hub carries it out from now on." : "It fits.";
    }), result] };
}
