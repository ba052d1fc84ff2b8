import { h, host, table, right } from "/assets/dom.js";
import { rate, span } from "/assets/units.js";
const STATE = { running: "running", waiting: "next", ended: "done" };
// How far a round is that is measured now, in a line.
export function bar(one) {
  const left = one.tests - one.ended - one.running;
  const words = [`${one.ended} of ${one.tests} tests done`, one.failed ? `${one.failed} of these without a result` : "", one.is_led ? `${one.running} running` : "", `${left} left`];
  return [h("p", null, words.filter(Boolean).join(", "), " ", h("progress", { max: one.tests || 1, value: one.ended, "aria-label": "tests done" })),
    one.is_led ? null : h("p", { class: "problem" }, "Interrupted: nobody leads this round any more. The next ", h("code", null, "linerate round PLAN"), " keeps what was measured, and goes on with it by ", h("code", null, "--resume"), ".")];
}
const found = (one) => one.failure ? one.failure : one.goodput_bps !== undefined ? rate(one.goodput_bps) : one.rtt_min_us !== undefined ? `${span(one.rtt_min_us)} RTT` : "";
// The tests of such a round: those that run, the next ones, the latest that are done.
export const rows = (progress) => table(["", right("began"), "test", "from", "to", "result"], progress.rows.map((one) =>
  [STATE[one.state], right(one.began_us === undefined ? "" : span(one.began_us)), one.test, host(one.from), host(one.to), found(one)]));
