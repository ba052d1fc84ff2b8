// Elements of a picture. Text goes in as text, as in dom.js.
export function s(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) if (value !== undefined && value !== null && value !== false) element.setAttribute(name, value);
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}
export const cut = (text, most) => text.length > most ? `${text.slice(0, most - 1)}\u2026` : text;
