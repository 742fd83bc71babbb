import type { Locator } from "playwright-core";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { credits } from "../../../domain/credits/credits.js";
import { logInAs, ready, setUpBrowser, type Tab } from "../../support/browser.js";
import { PASSWORD, type WebService } from "../../support/web-service.js";

/** Defects that people had seen on several pages, and that no other test looks for in a browser. */
describe("in a browser", () => {
  const on = setUpBrowser({ welcomeCredits: credits(12) }, (problem) => problem.includes("a status of 500"));
  let service: WebService;
  let tab: Tab;

  beforeAll(() => {
    ({ service } = on);
    service.provider.play({ poll: "succeeded", download: "image" });
  });
  beforeEach(async () => {
    tab = await on.openTab({ viewport: { width: 1000, height: 700 } });
  });
  afterEach(async () => {
    await service.clock.advance(60_000); // requests of this test no longer count
    expect(service.failures.splice(0)).toEqual([]);
  });

  const heading = () => tab.page.getByRole("heading", { level: 1 });
  const alert = () => tab.page.getByRole("alert");

  it("paths for people are pages, files for browsers and search engines, or redirects", async () => {
    const { page } = tab;
    const opened = async (path: string) => {
      const answer = await page.goto(path);
      return [answer?.status(), answer?.headers()["content-type"]];
    };
    expect(await opened("/nope")).toEqual([404, "text/html; charset=utf-8"]);
    expect(await heading().textContent()).toBe("Page not found");
    await page.getByRole("banner").getByRole("link", { name: "Gallery" }).click();
    expect(new URL(page.url()).pathname).toBe("/gallery");
    await page.goto("/docs/?from=outside");
    expect(page.url()).toBe(`${service.url}/docs?from=outside`);

    const away = new Error("the database is away");
    vi.spyOn(service.tasks, "listPublic").mockRejectedValueOnce(away);
    expect(await opened("/gallery")).toEqual([500, "text/html; charset=utf-8"]);
    expect(await heading().textContent()).toBe("Something went wrong");
    expect(await page.getByRole("main").textContent()).toMatch(/this request id: [0-9a-f-]{36}\./);
    expect(await page.getByRole("banner").isVisible()).toBe(true);
    expect(service.failures.splice(0)).toEqual([away]);
    await page.getByRole("link", { name: "Try again" }).click();
    expect(await heading().textContent()).toBe("Gallery");

    const iconWidth = await page.evaluate(
      "new Promise((resolve) => { const icon = new Image(); icon.onload = icon.onerror = () => resolve(icon.naturalWidth); icon.src = '/favicon.ico'; })",
    );
    expect(iconWidth).toBeGreaterThanOrEqual(32);
    expect(await opened("/robots.txt")).toEqual([200, "text/plain; charset=utf-8"]);
    expect(await page.locator("body").innerText()).toContain("Disallow: /works");
  });

  it("a long prompt is cut in titles and cards, whole on demand, and in its own direction", async () => {
    const { page } = tab;
    const ann = await service.person("prompts");
    const sentence = "بحيرة هادئة عند الفجر وضباب فوق الماء";
    const repeated = (times: number) => Array<string>(times).fill(sentence).join(" ");
    const [prompt, title] = [repeated(12), `${repeated(2)}…`];
    const { slug } = await service.kept(ann, { prompt });
    const shown = async (title: Locator) => [
      await title.textContent(),
      await title.evaluate((one) => one.matches(":dir(rtl)")),
    ];
    await page.goto(`/p/${slug}`);
    await ready(page, "sphere");
    expect(await page.title()).toBe(`${title} · Panorama`);
    expect(await shown(heading())).toEqual([title, true]);
    const content = (name: string) => page.locator(`meta[property="${name}"]`).getAttribute("content");
    expect(await content("og:title")).toBe(title);
    expect(await content("og:description")).toBe(
      `${repeated(4)} ${sentence.split(" ")[0]}… A 360° panorama, made with AI.`,
    );
    const whole = page.locator("details p", { hasText: prompt });
    expect(await whole.isVisible()).toBe(false);
    await page.getByText("Full prompt").click();
    expect([await whole.isVisible(), ...(await shown(whole))]).toEqual([true, prompt, true]);
    await page.goto("/gallery");
    expect(await shown(page.locator("#gallery li", { hasText: "بحيرة" }).locator("[dir]"))).toEqual([title, true]);
    await logInAs(tab, ann);
    await page.goto("/works");
    expect(await shown(page.locator("#works li .tile-title"))).toEqual([title, true]);
  });

  it("a new member types nothing twice, knows costs and balance, and can pay for the first panorama", async () => {
    const { page } = tab;
    await page.goto("/works?prompt=a+quiet+lake");
    await page.getByRole("link", { name: "Sign up" }).last().click();
    await page.getByText("A panorama costs 4 credits in 1K, 6 in 2K or 10 in 4K. You start with 12 credits.").waitFor();
    await page.getByLabel("E-mail address").fill("new@example.com");
    await page.getByLabel("Password").fill(" ".repeat(12));
    await page.getByRole("button", { name: "Sign up" }).click();
    expect(await alert().textContent()).toBe("Choose a password that is more than spaces.");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign up" }).click();
    await page.waitForURL("**/works?prompt=a+quiet+lake");
    expect(await page.getByLabel("Prompt", { exact: true }).inputValue()).toBe("a quiet lake");
    expect(await page.locator("#balance").innerText()).toBe("12");
    await page.getByRole("button", { name: "Make it · 6 credits" }).click();
    await page.waitForURL(/\/works\/[a-z0-9]{16}$/);
    expect(await heading().textContent()).toBe("a quiet lake");
  });

  it("refusals and activity are words for people", async () => {
    const { page } = tab;
    const ann = await service.person("words");
    const made = await service.kept(ann, { prompt: "a cave of ice", resolution: "4k" });
    await logInAs(tab, ann);
    await page.goto("/works");
    const make = () => page.getByRole("button", { name: /^Make it/ }).click();
    await make();
    await expect.poll(() => alert().first().textContent()).toBe("Describe a place or add a picture.");
    await page.getByLabel("Prompt", { exact: true }).fill("a lake");
    await page.getByText("Pictures to start from").click();
    const renamed = { name: "notes.png", mimeType: "image/png", buffer: Buffer.from("GIF89a") };
    await page.getByLabel(/Drop JPEG/).setInputFiles(renamed);
    await make();
    await expect.poll(() => alert().first().textContent()).toBe("Image 1 isn’t a JPEG, PNG or WebP.");
    await service.clock.advance(60_000);
    for (let n = 0; n < 10; n += 1) (await service.rateLimits.admit(ann.id, "write"))._unsafeUnwrap();
    await service.clock.advance(32_000);
    await make();
    await expect.poll(() => alert().first().textContent()).toBe("Too many requests. Try again in 28 s.");
    expect(await page.getByLabel("Prompt", { exact: true }).inputValue()).toBe("a lake");

    await page.goto("/account");
    const row = page.getByRole("region", { name: "Activity" }).getByRole("row", { name: "4k panorama" });
    expect(await row.innerText()).toMatch(/^\d+ \w+ \d{4}, \d\d:\d\d UTC\s+4k panorama a cave of ice\s+−10\s+90$/);
    await row.getByRole("link", { name: "4k panorama" }).click();
    expect(new URL(page.url()).pathname).toBe(`/works/${made.slug}`);
  });

  it("buttons that do different things have different names", async () => {
    const { page } = tab;
    const ann = await service.person("names");
    for (const prompt of ["one", "two"]) await service.kept(ann, { prompt });
    await logInAs(tab, ann);
    const send = async (path: string, button: string, label: string, text: string) => {
      await page.goto(path);
      await page.getByLabel(label).fill(text);
      await page.getByRole("button", { name: button }).click();
      await page.getByText(text).first().waitFor();
    };
    await send("/account/keys", "Create key", "Name of the new key", "second");
    for (const host of ["one", "two"])
      await send("/account/webhooks", "Add endpoint", "URL of the new endpoint", `https://${host}.example/`);
    for (const [path, atLeast] of [
      ["/works", 8],
      ["/account", 3],
      ["/account/keys", 4],
      ["/account/webhooks", 6],
      ["/docs", 20],
    ] as const) {
      await page.goto(path);
      if (path === "/docs") await ready(page, "docs");
      const names = await page
        .locator("main :is(button, summary)")
        .evaluateAll((all) => all.map((one) => one.ariaLabel ?? one.textContent?.trim()));
      expect(names.length).toBeGreaterThanOrEqual(atLeast);
      expect([path, names.filter((name, index) => names.indexOf(name) !== index)]).toEqual([path, []]);
    }
  });
});
