import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { logInAs, ready, setUpBrowser, type Tab } from "../../support/browser.js";
import type { Person, WebService } from "../../support/web-service.js";

describe("access to a panorama", () => {
  const on = setUpBrowser();
  let service: WebService;
  let ann: Person;
  let tab: Tab;

  beforeAll(async () => {
    ({ service } = on);
    ann = await service.person("ann", 1000);
  });
  beforeEach(async () => {
    service.provider.play({ poll: "succeeded", download: "image" });
    tab = await on.openTab({ viewport: { width: 1000, height: 600 } });
  });

  it("allows frames of other sites only with ?embed=1, and then has no header", async () => {
    const { slug } = await service.kept(ann);
    const embed = await tab.page.goto(`/p/${slug}?embed=1`);
    await ready(tab.page, "sphere");
    expect(await tab.page.getByRole("banner").count()).toBe(0);
    expect(embed?.headers()["content-security-policy"]).toContain("frame-ancestors *");
    const whole = await tab.page.goto(`/p/${slug}`);
    expect(whole?.headers()["content-security-policy"]).toContain("frame-ancestors 'none'");
  });

  it("shows a private panorama only to its owner, after login", async () => {
    const ben = await service.person("ben");
    const { slug } = await service.kept(ann, { visibility: "private" });
    expect((await tab.page.goto(`/p/${slug}`))?.status()).toBe(404);

    await tab.page.goto(`/works/${slug}`);
    expect(new URL(tab.page.url()).pathname).toBe("/login");
    await tab.page.getByLabel("E-mail address").fill(ann.email);
    await tab.page.getByLabel("Password").fill("correct horse battery");
    await tab.page.getByRole("main").getByRole("button", { name: "Log in" }).click();
    await tab.page.waitForURL(`**/works/${slug}`);
    await ready(tab.page, "sphere");

    const other = await on.openTab();
    await logInAs(other, ben);
    expect((await other.page.goto(`/works/${slug}`))?.status()).toBe(404);
  });
});
