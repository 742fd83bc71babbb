import { build, type Plugin } from "esbuild";
import type { Browser } from "playwright-core";

/** The page of test/examples/embedding/page.ts and its script. `packages` finds panorama-client. */
export const builtPage = async (entry: string, packages: readonly Plugin[] = []) => {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    write: false,
    plugins: [...packages],
  });
  const html =
    '<!doctype html><html lang="en"><title>Panoramas</title><body><script type="module" src="/page.js"></script></body></html>';
  return { html, script: Buffer.from(outputFiles[0]?.contents ?? []) };
};

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="2" height="1"/>';

/** Fills in the form of the page at this URL. Resolves to what it finally shows. `problems`: errors in its console. */
export const usePage = async (browser: Browser, url: string, apiKey: string, whileMade: () => Promise<void>) => {
  const page = await browser.newPage();
  const problems: string[] = [];
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  // The storage of the tests has no server.
  await page.route(/^https:\/\/objects\.example\//, (route) =>
    route.fulfill({ contentType: "image/svg+xml", body: SVG }),
  );
  try {
    await page.goto(url);
    await page.getByLabel("API key").fill(apiKey);
    await page.getByLabel("Prompt").fill("a quiet lake at sunset");
    await page.getByRole("button", { name: "Create" }).click();
    const status = page.getByRole("status");
    await status.filter({ hasText: "is being made" }).waitFor();
    await whileMade();
    await status.filter({ hasText: "Done." }).waitFor();
    const image = await page.getByAltText("a quiet lake at sunset").getAttribute("src");
    return { image, problems };
  } finally {
    await page.close();
  }
};
