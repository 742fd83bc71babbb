import { expect, it } from "vitest";
import { setUpBrowser } from "../../../support/browser.js";
import { putTask } from "../../../support/put-task.js";

const { service, openTab } = setUpBrowser();

it("the gallery grows while the reader scrolls, and is where the reader left it on the way back", async () => {
  service.provider.play({ poll: "succeeded", download: "image" });
  const task = await service.kept(await service.person("ann"), { prompt: "the first of many" });
  for (let n = 0; n < 30; n += 1) {
    const copy = { ...task, id: service.ids.taskId(), slug: service.ids.slug() };
    await putTask(service.database, copy);
  }
  const { page } = await openTab({ viewport: { width: 1000, height: 700 } });
  await page.goto("/gallery");
  const tiles = page.locator("#gallery li");
  expect(await tiles.count()).toBe(24);
  await expect
    .poll(async () => {
      await page.mouse.wheel(0, 3000);
      return tiles.count();
    })
    .toBe(31);
  expect(await page.getByRole("link", { name: "Older panoramas" }).count()).toBe(0);

  const last = page.locator("#gallery a").last();
  await last.scrollIntoViewIfNeeded();
  await expect.poll(() => page.evaluate("history.state === scrollY")).toBe(true);
  const place = await last.boundingBox();
  await last.click();
  await page.waitForURL("**/p/*");
  await page.goBack();
  await expect.poll(() => last.boundingBox()).toEqual(place);
  expect(await tiles.count()).toBe(31);
});
