import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { AccountId } from "../../../domain/ids.js";
import { logInAs, setUpBrowser, type Tab } from "../../support/browser.js";
import type { WebService } from "../../support/web-service.js";

describe("the page of webhooks", () => {
  const on = setUpBrowser();
  let service: WebService;
  let tab: Tab;

  beforeAll(() => {
    ({ service } = on);
  });
  beforeEach(async () => {
    await service.clock.advance(60_000);
    tab = await on.openTab();
  });

  const endpointOf = async (account: AccountId) =>
    (await service.endpoints.list(account)).find(({ url }) => url !== undefined);

  it("adds, rotates and deletes an endpoint, and sends a test and a delivery again, with the keyboard", async () => {
    const { page } = tab;
    const ann = await service.person("ann", 100);
    await logInAs(tab, ann);
    await page.goto("/account");
    await page.getByRole("link", { name: "Webhooks" }).press("Enter");
    await page.getByLabel("URL of the new endpoint").fill("https://receiver.example.com/<hook>");
    await page.getByRole("button", { name: "Add endpoint" }).press("Enter");
    await page.waitForURL("**/account/webhooks");
    const created = await endpointOf(ann.id);
    expect(created?.url).toBe("https://receiver.example.com/<hook>");
    expect(await page.content()).toContain(created?.secret);

    const { webhookSender } = service;
    for (const [answer, said] of [
      [{ kind: "delivered", detail: "status 204" }, "has arrived at https://receiver.example.com/<hook>: status 204"],
      [{ kind: "failed", detail: "no answer in time", isGone: false }, "has not arrived at"],
    ] as const) {
      webhookSender.answer = () => answer;
      await page.getByRole("button", { name: "Send a test https://receiver" }).press("Enter");
      await page.getByText(said).waitFor();
      await page.reload();
      expect(await page.getByText(said).count()).toBe(0);
    }
    const signed = { url: created?.url, secrets: [created?.secret] };
    expect(webhookSender.sent).toMatchObject([signed, signed]);
    expect(await page.getByRole("region", { name: /Deliveries/ }).textContent()).toContain("Nothing was sent.");

    await page.getByRole("button", { name: "New secret https://receiver" }).press("Enter");
    await expect.poll(async () => (await endpointOf(ann.id))?.previous?.secret).toBe(created?.secret);

    await service.kept(ann, { prompt: "a quiet lake" });
    await page.goto("/account/webhooks");
    const row = page.getByRole("row", { name: /panorama\.succeeded/ });
    expect(await row.textContent()).toContain("pending");
    const [claimed] = await service.deliveries.claim({
      now: service.clock.now(),
      until: service.clock.now(),
      limit: 1,
      laneLimit: 1,
      busyLanes: [],
      choose: (due) => due,
    });
    await row.getByRole("button", { name: /Send again: delivery/ }).press("Enter");
    await page.waitForURL("**/account/webhooks");
    const again = (await service.deliveries.list(ann.id, 9, undefined)).find(({ id }) => id === claimed?.id);
    expect(again?.delivery).toMatchObject({ state: "pending", attempts: 0 });

    await page.getByLabel("Delete https://receiver").press("Enter");
    await page.getByText("Nothing more is sent to this URL, and its secret is lost. This can’t be undone.").waitFor();
    expect(await endpointOf(ann.id)).toBeDefined();
    await page.getByRole("button", { name: "Delete now https://receiver" }).press("Enter");
    await expect.poll(() => endpointOf(ann.id)).toBeUndefined();
    expect(await page.getByRole("region", { name: /Deliveries/ }).textContent()).toContain("failed");
  });

  it("shows that an endpoint is switched off, and switches it on again", async () => {
    const { page } = tab;
    const ben = await service.person("ben", 100);
    await logInAs(tab, ben);
    await page.goto("/account/webhooks");
    await page.getByLabel("URL of the new endpoint").fill("https://receiver.example.com/");
    await page.getByRole("button", { name: "Add endpoint" }).click();
    await page.waitForURL("**/account/webhooks");
    // On a phone the URL has the whole line, and the buttons are below it.
    await page.setViewportSize({ width: 360, height: 740 });
    expect(
      (await page.getByText("https://receiver.example.com/", { exact: true }).boundingBox())?.width,
    ).toBeGreaterThan(200);
    const endpoint = await endpointOf(ben.id);
    if (endpoint === undefined) throw new Error("there is no endpoint");
    await service.deliveries.switchOff(endpoint, "gone", service.clock.now(), service.clock.now());
    await page.goto("/account/webhooks");
    expect(await page.getByRole("region", { name: "Endpoints" }).textContent()).toContain(
      "it answered with status 410",
    );
    await page.getByRole("button", { name: "Switch on" }).click();
    await expect.poll(async () => (await endpointOf(ben.id))?.off).toBeUndefined();
  });
});
