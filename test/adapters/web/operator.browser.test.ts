import type { BrowserContext, Page } from "playwright-core";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { nodeOneTimeCodes } from "../../../adapters/system/one-time-codes.js";
import { deletePanorama } from "../../../application/panoramas/delete-panorama.js";
import { apiKeyId } from "../../../domain/accounts/api-key.js";
import { codeStepsAt, parseOperatorName } from "../../../domain/accounts/operator.js";
import { parsePassword } from "../../../domain/accounts/password.js";
import { parseHotspots } from "../../../domain/tasks/hotspots.js";
import { deletedByKey } from "../../../domain/tasks/out-of-sight.js";
import { setUpBrowser } from "../../support/browser.js";
import { axeFindings } from "../../support/page-checks.js";
import { PASSWORD, type Person, type WebService } from "../../support/web-service.js";

const CLICKS_MAX = 5;

describe("the operator's pages in a browser", () => {
  const on = setUpBrowser();
  let service: WebService;
  let secret: string;
  let session: Awaited<ReturnType<BrowserContext["storageState"]>> | undefined;
  let page: Page;
  let clicks: number;
  let people = 0;

  const customer = (): Promise<Person> => {
    people += 1;
    return service.person(`customer${people}`);
  };

  beforeAll(async () => {
    ({ service } = on);
    const name = parseOperatorName("olga")._unsafeUnwrap();
    const set = await service.operatorAccess.setPassword(name, parsePassword(PASSWORD)._unsafeUnwrap(), false);
    secret = set._unsafeUnwrap().codeSecret ?? "";
  });

  beforeEach(async () => {
    service.provider.play({ poll: "succeeded" });
    clicks = 0;
    ({ page } = await on.openTab({ timezoneId: "Europe/Berlin", ...(session && { storageState: session }) }));
    await page.goto("/operator");
    if (session !== undefined) return;
    await page.getByLabel("Name").fill("olga");
    await page.getByLabel("Password").fill(PASSWORD);
    const [, step = 0] = codeStepsAt(service.clock.now());
    await page.getByLabel("Code of the authenticator app").fill(nodeOneTimeCodes.codeAt(secret, step));
    await page.getByRole("button", { name: "Log in" }).click();
    await page.waitForURL("**/operator");
    session = await page.context().storageState();
  });

  const click = async (role: "button" | "link", name: string | RegExp): Promise<void> => {
    clicks += 1;
    expect(clicks).toBeLessThanOrEqual(CLICKS_MAX);
    await page.getByRole("main").getByRole(role, { name }).first().click();
    await page.waitForLoadState();
  };
  const search = async (text: string): Promise<void> => {
    await page.getByRole("search").getByRole("textbox").fill(text);
    await click("button", "Search");
  };
  const text = () => page.getByRole("main").innerText();
  const isAccessible = async (): Promise<void> => expect(await axeFindings(page)).toEqual([]);
  const lastAction = () => service.database.operatorActions.at(-1);

  it("shows what was reported, hides it, and everything of its owner, whom it suspends", async () => {
    const eve = await customer();
    const [first, second] = [await service.kept(eve), await service.kept(eve)];
    for (const [n, text] of ["It shows <b>my garden</b>", undefined].entries()) {
      const report = { taskId: first.id, reason: "person", text, at: service.clock.now() } as const;
      await service.reports.file({ ...report, network: `192.0.2.${n}` });
    }
    const notes = ["My <i>neighbour</i>", "\u202ehis door"].map((note) => ({ yaw: 1, pitch: 1, note }));
    (await service.tasks.setHotspots(first.id, eve.id, parseHotspots(notes)._unsafeUnwrap()))._unsafeUnwrap();
    const isRead = async () => {
      for (const { note } of notes) expect(await text()).toContain(note);
      expect(await text()).toContain("four quarters");
    };
    await page.reload();
    expect(await text()).toContain("It shows <b>my garden</b>");
    await isRead();
    await isAccessible();
    await page.getByRole("main").getByLabel("Reason, which the owner sees").fill("Shows a private garden");
    await click("button", "Hide it from others");
    expect(lastAction()).toMatchObject({ operator: "olga at /operator", command: "gallery hide", outcome: "done" });
    expect(service.database.tasks.get(first.id)?.withheld).toMatchObject({ by: "olga at /operator" });
    expect(service.database.reports.map(({ outcome, text }) => [outcome, text])).toEqual([
      ["hidden", undefined],
      ["hidden", undefined],
    ]);
    await isAccessible();
    await page.goto(`/operator/tasks/${first.id}`);
    await isRead();
    await page.goto(`/operator/tasks/${(await service.kept(eve, { visibility: "private" })).id}`);
    expect(await text()).not.toContain("What visitors read");
    await page.goto(`/operator/tasks/${second.id}`);
    await click("button", "Show on the front page");
    expect(service.database.tasks.get(second.id)?.featured).toBeInstanceOf(Date);
    await page.goto(`/operator/accounts/${eve.id}`);
    const form = (words: string) =>
      page
        .getByRole("main")
        .locator("form")
        .filter({ has: page.getByRole("button", { name: words }) });
    await form("Hide everything public").getByRole("textbox").fill("Private gardens");
    await click("button", "Hide everything public");
    expect(service.database.tasks.get(second.id)).toMatchObject({
      withheld: { reason: "Private gardens" },
      featured: undefined,
    });
    await form("Suspend the account").getByRole("textbox").fill("Private gardens");
    await click("button", "Suspend the account");
    expect(await text()).toContain("Private gardens");
    await isAccessible();
    await click("button", "Resume the account");
    expect((await service.accounts.find(eve.id))?.suspension).toBeUndefined();
  });

  it("answers who was charged twice, and gives the credits back", async () => {
    const ann = await customer();
    const [first, second] = [await service.kept(ann), await service.kept(ann)];
    await search(ann.email);
    const account = await text();
    for (const { id } of [first, second]) expect(account).toContain(id);
    expect(account).toContain(`\t−${first.reservation.credits}\t`);
    await isAccessible();
    await page.getByLabel("Credits, negative to take some").fill("4");
    await page.getByLabel("Reason, which the customer sees").fill("The same panorama twice");
    await click("button", "Give credits");
    expect(await text()).toContain("The same panorama twice");
    const before = 100 - 2 * first.reservation.credits;
    expect(await service.ledger.balance(ann.id)).toBe(before + 4);
    expect(lastAction()).toMatchObject({
      operator: "olga at /operator",
      command: "credits grant",
      arguments: { id: ann.id, credits: "4", reason: "The same panorama twice" },
      outcome: "done",
    });
  });

  it("answers where a picture is, from the address of its page, and brings it back while it is kept", async () => {
    const ann = await customer();
    const { id, slug } = await service.kept(ann);
    const by = deletedByKey(apiKeyId("key_robot"));
    (await deletePanorama(service, 86_400_000)(id, ann.id, by))._unsafeUnwrap();
    await search(`${service.url}/p/${slug}`);
    const story = await text();
    expect(story).toContain("key key_robot");
    expect(story).toMatch(/Deleted\s/);
    expect(story).toContain("Kept until");
    await isAccessible();
    await click("button", "Bring it back, private");
    expect(await text()).not.toContain("Kept until");
    expect(await service.tasks.find(id, ann.id)).toMatchObject({ request: { visibility: "private" } });
    expect(lastAction()).toMatchObject({ command: "task restore", outcome: "done" });
  });

  it("sends a link for a new password to somebody who cannot log in", async () => {
    const ann = await customer();
    await search(ann.email.toUpperCase());
    await click("button", "Send a link for a new password");
    expect(service.mail.letters.at(-1)).toMatchObject({ kind: "new_password", to: ann.email });
  });

  it("erases a person, after the address was typed", async () => {
    const ann = await customer();
    await search(ann.id);
    clicks += 1;
    await page.getByText("Close and erase", { exact: true }).click();
    await page.getByLabel("The e-mail address, to confirm").fill("somebody@else.example");
    await click("button", "Close and erase now");
    expect(await text()).toContain("is not that of the account");
    await click("link", "Back");
    await page.getByText("Close and erase", { exact: true }).click();
    await page.getByLabel("The e-mail address, to confirm").fill(ann.email);
    await click("button", "Close and erase now");
    expect(await text()).toContain("closed");
    expect(JSON.stringify(service.database.operatorActions)).not.toContain(ann.email);
  });

  it("gives credits back, and refuses to take more than there are", async () => {
    const ann = await customer();
    await search(ann.email);
    await page.getByLabel("Credits, negative to take some").fill("-101");
    await page.getByLabel("Reason, which the customer sees").fill("Charged back");
    await click("button", "Give credits");
    expect(await text()).toContain("The account has only 100 credits.");
    expect(lastAction()?.outcome).toBe("refused");
  });

  it("finds a leaked key by the key itself, and revokes it", async () => {
    const ann = await customer();
    await search(ann.key);
    expect(page.url()).not.toContain(ann.key);
    expect(await text()).toContain(`${ann.key.slice(0, 11)}…`);
    await isAccessible();
    await click("button", "Revoke");
    expect(await text()).toContain("revoked");
    expect(await service.keys.listLive(ann.id)).toEqual([]);
  });

  it("answers why a panorama was slow", async () => {
    const ann = await customer();
    const { id } = await service.kept(ann);
    await search(id);
    const story = await text();
    for (const stage of [
      "Created",
      "Accepted by the provider",
      "Result was there",
      "Checked, succeeded",
      "Image stored",
    ]) {
      expect(story).toContain(stage);
    }
    expect(story).toMatch(/\d+\.\d s/);
    // In the reader's zone, and exactly when one points at it.
    expect(story).toMatch(/\d\d:\d\d CET/);
    expect(story).not.toContain("UTC");
    expect(await page.locator("time").first().getAttribute("title")).toMatch(/\d\d:\d\d:\d\d\.\d{3} UTC$/);
  });

  it("answers why a panorama has failed, with the id at the provider and the refund", async () => {
    const ann = await customer();
    service.provider.play({ poll: "failed" });
    const { id } = await service.panorama(ann);
    const record = (await service.database.tasks.get(id))!;
    await search(id);
    const story = await text();
    expect(story).toContain("failed: generation_failed");
    expect(story).toContain(record.accepted?.upstreamTaskId);
    expect(story).toContain("refund");
    await isAccessible();
  });

  it("hides a panorama from everybody but its owner, and shows it again", async () => {
    const ann = await customer();
    const { slug } = await service.kept(ann);
    const statusOf = async (path: string) => (await fetch(`${service.url}${path}`)).status;
    await search(slug);
    await page.getByLabel("Reason, which the owner sees").fill("Shows a private person");
    await click("button", "Hide it from others");
    for (const path of [`/p/${slug}`, `/p/${slug}/512.webp`]) expect(await statusOf(path)).toBe(404);
    expect(await (await fetch(`${service.url}/gallery`)).text()).not.toContain(slug);
    await isAccessible();
    await click("button", "Show it again");
    expect(await statusOf(`/p/${slug}`)).toBe(200);
  });

  it("shows what needs somebody on the first page, fits a telephone, and is accessible there", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto("/operator");
    expect(await text()).toContain("Pending orders");
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await isAccessible();
  });
});
