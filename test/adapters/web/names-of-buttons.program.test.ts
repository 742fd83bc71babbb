import { describe, expect, it } from "vitest";
import { logInAs, ready, setUpBrowser } from "../../support/browser.js";

/** A screen reader lists the buttons of a page by their names alone. */
describe("on a page", () => {
  const on = setUpBrowser();
  it("buttons that do different things have different names", async () => {
    const { service } = on;
    service.provider.play({ poll: "succeeded", download: "image" });
    const tab = await on.openTab({ viewport: { width: 1000, height: 700 } });
    const { page } = tab;
    const ann = await service.person("names");
    for (const prompt of ["one", "two"]) await service.kept(ann, { prompt });
    await logInAs(tab, ann);
    const send = async (path: string, button: string, label: string, text: string) => {
      await page.goto(path);
      await page.getByLabel(label).fill(text);
      await page.getByRole("button", { name: button }).click();
      await page.getByText(text).first().waitFor();
    };
    await send("/account/keys", "Create key", "Name of the new key", "second");
    for (const host of ["one", "two"])
      await send("/account/webhooks", "Add endpoint", "URL of the new endpoint", `https://receiver-${host}.example/`);
    // On a phone the URL has the whole line, and the buttons are below it.
    await page.setViewportSize({ width: 360, height: 740 });
    expect(
      (await page.getByText("https://receiver-two.example/", { exact: true }).boundingBox())?.width,
    ).toBeGreaterThan(200);
    for (const [path, atLeast] of [
      ["/works", 8],
      ["/account", 3],
      ["/account/keys", 4],
      ["/account/webhooks", 6],
      ["/docs", 20],
    ] as const) {
      await page.goto(path);
      if (path === "/docs") await ready(page, "docs");
      const names = await page
        .locator("main :is(button, summary)")
        .evaluateAll((all) => all.map((one) => one.ariaLabel ?? one.textContent?.trim()));
      expect(names.length).toBeGreaterThanOrEqual(atLeast);
      expect([path, names.filter((name, index) => names.indexOf(name) !== index)]).toEqual([path, []]);
    }
  });
});
