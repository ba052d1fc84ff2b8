import { h, json, table, moment } from "/assets/dom.js";
import { form, field, post, again } from "/assets/session.js";
export async function people() {
  const [{ accounts }, { actions }] = await Promise.all([json("/api/v1/accounts"), json("/api/v1/actions")]);
  const set = (values) => post("/api/v1/accounts", values).then(again);
  const remove = (name) => form({ class: "row" }, h("button", { "aria-label": `Remove ${name}` }, "Remove"), () => set({ name }));
  return { title: "People", parts: [
    table(["account", "role", "since", ""], accounts.map((one) => [one.name, one.role, moment(one.changed_unix_ns), remove(one.name)])),
    h("h2", null, "Add or change an account"),
    form({ class: "row" }, [field("Name", { name: "name", required: "", maxlength: "100" }), field("Role", { name: "role" }, "select", ["viewer", "operator", "admin"].map((role) => h("option", null, role))),
      field("Password", { name: "password", type: "password", autocomplete: "new-password", minlength: "12" }), h("button", null, "Save")],
      ({ name, role, password }) => set(password ? { name, role, password } : { name, role })),
    h("p", { class: "quiet" }, "A viewer reads; an operator steps incidents, starts tests and sets the plan; an admin adds accounts. Without a password an account that is there keeps its own. Whoever is changed signs in again."),
    h("h2", null, "Who did what"), actions.length ? table(["when", "who", "from", "what"], actions.map((one) => [moment(one.at_unix_ns), one.who, one.origin, one.what])) : h("p", { class: "quiet" }, "Nothing yet.")] };
}
