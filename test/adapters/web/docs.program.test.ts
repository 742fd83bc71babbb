import { beforeAll, describe, expect, it } from "vitest";
import { openApiDocument } from "../../../adapters/http/openapi/openapi-document.js";
import { WAIT_SECONDS_MAX } from "../../../adapters/http/requests/request-headers.js";
import { STREAM_MILLISECONDS_MAX } from "../../../adapters/http/routes/events-route.js";
import type { Description, Schema } from "../../../adapters/web/docs/description.js";
import { LANGUAGES } from "../../../adapters/web/docs/markdown.js";
import { panoramaPolicy } from "../../../domain/panorama-policy.js";
import { ALL_ABILITIES } from "../../../domain/tasks/abilities.js";
import { ready, setUpBrowser } from "../../support/browser.js";
import { codeOnPage, textOf } from "../../support/page-code.js";
import { logIn } from "../../support/visit.js";

const policy = panoramaPolicy({ prices: { "1k": 3, "2k": 17, "4k": 23 }, writesPerMinute: 13, activeMax: 7 });

describe("/docs", () => {
  const { service, openTab } = setUpBrowser({ policy });
  let page: string;
  let description: Description;

  beforeAll(async () => {
    page = await (await fetch(`${service.url}/docs`)).text();
    description = openApiDocument(service.url, policy, ALL_ABILITIES) as unknown as Description;
  });

  /** The part of the page with this id, up to the next one with a heading. */
  const partOf = (id: string): string => {
    const [, part = ""] = new RegExp(`<section class="operation" id="${id}">(.*?)</section>`, "s").exec(page) ?? [];
    expect(part, id).not.toBe("");
    return textOf(part).replace(/\s+/g, " ");
  };

  it("shows every operation and webhook with its parameters, answers, error codes and headers", () => {
    const operations = Object.values({ ...description.paths, ...description.webhooks }).flatMap((item) =>
      Object.values(item),
    );
    expect(operations.length).toBe(12);
    for (const { operationId, summary, description: text = "", parameters = [], responses } of operations) {
      const part = partOf(operationId);
      expect(part).toContain(summary);
      expect(part).toContain(text);
      for (const { name, description: meaning = "" } of parameters) {
        expect(part).toContain(` ${name} `);
        expect(part).toContain(meaning);
      }
      for (const [status, { description: meaning, headers = {}, content = {} }] of Object.entries(responses)) {
        const codes = Object.values(content).flatMap(({ schema }) => codesOf(schema));
        expect(part).toContain([` ${status}`, ...codes, meaning].join(" "));
        for (const name of Object.keys(headers)) expect(part).toContain(name);
      }
    }
  });

  const resolved = (schema: Schema): Schema =>
    description.components.schemas[schema.$ref?.split("/").at(-1) ?? ""] ?? schema;
  const codesOf = (schema: Schema): readonly unknown[] =>
    resolved(schema).properties?.error?.properties?.code?.enum ?? [];

  it("shows every field of every object, and every error code", () => {
    const { CreationRequest, ...objects } = description.components.schemas;
    const fields = (schema: Schema | undefined) => Object.entries(schema?.properties ?? {});
    for (const [name, field] of fields(CreationRequest)) {
      expect(partOf("createPanorama")).toContain(` ${name} `);
      expect(partOf("createPanorama")).toContain(field.description ?? "");
    }
    const codes = Object.values(objects).flatMap(codesOf);
    expect(new Set(codes).size).toBe(8);
    for (const code of codes) {
      expect(partOf("Error")).toContain(String(code));
      expect(page).toContain(`<td><code>${code}</code></td>`);
    }
    for (const [name, schema] of Object.entries(objects)) {
      if (codesOf(schema).length > 0) continue;
      for (const part of schema.anyOf ?? [schema]) {
        for (const [field, { description: meaning = "" }] of fields(part)) {
          expect(partOf(name)).toContain(` ${field} `);
          expect(partOf(name)).toContain(meaning);
        }
      }
    }
  });

  it("names the prices and limits of the policy", () => {
    const text = textOf(page).replace(/\s+/g, " ");
    expect(text).toContain("It costs 3 (1k), 17 (2k) or 23 (4k) credits.");
    expect(text).toContain("13 writes and 60 reads; refused ones count too");
    expect(text).toContain("tasks of an account in processing 7 ");
    expect(text).toContain('RateLimit: "write";r=12;t=60 means 12 more writes');
    expect(text).toContain(`With Prefer: wait=${WAIT_SECONDS_MAX} the answer comes`);
    expect(STREAM_MILLISECONDS_MAX).toBe(900_000);
    expect(text).not.toContain("{{");
  });

  it("shows an example in each language for every operation", () => {
    // Those of the guides: one for each of six calls, and two programs, which curl does not have.
    for (const name of Object.keys(LANGUAGES)) {
      expect([name, codeOnPage(page, name).length]).toEqual([name, name === "bash" ? 17 : 19]);
    }
  });

  it("links only to parts that exist, each with an id of its own, with headings in order", () => {
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(ids.length).toBe(new Set(ids).size);
    for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target);
    const levels = [...page.matchAll(/<h(\d)/g)].map(([, level]) => Number(level));
    expect(levels.filter((level, index) => level > (levels[index - 1] ?? 0) + 1)).toEqual([]);
    expect(levels.filter((level) => level === 1).length).toBe(1);
  });

  it("leads to a key, and does not show one", async () => {
    expect(page).toContain('<a href="/signup">Sign up</a> or <a href="/login?next=%2Fdocs">log in</a> to get one.');
    const ann = await service.person("ann");
    const shown = await (await logIn(service, ann)).read("/docs");
    expect(textOf(shown)).toContain("The examples read your key from");
    expect(shown).toContain('<a href="/account/keys">your keys</a>');
    expect(shown).not.toContain(ann.key);
  });

  it("fits into a phone and a tablet, also with everything open, with and without scripts", async () => {
    for (const [width, javaScriptEnabled] of [
      [390, true],
      [390, false],
      [820, true],
    ] as const) {
      const tab = await openTab({ viewport: { width, height: 844 }, javaScriptEnabled });
      await tab.page.goto("/docs");
      if (javaScriptEnabled) {
        await ready(tab.page, "docs");
        await tab.page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true");
      } else {
        await tab.page.locator("details.contents summary").click();
        await tab.page.locator("#createPanorama summary").first().click();
      }
      expect(await tab.page.evaluate("document.documentElement.scrollWidth")).toBe(width);
      // On a phone, the button is over no code.
      const covered = `[...document.querySelectorAll(".code:has(.copy)")].filter((block) => block.checkVisibility() &&
        block.querySelector(".copy").getBoundingClientRect().bottom > block.querySelector("code").getClientRects()[0].top).length`;
      if (width === 390) expect(await tab.page.evaluate(covered)).toBe(0);
      // Every table is seen whole.
      const cut =
        "[...document.querySelectorAll('.docs table')].filter((part) => part.scrollWidth > part.clientWidth).length";
      expect([width, await tab.page.evaluate(cut)]).toEqual([width, 0]);
    }
  });

  it("switches the language of an example without scripts", async () => {
    const tab = await openTab({ javaScriptEnabled: false });
    await tab.page.goto("/docs#createPanorama");
    const example = tab.page.locator("#createPanorama .example");
    expect(await example.locator("pre").filter({ visible: true }).innerText()).toMatch(/^curl -sS /);
    await example.getByLabel("Python", { exact: true }).check();
    expect(await example.locator("pre").filter({ visible: true }).innerText()).toMatch(/^import os\nimport requests/);
  });

  it("remembers the language for all examples, copies code, and marks the part that is read", async () => {
    const tab = await openTab({ permissions: ["clipboard-read", "clipboard-write"] });
    const { page: shown } = tab;
    await shown.goto("/docs");
    await ready(shown, "docs");
    await shown.getByRole("radio", { name: "curl" }).first().focus();
    await shown.keyboard.press("ArrowRight");
    const credits = shown.locator("#readCredits .example");
    expect(await credits.getByRole("radio", { name: "JavaScript" }).isChecked()).toBe(true);
    await shown.reload();
    await ready(shown, "docs");
    expect(await credits.getByRole("radio", { name: "JavaScript" }).isChecked()).toBe(true);

    const copy = credits.getByRole("button", { name: "Copy: Read the balance, JavaScript" });
    const [button, code] = [await copy.boundingBox(), await credits.locator("pre:visible").boundingBox()];
    expect(button!.y + button!.height).toBeLessThanOrEqual(code!.y); // it covers no code
    await copy.click();
    const copied = await shown.evaluate("navigator.clipboard.readText()");
    expect(copied).toBe(codeOnPage(page, "javascript").find((code) => code.includes('/credits"')));

    await shown.getByRole("navigation", { name: "Contents" }).getByRole("link", { name: "Idempotency" }).click();
    await expect.poll(() => shown.locator("nav.contents a[aria-current]").allInnerTexts()).toEqual(["Idempotency"]);
    expect(new URL(shown.url()).hash).toBe("#idempotency");
  });
});
