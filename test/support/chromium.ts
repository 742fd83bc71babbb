import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** A real Chromium without a window: the distribution's, or the one that CHROMIUM_PATH names. WebGL runs in software. */
export const startChromium = async (): Promise<Browser> => {
  const executablePath = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";
  if (!existsSync(executablePath)) {
    throw new Error(
      `These tests need Chromium, and there is none at ${executablePath}. Install it (on Debian and Ubuntu: ` +
        "apt-get install chromium) or set CHROMIUM_PATH to the browser's executable.",
    );
  }
  return chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--use-gl=angle",
      "--use-angle=swiftshader",
      "--enable-unsafe-swiftshader",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
    ],
  });
};
