import type { Page } from "playwright-core";
import sharp from "sharp";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { COARSE, setUpBrowser } from "../../support/browser.js";
import { quarterAt } from "../../support/pixels.js";
import { type Person, quarteredImage } from "../../support/web-service.js";

/** Of WCAG, from levels of red, green and blue. */
const luminance = (levels: readonly number[]): number => {
  const [red = 0, green = 0, blue = 0] = levels.map((level) =>
    level <= 10 ? level / 255 / 12.92 : ((level / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

describe("the panorama of the landing page", () => {
  const { service, openTab } = setUpBrowser();
  let ann: Person;
  let chosen: Person;

  /** Small, because WebGL runs in software; with nothing over the picture, so that its colours can be read. */
  const VIEWPORT = { width: 800, height: 600 };
  const bare = (page: Page) =>
    page.evaluate(`{
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(".hero::after { display: none } .hero-text { visibility: hidden }");
      document.adoptedStyleSheets = [sheet];
    }`);
  const openTurning = () => openTab({ ...COARSE, viewport: VIEWPORT, reducedMotion: "no-preference" });
  const shows = (page: Page, what: string) => page.locator(`#hero[data-shows="${what}"]`).waitFor({ timeout: 60_000 });
  const yaw = async (page: Page) => Number(await page.locator("#hero").getAttribute("data-yaw"));

  beforeAll(async () => {
    ann = await service.person("ann", 1000);
    chosen = await service.person("chosen", 1000);
  });
  beforeEach(() => {
    service.provider.play({ poll: "succeeded", download: "image" });
  });
  afterEach(async () => {
    service.heroPanoramas.length = 0;
  });

  it("shows the bundled picture on a new site, with its name but no link", async () => {
    const tab = await openTurning();
    await tab.page.goto("/");
    await shows(tab.page, "sphere");
    expect(await tab.page.locator(".hero-note").textContent()).toContain("Neon city in a thunderstorm");
    expect(await tab.page.locator(".hero-note a").count()).toBe(0);
    expect(await tab.page.locator("#hero").getAttribute("data-picture")).toMatch(/^\/static\/[0-9a-f]{12}-hero\.jpg$/);
  });

  const showQuarters = async (): Promise<void> => {
    const { slug } = await service.kept(ann, { prompt: "four quarters", resolution: "2k" });
    service.heroPanoramas.push(slug);
  };

  /** The texts over the picture whose brightest background has a contrast of less than 4.5. */
  const lowestContrasts = async (page: Page): Promise<readonly string[]> => {
    const texts = [".brand", "header nav", ".hero h1", ".hero-lead", ".hero-offer", ".hero-note span, .hero-note a"];
    const boxes = await page.evaluate<readonly { name: string; color: string; box: number[] }[]>(`
      ${JSON.stringify(texts)}.flatMap((name) => [...document.querySelectorAll(name)].map((element) => {
        const range = document.createRange();
        range.selectNodeContents(element);
        const { x, y, width, height } = range.getBoundingClientRect();
        return { name, color: getComputedStyle(element).color, box: [x, y, width, height] };
      }))`);
    await page.evaluate(`{
      const sheet = new CSSStyleSheet();
      sheet.replaceSync("* { color: transparent !important; text-shadow: none !important; caret-color: transparent } .hero-form, .hero-examples, header.site *, .hero-note * { visibility: hidden }");
      document.adoptedStyleSheets = [sheet];
    }`);
    const { data, info } = await sharp(await page.screenshot())
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    await page.evaluate("document.adoptedStyleSheets = []");
    expect(boxes.length).toBeGreaterThan(4);
    return boxes.flatMap(({ name, color, box: [x = 0, y = 0, width = 0, height = 0] }) => {
      let brightest = 0;
      for (let row = Math.max(0, Math.floor(y)); row < Math.min(info.height, y + height); row++) {
        for (let column = Math.max(0, Math.floor(x)); column < Math.min(info.width, x + width); column++) {
          const at = (row * info.width + column) * info.channels;
          brightest = Math.max(brightest, luminance([...data.subarray(at, at + 3)]));
        }
      }
      const contrast = (luminance(color.match(/\d+/g)?.map(Number) ?? []) + 0.05) / (brightest + 0.05);
      return contrast >= 4.5 ? [] : [`${name}: ${contrast.toFixed(2)}`];
    });
  };

  it("turns to the right, is dragged, and stands still after the button is pressed", async () => {
    const tab = await openTurning();
    await showQuarters();
    await tab.page.goto("/");
    await shows(tab.page, "sphere");
    await bare(tab.page);
    expect(await tab.page.getByRole("link", { name: "four quarters" }).first().getAttribute("href")).toMatch(/^\/p\//);
    // The second and the third quarter meet in the middle of the view and move to the left.
    await expect.poll(() => quarterAt(tab.page, 390, 300), { timeout: 60_000 }).toBe(2);

    const pause = tab.page.getByRole("button", { name: "Pause the rotation" });
    await pause.focus();
    await tab.page.keyboard.press("Enter");
    const stopped = await yaw(tab.page);
    expect(stopped).toBeGreaterThan(0);
    expect(await tab.page.locator("#hero-pause").getAttribute("aria-label")).toBe("Continue the rotation");

    await tab.page.mouse.move(603, 100);
    await tab.page.mouse.down();
    await tab.page.mouse.move(600, 100); // a drag begins
    await tab.page.mouse.move(300, 100, { steps: 5 });
    await tab.page.mouse.up();
    const { width, height } = (await tab.page.locator("#hero").boundingBox())!;
    // The window is as wide as the field of view, which is 68° high.
    const field = (Math.atan((Math.tan((34 * Math.PI) / 180) * width) / height) * 360) / Math.PI;
    await expect.poll(() => yaw(tab.page)).toBeCloseTo(stopped + (300 * field) / width, 0);
    await expect.poll(() => quarterAt(tab.page, 200, 300)).toBe(2);

    await tab.page.getByRole("button", { name: "Continue the rotation" }).click();
    await tab.page.getByRole("button", { name: "Pause the rotation" }).click();
    expect(await yaw(tab.page)).toBeGreaterThan(stopped);
  });

  it.each([
    ["for readers who prefer reduced motion", { reducedMotion: "reduce" }, "", 2048],
    ["without WebGL", {}, "HTMLCanvasElement.prototype.getContext = () => null", 2048],
    ["on a narrow screen", { viewport: { width: 390, height: 844 } }, "", 2048],
    ["to save data", {}, "Object.defineProperty(navigator, 'connection', { value: { saveData: true } })", 512],
  ] as const)("stays a still image %s, and loads a sphere only to try", async (reason, options, script, pixels) => {
    await showQuarters();
    const { page } = await openTab({ ...COARSE, viewport: VIEWPORT, reducedMotion: "no-preference", ...options });
    await page.addInitScript(script);
    await page.goto("/", { waitUntil: "networkidle" });
    const urls = await page.evaluate<string[]>("performance.getEntriesByType('resource').map(({ name }) => name)");
    const loads = (script: string) => urls.some((url) => url.endsWith(script));
    expect([loads("-hero.js"), loads("-sphere.js")]).toEqual([true, reason === "without WebGL"]);
    expect(await page.locator("#hero").getAttribute("data-shows")).not.toBe("sphere");
    expect(await page.locator("#hero-pause").isVisible()).toBe(false);
    const still = page.locator("#hero-still");
    await expect.poll(() => still.evaluate((image) => (image as { naturalWidth?: number }).naturalWidth)).toBe(pixels);
    await bare(page);
    const { width, height } = page.viewportSize()!;
    await expect.poll(() => quarterAt(page, width / 2 + 40, height / 2)).toBe(2);
    expect(await quarterAt(page, width / 2 - 40, height / 2)).toBe(1);
  });

  // The brightest ones that get each scrim: up to 155, up to 200, and beyond.
  it.each([
    ["dim", 154],
    ["light", 199],
    ["bright", 255],
  ])("leaves its text a contrast of 4.5 with the scrim %s on a grey of %i, in every window", async (scrim, grey) => {
    // A flat colour is no usable picture. The ground below the feet is not behind the text.
    const ground = { create: { width: 1024, height: 8, channels: 3 as const, background: "#777777" } };
    service.provider.picture = () =>
      sharp({ create: { width: 1024, height: 512, channels: 3, background: { r: grey, g: grey, b: grey } } })
        .composite([{ input: ground, left: 0, top: 504 }])
        .png()
        .toBuffer();
    const { slug } = await service.kept(chosen, { prompt: "snow", resolution: "1k" });
    service.heroPanoramas.push(slug);
    const calm = await openTab({ viewport: VIEWPORT, deviceScaleFactor: 1 });
    const scrimNow = async () => {
      await calm.page.goto("/");
      return calm.page.locator("#hero").getAttribute("data-scrim");
    };
    await expect.poll(scrimNow).toBe(scrim); // the strongest one until the picture is measured
    for (const [width, height] of [
      [320, 640],
      [390, 844],
      [800, 600],
      [1024, 768],
      [1440, 900],
      [1920, 1080],
    ] as const) {
      await calm.page.setViewportSize({ width, height });
      expect([width, await lowestContrasts(calm.page)]).toEqual([width, []]);
    }
    service.provider.picture = quarteredImage;
  });

  it("follows the scheme chosen in the footer, also by keyboard and on the next pages", async () => {
    const [LIGHT, DARK] = ["rgb(251, 250, 249)", "rgb(17, 18, 23)"];
    const { page } = await openTab({ colorScheme: "light" });
    const ground = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    await page.goto("/");
    const theme = page.getByLabel("Theme");
    expect([await theme.inputValue(), await ground()]).toEqual(["system", LIGHT]);
    await theme.focus();
    await page.keyboard.type("Dark");
    expect([await theme.inputValue(), await ground()]).toEqual(["dark", DARK]);
    await page.goto("/mcp");
    expect([await theme.inputValue(), await ground()]).toEqual(["dark", DARK]);
    await page.emulateMedia({ media: "print" });
    expect(await ground()).toBe(LIGHT);
    await page.emulateMedia({ media: "screen", colorScheme: "dark" });
    await theme.selectOption("Light");
    expect(await ground()).toBe(LIGHT);
    await theme.selectOption("System");
    expect(await ground()).toBe(DARK);

    const plain = await openTab({ javaScriptEnabled: false });
    await plain.page.goto("/mcp");
    expect(await plain.page.getByLabel("Theme").isVisible()).toBe(false);
    // The choice is made before anything is shown.
    const text = await plain.page.content();
    expect(text.indexOf("<script>")).toBeGreaterThan(0);
    expect(text.indexOf("<script>")).toBeLessThan(text.indexOf('rel="stylesheet"'));
  });
});
