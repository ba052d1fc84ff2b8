import { h, json } from "/assets/dom.js";
import { form, has, post, session } from "/assets/session.js";
const ADDRESS = "/api/v1/demonstration";
// Waits until pages can show it, and says meanwhile what it says.
async function follow(says) {
  for (;;) {
    const now = await json(ADDRESS);
    if (now.state === "shown") { location.assign("/"); return; }
    if (now.state !== "preparing") throw new Error(now.reason || "It has ended.");
    says.textContent = [now.reason ? `Not live here: ${now.reason}. It goes on in virtual time.` : "", (now.lines || []).at(-1) || "It is being made."].join(" ").trim();
    await new Promise((later) => setTimeout(later, 1000));
  }
}
// What a hub that has no plan yet can show of itself; nothing where it offers none.
export async function offer() {
  const { demonstration } = await session;
  if (!demonstration) return null;
  const may = await has("operator"), says = h("p", { role: "status", class: "says" });
  const still = (is) => document.querySelectorAll("button[name=wish]").forEach((button) => { button.disabled = is; });
  const watch = () => { still(true); follow(says).catch((error) => { still(false); says.className = "says problem"; says.textContent = `No demonstration: ${error.message}`; }); };
  const start = async ({ wish }) => { await post(ADDRESS, { wish }); watch(); return ""; };
  if (demonstration.state === "preparing") watch();
  if (demonstration.state === "failed") says.textContent = `The last one could not be made: ${demonstration.reason}`;
  return h("section", null, h("h2", null, "See it first"),
    h("p", null, "A demonstration on the machine of this hub: five hosts test each other until they know what is usual, then a setting goes wrong. Find out which from these pages. It touches nothing outside, and ends when you end it or give the hub a plan."),
    may ? form({ class: "row" }, [h("button", { name: "wish", value: "live" }, "Show the demonstration"), h("button", { name: "wish", value: "virtual" }, "Show it in virtual time"), h("span", { class: "quiet" }, "live: 3 minutes; in virtual time: some seconds, with a history of days")], start)
      : h("p", { class: "quiet" }, "An operator or admin can start it here."), says);
}
// Over each page while a demonstration is shown.
export async function banner(demonstration) {
  const end = async () => { await post(ADDRESS, { wish: "end" }); location.assign("/"); };
  const text = demonstration.kind === "live"
    ? "Demonstration, live: pages show five hosts of a network on this hub's machine, none of yours. Commands are for a shell on that machine, as the user of the hub."
    : "Demonstration in virtual time: pages show a simulated mesh, no host of yours. Commands have nothing to change here.";
  return h("aside", { class: "demonstration", "aria-label": "Demonstration" }, h("span", null, text, demonstration.reason ? ` It is not live: ${demonstration.reason}.` : ""), " ",
    await has("operator") ? h("button", { type: "button", onclick: end }, "End the demonstration") : null);
}
