import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Html, html, said, Words, words } from "../../../../adapters/web/html.js";
import type { Language } from "../../../../adapters/web/languages/language.js";
import { translateHtml } from "../../../../adapters/web/languages/translate-template.js";

const languageWith = (messages: Readonly<Record<string, string>>): Language => ({
  code: "xx",
  name: "Test",
  locale: "de-DE",
  messages: new Map(Object.entries(messages)),
});
const NONE = languageWith({});

const messagesIn = ({ raw: _, ...parts }: TemplateStringsArray): readonly string[] => {
  const messages: string[] = [];
  translateHtml(Object.values(parts) as string[], (message) => {
    messages.push(message);
    return undefined;
  });
  return messages;
};
const messagesOf = (parts: TemplateStringsArray, ..._values: readonly unknown[]) => messagesIn(parts);

/** Pieces of templates: blocks, inline elements, attributes and text. */
const PIECES = [
  "<p>",
  "</p>",
  '<a href="',
  '">',
  "</a>",
  "<br>",
  "Words ",
  "{",
  ' title="A ',
  '"',
  "<code>",
  "</code>",
];
const templates = fc.array(
  fc.array(fc.constantFrom(...PIECES)).map((parts) => parts.join("")),
  { minLength: 1 },
);
const templateOf = (parts: readonly string[]) => Object.assign([...parts], { raw: parts }) as TemplateStringsArray;

describe("the HTML template in another language", () => {
  it("cuts messages at blocks, and has inline tags without their attributes in them", () => {
    expect(messagesOf`<h1>Works</h1><p class="x">You have ${1} credits. <a href="${"/"}">Buy <b>some</b></a> or
<a href="/login">log in</a><br>now.</p><label>Name <input placeholder="my program"></label>`).toEqual([
      "Works",
      "You have {0} credits. <a>Buy <b>some</b></a> or <a2>log in</a2><br>now.",
      "Name",
      "my program",
    ]);
  });

  it("takes a row of elements for messages of their own, and leaves out what is no text for people", () => {
    expect(messagesOf`<nav><a href="/a">One</a> <a href="/b" aria-label="Go to ${"x"}">Two</a> · ${"y"}</nav>
<pre>curl ${1} -x</pre><code>name</code><script>const a = 1</script><input placeholder="https://" value="no">`).toEqual(
      ["One", "Go to {0}", "Two"],
    );
    expect(messagesOf` class="${"x"}" checked`).toEqual([]);
  });

  it("puts values and tags where the translation has them", () => {
    const german = languageWith({
      "You have {0} of {1}. <a>Buy <b>some</b></a>": "<a><b>Mehr</b> & mehr</a>: von {1} haben Sie {0}.",
      "Delete {0}": "{0} löschen",
    });
    const made = html`<p>You have ${1} of ${"<2>"}. <a href="/${"x"}" title="Delete ${'"y"'}">Buy <b>some</b></a></p>`;
    expect(made.in(german)).toBe(
      '<p><a href="/x" title="&quot;y&quot; löschen"><b>Mehr</b> &amp; mehr</a>: von &lt;2&gt; haben Sie 1.</p>',
    );
    expect(made.text).toBe(
      '<p>You have 1 of &lt;2&gt;. <a href="/x" title="Delete &quot;y&quot;">Buy <b>some</b></a></p>',
    );
  });

  it("cannot bring HTML with a translation", () => {
    const hostile = languageWith({ Name: '<script>"x"</script>{7}', Title: '" onclick="x' });
    expect(html`<p title="Title">Name</p>`.in(hostile)).toBe(
      '<p title="&quot; onclick=&quot;x">&lt;script&gt;&quot;x&quot;&lt;/script&gt;{7}</p>',
    );
  });

  it("is the same as in English where nothing is translated, whatever the template", () => {
    fc.assert(
      fc.property(templates, fc.array(fc.string()), (parts, texts) => {
        const made = new Html(
          templateOf(parts),
          parts.slice(1).map((_, index) => texts[index] ?? ""),
        );
        expect(made.in(NONE)).toBe(made.text);
        const joined = parts.map((part, index) => (index === 0 ? part : html`${texts[index - 1] ?? ""}`.text + part));
        expect(made.text).toBe(joined.join(""));
      }),
    );
  });

  it("inserts every value once and escaped, whatever the template, if the translation has all placeholders", () => {
    fc.assert(
      fc.property(templates, (parts) => {
        const values = parts.slice(1).map((_, index) => `<${index}>`);
        const reversed: Language = { ...NONE, messages: { get: backwards } as unknown as Language["messages"] };
        const made = new Html(templateOf(parts), values).in(reversed);
        expect([...made.matchAll(/&lt;(\d+)&gt;/g)].map(([, index]) => Number(index)).sort((a, b) => a - b)).toEqual(
          values.map((_, index) => index),
        );
      }),
    );
  });
});

/** A translation with the same placeholders and tags, and other words. */
const backwards = (message: string): string => message.replace(/[A-Z][a-z]+/g, "Andere Worte");

describe("words", () => {
  it("are plain text in each language, escaped only in a page", () => {
    const german = languageWith({ "Delete {0}?": "{0} & löschen?", "{0} panoramas": "{0} Panoramen" });
    const what = words`${3} panoramas`;
    expect(words`Delete ${what}?`.in(german)).toBe("3 Panoramen & löschen?");
    expect(`${words`Delete ${what}?`}`).toBe("Delete 3 panoramas?");
    expect(html`<p title="${words`Delete ${what}?`}"></p>`.in(german)).toBe(
      '<p title="3 Panoramen &amp; löschen?"></p>',
    );
    expect(html`${new Words(({ locale }) => (1234.5).toLocaleString(locale))}`.in(german)).toBe("1.234,5");
  });

  it("of another place keep their numbers, quoted values and the value that is named", () => {
    const german = languageWith({
      "has {0} of {1}, but is {2}.": "{2} statt {1}, {0}.",
      "Hidden: {0}": "Verborgen: {0}",
    });
    expect(said('has 1,000 of 2, but is "a \\" 3".').in(german)).toBe('"a \\" 3" statt 2, 1,000.');
    expect(said("Hidden: 7 complaints", "7 complaints").in(german)).toBe("Verborgen: 7 complaints");
    expect(said("Not known").in(german)).toBe("Not known");
  });
});
