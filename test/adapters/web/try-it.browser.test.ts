import { describe, expect, it } from "vitest";
import { panoramaPolicy } from "../../../domain/panorama-policy.js";
import { ready, setUpBrowser } from "../../support/browser.js";
import { quarteredImage } from "../../support/web-service.js";

const POLICY = panoramaPolicy({ prices: { "1k": 3, "2k": 17, "4k": 23 }, writesPerMinute: 13 });

describe("Try it on /docs", () => {
  const on = setUpBrowser({ policy: POLICY }, (problem) => problem.includes("ERR_FAILED"));

  /** The page with the forms of these operations open. */
  const openForms = async (...names: readonly string[]) => {
    const { page } = await on.openTab();
    const loaded: string[] = [];
    page.on("request", (request) => loaded.push(new URL(request.url()).pathname.replace(/^\/static\/\w+-/, "")));
    await page.goto("/docs");
    await ready(page, "docs");
    expect(loaded).not.toContain("try-it.js");
    for (const name of names) await page.getByRole("button", { name: `Try it: ${name}`, exact: true }).click();
    const form = (name: string) => page.getByRole("form", { name: `Try it: ${name}`, exact: true });
    for (const name of names) await form(name).waitFor();
    expect(loaded.filter((path) => path === "try-it.js" || path === "/api/v1/openapi.json").sort()).toEqual([
      "/api/v1/openapi.json",
      "try-it.js",
    ]);
    return { page, form };
  };
  const CREATE = "Create a panorama";

  it("creates a panorama once for the cost that it has shown, polls it, lists it and deletes it", async () => {
    const { service } = on;
    const bob = await service.person("bob", 50);
    const { page, form } = await openForms(CREATE, "List the account's tasks, newest first", "Delete a panorama");
    const create = form(CREATE);
    const send = create.getByRole("button", { name: /^Send/ });
    const status = create.getByRole("status");
    await create.getByLabel("API key").fill(bob.key);
    await create.getByLabel("API key").blur();
    await status
      .getByText("Your balance: 50 credits.")
      .or(status.filter({ hasText: "50" }))
      .first()
      .waitFor();
    expect(await send.innerText()).toBe("Send: costs 3 credits");
    await create.getByLabel("resolution").selectOption("2k");
    expect(await send.innerText()).toBe("Send: costs 17 credits");
    await create.getByLabel("prompt").fill("a lake & a <tower>");
    const request = create.getByRole("region", { name: `Request: ${CREATE}` });
    const sent = await request.innerText();
    expect(sent).toMatch(/^POST \/api\/v1\/panoramas\nAuthorization: Bearer sk-...…\n/);
    expect(sent).toContain('"prompt": "a lake & a <tower>",\n  "max_credits": 17\n}');

    await send.dblclick();
    const answer = create.getByRole("region", { name: `Answer: ${CREATE}` });
    await expect
      .poll(() => answer.innerText())
      .toMatch(/^HTTP 202\n(.*\n)*RateLimit: "write";r=\d+;t=60\n(.*\n)*X-Request-Id: /);
    await expect.poll(() => status.allInnerTexts()).toContain("Your balance: 33 credits.");
    expect(await send.innerText()).toBe("Send again: the same key costs nothing");
    await send.click();
    await expect.poll(() => answer.innerText()).toContain("Idempotent-Replayed: true");
    const tasks = () => service.database.tasksOf(bob.id);
    expect(tasks().length).toBe(1);

    await service.work();
    await create.getByRole("button", { name: /^Poll/ }).focus();
    await page.keyboard.press("Enter");
    const link = create.getByRole("link", { name: "Open the picture" });
    expect((await fetch((await link.getAttribute("href")) ?? "")).headers.get("content-type")).toBe("image/jpeg");
    expect(await create.getByRole("button", { name: /^Poll/ }).count()).toBe(0);
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Open the picture");

    // Another creation needs another key, which the form takes by itself.
    await create.getByLabel("prompt").fill("a desert");
    expect(await send.innerText()).toBe("Send: costs 17 credits");
    expect(/Idempotency-Key: (\S+)/.exec(await request.innerText())?.[1]).not.toBe(
      /Idempotency-Key: (\S+)/.exec(sent)?.[1],
    );

    const list = form("List the account's tasks, newest first");
    await list.getByText("More fields").click();
    await list.getByLabel("status").selectOption("succeeded");
    await list.getByLabel("limit").fill("1");
    expect(await list.getByRole("region", { name: /^Request/ }).innerText()).toContain(
      "GET /api/v1/panoramas?limit=1&status=succeeded\n",
    );
    await list.getByRole("button", { name: "Send: costs nothing" }).click();
    await expect.poll(() => list.getByRole("region", { name: /^Answer/ }).innerText()).toContain(tasks()[0]!.id);

    const remove = form("Delete a panorama");
    expect(await remove.getByLabel("id").inputValue()).toBe(tasks()[0]!.id);
    await remove.getByRole("button", { name: "Send: costs nothing" }).click();
    await expect.poll(() => remove.getByRole("region", { name: /^Answer/ }).innerText()).toMatch(/^HTTP 204\n/);

    const kept = "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])";
    expect(await page.evaluate(kept)).not.toContain(bob.key);
    await page.reload();
    await ready(page, "docs");
    expect(await page.getByLabel("Paste a key").inputValue()).toBe("");
  });

  it("uploads pictures, and says what the service says: 400, 401, 402, 429, and nothing at all", async () => {
    const { service } = on;
    const eve = await service.person("eve", 2);
    const { page, form } = await openForms(CREATE);
    const create = form(CREATE);
    const status = create.getByRole("status");
    const told = (sentence: string) =>
      expect.poll(() => status.allInnerTexts()).toContainEqual(expect.stringContaining(sentence));
    const send = create.getByRole("button", { name: /^Send/ });
    await send.click();
    await told("401 invalid_api_key: ");
    await page.getByLabel("Paste a key").fill(eve.key); // the field of the page is the same one
    await page.getByLabel("Paste a key").blur();
    await told("Your balance: 2 credits. That is too few: it will be refused.");
    await send.click();
    await told("402 insufficient_credits: ");
    expect(await send.innerText()).toBe("Send: costs 3 credits");
    await create.getByLabel("prompt").fill("");
    await send.click();
    await told("400 invalid_request: ");

    const picture = { name: "lake.png", mimeType: "image/png", buffer: await quarteredImage() };
    await create.getByLabel("Or upload files").setInputFiles([picture, { ...picture, name: "sea.png" }]);
    await told("Uploaded: see image_urls.");
    expect(await create.getByLabel("image_urls").inputValue()).toMatch(/^https:\/\/\S+\nhttps:\/\/\S+$/);
    await create.getByLabel("Or upload files").setInputFiles({ ...picture, buffer: Buffer.from("no picture") });
    await told("400 invalid_request: ");

    await page.route("**/api/v1/panoramas", (route) => route.abort());
    await send.click();
    await told("No answer: ");
    await page.unroute("**/api/v1/panoramas");
    for (let n = 0; n < POLICY.rates.write.limit; n += 1) {
      await fetch(`${service.url}/api/v1/panoramas/none`, {
        method: "DELETE",
        headers: { authorization: `Bearer ${eve.key}` },
      });
    }
    await send.click();
    await told("429 rate_limited: ");
    expect(await create.getByRole("region", { name: `Answer: ${CREATE}` }).innerText()).toMatch(/\nRetry-After: \d+\n/);
  });

  it("shows a stream as it comes, until it is stopped, and needs no key for what is public", async () => {
    const { service } = on;
    const tim = await service.person("tim", 50);
    const STREAM = "Receive the account's events as they happen";
    const { form } = await openForms(STREAM);
    const stream = form(STREAM);
    await stream.getByLabel("API key").fill(tim.key);
    await stream.getByRole("button", { name: "Send: costs nothing" }).click();
    const answer = stream.getByRole("region", { name: `Answer: ${STREAM}` });
    await expect.poll(() => answer.innerText()).toContain("\n\nretry: ");
    await stream.getByRole("button", { name: "Stop" }).click();
    await expect.poll(() => stream.getByRole("status").allInnerTexts()).toContain("Stopped.");
  });
});
