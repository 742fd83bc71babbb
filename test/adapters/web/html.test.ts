import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { html } from "../../../adapters/web/html.js";

describe("the HTML template", () => {
  it("escapes every text, also in an attribute", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const made = html`<p title="${text}">${text}</p>`.text;
        const inner = made.slice('<p title="'.length, -"</p>".length);
        expect(inner.split('">')).toHaveLength(2);
        expect(inner).not.toMatch(/[<']/);
        const back = inner.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => CHARACTERS[entity] ?? entity);
        expect(back).toBe(`${text}">${text}`);
      }),
    );
  });

  it("inserts templates without escaping them, and nothing for undefined and false", () => {
    const items = ["a&b", "c"].map((item) => html`<li>${item}</li>`);
    expect(html`<ul>${items}</ul>${undefined}${false}${0}`.text).toBe("<ul><li>a&amp;b</li><li>c</li></ul>0");
  });
});

const CHARACTERS: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};
