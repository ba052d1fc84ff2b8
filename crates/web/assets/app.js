// From an address to a page. Every view is a link; the data of each is at /view/v1.
import { h } from "/assets/dom.js";
import { overview } from "/assets/pages/overview.js";
import { round } from "/assets/pages/round.js";
import { run } from "/assets/pages/run.js";
import { pair } from "/assets/pages/pair.js";
import { host } from "/assets/pages/host.js";
import { incident } from "/assets/pages/incident.js";
import { report } from "/assets/pages/report.js";
import { plan } from "/assets/pages/plan.js";
import { people } from "/assets/pages/people.js";
import { network } from "/assets/pages/network.js";
import { whatIf } from "/assets/pages/what-if.js";
import { header, session, signIn } from "/assets/session.js";
async function show() {
  const page = document.getElementById("page");
  const [, kind, id, part] = location.pathname.split("/");
  const values = new URLSearchParams(location.search);
  const pages = { "": overview, round, run, pair, host, incident, plan, people, "what-if": whatIf };
  const asked = () => part === "report" ? report(id) : part === "network" ? network(kind, id) : pages[kind](values, id, part === "why");
  const one = await session;
  await header();
  try {
    const made = one.has_accounts && !one.name ? signIn(one) : await asked();
    document.title = `${made.title} - linerate`;
    page.replaceChildren(h("h1", null, made.title), ...made.parts.flat(Infinity).filter((one) => one instanceof Node));
    if (made.drawn) await made.drawn();
  } catch (error) {
    page.replaceChildren(h("h1", null, "Nothing to show"), h("p", { class: "problem" }, error.message), h("p", null, error.hint || ""), h("p", null, h("a", { href: "/" }, "All rounds and runs")));
  }
  page.setAttribute("aria-busy", "false");
  document.documentElement.dataset.ready = "yes";
}
show();
