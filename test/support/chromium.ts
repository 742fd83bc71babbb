import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Starts a headless Chromium: /usr/bin/chromium, or the one at CHROMIUM_PATH. WebGL runs in software. */
export const startChromium = async (): Promise<Browser> => {
  const executablePath = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";
  if (!existsSync(executablePath)) {
    throw new Error(
      `These tests need Chromium, but ${executablePath} does not exist. Install Chromium (on Debian and Ubuntu: ` +
        "apt-get install chromium) or set CHROMIUM_PATH to its executable.",
    );
  }
  return chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--use-gl=angle",
      "--use-angle=swiftshader",
      "--enable-unsafe-swiftshader",
      "--disable-gpu-compositing",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
    ],
  });
};
