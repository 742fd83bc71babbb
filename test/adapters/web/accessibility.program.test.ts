import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { Html } from "../../../adapters/web/html.js";
import { mailedLinks } from "../../../application/accounts/links.js";
import type { Email } from "../../../domain/accounts/account.js";
import { logInAs, ready, setUpBrowser, type Tab } from "../../support/browser.js";
import {
  axeFindings,
  focusProblems,
  lostInForcedColours,
  movingParts,
  skipsToContent,
  tabThrough,
} from "../../support/page-checks.js";
import { logIn } from "../../support/visit.js";
import { PASSWORD, type Person } from "../../support/web-service.js";

const NOTHING_LOST = { withoutBorder: [], withoutBackground: [], notMarked: [] };

const TERMS = new Html('<h1>Terms</h1><p>See <a href="/privacy">privacy</a>.</p><table><tr><th>A</th></tr></table>');

const legal = ["terms", "privacy", "contact"].map((name) => ({ path: `/${name}`, title: name, content: TERMS }));

describe("accessibility of the web pages", () => {
  const { service, openTab } = setUpBrowser({ legal });
  let ann: Person;
  let hiddenSlug: string;

  beforeAll(async () => {
    ann = await service.person("ann", 1000);
    const place = await service.kept(ann, { prompt: "a public place" });
    service.heroPanoramas.push(place.slug);
    const hidden = await service.kept(ann, { prompt: "a hidden place" });
    const hiding = { at: service.clock.now(), reason: "Shows a private person" };
    (await service.tasks.hide(hidden.id, hiding))._unsafeUnwrap();
    hiddenSlug = hidden.slug;
    await service.kept(ann, { prompt: "a private place", visibility: "private" });
    service.provider.play({ poll: "failed" });
    await service.panorama(ann, { prompt: "a failed one" });
    service.provider.play({ poll: "running" });
    await service.panorama(ann, { prompt: "an unfinished one" });
    const { post } = await logIn(service, ann);
    await post("/account/keys", { name: "second" });
    for (const host of ["one", "two"]) await post("/account/webhooks", { url: `https://receiver-${host}.example/` });
  });

  type Check = (what: string) => Promise<void>;

  const visiting = (tab: Tab, check: Check) => async (path: string, wait?: string) => {
    await tab.page.goto(path);
    if (wait !== undefined) await ready(tab.page, wait);
    await check(path);
  };
  const publicSlug = async () => (await service.tasks.listPublic(1, undefined))[0]?.slug;

  /** Opens every page but those of `visitPanoramas` in its states, first without a login and then as a member. */
  const visitPages = async (tab: Tab, check: Check): Promise<void> => {
    const { page } = tab;
    const main = page.getByRole("main");
    const visit = visiting(tab, check);
    for (const path of [
      "/",
      "/gallery",
      "/gallery?q=place",
      "/gallery?q=zebra",
      "/login?new=1",
      "/login?ended=1&prompt=a+lake",
      "/signup",
      "/signup?sent=1",
    ])
      await visit(path);
    await main.getByLabel("E-mail address").fill("new@example.com");
    await main.getByLabel("Password").fill(" ".repeat(12));
    await main.getByRole("button", { name: "Sign up" }).click();
    await main.getByRole("alert").waitFor();
    await check("a refused sign-up");
    for (const path of [
      "/password/forgot?sent=1",
      "/password/reset",
      "/terms",
      "/providers",
      "/nope",
      "/p/abcdefghijklmnop",
    ])
      await visit(path);
    await mailedLinks(service).sendPasswordLink({ email: ann.email, remoteAddress: "::1", purpose: "new_password" });
    await visit(`/password/reset?token=${service.mail.messages.at(-1)?.token}`);
    await visit("/docs");
    await visit("/mcp");

    await logInAs(tab, ann);
    const [order] = await service.database.sql("select id from credit_order");
    await visit(`/account/orders/${order?.id}`);
    await visit("/account");
    await page.getByRole("button", { name: "Order" }).click();
    await main.getByRole("status").waitFor();
    await check("an order");
    await page.goto("/account/keys");
    await page.getByText("Limits of the new key").click();
    await page.locator(".revoke summary").first().click();
    await check("/account/keys");
    await visit("/account/webhooks");
    await visit("/account/settings?done=password");
    await visit("/account/settings?done=link");
    await page.getByText("Delete my account", { exact: true }).click();
    await check("/account/settings");
    const email = "ann-at-home@example.com";
    const own = { email, password: PASSWORD, remoteAddress: "::1" };
    const { account } = (await service.accounts.findByEmail(ann.email as Email)) ?? {};
    if (account !== undefined) (await mailedLinks(service).sendEmailLink(account, own))._unsafeUnwrap();
    await visit(`/account/email?token=${service.mail.messages.at(-1)?.token}`);
    await visit("/account/email?token=none");
  };

  /** The same for pages whose scripts ask for the kind of the pointer when they start. */
  const visitPanoramas = async (tab: Tab, check: Check): Promise<void> => {
    const { page } = tab;
    const visit = visiting(tab, check);
    const slug = await publicSlug();
    await visit(`/p/${slug}?embed=1`, "sphere");
    await visit(`/p/${slug}`, "sphere");
    await page.getByRole("button", { name: "Download" }).click();
    await check("the download menu");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Share" }).click();
    await check("the share dialog");

    await logInAs(tab, ann);
    await visit(`/works/${hiddenSlug}`, "sphere");
    const keys = page.getByRole("button", { name: "Keyboard" });
    if (await keys.isVisible()) await keys.click(); // not on a phone
    await check("the keys of the viewer");
    for (const { slug } of await service.database.sql("select slug from task where state <> 'succeeded'"))
      await visit(`/works/${slug}`);
    await visit("/works");
    await page.getByText("Reference images").click();
    const name = "no-picture-with-a-long-name-without-a-space.png";
    const file = { name, mimeType: "image/png", buffer: Buffer.from("GIF89a") };
    await page.getByLabel(/Drop JPEG/).setInputFiles(file);
    await page.locator("#pictures li").waitFor();
    await page.getByText("Seed (optional)").click();
    await page.getByRole("button", { name: "Create" }).click();
    await page.locator("#form-error").waitFor();
    await check("a refused creation");
  };

  /** From its button, Tab leads into the menu, and from its end to the next button. */
  const followsItsButton = async (page: Page) => {
    const ids: unknown[] = [];
    for (let presses = 0; presses < 4; presses += 1) {
      await page.keyboard.press("Tab");
      ids.push(await page.evaluate("document.activeElement.id"));
    }
    expect(ids).toEqual(["save-picture", "save-view", "save-cube", "share"]);
  };

  const desktop = { width: 1440, height: 900 };
  const phone = { width: 390, height: 844 };

  /** A screen reader lists the buttons of a page by their names alone: those that do different things differ. */
  const repeatedNames = async (page: Page): Promise<readonly unknown[]> => {
    const names = await page
      .locator("main :is(button, summary)")
      .evaluateAll((all) => all.map((one) => one.ariaLabel ?? one.textContent?.trim()));
    return names.filter((name, index) => names.indexOf(name) !== index);
  };

  const followsRules = async (tab: Tab, page: string) => {
    if (page === "/account/webhooks") {
      // On a phone the URL has the whole line, and the buttons are below it.
      const url = tab.page.getByText("https://receiver-two.example/", { exact: true });
      expect((await url.boundingBox())?.width).toBeGreaterThan(200);
    }
    expect([page, await repeatedNames(tab.page)]).toEqual([page, []]);
    expect([page, await axeFindings(tab.page)]).toEqual([page, []]);
    if (page === "/gallery" || page === "/works") await tab.page.locator(".tiles a").first().hover();
    expect([page, await movingParts(tab.page)]).toEqual([page, []]);
    const width = await tab.page.evaluate("document.documentElement.scrollWidth");
    expect([page, width]).toEqual([page, tab.page.viewportSize()?.width]);
  };
  const isReachedByTab = async (tab: Tab, page: string) => {
    if (page === "the download menu") return followsItsButton(tab.page);
    expect([page, await tabThrough(tab.page)]).toEqual([page, []]);
    if (!/embed|^the /.test(page)) expect([page, await skipsToContent(tab.page)]).toEqual([page, true]);
  };

  const followsRulesAndKeyboard = async (tab: Tab, page: string) => {
    await followsRules(tab, page);
    await isReachedByTab(tab, page);
    if (page === "the download menu") return; // the focus has been moved to its end
    await tab.page.emulateMedia({ forcedColors: "active" });
    // Colours change neither what Tab reaches nor the order.
    expect([page, await focusProblems(tab.page)]).toEqual([page, []]);
    expect([page, await lostInForcedColours(tab.page)]).toEqual([page, NOTHING_LOST]);
    await tab.page.emulateMedia({ forcedColors: "none" });
  };

  it("passes the rule, keyboard and forced-colours checks on a desktop, and the rule checks on a dark phone", async () => {
    const tab = await openTab({ viewport: desktop, colorScheme: "light" });
    const device = await tab.page.context().newCDPSession(tab.page);
    const become = async (viewport: typeof phone, colorScheme: "light" | "dark", enabled: boolean) => {
      await device.send("Emulation.setTouchEmulationEnabled", { enabled });
      await tab.page.setViewportSize(viewport);
      await tab.page.emulateMedia({ colorScheme });
      // Otherwise the colours of buttons are for a moment between both schemes.
      await tab.page.evaluate(
        "document.getAnimations().forEach((one) => one instanceof CSSTransition && one.finish())",
      );
    };
    await visitPages(tab, async (page) => {
      await followsRulesAndKeyboard(tab, page);
      // The page becomes that of a phone: to load it and axe once more would take most of the processor time.
      await become(phone, "dark", true);
      await followsRules(tab, page);
      await become(desktop, "light", false);
    });
  });

  it("passes the rule, keyboard and forced-colours checks on the viewer and works pages", async () => {
    const tab = await openTab({ viewport: desktop, colorScheme: "light" });
    await visitPanoramas(tab, (page) => followsRulesAndKeyboard(tab, page));
  });

  it("passes the rule checks on the viewer and works pages on a dark phone", async () => {
    const tab = await openTab({ viewport: phone, colorScheme: "dark", hasTouch: true });
    await visitPanoramas(tab, (page) => followsRules(tab, page));
  });

  it("passes axe on the landing page while its panorama turns", async () => {
    const tab = await openTab({ reducedMotion: "no-preference" });
    await tab.page.goto("/");
    await tab.page.getByRole("button", { name: "Pause the rotation" }).click();
    expect(await axeFindings(tab.page)).toEqual([]);
  });
});
