// Numbers for people: M is 10^6.
// `more` digits than three, where neighbours on an axis would look alike.
function digits(value, more = 0) {
  return value.toFixed((value >= 100 ? 0 : value >= 10 ? 1 : 2) + more);
}
export function rate(bps, more) {
  if (bps === null || bps === undefined || Number.isNaN(bps)) return "unknown";
  for (const [size, unit] of [[1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"]]) if (bps >= size) return `${digits(bps / size, more)} ${unit}`;
  return `${Math.round(bps)} bit/s`;
}
export function span(us, more) {
  if (us === null || us === undefined) return "unknown";
  return us >= 7.2e9 ? `${digits(us / 3.6e9, more)} h` : us >= 1e6 ? `${digits(us / 1e6, more)} s` : us >= 1e3 ? `${digits(us / 1e3, more)} ms` : `${Math.round(us)} µs`;
}
export function bytes(count, more) {
  for (const [size, unit] of [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]]) if (count >= size) return `${digits(count / size, more)} ${unit}`;
  return `${Math.round(count)} B`;
}
export const percent = (part) => `${(part * 100).toFixed(part > 0 && part < 0.001 ? 3 : 1)} %`;
export const when = (ns) => new Date(Number(ns) / 1e6).toISOString().replace("T", " ").slice(0, 19) + " UTC";
export function shown(value, unit, more) {
  if (value === null || value === undefined || Number.isNaN(value)) return "no value";
  return unit === "bps" ? rate(value, more) : unit === "us" ? span(value, more) : unit === "part" ? percent(value) : String(value);
}
