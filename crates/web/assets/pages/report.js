import { h, json } from "/assets/dom.js";
import { form, may, post } from "/assets/session.js";
// Marks say which sections grow with the record; who only reads needs none.
const read = (text) => text.replace(/<!--[^]*?-->\n?/g, "").replace(/\n{3,}/g, "\n\n");
// The post-mortem: filled from the record, and what people write in it stays.
export async function report(id) {
  const data = await json(`/view/v1/incident/${id}/report`);
  const links = h("p", null, h("a", { href: `/incident/${id}` }, "The incident"), ", ", h("a", { href: `/incident/${id}/report.html` }, "to read, with pictures, and to print"), ", ", h("a", { href: `/incident/${id}/report.md`, download: `${id}.md` }, "as Markdown"));
  const kept = data.kept.length ? h("p", { class: "quiet" }, `As people have edited them: ${data.kept.join(", ")}. All other sections grow with the record.`) : h("p", { class: "quiet" }, "All sections grow with the record; one that somebody edits stays as it was edited.");
  if (!(await may("operator"))) return { title: data.title, parts: [links, kept, h("pre", { class: "text", tabindex: "0" }, read(data.text))] };
  const text = h("textarea", { name: "text", rows: "40" }, data.text);
  return { title: data.title, parts: [links, kept, form({ class: "stack" }, [h("label", null, "Markdown", text), h("div", { class: "row" }, h("button", null, "Save"))], async (values) => {
    text.value = (await post("/api/v1/report", { id, text: values.text })).text;
    return "Saved.";
  })] };
}
