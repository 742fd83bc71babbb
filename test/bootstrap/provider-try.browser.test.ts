import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { COARSE } from "../support/browser.js";
import { startChromium } from "../support/chromium.js";
import { FAL_KEY, FakeFal } from "../support/fake-fal.js";
import { refuses } from "../support/faulty-server.js";
import { axeFindings } from "../support/page-checks.js";
import { pixelAt, quarterOf } from "../support/pixels.js";
import { scratchFolder } from "../support/scratch-folder.js";
import { runTrialWith } from "../support/trial.js";
import { quarteredImage } from "../support/web-service.js";

describe("the page of panorama provider try, opened from its folder", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startChromium();
  });
  afterAll(() => browser.close());

  const openSheet = async (folder: string) => {
    const context = await browser.newContext({
      reducedMotion: "reduce",
      ...COARSE,
      viewport: { width: 1200, height: 800 },
    });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const problems: string[] = [];
    page.on("console", (message) => {
      const isExpected = message.text().includes("GPU stall due to ReadPixels");
      if ((message.type() === "error" || message.type() === "warning") && !isExpected) problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("request", (request) => {
      if (!/^(file|data):/.test(request.url())) problems.push(`request to ${request.url()}`);
    });
    await page.goto(pathToFileURL(join(folder, "index.html")).href);
    return { page, problems };
  };

  const shown = (page: Page, index: number): Promise<void> =>
    page.locator(`#stage[data-shown="${index}"]`).waitFor({ state: "attached" });

  it("shows thumbnails, figures and failures, and opens pictures as spheres in the same view", async () => {
    const fal = await FakeFal.start();
    onTestFinished(() => fal.close());
    fal.picture = await quarteredImage();
    fal.faults.creates.push(refuses(400));
    const promptsFile = join(await scratchFolder(), "prompts.txt");
    await writeFile(promptsFile, "a lake\na forest\na beach\n");
    const { folder } = await runTrialWith(
      {
        PROVIDER: "fal:seedream-4.5",
        FAL_API_KEY: FAL_KEY,
        FAL_BASE_URL: fal.baseUrl,
        FAL_PLATFORM_URL: fal.platformUrl,
        PROVIDER_POLL_MS: "100",
        PROVIDER_MAX_CONCURRENT: "1",
      },
      { promptsFile },
    );

    const { page, problems } = await openSheet(folder);
    const thumbnails = page.locator("a.picture img");
    expect(await thumbnails.count()).toBe(2);
    await expect
      .poll(() => page.evaluate("[...document.querySelectorAll('a.picture img')].map((image) => image.naturalWidth)"))
      .toEqual([1024, 1024]);
    expect(await page.locator(".no-picture").allInnerTexts()).toEqual([
      "Failed: status 400: the provider rejects the request as invalid.",
    ]);
    expect(await page.locator("tbody tr").allInnerTexts()).toEqual([
      expect.stringMatching(/^fal:seedream-4\.5\t2\t1\t[\d.]+\t[\d.]+\t[\d.]+\t[\d.]+\t\$0\.04\t\$0\.08$/),
    ]);

    expect(await axeFindings(page)).toEqual([]);

    await thumbnails.first().click();
    await shown(page, 0);
    expect(await axeFindings(page)).toEqual([]);
    const quarterAt = async (x: number, y: number) => quarterOf(await pixelAt(page, x, y));
    expect([await quarterAt(400, 400), await quarterAt(800, 400)]).toEqual([1, 2]);
    await page.getByRole("button", { name: "Seam" }).click();
    await expect.poll(() => quarterAt(400, 400)).toBe(3);
    expect(await quarterAt(800, 400)).toBe(0);

    await page.getByRole("button", { name: "Next" }).click();
    await shown(page, 1);
    expect(await page.locator("#sphere-title").innerText()).toBe("3 · fal:seedream-4.5");
    await expect.poll(() => quarterAt(400, 400)).toBe(3);
    await page.keyboard.press("Escape");
    await expect.poll(() => page.evaluate("document.querySelector('dialog').open")).toBe(false);
    expect(problems).toEqual([]);
  });
});
