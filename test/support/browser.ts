import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { PASSWORD, type Person, type WebService } from "./web-service.js";

/** A tab with its own browser context, and the problems that occurred in it. */
export type Tab = {
  readonly page: Page;
  /** Errors and warnings in the console, including violations of the policy, and requests to other origins. */
  readonly problems: readonly string[];
  close(): Promise<void>;
};

export const openTab = async (
  browser: Browser,
  service: WebService,
  options: BrowserContextOptions = {},
): Promise<Tab> => {
  const context = await browser.newContext({
    baseURL: service.url,
    reducedMotion: "reduce",
    deviceScaleFactor: 0.5, // WebGL in software takes a quarter of the time
    ...options,
  });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("console", (message) => {
    // Some tests request pages that do not exist. Chromium without GPU compositing reads the pixels of WebGL back.
    const expected = /the server responded with a status of 4\d\d|GPU stall due to ReadPixels/.test(message.text());
    if ((message.type() === "error" || message.type() === "warning") && !expected) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    const local = protocol === "blob:" || protocol === "data:";
    if (!local && origin !== service.url) problems.push(`request to ${request.url()}`);
  });
  return { page, problems, close: () => context.close() };
};

export const logInAs = async ({ page }: Tab, person: Person): Promise<void> => {
  await page.goto("/login");
  await page.getByLabel("E-mail address").fill(person.email);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("main").getByRole("button", { name: "Log in" }).click();
  await page.waitForURL("**/works");
};

/** Waits until the script of the page sets `data-ready` to `what`. */
export const ready = (page: Page, what: string): Promise<void> =>
  page.locator(`body[data-ready="${what}"]`).waitFor({ state: "attached" });
