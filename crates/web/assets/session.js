import { h, json } from "/assets/dom.js";
// Who has signed in. Where pages are shown to one machine alone, nobody does.
export const session = json("/api/v1/session").catch(() => ({ has_accounts: false }));
const roles = ["viewer", "operator", "admin"];
export const has = async (role) => roles.indexOf((await session).role) >= roles.indexOf(role);
export const isDemonstrated = async () => ((await session).demonstration || {}).state === "shown";
// What a demonstration shows is no incident of this hub.
export const may = async (role) => !await isDemonstrated() && has(role);
export const post = (path, body) => json(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
// A form that asks for something, says what went wrong, and shows the page anew where it went well.
export function form(attributes, content, send) {
  const says = h("p", { role: "status", class: "says" });
  const made = h("form", { ...attributes, onsubmit: async (event) => {
    event.preventDefault();
    const values = Object.fromEntries(new FormData(made, event.submitter));
    says.textContent = "Asking";
    try { says.textContent = (await send(values)) || ""; } catch (error) { says.className = "says problem"; says.textContent = [error.message, error.hint].filter(Boolean).join(". "); }
  } }, content, says);
  return made;
}
export const field = (label, attributes, tag = "input", ...children) => h("label", null, label, " ", h(tag, attributes, ...children));
export const again = () => { location.reload(); };
export function signIn(one) {
  const provider = one.openid ? [h("p", null, h("a", { class: "button", href: "/sign-in/openid" }, `Sign in with ${one.openid}`)), h("p", { class: "quiet" }, "Or with an account of this hub:")] : null;
  return { title: "Sign in", parts: [provider,
    form({ class: "stack" }, [field("Name", { name: "name", autocomplete: "username", required: "" }), field("Password", { name: "password", type: "password", autocomplete: "current-password", required: "" }), h("button", null, "Sign in")],
      async (values) => { await post("/api/v1/session", values); again(); }),
    h("p", { class: "quiet" }, "No account yet? On the hub's host this makes one: ", h("code", null, "linerate hub user add DIR NAME --role admin"))] };
}
// Links to what there is, and who looks at it.
export async function header() {
  const one = await session;
  if (!one.name && !one.is_hub) return;
  const link = (href, text) => h("a", { href, "aria-current": location.pathname === href ? "page" : null }, text);
  const out = h("button", { onclick: async () => { await json("/api/v1/session/end", { method: "POST" }); location.assign("/"); } }, "Sign out");
  document.querySelector("header").append(h("nav", { "aria-label": "Pages" }, link("/", "Incidents"), link("/round/latest", "Grid"), one.name ? link("/plan", "Plan") : null, link("/downloads", "Downloads"), link("/what-if", "What if"), one.name ? link("/this-computer", "This computer") : null, one.role === "admin" ? link("/people", "People") : null), one.name ? h("span", { class: "who" }, `${one.name} (${one.role}) `, out) : "");
}
