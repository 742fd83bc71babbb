import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { setUpBrowser, type Tab } from "../../../support/browser.js";
import { putTask } from "../../../support/put-task.js";
import type { Person, WebService } from "../../../support/web-service.js";

describe("readers of the gallery", () => {
  const on = setUpBrowser();
  let service: WebService;
  let ann: Person;
  let tab: Tab;
  let people = 0;

  beforeAll(() => {
    ({ service } = on);
  });
  beforeEach(async () => {
    service.provider.play({ poll: "succeeded", download: "image", submit: "accept" });
    people += 1;
    ann = await service.person(`ann-${people}`);
    tab = await on.openTab({ viewport: { width: 1000, height: 700 } });
  });

  it("page through the gallery with and without JavaScript", async () => {
    const task = await service.kept(ann, { prompt: "the first of many" });
    for (let n = 0; n < 30; n += 1) {
      const id = service.ids.taskId();
      const copy = { ...task, id, slug: service.ids.slug() };
      await putTask(service.database, copy);
    }
    const all = (await service.tasks.listPublic(1000, undefined)).length;
    const plain = await on.openTab({ javaScriptEnabled: false });
    await plain.page.goto("/gallery");
    expect(await plain.page.locator("#gallery li").count()).toBe(24);
    await plain.page.getByRole("link", { name: "Older panoramas" }).click();
    expect(await plain.page.locator("#gallery li").count()).toBe(Math.min(24, all - 24));
    await plain.page.getByRole("link", { name: "Newer panoramas" }).click();
    expect(plain.page.url()).toBe(`${service.url}/gallery`);
    expect(await plain.page.locator("#gallery li").count()).toBe(24);

    await tab.page.goto("/gallery");
    await expect
      .poll(async () => {
        await tab.page.mouse.wheel(0, 3000);
        return tab.page.locator("#gallery li").count();
      })
      .toBe(all);
    expect(await tab.page.getByRole("link", { name: "Older panoramas" }).count()).toBe(0);

    // On the way back from a panorama, the list is where the reader left it.
    const last = tab.page.locator("#gallery a").last();
    await last.scrollIntoViewIfNeeded();
    await expect.poll(() => tab.page.evaluate("history.state === scrollY")).toBe(true);
    const place = await last.boundingBox();
    await last.click();
    await tab.page.waitForURL("**/p/*");
    await tab.page.goBack();
    await expect.poll(() => last.boundingBox()).toEqual(place);
    expect(await tab.page.locator("#gallery li").count()).toBe(all);
  });
});
