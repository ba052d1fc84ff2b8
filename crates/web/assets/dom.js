import { when } from "/assets/units.js";
// Elements and data. Text goes in as text, never as markup: names of hosts are a stranger's.
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}
export async function json(path, options) {
  const response = await fetch(path, options);
  const body = await response.json().catch(() => ({ error: "the answer is no JSON" }));
  if (!response.ok) throw Object.assign(new Error(body.error || `status ${response.status}`), { hint: body.hint, status: response.status });
  return body;
}
export const address = (path, values) => `${path}?${new URLSearchParams(values)}`;
export const pair = (from, to) => h("a", { href: address("/pair", { from, to }) }, `${from} to ${to}`);
export const host = (name) => h("a", { href: address("/host", { name }) }, name);
// Date and time of day, between which alone a line may break.
export function moment(ns) {
  const [day, ...time] = when(ns).split(" ");
  return h("time", null, h("span", null, day), " ", h("span", null, time.join(" ")));
}
export function table(heads, rows) {
  const cell = (tag, value) => value && value.right !== undefined ? h(tag, { class: "n" }, value.right) : h(tag, null, value ?? "");
  return h("div", { class: "scroll", tabindex: "0" }, h("table", null,
    h("thead", null, h("tr", null, heads.map((head) => cell(head === "" ? "td" : "th", head)))),
    h("tbody", null, rows.map((row) => h("tr", null, row.map((value) => cell("td", value)))))));
}
export const right = (value) => ({ right: value });
