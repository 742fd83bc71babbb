import type { BrowserContextOptions, Locator } from "playwright-core";
import { describe, expect, it } from "vitest";
import { credits } from "../../../domain/credits/credits.js";
import { COARSE, ready, setUpBrowser, type Tab } from "../../support/browser.js";
import { PASSWORD } from "../../support/web-service.js";

const PROMPT = "A harbour at sunset, lanterns on the water";
const WELCOME_CREDITS = 12;
const PRICE_2K = 6;

const SCREENS: Readonly<Record<"desktop" | "phone", BrowserContextOptions>> = {
  desktop: { ...COARSE, viewport: { width: 1440, height: 900 }, colorScheme: "light" },
  phone: { ...COARSE, viewport: { width: 390, height: 844 }, colorScheme: "dark", hasTouch: true, isMobile: true },
};

/** The path of a new visitor through the whole web side, without an address typed or a form filled a second time. */
describe("a walk from the landing page to the gallery", () => {
  const { service, openTab } = setUpBrowser({ welcomeCredits: credits(WELCOME_CREDITS) });

  for (const [screen, options, reducedMotion] of [
    ["desktop", SCREENS.desktop, "no-preference"],
    ["phone", SCREENS.phone, "reduce"],
  ] as const) {
    it(`needs the prompt once, and makes, shares and lists the panorama on a ${screen}`, async () => {
      service.provider.play({ poll: "running", download: "image" });
      const member = watched(await openTab({ ...options, reducedMotion }));
      const { page } = member;
      const press = (control: Locator) => (options.hasTouch === true ? control.tap() : control.click());
      const main = page.getByRole("main");

      await page.goto("/");
      await page.getByLabel("Describe a place").fill(PROMPT);
      await member.expectGoodPage();
      await press(page.getByRole("button", { name: "Create" }));

      await page.waitForURL("**/signup?*");
      expect(await main.locator(".kept").textContent()).toBe(`Almost there: ${PROMPT}`);
      await main.getByLabel("E-mail address").fill(`${screen}@example.com`);
      await main.getByLabel("Password").fill(PASSWORD);
      expect(await main.locator("input:visible").count()).toBe(2);
      await member.expectGoodPage();
      await press(main.getByRole("button", { name: "Sign up" }));

      await page.waitForURL("**/works?*");
      expect(await page.getByLabel("Prompt", { exact: true }).inputValue()).toBe(PROMPT);
      expect(await page.locator("#balance").textContent()).toBe(String(WELCOME_CREDITS));
      expect(await page.locator("#make").textContent()).toBe(`Create · ${PRICE_2K} credits`);
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

      await press(page.getByRole("link", { name: "Account" }));
      await page.waitForURL("**/account");
      expect(await page.locator(".figure").textContent()).toBe(String(WELCOME_CREDITS - PRICE_2K));
      expect(await main.getByRole("row", { name: /2k panorama/ }).textContent()).toContain(`−${PRICE_2K}`);
      await member.expectGoodPage();

      // The last page with a sphere that turns has been left.
      const guest = await seenByGuest(await openTab(options), shared);
      await press(guest.page.getByRole("link", { name: "Gallery" }));
      const tile = guest.page.getByRole("main").getByRole("link", { name: PROMPT }).first();
      expect(new URL((await tile.getAttribute("href")) ?? "", service.url).href).toBe(shared);
      await guest.expectGoodPage();

      expect([...member.problems, ...guest.problems]).toEqual([]);
    });
  }
});

describe("a walk of a member who comes back", () => {
  const { service, openTab } = setUpBrowser();

  it("leads from the landing page over the login to the old prompt, the new panorama and the shared link", async () => {
    const ann = await service.person("ann");
    await service.kept(ann, { prompt: "an older place", visibility: "private" });
    const member = watched(await openTab({ ...SCREENS.desktop, timezoneId: "Pacific/Kiritimati" }));
    const { page } = member;
    const main = page.getByRole("main");
    await page.goto("/");
    await page.getByLabel("Describe a place").fill(PROMPT);
    await page.getByRole("button", { name: "Create" }).click();
    expect(await main.locator(".kept").textContent()).toBe(`Almost there: ${PROMPT}`);
    await main.getByRole("link", { name: "Log in" }).click();
    expect(await main.locator(".kept").textContent()).toBe(`Almost there: ${PROMPT}`);
    await page.getByLabel("E-mail address").fill(ann.email);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/works?prompt=*");
    expect(await page.getByLabel("Prompt", { exact: true }).inputValue()).toBe(PROMPT);
    await member.expectGoodPage();

    await page.getByLabel("Actions: an older place").click();
    await page.getByRole("link", { name: "Remix: an older place" }).click();
    expect(await page.getByLabel("Prompt", { exact: true }).inputValue()).toBe("an older place");
    await page.getByLabel("Prompt", { exact: true }).fill(PROMPT);
    await page.locator("#make").click();
    await page.waitForURL(/\/works\/[\w-]+$/);
    await service.work();
    await ready(page, "sphere");
    // At noon of the first of January for the service, it is the second for the reader.
    await expect.poll(() => page.locator(".caption time").textContent()).toBe("2 Jan 2026");

    await page.getByRole("link", { name: "My panoramas", exact: true }).click();
    const times = () => main.locator(".tile-note time").allTextContents();
    await expect.poll(times).toEqual(["2 Jan 2026", "2 Jan 2026"]);
    await page.getByLabel(`Select: ${PROMPT}`).check();
    await page.getByRole("button", { name: "Publish" }).click();
    await page.getByText("1 panorama published.").waitFor();
    await page.getByRole("main").getByRole("link", { name: PROMPT }).click();
    await ready(page, "sphere");
    expect(new URL(page.url()).pathname).toMatch(/^\/p\/[\w-]+$/);
    await member.expectGoodPage();
    await page.getByRole("button", { name: "Share" }).click();
    const shared = await page.getByRole("dialog").getByLabel("Link", { exact: true }).inputValue();
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Gallery" }).click();
    await expect.poll(times).toEqual(["2 Jan 2026"]);
    expect([...member.problems, ...(await seenByGuest(await openTab(SCREENS.phone), shared)).problems]).toEqual([]);
  });
});

/** Somebody without an account opens the shared link. */
const seenByGuest = async (tab: Tab, shared: string) => {
  const guest = watched(tab);
  await guest.page.goto(shared);
  await ready(guest.page, "sphere");
  expect(await guest.page.getByRole("heading", { level: 1 }).textContent()).toBe(PROMPT);
  expect(await guest.page.getByRole("link", { name: "Log in" }).count()).toBe(1);
  await guest.expectGoodPage();
  return guest;
};

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
