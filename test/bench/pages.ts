import type { Browser, Page } from "playwright-core";
import { startChromium } from "../support/chromium.js";
import { Installation } from "../support/service-process.js";
import { aCustomer } from "./customer.js";
import { quantile } from "./statistics.js";

/*
 * Measures what people on slow phones wait for: `npm run bench pages`. The compiled command with the embedded provider
 * on SQLite; Chromium without a graphics card, on slow 4G with a processor four times slower, and nothing in its cache.
 * Prints milliseconds since the start of the navigation. Fails if a median exceeds its maximum.
 */

const ROUNDS = 9;
const BITS_PER_SECOND = 1_600_000;
const LATENCY_MILLISECONDS = 150;
const TIMES_SLOWER = 4;
const WINDOWS = [
  { name: "phone", width: 390, height: 844 },
  { name: "desktop", width: 1440, height: 900 },
];
/** For the larger picture to be loaded too, which could be the largest paint. */
const SETTLED_MILLISECONDS = 5_000;

type Measured = { largestPaint: number; shifted: number; interactive: number };

/** Runs in the page, before its scripts. */
const OBSERVE = `
  const measured = window.measured = { largestPaint: 0, shifted: 0, interactive: 0 };
  const each = (type, take) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
  each("largest-contentful-paint", ({ startTime }) => { measured.largestPaint = startTime; });
  each("layout-shift", ({ value }) => { measured.shifted += value; });
  const watched = new MutationObserver(() => {
    if (document.body?.dataset.ready !== "sphere") return;
    measured.interactive = performance.now();
    watched.disconnect();
  });
  watched.observe(document, { subtree: true, attributeFilter: ["data-ready"] });`;

/** Opens the page as a visitor with an empty cache. */
const measure = async (browser: Browser, url: string, viewport: { width: number; height: number }) => {
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
    await page.waitForTimeout(SETTLED_MILLISECONDS);
    return await page.evaluate<Measured>("measured");
  } finally {
    await context.close();
  }
};

const service = await Installation.create({ DEMO: "false", LOG_LEVEL: "warn", LOCAL_PROVIDER_DELAY_MS: "0" });
const figures: { name: string; values: readonly number[]; max: number }[] = [];
try {
  await service.command("migrate");
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
  try {
    for (const { name, ...viewport } of WINDOWS) {
      const landing: Measured[] = [];
      const viewer: Measured[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        landing.push(await measure(browser, `${service.url}/`, viewport));
        viewer.push(await measure(browser, `${service.url}/p/${slugs[0]}`, viewport));
      }
      if (![...landing, ...viewer].every(({ largestPaint }) => largestPaint > 0))
        throw new Error("a page was not shown");
      if (!viewer.every(({ interactive }) => interactive > 0)) throw new Error("a sphere was not shown");
      const paints = landing.map(({ largestPaint }) => largestPaint);
      const spheres = viewer.map(({ interactive }) => interactive);
      const shifts = [...landing, ...viewer].map(({ shifted }) => shifted);
      figures.push({ name: `${name}: largest paint of the landing page, ms`, values: paints, max: 1_000 });
      figures.push({ name: `${name}: sphere of a 4k panorama can be turned, ms`, values: spheres, max: 1_500 });
      figures.push({
        name: `${name}: layout shift of both, thousandths`,
        values: shifts.map((shift) => shift * 1000),
        max: 20,
      });
    }
  } finally {
    await browser.close();
  }
} finally {
  await service.remove();
}

console.log("| what | median | least to most | maximum |");
console.log("|---|---|---|---|");
for (const { name, values, max } of figures) {
  const [least, median, most] = [0, 0.5, 1].map((share) => quantile(values, share).toFixed(0));
  console.log(`| ${name} | ${median} | ${least} to ${most} | ${max} |`);
}
const exceeded = figures.filter(({ values, max }) => quantile(values, 0.5) > max);
for (const { name } of exceeded) console.error(`exceeds its maximum: ${name}`);
process.exit(exceeded.length === 0 ? 0 : 1);
