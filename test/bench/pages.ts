import type { Browser, Page } from "playwright-core";
import { startChromium } from "../support/chromium.js";
import { aCustomer } from "./customer.js";
import type { Scenario } from "./rig.js";

const BITS_PER_SECOND = 1_600_000;
const LATENCY_MILLISECONDS = 150;
const TIMES_SLOWER = 4;
const WINDOWS = [
  // Narrow: the whole picture takes the place of the small one.
  { name: "phone", width: 390, height: 844, largestPaintMax: 2_000 },
  { name: "desktop", width: 1440, height: 900, largestPaintMax: 1_000 },
];
/** For the larger picture to be loaded too, which could be the largest paint. */
const SETTLED_MILLISECONDS = 5_000;

/**
 * Milliseconds, but `bytes` that have arrived before the largest paint. `sharp`: all that is in sight has its pixels.
 * `delay`: the longest one from an input that Event Timing counts as an interaction to its paint.
 */
type Measured = {
  largestPaint: number;
  shifted: number;
  interactive: number;
  sharp: number;
  delay: number;
  bytes: number;
};

/** Runs in the page, before its scripts. */
const OBSERVE = `
  const measured = window.measured = { largestPaint: 0, shifted: 0, interactive: 0, sharp: 0, delay: 0, bytes: 0 };
  const each = (type, take) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true, durationThreshold: 16 });
  each("event", ({ duration, interactionId }) => {
    if (interactionId > 0) measured.delay = Math.max(measured.delay, duration);
  });
  each("largest-contentful-paint", ({ startTime }) => { measured.largestPaint = startTime; });
  each("layout-shift", ({ value }) => { measured.shifted += value; });
  const watched = new MutationObserver(() => {
    if (document.body?.dataset.ready !== "sphere") return;
    measured.interactive ||= performance.now();
    if (document.getElementById("viewer")?.dataset.quality !== "full") return;
    measured.sharp = performance.now();
    watched.disconnect();
  });
  watched.observe(document, { subtree: true, attributeFilter: ["data-ready", "data-quality"] });`;

/** Runs in the page, in the end. */
const COUNT_BYTES = `measured.bytes = performance.getEntries()
  .filter(({ responseEnd, transferSize }) => transferSize > 0 && responseEnd <= measured.largestPaint)
  .reduce((sum, { transferSize }) => sum + transferSize, 0)`;

/** Opens the page as a visitor with an empty cache. */
const measure = async (
  browser: Browser,
  url: string,
  viewport: { width: number; height: number },
  isViewer: boolean,
) => {
  const context = await browser.newContext({ viewport });
  try {
    const page: Page = await context.newPage();
    const tools = await context.newCDPSession(page);
    await tools.send("Network.enable");
    await tools.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: LATENCY_MILLISECONDS,
      downloadThroughput: BITS_PER_SECOND / 8,
      uploadThroughput: BITS_PER_SECOND / 16,
    });
    await tools.send("Emulation.setCPUThrottlingRate", { rate: TIMES_SLOWER });
    await page.addInitScript(OBSERVE);
    await page.goto(url, { waitUntil: "load" });
    if (isViewer) {
      await page.locator("body[data-ready=sphere]").waitFor({ state: "attached" });
      await page.mouse.move(viewport.width / 2, viewport.height / 2);
      await page.mouse.down();
      await page.mouse.move(viewport.width / 2 + 30, viewport.height / 2, { steps: 3 });
      await page.mouse.up();
      await page.keyboard.press("ArrowRight");
      await page.locator("#zoom-in").click();
      await page.locator("#viewer[data-quality=full]").waitFor({ timeout: 60_000 });
    } else await page.waitForTimeout(SETTLED_MILLISECONDS);
    await page.evaluate(COUNT_BYTES);
    return await page.evaluate<Measured>("measured");
  } finally {
    await context.close();
  }
};

/*
 * What people on slow phones wait for. The compiled command with the embedded provider on SQLite; Chromium without a
 * graphics card, on slow 4G with a processor four times slower, and nothing in its cache. Milliseconds are since the
 * start of the navigation.
 */
export const scenario: Scenario = {
  options: { rounds: "5" },
  run: async (rig, { rounds }) => {
    const { service } = await rig.install("sqlite", { LOG_LEVEL: "warn", LOCAL_PROVIDER_DELAY_MS: "0" });
    const customer = await aCustomer(service, "pages");
    await service.start();
    const slugs: string[] = [];
    // The landing page opens on the newest one that is 2k.
    for (const resolution of ["4k", "2k"]) {
      const { id } = await customer.create({ prompt: "a volcano at night", resolution, visibility: "public" });
      const { output } = await customer.untilKept(id);
      if (output?.storage_status !== "saved") throw new Error(`the ${resolution} panorama was not saved`);
      slugs.push(output.slug);
    }
    const browser = await startChromium();
    rig.defer(() => browser.close());
    for (const { name, largestPaintMax, ...viewport } of WINDOWS) {
      const [landing, viewer]: [Measured[], Measured[]] = [[], []];
      for (let round = 0; round < Number(rounds); round += 1) {
        landing.push(await measure(browser, `${service.url}/`, viewport, false));
        viewer.push(await measure(browser, `${service.url}/p/${slugs[0]}`, viewport, true));
      }
      const all = [...landing, ...viewer];
      if (!all.every(({ largestPaint }) => largestPaint > 0)) throw new Error("a page was not shown");
      if (!viewer.every(({ interactive }) => interactive > 0)) throw new Error("a sphere was not shown");
      const figure = (of: string, unit: string, some: readonly Measured[], what: keyof Measured, max?: number) =>
        rig.figure(
          `${name}: ${of}`,
          unit,
          some.map((one) => one[what]),
          max === undefined ? {} : { max },
        );
      figure("largest paint of the landing page", "ms", landing, "largestPaint", largestPaintMax);
      figure("loaded until then", "bytes", landing, "bytes", 250_000);
      figure("sphere of a 4k panorama can be turned", "ms", viewer, "interactive", 2_000);
      figure("what is in sight of it is sharp", "ms", viewer, "sharp"); // most of it is drawing, without a graphics card
      figure("longest delay of an interaction meanwhile", "ms", viewer, "delay", 200);
      figure("layout shift of all", "", all, "shifted", 0.01);
    }
  },
};
