// Series over time, by uPlot, which is loaded where there is something to draw.
import { h } from "/assets/dom.js";
let loading;
function load() {
  const loaded = (tag, attributes) => new Promise((done, failed) => document.head.append(h(tag, { ...attributes, onload: done, onerror: failed })));
  loading ??= Promise.all([loaded("link", { rel: "stylesheet", href: "/assets/vendor/uPlot.min.css" }), loaded("script", { src: "/assets/vendor/uPlot.iife.min.js" })]);
  return loading;
}
// Of Okabe and Ito, for light ground; lighter ones of the same order for dark.
const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"], DARK = ["#56b4e9", "#e69f00", "#2fbf94", "#e69ac5", "#f0e442", "#ff8a5c"];
const COLOURS = matchMedia("(prefers-color-scheme: dark)").matches ? DARK : LIGHT;
// Labels of an axis with as many digits as tell neighbours apart.
export function labels(ticks, format) {
  let found = [];
  for (let more = 0; more < 4 && (!more || new Set(found).size < found.length); more++) found = ticks.map((tick) => format(tick, more));
  return found;
}
// Moments as tables have them: UTC, the day where it begins.
export function moments(ticks) {
  let day = "";
  return ticks.map((tick) => {
    const text = new Date(tick * 1e3).toISOString(), time = ticks.some((one) => one % 60) ? text.slice(11, 19) : text.slice(11, 16);
    const shown = text.slice(0, 10) === day ? time : ticks.every((one) => one % 86400 === 0) ? text.slice(0, 10) : `${time}\n${text.slice(0, 10)}`;
    day = text.slice(0, 10);
    return shown;
  });
}
// `series`: [{label, at, values}]; `format` turns a value into text; `x` says whether times are dates.
export async function plot(into, title, series, format, x) {
  const at = [...new Set(series.flatMap((one) => one.at))].sort((a, b) => a - b);
  const place = new Map(at.map((time, index) => [time, index]));
  const columns = series.map((one) => {
    const column = new Array(at.length).fill(null);
    one.at.forEach((time, index) => { column[place.get(time)] = one.values[index]; });
    return column;
  });
  await load();
  const ink = getComputedStyle(document.body).color;
  const axis = { stroke: ink, grid: { stroke: "#8884", width: 1 } };
  const options = {
    title, width: Math.max(280, into.clientWidth), height: 240, scales: { x: { time: x === "date" } },
    tzDate: (time) => window.uPlot.tzDate(new Date(time * 1e3), "UTC"),
    axes: [x === "date" ? { ...axis, space: 80, values: (_, ticks) => moments(ticks) } : { ...axis, values: (_, ticks) => ticks.map((tick) => String(+tick.toFixed(6))) }, { ...axis, size: 90, values: (_, ticks) => labels(ticks, format) }],
    series: [{ ...(x === "date" ? { label: "time, UTC", value: (_, time) => time === null ? "--" : new Date(time * 1e3).toISOString().replace("T", " ").slice(0, 19) } : { label: "s" }) }, ...series.map((one, index) => ({
      label: one.label, stroke: COLOURS[index % COLOURS.length], width: 1.5, spanGaps: true, dash: index >= 3 ? [6, 4] : undefined,
      points: { show: !!one.dots }, value: (_, value) => value === null ? "" : format(value) }))],
  };
  into.replaceChildren();
  return new window.uPlot(options, [at, ...columns], into);
}
