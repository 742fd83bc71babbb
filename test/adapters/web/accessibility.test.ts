import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sendPasswordLink } from "../../../application/accounts/send-password-link.js";
import { logInAs, openTab, ready, type Tab } from "../../support/browser.js";
import { startChromium } from "../../support/chromium.js";
import { type Person, WebService } from "../../support/web-service.js";

type Finding = { readonly id: string; readonly impact: string; readonly nodes: readonly { readonly html: string }[] };

const axeFile = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

describe("accessibility of the web pages", () => {
  let service: WebService;
  let browser: Browser;
  let ann: Person;
  let axe: string;

  beforeAll(async () => {
    [service, browser, axe] = await Promise.all([WebService.start(), startChromium(), readFile(axeFile, "utf8")]);
    ann = await service.person("ann", 1000);
    await service.kept(ann, { prompt: "a public place" });
    await service.kept(ann, { prompt: "a private place", visibility: "private" });
    service.provider.play({ poll: "failed" });
    await service.panorama(ann, { prompt: "a failed one" });
    service.provider.play({ poll: "running" });
    await service.panorama(ann, { prompt: "an unfinished one" });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.end();
  });

  /** Serious and critical findings by the rules of axe (WCAG 2.2 AA). */
  const findings = async ({ page }: Tab) => {
    await page.evaluate(axe);
    const found = (await page.evaluate("axe.run().then(({ violations }) => violations)")) as Finding[];
    return found
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  };

  for (const colorScheme of ["light", "dark"] as const) {
    it(`has no serious findings on any page in ${colorScheme} colours`, async () => {
      const tab = await openTab(browser, service, { colorScheme });
      const { page } = tab;
      const slug = (await service.tasks.listPublic(1, undefined))[0]?.slug;
      const check = async (path: string, wait?: string) => {
        await page.goto(path);
        if (wait !== undefined) await ready(page, wait);
        expect([path, await findings(tab)]).toEqual([path, []]);
      };
      for (const path of [
        "/",
        "/gallery",
        "/login?new=1",
        "/login?ended=1&next=%2Fworks%3Fprompt%3Da+lake",
        "/signup",
        "/p/abcdefghijklmnop",
      ])
        await check(path);
      for (const path of ["/signup?sent=1", "/password/forgot?sent=1", "/password/reset"]) await check(path);
      await sendPasswordLink(service)({ email: ann.email, remoteAddress: colorScheme, purpose: "new_password" });
      await check(`/password/reset?token=${service.mail.letters.at(-1)?.token}`);
      await check(`/p/${slug}`, "sphere");
      await page.getByRole("button", { name: "Download" }).click();
      expect(await findings(tab)).toEqual([]);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Share" }).click();
      expect(await findings(tab)).toEqual([]);
      await check(`/p/${slug}?embed=1`, "sphere");
      await logInAs(tab, ann);
      for (const { task } of service.database.tasks.values())
        if (task.state !== "succeeded") await check(`/works/${task.slug}`);
      await check("/works");
      await page.getByText("Pictures to start from").click();
      expect(await findings(tab)).toEqual([]);
      await check("/account");
      await check("/account/webhooks");
      await check("/docs", "docs");
      await check("/mcp");
      await tab.close();
      expect(tab.problems).toEqual([]);
    });
  }

  it("has no serious findings on the landing page while its panorama turns", async () => {
    const tab = await openTab(browser, service, { reducedMotion: "no-preference" });
    await tab.page.goto("/");
    await tab.page.getByRole("button", { name: "Pause the rotation" }).click();
    expect(await findings(tab)).toEqual([]);
    await tab.close();
    expect(tab.problems).toEqual([]);
  });

  it("has a plain background behind all text over pictures in forced colours", async () => {
    const tab = await openTab(browser, service, { forcedColors: "active" });
    await tab.page.goto("/");
    const over = [
      ".brand",
      "header nav",
      "h1",
      ".hero-lead",
      ".hero-form",
      ".hero-examples a",
      ".hero-note",
      ".tile-text",
    ];
    for (const selector of over) {
      const background = `getComputedStyle(document.querySelector("${selector}")).backgroundColor`;
      expect([selector, await tab.page.evaluate(background)]).toEqual([selector, "rgb(255, 255, 255)"]);
    }
    await tab.close();
    expect(tab.problems).toEqual([]);
  });

  it("includes keyboard operation with a visible focus", async () => {
    const tab = await openTab(browser, service);
    const { page } = tab;
    await page.goto("/login");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to the content");
    await page.getByLabel("E-mail address").focus();
    await page.keyboard.type(ann.email);
    await page.keyboard.press("Tab");
    await page.keyboard.type("correct horse battery");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/works");
    await page.getByRole("radio", { name: /2K/ }).focus();
    await page.keyboard.press("ArrowRight");
    expect(await page.getByRole("radio", { name: /4K/ }).isChecked()).toBe(true);
    expect(await page.evaluate("getComputedStyle(document.activeElement.nextElementSibling).outlineStyle")).toBe(
      "solid",
    );
    await tab.close();
  });
});
