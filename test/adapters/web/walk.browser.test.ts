import type { BrowserContextOptions, Locator } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { credits } from "../../../domain/credits/credits.js";
import { ready, setUpBrowser, type Tab } from "../../support/browser.js";
import { PASSWORD, type WebService } from "../../support/web-service.js";

const PROMPT = "A harbour at sunset, lanterns on the water";
const WELCOME_CREDITS = 12;
const PRICE_2K = 6;

const SCREENS: Readonly<Record<"desktop" | "phone", BrowserContextOptions>> = {
  desktop: { viewport: { width: 1440, height: 900 }, colorScheme: "light", reducedMotion: "no-preference" },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: "dark", hasTouch: true, isMobile: true },
};

/** The path of a new visitor through the whole web side, without an address typed or a form filled a second time. */
describe("a walk from the landing page to the gallery", () => {
  const on = setUpBrowser({ welcomeCredits: credits(WELCOME_CREDITS) });
  let service: WebService;

  beforeAll(() => {
    ({ service } = on);
  });

  for (const [screen, options] of Object.entries(SCREENS)) {
    it(`needs the prompt once, and makes, shares and lists the panorama on a ${screen}`, async () => {
      service.provider.play({ poll: "running", download: "image" });
      const member = watched(await on.openTab(options));
      const { page } = member;
      const press = (control: Locator) => (options.hasTouch === true ? control.tap() : control.click());
      const main = page.getByRole("main");

      await page.goto("/");
      await page.getByLabel("Describe a place").fill(PROMPT);
      await member.expectGoodPage();
      await press(page.getByRole("button", { name: "Make it" }));

      await page.waitForURL("**/signup?*");
      await main.getByLabel("E-mail address").fill(`${screen}@example.com`);
      await main.getByLabel("Password").fill(PASSWORD);
      expect(await main.locator("input:visible").count()).toBe(2);
      await member.expectGoodPage();
      await press(main.getByRole("button", { name: "Sign up" }));

      await page.waitForURL("**/works?*");
      expect(await page.getByLabel("Prompt").inputValue()).toBe(PROMPT);
      expect(await page.locator("#balance").textContent()).toBe(String(WELCOME_CREDITS));
      expect(await page.locator("#make").textContent()).toBe(`Make it · ${PRICE_2K} credits`);
      await press(page.locator("label").filter({ hasText: "Public" }));
      await member.expectGoodPage();
      await press(page.locator("#make"));

      await page.waitForURL(/\/works\/[\w-]+$/);
      expect(await main.getByRole("heading", { level: 1 }).textContent()).toBe(PROMPT);
      expect(await main.locator("input:visible, textarea:visible").count()).toBe(0);
      await member.expectGoodPage();
      service.provider.play({ poll: "succeeded", download: "image" });
      await service.work();

      await ready(page, "sphere");
      await press(page.getByRole("button", { name: "Share" }));
      const shared = await page.getByRole("dialog").getByLabel("Link", { exact: true }).inputValue();
      expect(shared).toMatch(new RegExp(`^${service.url}/p/[\\w-]+$`));
      await member.expectGoodPage();
      await press(page.getByRole("dialog").getByRole("button", { name: "Close" }));

      const guest = watched(await on.openTab({ ...options, reducedMotion: "reduce" }));
      await guest.page.goto(shared);
      await ready(guest.page, "sphere");
      expect(await guest.page.getByRole("heading", { level: 1 }).textContent()).toBe(PROMPT);
      await guest.expectGoodPage();
      await press(guest.page.getByRole("link", { name: "Gallery" }));
      const tile = guest.page.getByRole("main").getByRole("link", { name: PROMPT }).first();
      expect(new URL((await tile.getAttribute("href")) ?? "", service.url).href).toBe(shared);
      await guest.expectGoodPage();

      await press(page.getByRole("link", { name: "Account" }));
      await page.waitForURL("**/account");
      expect(await page.locator(".figure").textContent()).toBe(String(WELCOME_CREDITS - PRICE_2K));
      expect(await main.getByRole("row", { name: /2k panorama/ }).textContent()).toContain(`−${PRICE_2K}`);
      await member.expectGoodPage();

      expect([...member.problems, ...guest.problems]).toEqual([]);
    });
  }
});

/** A tab that also notes refused requests, and says whether the page at hand fits its window. */
const watched = (tab: Tab) => {
  const problems: string[] = [];
  tab.page.on("response", (response) => {
    if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`);
  });
  return {
    page: tab.page,
    get problems() {
      return [...tab.problems, ...problems];
    },
    expectGoodPage: async () => {
      const { pathname } = new URL(tab.page.url());
      const width = await tab.page.evaluate("document.documentElement.scrollWidth");
      expect([pathname, width]).toEqual([pathname, tab.page.viewportSize()?.width]);
      expect(await tab.page.title()).toMatch(/ · Panorama$/);
    },
  };
};
