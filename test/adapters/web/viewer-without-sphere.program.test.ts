import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { thumbnailNameOf } from "../../../domain/images/object-name.js";
import { ready, setUpBrowser, type Tab } from "../../support/browser.js";
import type { Person } from "../../support/web-service.js";

describe("the viewer page without a sphere", () => {
  const { service, openTab } = setUpBrowser();
  let ann: Person;
  let tab: Tab;

  beforeAll(async () => {
    ann = await service.person("ann", 1000);
  });
  beforeEach(async () => {
    service.provider.play({ poll: "succeeded", download: "image" });
    tab = await openTab({ viewport: { width: 1000, height: 600 } });
  });

  // Before others lose their pictures: without scripts, the pictures of the panoramas beside it are loaded, too.
  it("shows the flat preview without a script, and a link to the picture", async () => {
    const { slug, image } = await service.kept(ann);
    const plain = await openTab({ javaScriptEnabled: false });
    await plain.page.goto(`/p/${slug}`);
    expect(await plain.page.evaluate("getComputedStyle(document.getElementById('flat')).filter")).toBe("none");
    expect(await plain.page.getByRole("progressbar").count()).toBe(0);
    expect(await plain.page.getByRole("application").count()).toBe(0);
    const link = plain.page.getByRole("link", { name: "Open the flat picture." });
    expect(await link.getAttribute("href")).toBe(service.storage.urlOf(image.imageName));
  });

  it("shows the flat image to browsers without WebGL", async () => {
    const { slug, image } = await service.kept(ann);
    await tab.page.addInitScript("HTMLCanvasElement.prototype.getContext = () => null");
    await tab.page.goto(`/p/${slug}`);
    await ready(tab.page, "flat");
    expect(await tab.page.getByRole("status").textContent()).toContain("flat picture");
    expect(await tab.page.locator("#flat").getAttribute("src")).toBe(service.storage.urlOf(image.imageName));
    expect(await tab.page.getByRole("group", { name: "Viewer controls" }).getByRole("button").count()).toBe(2);
    await tab.page.getByRole("button", { name: "Download" }).click();
    const menu = tab.page.locator("#downloads");
    expect(await menu.getByRole("button").count()).toBe(0);
    const [file] = await Promise.all([tab.page.waitForEvent("download"), menu.getByRole("link").click()]);
    expect(file.suggestedFilename()).toBe(`four-quarters-${slug.slice(0, 6)}.jpg`);
  });

  it("reports a missing picture, and shows the preview if there is one", async () => {
    const { slug, image } = await service.kept(ann);
    await service.storage.delete(image.imageName);
    await tab.page.goto(`/p/${slug}`);
    await ready(tab.page, "sphere");
    await tab.page.getByText("The picture could not be loaded in full. This is a small preview.").waitFor();

    const second = await service.kept(ann);
    const { imageName } = second.image;
    for (const name of [imageName, thumbnailNameOf(imageName)]) await service.storage.delete(name);
    await tab.page.goto(`/p/${second.slug}`);
    await ready(tab.page, "nothing");
    expect(await tab.page.getByRole("status").textContent()).toBe(
      "The picture could not be loaded. Reload the page to try again.",
    );
    expect(await tab.page.locator("#flat").isHidden()).toBe(true);
    expect(await tab.page.getByRole("button", { name: "Download" }).count()).toBe(0);
    await tab.page.goto(`/p/${second.slug}?embed=1`);
    await ready(tab.page, "nothing");
  });
});
