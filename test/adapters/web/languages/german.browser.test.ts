import type { BrowserContextOptions, Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { logInAs, ready, setUpBrowser, type Tab } from "../../../support/browser.js";
import { PASSWORD, type Person, type WebService } from "../../../support/web-service.js";

const DESKTOP = { viewport: { width: 1440, height: 900 }, locale: "de-DE" };
const PHONE = { viewport: { width: 360, height: 740 }, locale: "de-AT", hasTouch: true, isMobile: true };
const SMALL_PHONE = { width: 320, height: 640 };

/** German is longer than English. */
describe("a walk through the pages in German", () => {
  const on = setUpBrowser();
  let service: WebService;
  let ada: Person;
  let slug: string;
  beforeAll(async () => {
    ({ service } = on);
    ada = await service.person("ada", 4_000);
    ({ slug } = await service.kept(ada, { prompt: "Ein Hafen im Abendlicht mit Laternen über dem Wasser" }));
    await service.kept(ada, {
      prompt: "Wald",
      visibility: "private",
      webhook_url: "https://receiver.example.com/hook",
    });
    service.provider.play({ poll: "failed" });
    await service.panorama(ada, { prompt: "Ein Schloss, das nicht gelungen ist, über dem Nebel eines weiten Tals" });
  });

  it.each<[string, BrowserContextOptions, { width: number; height: number }[]]>([
    ["desktop", DESKTOP, [DESKTOP.viewport]],
    ["phone, also a small one", PHONE, [PHONE.viewport, SMALL_PHONE]],
  ])("cuts no text on a %s", async (_screen, options, sizes) => {
    const tab = await on.openTab(options);
    for (const path of ["/", "/gallery", `/p/${slug}`, `/p/${slug}/report`, "/signup", "/login", "/mcp", "/nothing"])
      await expectNothingCut(tab, path, sizes);
    await logInAs(tab, ada);
    for (const path of ["/works", "/account", "/account/keys", "/account/webhooks", "/account/settings", "/provenance"])
      await expectNothingCut(tab, path, sizes);
  });

  it("speaks German in scripts, too, and returns to English in the footer without them", async () => {
    const { page } = await on.openTab({ ...DESKTOP, deviceScaleFactor: 0.5 });
    await page.goto(`/p/${slug}`);
    await ready(page, "sphere");
    await page.getByRole("button", { name: "Drehen", exact: true }).click();
    await page.getByRole("button", { name: "Drehung anhalten" }).click();

    const plain = await on.openTab({ ...DESKTOP, javaScriptEnabled: false });
    await plain.page.goto("/gallery?sort=oldest");
    expect(await plain.page.locator("h1").textContent()).toBe("Galerie");
    await plain.page.getByRole("button", { name: "English" }).click();
    expect(new URL(plain.page.url()).search).toBe("?sort=oldest");
    expect(await plain.page.locator("h1").textContent()).toBe("Gallery");
    expect(await plain.page.locator("html").getAttribute("lang")).toBe("en");
  });

  it("changes to English and back with the keyboard alone, on the same page, and then its colours", async () => {
    const { page } = await on.openTab({ ...DESKTOP, colorScheme: "light" });
    await page.goto("/provenance?sha256=none");
    const focused = () => page.evaluate<string>("document.activeElement.innerText ?? ''");
    const chooseWithKeys = async (name: string) => {
      for (let presses = 0; presses < 40 && (await focused()) !== name; presses += 1) await page.keyboard.press("Tab");
      expect(await focused()).toBe(name);
      expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
      await page.keyboard.press("Enter");
      await page.waitForLoadState();
    };
    await chooseWithKeys("English");
    await page.locator("html[lang=en]").waitFor();
    expect(new URL(page.url()).search).toBe("?sha256=none");
    await chooseWithKeys("Deutsch");
    await page.locator("html[lang=de]").waitFor();
    await page.getByRole("button", { name: "English" }).focus();
    await page.keyboard.press("Tab");
    await page.keyboard.type("Dunkel");
    expect(await page.getByLabel("Farben").inputValue()).toBe("dark");
  });

  it("shows dates in German, in the reader's zone", async () => {
    const tab = await on.openTab({ ...DESKTOP, locale: "de-CH", timezoneId: "Europe/Berlin" });
    await logIn(tab, ada);
    await tab.page.goto("/account");
    const times = await tab.page.locator("#ledger ~ .table time").allTextContents();
    expect(times[0]).toMatch(/^\d+\. \S+ \d{4}.*\d\d:\d\d M/);
  });
});

const logIn = async ({ page }: Tab, { email }: Person): Promise<void> => {
  await page.goto("/login");
  await page.getByLabel("E-Mail-Adresse").fill(email);
  await page.getByLabel("Passwort").fill(PASSWORD);
  await page.getByRole("main").getByRole("button", { name: "Anmelden" }).click();
  await page.waitForURL("**/works");
};

const expectNothingCut = async (
  { page }: Tab,
  path: string,
  sizes: readonly { width: number; height: number }[],
): Promise<void> => {
  await page.goto(path);
  expect(await page.locator("html").getAttribute("lang")).toBe("de");
  for (const size of sizes) {
    await page.setViewportSize(size);
    const what = [path, size.width];
    expect([what, await cutTexts(page)]).toEqual([what, []]);
    expect([what, await coveredTiles(page)]).toEqual([what, 0]);
    const width = await page.evaluate("document.documentElement.scrollWidth");
    expect([path, width]).toEqual(what);
    const [mark, menu] = [page.locator(".brand svg"), page.getByRole("banner").getByRole("navigation")];
    const [left, right] = [await mark.boundingBox(), await menu.boundingBox()];
    expect([what, left!.x + left!.width < right!.x]).toEqual([what, true]);
  }
};

/** Controls and headings that are wider than their box or than the window. */
const cutTexts = (page: Page): Promise<readonly string[]> =>
  page.evaluate(`[...document.querySelectorAll("h1, h2, h3, a, button, label, summary, legend, p, footer, header")]
    .filter((element) => element.checkVisibility() && !element.closest(".table, .tiles, .visually-hidden, .skip, pre"))
    .filter((element) => {
      const box = element.getBoundingClientRect();
      const isCut = getComputedStyle(element).overflowX !== "visible" && element.scrollWidth > element.clientWidth + 1;
      return box.width > 0 && (isCut || box.right > document.documentElement.clientWidth + 1);
    })
    .map((element) => element.outerHTML.slice(0, 120))`) as Promise<readonly string[]>;

/** Those whose text lies under their buttons, or ends below their picture. */
const coveredTiles = (page: Page): Promise<number> =>
  page.evaluate(`[...document.querySelectorAll(".work")].filter((work) => {
    const [button, title, text, tile] = [".pick", ".tile-title", ".tile-text", "a"].map((selector) =>
      work.querySelector(selector).getBoundingClientRect());
    return title.top < button.bottom || text.bottom > tile.bottom + 1;
  }).length`) as Promise<number>;
