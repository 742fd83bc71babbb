import { err } from "neverthrow";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { logInAs, openTab, ready, type Tab } from "../../support/browser.js";
import { startChromium } from "../../support/chromium.js";
import { quarterAt } from "../../support/pixels.js";
import { type Person, WebService } from "../../support/web-service.js";

describe("the viewer page", () => {
  let service: WebService;
  let browser: Browser;
  let ann: Person;
  let tab: Tab;

  beforeAll(async () => {
    [service, browser] = await Promise.all([WebService.start(), startChromium()]);
    ann = await service.person("ann", 1000);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.end();
    expect(service?.failures).toEqual([]);
  });
  beforeEach(async () => {
    service.provider.play({ poll: "succeeded", download: "image" });
    tab = await openTab(browser, service, { viewport: { width: 1000, height: 600 } });
  });
  afterEach(async () => {
    await tab.close();
    expect(tab.problems).toEqual([]);
  });

  it("shows the middle of the image, and the part to its right after a drag to the left", async () => {
    const { slug } = await service.kept(ann);
    await tab.page.goto(`/p/${slug}`);
    await ready(tab.page, "sphere");
    expect([await quarterAt(tab.page, 300, 300), await quarterAt(tab.page, 700, 300)]).toEqual([1, 2]);

    await tab.page.mouse.move(800, 300);
    await tab.page.mouse.down();
    await tab.page.mouse.move(100, 300, { steps: 10 });
    await tab.page.mouse.up();
    await expect.poll(() => quarterAt(tab.page, 400, 300)).toBe(2);
    await expect.poll(() => quarterAt(tab.page, 900, 300)).toBe(3);
  });

  it("zooms with its buttons, the wheel and the keyboard", async () => {
    const { slug } = await service.kept(ann);
    await tab.page.goto(`/p/${slug}`);
    await ready(tab.page, "sphere");
    // Two quarters meet in the middle of the view. After a small turn, their seam moves when the view zooms in.
    await tab.page.mouse.move(500, 300);
    await tab.page.mouse.down();
    await tab.page.mouse.move(650, 300, { steps: 5 });
    await tab.page.waitForTimeout(100); // the pointer rests before the release: otherwise the sphere keeps turning
    await tab.page.mouse.up();
    await expect.poll(() => quarterAt(tab.page, 690, 300)).toBe(2);
    await expect
      .poll(async () => {
        await tab.page.getByRole("button", { name: "Zoom in" }).click();
        return quarterAt(tab.page, 690, 300);
      })
      .toBe(1);
    await tab.page.mouse.move(500, 300);
    await expect
      .poll(async () => {
        await tab.page.mouse.wheel(0, 300);
        return quarterAt(tab.page, 690, 300);
      })
      .toBe(2);
    await tab.page.locator("#viewer").focus();
    await tab.page.keyboard.down("ArrowLeft");
    await expect.poll(() => quarterAt(tab.page, 690, 300)).toBe(1);
    await tab.page.keyboard.up("ArrowLeft");
  });

  it("rotates until the first interaction, but not for readers who prefer reduced motion", async () => {
    const { slug } = await service.kept(ann);
    const moving = await openTab(browser, service, {
      reducedMotion: "no-preference",
      viewport: { width: 1000, height: 600 },
    });
    await moving.page.goto(`/p/${slug}`);
    await ready(moving.page, "sphere");
    await expect.poll(() => quarterAt(moving.page, 480, 300), { timeout: 15_000 }).toBe(2);
    await moving.close();
    expect(moving.problems).toEqual([]);
  });

  it("shows the prompt as text, the date, and a link to the image", async () => {
    const prompt = '<img src=x onerror="alert(1)"> & </script><script>alert(2)</script>';
    const { slug, image } = await service.kept(ann, { prompt });
    await tab.page.goto(`/p/${slug}`);
    await ready(tab.page, "sphere");
    expect(await tab.page.getByRole("heading", { level: 1 }).textContent()).toBe(prompt);
    expect(await tab.page.locator(".caption").textContent()).toContain("1 Jan 2026");
    const download = tab.page.getByRole("link", { name: "Download" });
    expect(await download.getAttribute("href")).toBe(service.storage.urlOf(image.imageName));
    const [file] = await Promise.all([tab.page.waitForEvent("download"), download.click()]);
    expect(file.suggestedFilename()).toBe(`panorama-${slug}.jpg`);
  });

  it("has link preview metadata for a public panorama", async () => {
    const { slug } = await service.kept(ann, { prompt: "a public place" });
    await tab.page.goto(`/p/${slug}`);
    const meta = (name: string) =>
      tab.page.locator(`meta[property="${name}"], meta[name="${name}"]`).getAttribute("content");
    expect(await meta("og:title")).toBe("a public place");
    expect(await meta("og:url")).toBe(`${service.url}/p/${slug}`);
    expect(await meta("twitter:card")).toBe("summary_large_image");
    const thumbnail = await fetch((await meta("og:image")) ?? "");
    expect([thumbnail.status, thumbnail.headers.get("content-type")]).toEqual([200, "image/webp"]);
  });

  it("allows frames of other sites only with ?embed=1, and then has no header", async () => {
    const { slug } = await service.kept(ann);
    const embed = await tab.page.goto(`/p/${slug}?embed=1`);
    await ready(tab.page, "sphere");
    expect(await tab.page.getByRole("banner").count()).toBe(0);
    expect(embed?.headers()["content-security-policy"]).toContain("frame-ancestors *");
    const whole = await tab.page.goto(`/p/${slug}`);
    expect(whole?.headers()["content-security-policy"]).toContain("frame-ancestors 'none'");
  });

  it("shows the flat image to browsers without WebGL", async () => {
    const { slug, image } = await service.kept(ann);
    await tab.page.addInitScript("HTMLCanvasElement.prototype.getContext = () => null");
    await tab.page.goto(`/p/${slug}`);
    await ready(tab.page, "flat");
    expect(await tab.page.getByRole("status").textContent()).toContain("flat image");
    expect(await tab.page.locator("#flat").getAttribute("src")).toBe(service.storage.urlOf(image.imageName));
  });

  it("reports that an image is being saved, and shows it when it is saved", async () => {
    const unavailable = err({ kind: "storage_unavailable", reason: "a test" } as const);
    vi.spyOn(service.storage, "put").mockResolvedValueOnce(unavailable).mockResolvedValueOnce(unavailable);
    const { slug } = await service.panorama(ann);
    await tab.page.goto(`/p/${slug}`);
    expect(await tab.page.getByRole("heading", { level: 1 }).textContent()).toBe("Saving");
    vi.restoreAllMocks();
    await service.work();
    await ready(tab.page, "sphere");
  });

  it("reports that an image is no longer available", async () => {
    service.provider.play({ download: "image_that_expires" });
    const { slug } = await service.panorama(ann);
    await tab.page.goto(`/p/${slug}`);
    expect(await tab.page.getByRole("heading", { level: 1 }).textContent()).toBe("Image no longer available");
  });

  it("shows a private panorama only to its owner, after login", async () => {
    const ben = await service.person("ben");
    const { slug } = await service.kept(ann, { visibility: "private" });
    expect((await tab.page.goto(`/p/${slug}`))?.status()).toBe(404);

    await tab.page.goto(`/works/${slug}`);
    expect(new URL(tab.page.url()).pathname).toBe("/login");
    await tab.page.getByLabel("E-mail address").fill(ann.email);
    await tab.page.getByLabel("Password").fill("correct horse battery");
    await tab.page.getByRole("main").getByRole("button", { name: "Log in" }).click();
    await tab.page.waitForURL(`**/works/${slug}`);
    await ready(tab.page, "sphere");

    const other = await openTab(browser, service);
    await logInAs(other, ben);
    expect((await other.page.goto(`/works/${slug}`))?.status()).toBe(404);
    await other.close();
  });

  it("stores a private image under a random name that does not contain its slug", async () => {
    const first = await service.kept(ann, { visibility: "private" });
    const second = await service.kept(ann, { visibility: "private" });
    const names = [first, second].map(({ image }) => image.imageName);
    // 22 characters of base64url are 132 bits.
    for (const name of names) expect(name).toMatch(/^panoramas\/[\w-]{22}\.jpg$/);
    expect(new Set(names).size).toBe(2);
    expect(names.join()).not.toContain(first.slug);
    for (const guess of [`${first.slug}.jpg`, `${first.slug}-thumbnail.webp`, `${first.id}.jpg`, ""]) {
      expect((await fetch(`${service.url}/assets/panoramas/${guess}`)).status).toBe(404);
    }
    expect((await fetch(service.storage.urlOf(first.image.imageName))).status).toBe(200);
  });

  it("fits the screen of a phone and supports touch", async () => {
    const { slug } = await service.kept(ann);
    const phone = await openTab(browser, service, {
      viewport: { width: 390, height: 800 },
      hasTouch: true,
      isMobile: true,
    });
    await phone.page.goto(`/p/${slug}`);
    await ready(phone.page, "sphere");
    expect(await phone.page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    expect(await quarterAt(phone.page, 300, 400)).toBe(2);
    const touch = await phone.page.context().newCDPSession(phone.page);
    const dispatch = (type: "touchStart" | "touchMove" | "touchEnd", x?: number) =>
      touch.send("Input.dispatchTouchEvent", { type, touchPoints: x === undefined ? [] : [{ x, y: 400 }] });
    await dispatch("touchStart", 100);
    for (let x = 120; x <= 340; x += 20) await dispatch("touchMove", x);
    await dispatch("touchEnd");
    await expect.poll(() => quarterAt(phone.page, 300, 400)).toBe(1);
    await phone.close();
    expect(phone.problems).toEqual([]);
  });
});
