import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Its headless shell comes first. It takes less processor time: it draws no window, and keeps no spare renderers. */
const EXECUTABLES = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

/** Starts a headless Chromium: the one at CHROMIUM_PATH, or that of the distribution. WebGL runs in software. */
export const startChromium = async (): Promise<Browser> => {
  const candidates = process.env.CHROMIUM_PATH === undefined ? EXECUTABLES : [process.env.CHROMIUM_PATH];
  const executablePath = candidates.find(existsSync);
  if (executablePath === undefined) {
    throw new Error(
      `These tests need Chromium, but ${candidates.join(" or ")} does not exist. Install Chromium (on Debian: ` +
        "apt-get install chromium-headless-shell) or set CHROMIUM_PATH to its executable.",
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
