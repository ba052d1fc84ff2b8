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
import { downloads } from "/assets/pages/downloads.js";
import { thisComputer } from "/assets/pages/this-computer.js";
import { whatIf } from "/assets/pages/what-if.js";
import { banner } from "/assets/pages/demonstration.js";
import { header, isDemonstrated, session, signIn } from "/assets/session.js";
// What a hub measures goes on: a page that says where its data is from is shown anew where that has changed, unless somebody writes in it.
const EVERY_MS = 3000;
let watched = null;
function keep(address) {
  clearTimeout(watched);
  const text = () => fetch(address).then((answer) => answer.ok ? answer.text() : null, () => null);
  const isWriting = () => ["INPUT", "SELECT", "TEXTAREA"].includes((document.activeElement || {}).tagName);
  let known = null;
  const look = async () => {
    const now = document.hidden ? known : await text();
    const isNew = known !== null && now !== null && now !== known;
    known = now ?? known;
    if (!isNew || isWriting()) watched = setTimeout(look, EVERY_MS);
    else await again();
  };
  watched = setTimeout(look, 0);
}
// Shows the page anew where it stands: what was open stays open, what had the focus has it.
async function again() {
  const all = (what) => [...document.querySelectorAll(`#page ${what}`)];
  const open = all("details").map((one) => one.open), [x, y] = [scrollX, scrollY], at = all("a, button, [tabindex]").indexOf(document.activeElement);
  await show();
  all("details").forEach((one, number) => { if (open[number]) one.open = true; });
  if (at >= 0) (all("a, button, [tabindex]")[at] || document.getElementById("page")).focus({ preventScroll: true });
  scrollTo(x, y);
}
let hasHeader = false;
async function show() {
  const page = document.getElementById("page");
  const [, kind, id, part] = location.pathname.split("/");
  const values = new URLSearchParams(location.search);
  const pages = { "": overview, round, run, pair, host, incident, plan, people, downloads, "what-if": whatIf, "this-computer": thisComputer };
  const asked = () => part === "report" ? report(id) : part === "network" ? network(kind, id) : pages[kind](values, id, part === "why");
  const one = await session;
  if (!hasHeader) await header();
  if (!hasHeader && await isDemonstrated()) document.querySelector("header").after(await banner(one.demonstration));
  hasHeader = true;
  let isComplete = true;
  try {
    const made = one.has_accounts && !one.name ? signIn(one) : await asked();
    document.title = `${made.title} - linerate`;
    page.replaceChildren(h("h1", null, made.title), ...made.parts.flat(Infinity).filter((one) => one instanceof Node));
    if (made.drawn) await made.drawn();
    if (made.live) keep(made.live);
    isComplete = !made.isReading;
  } catch (error) {
    // It is being read, or worked out for others.
    isComplete = error.status !== 503;
    if (!isComplete) setTimeout(again, EVERY_MS);
    page.replaceChildren(h("h1", null, "Nothing to show"), h("p", { class: "problem" }, error.message), h("p", null, error.hint || ""), h("p", null, h("a", { href: "/" }, "All rounds and runs")));
  }
  page.setAttribute("aria-busy", "false");
  if (isComplete) document.documentElement.dataset.ready = "yes";
}
show();
