import { beforeAll, describe, expect, it } from "vitest";
import { viewerPath } from "../../../domain/tasks/slug.js";
import type { SucceededTask } from "../../../domain/tasks/task.js";
import { logInAs, setUpBrowser } from "../../support/browser.js";
import type { Person } from "../../support/web-service.js";

/** A folder for pictures of the pages, for people who look at them. */
const PICTURES = process.env.PAGE_PICTURES;

describe("changing a panorama in the browser", () => {
  const { service, openTab } = setUpBrowser();
  let ann: Person;
  let source: SucceededTask;

  beforeAll(async () => {
    ann = await service.person("change", 1000);
    service.provider.play({ poll: "succeeded", download: "image" });
    source = await service.kept(ann, { prompt: "a quiet lake in the mountains", visibility: "private" });
  });

  it.each([
    ["wide", { width: 1100, height: 800 }],
    ["narrow", { width: 390, height: 800 }],
  ])("leads from the viewer to the form, to the new panorama, and back to its source: %s", async (name, viewport) => {
    await service.clock.advance(60_000);
    const tab = await openTab({ viewport });
    const { page } = tab;
    const shoot = async (step: string) => {
      if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/${name}-${step}.png` });
    };
    await logInAs(tab, ann);
    await page.goto(viewerPath(source.slug, "private"));
    await shoot("1-viewer");
    await page.getByRole("link", { name: "Change this panorama" }).click();
    await page.waitForURL(/\/works\?change=/);
    const prompt = page.getByLabel("Prompt", { exact: true });
    expect([await prompt.inputValue(), await prompt.getAttribute("placeholder")]).toEqual([
      "",
      "What should be different?",
    ]);
    await expect.poll(() => page.evaluate("document.querySelector('.pictures img').naturalWidth")).toBeGreaterThan(0);
    await shoot("2-form");
    await prompt.fill("the same at night");
    await page.getByRole("radio", { name: /1K/ }).check();
    await page.getByRole("button", { name: /^Create/ }).click();
    await page.waitForURL((url) => /^\/works\/[^/]+$/.test(url.pathname));
    await service.work();
    await page.reload();
    const [made] = await service.tasks.list(ann.id, 1, undefined);
    expect(made?.request).toMatchObject({
      prompt: "the same at night",
      imageUrls: [service.storage.urlOf(source.image.imageName)],
    });
    const from = page.getByRole("link", { name: "a quiet lake in the mountains" });
    expect(await page.getByText("Made from").isVisible()).toBe(true);
    const box = await from.boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? Number.POSITIVE_INFINITY)).toBeLessThanOrEqual(viewport.width);
    await shoot("3-result");
    await from.click();
    await page.waitForURL(`**/works/${source.slug}`);
  });
});
