import { err } from "neverthrow";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { aPlace, aSucceededTask } from "../../../../adapters/contracts/support/builders.js";
import type { Task } from "../../../../domain/tasks/task.js";
import { COARSE, logInAs, ready, setUpBrowser, type Tab } from "../../../support/browser.js";
import type { Person } from "../../../support/web-service.js";

/** A window that nobody looks at, and whose reader allows notifications. */
const NOTIFICATIONS = `
  window.told = [];
  window.Notification = class {
    static requestPermission = async () => "granted";
    constructor(title, { body }) { told.push([title, body]); }
    addEventListener() {}
  };
  Object.defineProperty(document, "visibilityState", { get: () => "hidden" });`;

describe("the page of a panorama that is not finished", () => {
  const { service, openTab } = setUpBrowser();
  let ann: Person;
  let tab: Tab;

  beforeAll(async () => {
    ann = await service.person("ann", 1000);
  });
  beforeEach(async () => {
    service.provider.play({ poll: "succeeded", download: "image" });
    tab = await openTab({ ...COARSE, viewport: { width: 500, height: 300 } }); // the ring moves all the time
  });

  it("reports that an image is being saved, and shows it when it is saved", async () => {
    const unavailable = err({ kind: "storage_unavailable", reason: "a test" } as const);
    vi.spyOn(service.storage, "put").mockResolvedValueOnce(unavailable).mockResolvedValueOnce(unavailable);
    const { slug } = await service.panorama(ann);
    await tab.page.goto(`/p/${slug}`);
    expect(await tab.page.getByRole("status").textContent()).toBe("Almost there: saving the picture");
    vi.restoreAllMocks();
    await service.work();
    await ready(tab.page, "sphere");
  });

  it("waits with the prompt and the time, and becomes the sphere without a reload", async () => {
    const eve = await service.person("eve");
    service.provider.play({ poll: "running" });
    const prompt = "a harbour made of glass";
    const { slug } = await service.panorama(eve, { prompt, visibility: "private" });
    await logInAs(tab, eve);
    await tab.page.goto(`/works/${slug}`);
    expect(await tab.page.getByRole("heading", { level: 1 }).textContent()).toBe(prompt);
    expect(await tab.page.getByRole("status").textContent()).toBe("Making your panorama");
    expect(await tab.page.locator("noscript").first().textContent()).toContain('http-equiv="refresh"');
    expect(await tab.page.locator("#late").textContent()).toBe("");
    expect(await tab.page.locator("#ring[data-unknown]").count()).toBe(1);
    service.generationTime.add(aSucceededTask()); // generations took half a minute lately
    await expect.poll(() => tab.page.locator("#rest").textContent()).toMatch(/^About (25|30) seconds left$/);
    expect(await tab.page.locator("#ring[data-unknown]").count()).toBe(0);
    await service.clock.advance(15_000);
    await expect.poll(() => tab.page.locator("#ring .done").getAttribute("stroke-dasharray")).toMatch(/^[5-7]\d 100$/);
    await tab.page.evaluate(NOTIFICATIONS);
    await tab.page.getByRole("button", { name: "Tell me when it is done" }).click();
    await tab.page.getByRole("button", { name: "You will be told" }).waitFor();
    await service.clock.advance(80_000);
    await expect.poll(() => tab.page.locator("#elapsed").textContent()).toMatch(/^1:\d\d$/);
    const late = "This takes longer than usual. If it fails, you get your 4 credits back.";
    await expect.poll(() => tab.page.locator("#late").textContent()).toBe(late);
    expect(await tab.page.locator("#rest").textContent()).toBe("");
    await tab.page.evaluate("window.isSamePage = true");
    service.provider.play({ poll: "succeeded", download: "image" });
    await service.work();
    await ready(tab.page, "sphere");
    expect(await tab.page.evaluate("[window.isSamePage, told, document.querySelector('.drift')]")).toEqual([
      true,
      [[`${prompt} · Panorama`, "Your panorama is ready."]],
      null,
    ]);
    expect(await tab.page.locator("#viewer").getAttribute("aria-label")).toContain(prompt);

    service.provider.play({ poll: "running" });
    const second = await service.panorama(eve, { prompt, visibility: "private" });
    await tab.page.goto(`/works/${second.slug}`);
    service.provider.play({ poll: "failed" });
    await service.work();
    await tab.page.getByRole("heading", { name: "Generation failed" }).waitFor();
    expect(await tab.page.getByRole("status").textContent()).toContain("Your 4 credits are back.");
    await tab.page.getByRole("link", { name: "Try again" }).click();
    await tab.page.waitForURL(`**/works?from=${second.slug}#create`);
    expect(await tab.page.getByRole("textbox", { name: "Prompt" }).inputValue()).toBe(prompt);
  });

  it("shows the place in the queue while it waits, and reads it only then", async () => {
    const count = vi.spyOn(service.tasks, "countAhead");
    const cat = await service.person("cat");
    service.provider.play({ poll: "running" });
    service.provider.concurrencyMax = 1;
    const made: Task[] = [];
    for (let n = 0; n < 4; n += 1) made.push(await service.panorama(cat, { visibility: "private" }));
    const last = `/works/${made[3]?.slug}`;
    await logInAs(tab, cat);
    await tab.page.goto(last);
    const status = tab.page.getByRole("status");
    expect(await status.textContent()).toBe("3rd in line");
    const startOne = () => service.tasks.startQueued([aPlace(undefined)], 1, service.clock.now(), service.clock.now());
    await startOne();
    await expect.poll(() => status.textContent()).toBe("2nd in line");
    await startOne();
    await expect.poll(() => status.textContent()).toBe("Next in line");
    await startOne();
    await expect.poll(() => status.textContent()).toBe("Starting");
    count.mockClear();
    service.generationTime.add(aSucceededTask());
    const answer = await tab.page.request.get(`${last}/status`);
    expect(await answer.json()).toEqual({
      phase: "queued",
      words: "Starting",
      note: "",
      elapsed_seconds: 5,
      rest: "About 30 seconds left",
      done_percent: 15,
    });
    expect(count).not.toHaveBeenCalled();
    vi.restoreAllMocks();
    service.provider.concurrencyMax = undefined;
  });
});
