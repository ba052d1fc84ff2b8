import { h, json, address, host, table, right } from "/assets/dom.js";
import { rate, percent } from "/assets/units.js";
import { s, cut } from "/assets/svg.js";
const KNOWN = { declared: "declared in the plan", hops: "seen in hops", depends_on: "the host runs on it", unknown: "not declared" };
const WORDS = { host: "host", router: "router", hosts: "hosts", unknown: "network of which no link is known" };
const ends = (data, link) => link.between.map((at) => data.nodes[at].label);
const suspicion = (data, link) => !link.is_suspect ? "" : link.suspect_towards === undefined ? "suspect" : `suspect towards ${data.nodes[link.suspect_towards].label}`;
function picture(data) {
  const narrow = window.innerWidth < 700, step = narrow ? 176 : 218, width = narrow ? 112 : 146, tall = 40, rowStep = 62, letters = narrow ? 14 : 19;
  const at = (node) => ({ x: 10 + node.column * step, y: 24 + node.row * rowStep });
  const right = Math.max(...data.nodes.map((node) => at(node).x)) + width + 10, bottom = Math.max(...data.nodes.map((node) => at(node).y)) + tall + 12;
  const links = data.links.map((link) => {
    const [one, other] = link.between.map((number) => data.nodes[number]).sort((a, b) => a.column - b.column);
    const [from, to] = [at(one), at(other)], middle = tall / 2, same = one.column === other.column;
    const x1 = from.x + width, y1 = from.y + middle, x2 = same ? to.x + width : to.x, y2 = to.y + middle, bend = same ? 26 : 0;
    const towards = link.suspect_towards === undefined ? null : data.nodes[link.suspect_towards] === other ? "end" : "start";
    const text = [link.rate_bps ? rate(link.rate_bps) : "", link.is_suspect ? "!" : ""].filter(Boolean).join(" ");
    return s("g", { class: `link ${link.kind}${link.is_suspect ? " suspect" : ""}` }, s("title", null, [link.name, ends(data, link).join(" to "), link.rate_bps ? rate(link.rate_bps) : "", suspicion(data, link)].filter(Boolean).join(", ")),
      s("path", { d: same ? `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 + bend} ${y2} ${x2} ${y2}` : `M${x1} ${y1}L${x2} ${y2}`, "marker-end": towards === "end" ? "url(#towards)" : null, "marker-start": towards === "start" ? "url(#towards)" : null }),
      text ? s("text", { x: (x1 + x2) / 2 + bend, y: (y1 + y2) / 2 - 6, "text-anchor": "middle" }, text) : null);
  });
  const nodes = data.nodes.map((node) => {
    const { x, y } = at(node), below = [node.role, node.site].filter(Boolean).join(", ");
    const says = [node.label, WORDS[node.kind], below, node.is_suspect ? "suspect" : ""].filter(Boolean).join(", ");
    const shape = [s("title", null, says), s("rect", { x, y, width, height: tall, rx: node.kind === "router" ? 20 : 4 }), s("text", { x: x + width / 2, y: y + (below ? 17 : 25), "text-anchor": "middle" }, cut(node.is_suspect ? `! ${node.label}` : node.label, letters)),
      below ? s("text", { class: "below", x: x + width / 2, y: y + 33, "text-anchor": "middle" }, cut(below, letters + 3)) : null];
    const kind = `node ${node.kind}${node.is_suspect ? " suspect" : ""}`;
    return node.kind === "host" ? s("a", { class: kind, href: address("/host", { name: node.label }), "aria-label": says }, shape) : s("g", { class: kind }, shape);
  });
  const suspects = data.suspects.map((one) => one.place).join("; ");
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `Picture of the network: ${data.nodes.length} nodes, ${data.links.length} links. ${suspects ? `Suspect: ${suspects}.` : "Nothing is suspect."} The tables below say the same.` },
    s("svg", { class: "network", width: right, height: bottom, viewBox: `0 0 ${right} ${bottom}` },
      s("defs", null, s("marker", { id: "towards", viewBox: "0 0 10 10", refX: "9", refY: "5", markerWidth: "4", markerHeight: "4", orient: "auto-start-reverse" }, s("path", { d: "M0 0L10 5L0 10z" }))), links, nodes));
}
export async function network(kind, id) {
  const data = await json(`/view/v1/${kind}/${id}/network`);
  const suspects = data.suspects.map((one) => h("p", { class: "verdict suspected" }, h("strong", null, `! ${one.place}`), ` ${one.why}`, one.probability === undefined ? "" : ` (${percent(one.probability)})`));
  const back = data.incident ? h("a", { href: `/incident/${data.incident}` }, `incident ${data.incident}`) : h("a", { href: `/round/${data.round}/why` }, "why");
  const unknown = data.links.some((link) => link.kind === "unknown");
  const label = (node) => node.kind === "host" ? host(node.label) : node.kind === "hosts" ? h("details", null, h("summary", null, node.label), node.hosts.flatMap((name, at) => [at ? ", " : "", host(name)])) : node.label;
  return { title: `Network: ${data.title || data.round}`, parts: [
    h("p", null, h("a", { href: `/round/${data.round}` }, "grid"), ", ", back), suspects.length ? suspects : h("p", { class: "quiet" }, "Nothing is suspect."), data.nodes.length ? picture(data) : h("p", { class: "quiet" }, "This round has no host."),
    data.left_out ? h("p", { class: "quiet" }, `${data.left_out} more hosts are not drawn.`) : null,
    unknown ? h("p", { class: "quiet" }, "Dashed: no link is known there. Segments of the plan declare links, and a test of kind ", h("code", null, "hops"), " shows routers.") : null,
    h("h2", null, "Links"), data.links.length ? table(["link", "between", "known from", right("rate"), right("tests"), "suspect"], data.links.map((link) => [link.name || "", ends(data, link).join(", "), KNOWN[link.kind], right(link.rate_bps ? rate(link.rate_bps) : ""), right(link.tests || ""), suspicion(data, link)])) : h("p", { class: "quiet" }, "None is known."),
    h("h2", null, "Hosts and routers"), table(["name", "what", "site", "suspect"], data.nodes.map((node) => [label(node), node.role || WORDS[node.kind], node.site || "", node.is_suspect ? "suspect" : ""]))] };
}
