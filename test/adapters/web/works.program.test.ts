import { readFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { logInAs, openWorksOf, ready, setUpBrowser, type Tab } from "../../support/browser.js";
import { quarterAt } from "../../support/pixels.js";
import type { Person, WebService } from "../../support/web-service.js";

describe("the works pages", () => {
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

  const prompt = () => tab.page.getByLabel("Prompt", { exact: true });
  const makeButton = () => tab.page.getByRole("button", { name: /^Make it/ });
  /** Sends the form, and waits for the page of the new panorama. */
  const make = async () => {
    await makeButton().click();
    await tab.page.waitForURL(/\/works\/[a-z0-9]{16}$/);
  };
  const makeAndList = async () => {
    await make();
    await tab.page.goto("/works");
  };
  const card = (text: string) => tab.page.locator("#works .work", { hasText: text });
  /** Opens the menu of a tile. */
  const menuOf = async (text: string) => {
    await card(text).getByLabel("Actions: ").press("Enter");
    return card(text);
  };

  it("create a panorama from the form, show it when it is finished without a reload, and open its viewer", async () => {
    await openWorksOf(tab, ann);
    await prompt().fill("a meadow <i>in spring</i>");
    await tab.page.getByRole("radio", { name: /1K/ }).check();
    await makeAndList();
    await expect.poll(() => card("a meadow <i>in spring</i>").textContent()).toContain("Generating");
    expect(await service.ledger.balance(ann.id)).toBe(96);

    await service.work(); // the page must update without a reload
    await card("a meadow").locator("img").waitFor();
    expect(await card("a meadow").locator(".state").count()).toBe(0);
    await card("a meadow").getByRole("link").first().click();
    await ready(tab.page, "sphere");
    expect([await quarterAt(tab.page, 300, 300), await quarterAt(tab.page, 700, 300)]).toEqual([1, 2]);
    const [task] = await service.tasks.list(ann.id, 10, undefined);
    expect(task?.request).toMatchObject({
      resolution: "1k",
      visibility: "private",
      prompt: "a meadow <i>in spring</i>",
    });
    expect(new URL(tab.page.url()).pathname).toBe(`/works/${task?.slug}`);
  });

  it("accept reference images as files and as URLs", async () => {
    const file = join(service.folder, "reference.png");
    await sharp({ create: { width: 64, height: 32, channels: 3, background: "teal" } }).toFile(file);
    await openWorksOf(tab, ann);
    await tab.page.getByText("Pictures to start from").click();
    await tab.page.getByLabel(/Drop JPEG/).setInputFiles(file);
    expect(await tab.page.locator("#chosen").textContent()).toBe("reference.png");
    await tab.page.getByLabel("URL of image 1").fill("https://images.example/a.jpg");
    await makeAndList();
    await expect.poll(() => card("Panorama from images").count()).toBe(1);
    const [task] = await service.tasks.list(ann.id, 10, undefined);
    expect(task?.request.imageUrls).toEqual([
      expect.stringMatching(/^https:\/\/references\.example\/assets\/references\/[\w-]{22}\.png$/),
      "https://images.example/a.jpg",
    ]);
  });

  it("accept a seed, and keep what was typed if it is refused", async () => {
    await openWorksOf(tab, ann);
    await prompt().fill("a seeded meadow");
    await tab.page.getByText("Seed (optional)").click();
    await tab.page.locator("#create").evaluate((form) => form.setAttribute("novalidate", ""));
    await tab.page.getByLabel("Seed", { exact: true }).fill("2147483648");
    await makeButton().click();
    await tab.page.getByText("Seed must be a whole number from 0 to 2,147,483,647.").waitFor();
    await tab.page.getByLabel("Seed", { exact: true }).fill("7");
    await makeAndList();
    await expect.poll(() => card("a seeded meadow").count()).toBe(1);
    const [task] = await service.tasks.list(ann.id, 10, undefined);
    expect(task?.request.seed).toBe(7);
  });

  it("charge once for a form that is sent twice", async () => {
    await openWorksOf(tab, ann);
    const value = (name: string) => tab.page.locator(`#create input[name="${name}"]`).inputValue();
    const multipart = {
      form_token: await value("form_token"),
      idempotency_key: await value("idempotency_key"),
      prompt: "sent twice",
      resolution: "1k",
    };
    const send = () =>
      tab.page.request.post("/works", {
        multipart,
        headers: { origin: service.url },
        maxRedirects: 0,
      });
    const answers = await Promise.all([send(), send()]);
    expect(answers.map((answer) => answer.status())).toEqual([303, 303]);
    expect(await service.tasks.list(ann.id, 10, undefined)).toHaveLength(1);
  });

  it("show the error of a refused form and keep the typed text", async () => {
    await openWorksOf(tab, ann);
    await prompt().fill("ab");
    await tab.page.getByRole("radio", { name: /4K/ }).check();
    await makeButton().click();
    await tab.page.getByText("Describe the place in at least 3 characters, or add a picture.").waitFor();
    expect(await prompt().inputValue()).toBe("ab");
    expect(await tab.page.getByRole("radio", { name: /4K/ }).isChecked()).toBe(true);

    const poor = await service.person(`poor-${people}`, 3);
    const other = await on.openTab();
    await openWorksOf(other, poor);
    await other.page.getByLabel("Prompt", { exact: true }).fill("too expensive");
    expect(await other.page.getByText("You have 3 credits, too few for this. Buy credits").isVisible()).toBe(true);
    await other.page.getByRole("button", { name: "Make it · 6 credits" }).click();
    await other.page.getByText("This costs 6 credits, but you have 3. Buy more on your account page.").waitFor();
  });

  it("show failed panoramas and their refunds", async () => {
    service.provider.play({ poll: "failed" });
    await service.panorama(ann, { prompt: "it fails" });
    await openWorksOf(tab, ann);
    expect(await card("it fails").textContent()).toContain("4 credits were refunded");
    expect(await tab.page.locator("#balance").textContent()).toBe("100");
  });

  it("publish a panorama to the gallery and withdraw it, with the keyboard", async () => {
    const { slug } = await service.kept(ann, { prompt: "only mine", visibility: "private" });
    const inGallery = async () => (await (await fetch(`${service.url}/gallery`)).text()).includes("only mine");
    expect(await inGallery()).toBe(false);
    await openWorksOf(tab, ann);
    await (await menuOf("only mine")).getByRole("button", { name: "Make public" }).press("Enter");
    const reloaded = (then: string) => card("only mine").getByText(then).waitFor({ state: "attached" });
    await reloaded("Make private");
    const tile = await card("only mine").locator("img").getAttribute("src");
    expect(tile?.replace(/\?v=.*/, "")).toBe(`/p/${slug}/tile-480.webp`);
    const view = await fetch(service.url + tile);
    const { width, height, format } = await sharp(await view.arrayBuffer()).metadata();
    expect([view.status, width, height, format]).toEqual([200, 480, 360, "webp"]);
    expect(await inGallery()).toBe(true);
    expect((await fetch(`${service.url}/p/${slug}`)).status).toBe(200);
    await (await menuOf("only mine")).getByRole("button", { name: "Make private" }).press("Enter");
    await reloaded("Make public");
    expect(await inGallery()).toBe(false);
    expect((await fetch(`${service.url}/p/${slug}`)).status).toBe(404);
  });

  it("delete the task and the image of a panorama, and keep the ledger", async () => {
    const { id, slug, image } = await service.kept(ann, { prompt: "to be deleted" });
    const imageUrl = service.storage.urlOf(image.imageName);
    expect((await fetch(imageUrl)).status).toBe(200);
    await openWorksOf(tab, ann);
    await (await menuOf("to be deleted")).getByText("Delete", { exact: true }).click();
    await tab.page.getByText("Deleted “to be deleted”.").waitFor();
    await tab.page.keyboard.press("Enter"); // the focus is on Undo
    expect(await card("to be deleted").isVisible()).toBe(true);
    expect(await tab.page.evaluate("document.activeElement.ariaLabel")).toBe("Delete: to be deleted");
    await tab.page.keyboard.press("Enter");
    expect(await card("to be deleted").isVisible()).toBe(false);
    expect((await fetch(imageUrl)).status).toBe(200); // not yet
    await tab.page.goto("/gallery");
    await expect.poll(async () => (await service.tasks.find(id, ann.id)) === undefined).toBe(true);
    expect((await fetch(imageUrl)).status).toBe(404);
    expect((await fetch(imageUrl.replace(".jpg", "-thumbnail.webp"))).status).toBe(404);
    expect((await fetch(`${service.url}/p/${slug}`)).status).toBe(404);
    const headers = { authorization: `Bearer ${ann.key}` };
    expect((await fetch(`${service.url}/api/v1/panoramas/${id}`, { headers })).status).toBe(404);
    expect(await service.ledger.entries(ann.id)).toHaveLength(2);
    expect(await service.ledger.balance(ann.id)).toBe(96);
  });

  it("cancel a panorama in progress, with its refund", async () => {
    await openWorksOf(tab, ann);
    await prompt().fill("changed my mind");
    await makeAndList();
    await (await menuOf("changed my mind")).getByRole("button", { name: "Cancel" }).click();
    await card("Canceled").waitFor();
    expect(await card("changed my mind").textContent()).toContain("6 credits were refunded");
    expect(await card("changed my mind").getByRole("button", { name: "Cancel" }).count()).toBe(0);
    expect(new URL(tab.page.url()).pathname).toBe("/works");
    expect(await service.ledger.balance(ann.id)).toBe(100);
  });

  it('answer "too late to cancel" after the submission, and finish the panorama', async () => {
    service.provider.play({ cancel: "too_late" });
    await openWorksOf(tab, ann);
    await prompt().fill("nearly finished");
    await makeAndList();
    const cancel = () => card("nearly finished").getByRole("button", { name: "Cancel", includeHidden: true });
    await menuOf("nearly finished");
    await cancel().click();
    await tab.page.getByRole("heading", { name: "Too late to cancel" }).waitFor();
    expect(await tab.page.getByRole("main").textContent()).toContain(
      "This panorama cannot be stopped without a charge any more, so it is being finished.",
    );
    expect(await service.ledger.balance(ann.id)).toBe(94);

    // The page is not updated before the click: its polls get no answer.
    await tab.page.route("**/works", (route) =>
      route.request().resourceType() === "document" ? route.continue() : undefined,
    );
    await tab.page.goto("/works");
    await menuOf("nearly finished");
    await service.work();
    await cancel().click();
    await tab.page.getByText("This panorama is finished. You can delete it on your works page.").waitFor();
    await tab.page.unrouteAll({ behavior: "ignoreErrors" });
    await tab.page.goto("/works");
    expect(await card("nearly finished").locator("img").count()).toBe(1);
    expect(await cancel().count()).toBe(0);
    expect(await service.ledger.balance(ann.id)).toBe(94);
  });

  it("refuse to cancel without the token of the session", async () => {
    await openWorksOf(tab, ann);
    await prompt().fill("goes on");
    await makeAndList();
    await card("goes on").waitFor();
    const [task] = await service.tasks.list(ann.id, 10, undefined);
    const form_token = await tab.page.locator('#create input[name="form_token"]').inputValue();
    const send = async (form: Record<string, string>, origin: string) =>
      (await tab.page.request.post(`/works/${task?.id}/cancel`, { form, headers: { origin } })).status();
    expect(await send({}, service.url)).toBe(403);
    expect(await send({ form_token }, "https://evil.example")).toBe(403);
    expect((await service.tasks.find(task!.id, ann.id))?.state).toBe("submitted");
  });

  it("refuse to change, cancel or delete a panorama of another account", async () => {
    const { id } = await service.kept(ann, { prompt: "not yours" });
    const ben = await service.person(`ben-${people}`);
    await openWorksOf(tab, ben);
    const token = await tab.page.locator('#create input[name="form_token"]').inputValue();
    for (const [action, form] of [
      ["visibility", { form_token: token, visibility: "private" }],
      ["cancel", { form_token: token }],
      ["delete", { form_token: token }],
    ] as const) {
      const answer = await tab.page.request.post(`/works/${id}/${action}`, { form, headers: { origin: service.url } });
      expect(answer.status()).toBe(404);
    }
    // Of several, those of others are left out.
    const form = { form_token: token, id, act: "delete", sure: "1" };
    const answer = await tab.page.request.post("/works/selected", { form, headers: { origin: service.url } });
    expect([answer.status(), new URL(answer.url()).search]).toEqual([200, ""]);
    expect((await service.tasks.find(id, ann.id))?.request.visibility).toBe("public");
  });

  it("publish, download and delete several selected ones, and say what was not possible, with the keyboard", async () => {
    const [first, second] = [
      await service.kept(ann, { prompt: "the first lake", visibility: "private" }),
      await service.kept(ann, { prompt: "the second lake", visibility: "private" }),
    ];
    service.provider.play({ poll: "running" });
    await service.panorama(ann, { prompt: "a lake in progress", visibility: "private" });
    await openWorksOf(tab, ann);
    const { page } = tab;
    const bar = page.locator("#selection");
    expect(await bar.isVisible()).toBe(false);
    await page.getByLabel("Select: a lake in progress").press("Space");
    expect(await bar.getByRole("button", { name: "Download" }).isVisible()).toBe(false);
    for (const prompt of ["the first lake", "the second lake"])
      await page.getByLabel(`Select: ${prompt}`).press("Space");
    expect(await bar.getByRole("status").textContent()).toBe("3 selected");

    const started = page.waitForEvent("download");
    await bar.getByRole("button", { name: "Download" }).press("Enter");
    const file = await started;
    expect(file.suggestedFilename()).toBe("panoramas.zip");
    const zip = await readFile(await file.path());
    for (const { slug, image, request } of [first, second]) {
      const name = `${request.prompt?.replaceAll(" ", "-")}-${slug.slice(0, 6)}.jpg`; // such as the-first-lake-Ab3dEf.jpg
      expect(zip.includes(name)).toBe(true);
      const picture = await fetch(service.storage.urlOf(image.imageName));
      expect(zip.includes(Buffer.from(await picture.arrayBuffer()))).toBe(true);
    }

    await bar.getByRole("button", { name: "Publish" }).press("Enter");
    await page.getByText("2 panoramas published. 1 could not be published").waitFor();
    for (const { slug } of [first, second]) expect((await fetch(`${service.url}/p/${slug}`)).status).toBe(200);

    await page.getByLabel("Search in your prompts").fill("sec");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/works?q=sec");
    expect(await page.locator("#list > li").count()).toBe(1);
    await page.goto("/works");
    await page.getByLabel("Visibility").selectOption("private");
    await page.waitForURL("**/works?visibility=private");
    expect(await page.locator("#list .tile-title").allTextContents()).toEqual(["a lake in progress"]);

    await page.goto("/works");
    for (const prompt of ["the first lake", "a lake in progress"])
      await page.getByLabel(`Select: ${prompt}`).press("Space");
    await bar.getByRole("button", { name: "Delete" }).press("Enter");
    await page.getByRole("heading", { name: "Delete 2 panoramas?" }).waitFor();
    expect(await service.tasks.list(ann.id, 9, undefined)).toHaveLength(3);
    await page.getByRole("button", { name: "Delete permanently" }).press("Enter");
    await page.getByText("1 panorama deleted. 1 could not be deleted").waitFor();
    const left = await service.tasks.list(ann.id, 9, undefined);
    expect(left.map(({ request }) => request.prompt)).toEqual(["a lake in progress", "the second lake"]);
  });

  it("fit the screen of a phone", async () => {
    await service.kept(ann, { prompt: "on a phone" });
    const phone = await on.openTab({
      viewport: { width: 360, height: 740 },
      hasTouch: true,
      isMobile: true,
    });
    await logInAs(phone, ann);
    for (const path of [
      "/",
      "/gallery",
      `/gallery?q=${"nothing".repeat(14)}`,
      "/works",
      "/account",
      "/login",
      "/signup",
    ]) {
      await phone.page.goto(path);
      expect([path, await phone.page.evaluate("document.documentElement.scrollWidth")]).toEqual([path, 360]);
    }
    await phone.page.goto("/works");
    await phone.page.getByText("Pictures to start from").click();
    const name = "a-picture-with-a-long-name.png";
    const buffer = await sharp({ create: { width: 64, height: 32, channels: 3, background: "teal" } })
      .png()
      .toBuffer();
    await phone.page.getByLabel(/Drop JPEG/).setInputFiles({ name, mimeType: "image/png", buffer });
    await phone.page.locator("#pictures img").waitFor();
    expect(await phone.page.evaluate("document.documentElement.scrollWidth")).toBe(360);
  });
});
