import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterEach, beforeAll, expect } from "vitest";
import { startChromium } from "./chromium.js";
import { setUpService } from "./visit.js";
import { PASSWORD, type Person, type WebService } from "./web-service.js";

/** A tab with its own browser context, and the problems that occurred in it. */
export type Tab = {
  readonly page: Page;
  readonly origin: string;
  /** Errors and warnings in the console, including violations of the policy, and requests to other origins. */
  readonly problems: readonly string[];
  close(): Promise<void>;
};

/** For tests of what moves or is dragged: in software, WebGL takes time for each pixel of a frame. */
export const COARSE = { deviceScaleFactor: 0.25 } as const;

const openTab = async (browser: Browser, service: WebService, options: BrowserContextOptions = {}): Promise<Tab> => {
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
  return { page, origin: service.url, problems, close: () => context.close() };
};

let chromium: Promise<Browser> | undefined;

/** One Chromium for all test files of a worker, which share this module. It ends with the worker. */
const sharedChromium = (): Promise<Browser> => {
  chromium ??= startChromium().then((browser) => browser.on("disconnected", () => (chromium = undefined)));
  return chromium;
};

/**
 * One service for the tests of a group, in the Chromium of their worker. Each test has its own tabs, which are closed
 * after it. A test fails if a tab had an unexpected problem, and the group fails if the service reported a failure.
 */
export const setUpBrowser = (
  settings: Parameters<typeof setUpService>[0] = {},
  isExpected: (problem: string) => boolean = () => false,
) => {
  const service = setUpService(settings);
  let browser: Browser;
  const tabs: Tab[] = [];

  beforeAll(async () => {
    browser = await sharedChromium();
  });
  afterEach(async () => {
    const opened = tabs.splice(0);
    for (const tab of opened) await tab.close();
    expect(opened.flatMap(({ problems }) => problems).filter((problem) => !isExpected(problem))).toEqual([]);
  });

  return {
    service,
    openTab: async (options?: BrowserContextOptions): Promise<Tab> => {
      const tab = await openTab(browser, service, options);
      tabs.push(tab);
      return tab;
    },
  };
};

/** Logs in without opening /login: `walk.program.test.ts` does so by the page. */
export const logInAs = async ({ page, origin }: Tab, { email }: Person): Promise<void> => {
  const form = { email, password: PASSWORD };
  const answer = await page.request.post("/login", { form, headers: { origin }, maxRedirects: 0 });
  expect(answer.headers().location).toBe("/works");
};

/** Waits until the script of the page sets `data-ready` to `what`. */
export const ready = (page: Page, what: string): Promise<void> =>
  page.locator(`body[data-ready="${what}"]`).waitFor({ state: "attached" });
