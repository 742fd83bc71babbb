import { readFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openWorksOf, setUpBrowser, type Tab } from "../../support/browser.js";
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

  it("publish, download and delete selected panoramas by keyboard, and report skipped ones", async () => {
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
});
