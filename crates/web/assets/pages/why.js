import { h } from "/assets/dom.js";
import { percent, rate } from "/assets/units.js";
const place = (where) => where.kind === "path" ? `between ${where.from} and ${where.to}` : where.towards ? `at ${where.name} towards ${where.towards}` : `at ${where.name}`;
const counted = (count, one) => `${count} ${one}${count === 1 ? "" : "s"}`;
const list = (title, lines, level = "h3") => lines.length ? [h(level, null, title), h("ul", null, lines.map((line) => h("li", null, line)))] : [];
// What guests carry is not seen from the machine they run on, as `linerate why` has it too.
const ROLES = { "receive-offload-overlay": " --role vm-host,overlay-node" };
export function why(data) {
  const problems = data.problems.map((problem) => h("section", null, h("h2", null, `Explains ${counted(problem.explains.length, "test")}`), h("ol", null, problem.ranking.filter((ranked, at) => !at || ranked.probability >= .001).map((ranked, at) => h("li", null,
    h("strong", null, `${percent(ranked.probability)}  ${ranked.cause}`), ranked.places.length ? ` ${place(ranked.places[0].place)}` : "", h("div", null, ranked.title),
    h("details", { open: !at && ranked.probability >= .5 }, h("summary", null, "evidence, fix, next test"), list("For", ranked.speaks_for), list("Against", ranked.speaks_against), list("Remedy", [ranked.remedy]),
      ranked.fix.length ? [h("h3", null, "Fix"), ranked.fix.map((rule) => h("p", null, h("code", null, `linerate host fix ${rule}${ROLES[ranked.cause] || ""}`)))] : null, list("Next test", [ranked.test]), list("Verify", [ranked.verify])))),
    h("li", null, `${percent(problem.unknown)}  something else`))));
  return [h("p", { class: "verdict" }, data.verdict), problems,
    h("details", null, h("summary", null, counted(data.symptoms.length, "affected flow")), h("ul", null, data.symptoms.map((one) => h("li", null, `${one.from} to ${one.to}: ${one.says}`)))),
    data.not_judged && data.not_judged.length ? h("details", null, h("summary", null, `${counted(data.not_judged.length, "flow")} not judged`), h("ul", null, data.not_judged.map((one) => h("li", null, `${one.from} to ${one.to}, ${rate(one.goodput_bps)}: ${one.reason}`)))) : null,
    list("Notes", data.notes || [], "h2")];
}
