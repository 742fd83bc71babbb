import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { openWorksOf, setUpBrowser } from "../../support/browser.js";

const { service, openTab } = setUpBrowser();

it("the works page selects panoramas by keyboard, downloads them in one file, and acts on all of them", async () => {
  service.provider.play({ poll: "succeeded", download: "image" });
  const ann = await service.person("ann");
  const kept = (prompt: string) => service.kept(ann, { prompt, visibility: "private" });
  const lakes = [await kept("the first lake"), await kept("the second lake")];
  service.provider.play({ poll: "running" });
  await service.panorama(ann, { prompt: "a lake in progress", visibility: "private" });
  const tab = await openTab({ viewport: { width: 1000, height: 700 } });
  await openWorksOf(tab, ann);
  const { page } = tab;
  const bar = page.locator("#selection");
  expect(await bar.isVisible()).toBe(false);
  await page.getByLabel("Select: a lake in progress").press("Space");
  expect(await bar.getByRole("button", { name: "Download" }).isVisible()).toBe(false);
  for (const prompt of ["the first lake", "the second lake"]) await page.getByLabel(`Select: ${prompt}`).press("Space");
  expect(await bar.getByRole("status").textContent()).toBe("3 selected");

  const started = page.waitForEvent("download");
  await bar.getByRole("button", { name: "Download" }).press("Enter");
  const file = await started;
  expect(file.suggestedFilename()).toBe("panoramas.zip");
  const zip = await readFile(await file.path());
  for (const { slug, image, request } of lakes) {
    const name = `${request.prompt?.replaceAll(" ", "-")}-${slug.slice(0, 6)}.jpg`; // such as the-first-lake-Ab3dEf.jpg
    expect(zip.includes(name)).toBe(true);
    const picture = await fetch(service.storage.urlOf(image.imageName));
    expect(zip.includes(Buffer.from(await picture.arrayBuffer()))).toBe(true);
  }

  await bar.getByRole("button", { name: "Publish" }).press("Enter");
  await page.getByText("2 panoramas published. 1 could not be published").waitFor();
  await page.getByLabel("Search in your prompts").fill("sec");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/works?q=sec");
  expect(await page.locator("#list > li").count()).toBe(1);
  await page.goto("/works");
  await page.getByLabel("Visibility").selectOption("private"); // is sent at once
  await page.waitForURL("**/works?visibility=private");
  expect(await page.locator("#list .tile-title").allTextContents()).toEqual(["a lake in progress"]);
});
