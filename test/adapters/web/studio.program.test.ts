import { randomBytes } from "node:crypto";
import { readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { err } from "neverthrow";
import sharp from "sharp";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ALL_ABILITIES } from "../../../domain/tasks/abilities.js";
import type { Task } from "../../../domain/tasks/task.js";
import { logInAs, setUpBrowser, type Tab } from "../../support/browser.js";
import { putTask } from "../../support/put-task.js";
import type { Person } from "../../support/web-service.js";

describe("the works page as a studio", () => {
  // Refusals and a connection that fails are what these tests are about.
  const { service, openTab } = setUpBrowser({}, (problem) => problem.startsWith("Failed to load resource"));
  let ann: Person;
  let tab: Tab;
  let people = 0;
  let picture: { name: string; mimeType: string; buffer: Buffer };

  beforeAll(async () => {
    const canvas = sharp({ create: { width: 64, height: 32, channels: 3, background: "teal" } });
    picture = { name: "teal.png", mimeType: "image/png", buffer: await canvas.png().toBuffer() };
  });
  beforeEach(async () => {
    await service.clock.advance(60_000);
    service.provider.play({ poll: "succeeded", download: "image", submit: "accept" });
    service.provider.abilities = ALL_ABILITIES;
    people += 1;
    ann = await service.person(`studio-${people}`);
    tab = await openTab({ viewport: { width: 1000, height: 700 } });
    await logInAs(tab, ann);
  });

  const card = (text: string) => tab.page.locator("#works .work", { hasText: text });
  const error = () => tab.page.locator("#form-error").textContent();
  const make = () => tab.page.getByRole("button", { name: /^Create/ });
  const prompt = () => tab.page.getByLabel("Prompt", { exact: true });
  const focused = () => tab.page.evaluate("document.activeElement.outerHTML");

  it("shows cost, length and pictures before anything is sent, and refuses files that nobody can use", async () => {
    const { page } = tab;
    await page.goto("/works");
    await page.getByRole("radio", { name: /4K/ }).check();
    expect(await make().textContent()).toBe("Create · 10 credits");
    await page.getByRole("radio", { name: /1K/ }).check();
    expect(await make().textContent()).toBe("Create · 4 credits");
    await prompt().fill(" 🌊 lake ");
    expect(await page.locator("#count").textContent()).toBe("6 / 4,000");

    await page.getByText("Reference images").click();
    const files = page.getByLabel(/Drop JPEG/);
    const refusal = () => page.locator("#picture-error").textContent();
    await files.setInputFiles([picture, { name: "notes.gif", mimeType: "image/gif", buffer: Buffer.from("GIF89a") }]);
    expect(await refusal()).toBe("“notes.gif” isn’t a JPEG, PNG or WebP.");
    expect(await page.locator("#pictures img").count()).toBe(1);
    const big = join(service.folder, "big.jpg");
    await writeFile(big, "");
    await truncate(big, 10 * 1024 * 1024 + 1);
    await files.setInputFiles(big);
    expect(await refusal()).toBe("“big.jpg” is larger than 10 MB.");
    await files.setInputFiles(["b", "c", "d"].map((name) => ({ ...picture, name: `${name}.png` })));
    expect(await refusal()).toBe("Add at most 3 pictures.");
    await page.getByRole("button", { name: "Remove b.png" }).click();
    expect(await page.locator("#pictures li").allTextContents()).toEqual(["teal.pngRemove", "c.pngRemove"]);

    // An invalid address in a closed section is shown instead of preventing the form without a word.
    await page.getByLabel("URL of image 2").fill("nonsense");
    await page.getByText("Reference images").click();
    expect(await page.getByLabel("URL of image 2").isVisible()).toBe(false);
    await make().click();
    await expect.poll(() => page.getByLabel("URL of image 2").isVisible()).toBe(true);
    expect(await focused()).toContain('value="" placeholder="https://"');
    await page.getByLabel("URL of image 2").fill("");

    service.provider.play({ submit: "refuse" });
    await prompt().press("Control+Enter");
    await expect
      .poll(error)
      .toBe(
        "The image generator did not accept the panorama. Try again later, or with other words. You weren’t charged.",
      );
    service.provider.play({ submit: "accept" });
    await prompt().press("Control+Enter"); // with the pictures, which are still there
    await page.waitForURL(/\/works\/[a-z0-9]{16}$/);
    const [task] = await service.tasks.list(ann.id, 1, undefined);
    expect(task?.request).toMatchObject({ prompt: "🌊 lake", resolution: "1k" });
    expect(task?.request.imageUrls).toHaveLength(2);
  });

  it("limits pictures to the abilities, and sends nothing without a required one", async () => {
    const { page } = tab;
    service.provider.abilities = { imagesMin: 1, imagesMax: 1, promptCharactersMax: 10 };
    await page.goto("/works");
    const files = page.getByLabel(/Drop JPEG/);
    const message = () => files.evaluate((input: { validationMessage: string }) => input.validationMessage);
    expect(await page.getByText("Reference images (1)").isVisible()).toBe(true);
    expect(await page.locator("input[name=image_url]").count()).toBe(1);
    await prompt().fill("a lake");
    expect(await page.locator("#count").textContent()).toBe("6 / 10");
    await make().click();
    expect(await focused()).toContain('id="files"');
    expect(await message()).toBe("Add a picture.");
    expect(await service.tasks.list(ann.id, 1, undefined)).toEqual([]);

    await page.getByLabel("URL of image 1").fill("https://images.example/a.jpg");
    expect(await message()).toBe("");
    await files.setInputFiles(picture);
    expect(await page.locator("#picture-error").textContent()).toBe("Add at most 1 picture.");
    await page.getByLabel("URL of image 1").fill("");
    expect(await message()).toBe("Add a picture.");
    await files.setInputFiles(picture);
    expect(await message()).toBe("");
    await page.getByRole("button", { name: "Remove teal.png" }).click();
    expect(await message()).toBe("Add a picture.");
    await files.setInputFiles(picture);
    await make().click();
    await page.waitForURL(/\/works\/[a-z0-9]{16}$/);
    const [task] = await service.tasks.list(ann.id, 1, undefined);
    expect(task?.request.imageUrls).toHaveLength(1);
  });

  it("sends the form of an open page again after another login, and keeps everything when the session has ended", async () => {
    const { page } = tab;
    await page.goto("/works");
    await prompt().fill("from an old page");
    await page.getByText("Reference images").click();
    await page.getByLabel(/Drop JPEG/).setInputFiles(picture);
    const cookies = await page.context().cookies();
    await page.context().clearCookies();
    await make().click();
    await expect.poll(error).toBe("You were logged out. Log in in another tab, then send again.");
    await logInAs(tab, ann);
    expect(await page.context().cookies()).not.toEqual(cookies);
    await make().click();
    await expect.poll(error).toBe("This page was open for too long. Check and send again.");
    expect(await prompt().inputValue()).toBe("from an old page");
    await make().click();
    await page.waitForURL(/\/works\/[a-z0-9]{16}$/);

    await page.goto("/works");
    await prompt().fill("kept through the login");
    await page.context().clearCookies();
    await make().click();
    await page.waitForURL("**/login?**");
    await page.getByText("You were logged out. Your prompt is kept: log in to go on.").waitFor();
    await page.getByLabel("E-mail address").fill(ann.email);
    await page.getByLabel("Password").fill("correct horse battery");
    await page.getByLabel("Password").press("Enter");
    await page.waitForURL("**/works?prompt=**");
    expect(await prompt().inputValue()).toBe("kept through the login");
  });

  it("updates cards and balance without taking the focus, and reports failures and delays", async () => {
    const { page } = tab;
    service.provider.play({ poll: "running" });
    await service.panorama(ann, { prompt: "in the works", resolution: "4k" });
    await page.goto("/works");
    expect(await page.locator("#balance").textContent()).toBe("90");
    await card("in the works").getByRole("link").focus();
    await page.route("**/works", (route) => route.abort());
    await page.getByText("This list is not up to date").waitFor({ timeout: 60_000 });
    await page.unroute("**/works");
    await page.getByText("This list is not up to date").waitFor({ state: "hidden" });

    await service.clock.advance(10 * 60_000);
    await card("This takes longer than usual. If it fails, you get your 10 credits back.").waitFor();
    expect(await card("in the works").locator(".spinner").count()).toBe(0);
    expect(await focused()).toContain('<a class="dark" href="/works/');
    await page.getByLabel("Actions: in the works").click();
    expect(await card("in the works").getByRole("link", { name: "Reload: in the works" }).isVisible()).toBe(true);

    service.provider.play({ poll: "failed" });
    await card("in the works").getByRole("button", { name: "Cancel: in the works" }).focus();
    await service.work();
    await expect.poll(() => page.locator("#balance").textContent()).toBe("100");
    expect(await focused()).toContain('aria-label="Cancel: in the works"');
    await prompt().focus();
    await card("Failed").waitFor();
    await expect.poll(() => page.locator("#news").textContent()).toBe("in the works: Failed");
    await card("Failed").getByRole("link", { name: "Try again: in the works" }).click();
    await page.waitForURL("**/works?from=**");
    expect(await prompt().inputValue()).toBe("in the works");
    expect(await page.getByRole("radio", { name: /4K/ }).isChecked()).toBe(true);
  });

  it("deletes after eight seconds that can be undone, and at once for another deletion or when the page is left", async () => {
    const { page } = tab;
    const first = await service.kept(ann, { prompt: "the first one" });
    const second = await service.kept(ann, { prompt: "the second one" });
    await page.clock.install({ time: new Date("2026-01-01T12:00:00Z") });
    await page.clock.pauseAt(new Date("2026-01-01T12:00:01Z"));
    await page.goto("/works");
    const remove = async (text: string) => {
      if (!(await page.getByLabel(`Delete: ${text}`).isVisible())) await page.getByLabel(`Actions: ${text}`).click();
      await page.getByLabel(`Delete: ${text}`).click();
    };
    const toast = page.locator(".toast");
    const undo = toast.getByRole("button", { name: "Undo" });
    const isStored = async ({ id }: Task) => (await service.tasks.find(id, ann.id)) !== undefined;

    await remove("the first one");
    expect(await card("the first one").isVisible()).toBe(false);
    expect(await toast.getByRole("status").textContent()).toBe("Deleted “the first one”.");
    expect(await focused()).toContain("Undo");
    await page.clock.runFor(7_900);
    await undo.press("Enter");
    expect(await card("the first one").isVisible()).toBe(true);
    expect(await focused()).toContain('aria-label="Delete: the first one"');
    await remove("the first one"); // has eight seconds of its own
    await page.clock.runFor(7_900);
    await undo.press("Enter");
    await page.clock.runFor(20_000);
    expect(await toast.isVisible()).toBe(false);
    expect(await isStored(first)).toBe(true);

    // A refused deletion brings the card back, and says why.
    vi.spyOn(service.storage, "delete").mockResolvedValueOnce(err({ kind: "storage_unavailable", reason: "a test" }));
    await remove("the first one");
    await page.clock.runFor(8_000);
    await toast.getByText("Not deleted. The image storage is currently unavailable. Please try again.").waitFor();
    expect(await undo.isVisible()).toBe(false);
    expect(await card("the first one").isVisible()).toBe(true);

    await remove("the first one");
    await page.clock.runFor(7_900);
    expect(await isStored(first)).toBe(true);
    await page.clock.runFor(100);
    await expect.poll(() => isStored(first)).toBe(false);
    await card("the first one").waitFor({ state: "detached" });
    expect(await toast.isVisible()).toBe(false);

    const third = await service.kept(ann, { prompt: "the third one" });
    await page.goto("/works");
    await remove("the second one");
    await remove("the third one"); // there is one undo
    await expect.poll(() => isStored(second)).toBe(false);
    expect(await isStored(third)).toBe(true);
    await page.goto("/gallery");
    await expect.poll(() => isStored(third)).toBe(false);
  });

  it("shows how much of the pictures has been sent, and takes nothing else meanwhile", async () => {
    const { page } = tab;
    await page.goto("/works");
    const noise = sharp(randomBytes(3 * 400 * 200), { raw: { width: 400, height: 200, channels: 3 } });
    const large = { ...picture, name: "noise.png", buffer: await noise.png().toBuffer() };
    await page.getByText("Reference images").click();
    await page.getByLabel(/Drop JPEG/).setInputFiles(large);
    const progress = page.locator("#progress");
    expect(await progress.isVisible()).toBe(false);
    await page.evaluate(`
      window.seen = [];
      const bar = document.getElementById("progress");
      new MutationObserver(() => seen.push({ percent: bar.value, shown: !bar.hidden, disabled: document.getElementById("make").disabled }))
        .observe(bar, { attributes: true });`);
    const network = await page.context().newCDPSession(page);
    await network.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: large.buffer.length,
    });
    service.provider.play({ submit: "refuse" });
    const submit = vi.spyOn(service.provider, "submit");
    await make().click();
    await progress.waitFor();
    await prompt().press("Control+Enter"); // is sent once
    await expect
      .poll(error)
      .toBe(
        "The image generator did not accept the panorama. Try again later, or with other words. You weren’t charged.",
      );
    expect(await progress.isVisible()).toBe(false);
    expect(await make().isDisabled()).toBe(false);
    type Seen = { readonly percent: number; readonly shown: boolean; readonly disabled: boolean };
    const sending = (await page.evaluate<Seen[]>("seen")).filter(({ shown }) => shown);
    const percents = sending.map(({ percent }) => percent);
    expect(percents[0]).toBe(0);
    expect(percents.at(-1)).toBe(100);
    expect(percents).toEqual(percents.toSorted((a, b) => a - b));
    expect(new Set(percents).size).toBeGreaterThan(2); // not only the beginning and the end
    expect(sending.every(({ disabled }) => disabled)).toBe(true);
    expect(submit).toHaveBeenCalledTimes(1);
    vi.restoreAllMocks();
  });

  it("selects panoramas by keyboard, downloads them in one file, and acts on all of them", async () => {
    const kept = (prompt: string) => service.kept(ann, { prompt, visibility: "private" });
    const lakes = [await kept("the first lake"), await kept("the second lake")];
    service.provider.play({ poll: "running" });
    await service.panorama(ann, { prompt: "a lake in progress", visibility: "private" });
    const { page } = tab;
    await page.goto("/works");
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
    for (const { slug, image, request } of lakes) {
      const name = `${request.prompt?.replaceAll(" ", "-")}-${slug.slice(0, 6)}.jpg`; // such as the-first-lake-Ab3dEf.jpg
      expect(zip.includes(name)).toBe(true);
      const picture = await fetch(service.storage.urlOf(image.imageName));
      expect(zip.includes(Buffer.from(await picture.arrayBuffer()))).toBe(true);
    }

    await bar.getByRole("button", { name: "Publish" }).press("Enter");
    await page.getByText("2 panoramas published. 1 could not be published").waitFor();
    await page.getByLabel("Search in your prompts").fill("sec");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/works?q=sec");
    expect(await page.locator("#list > li").count()).toBe(1);
    await page.goto("/works");
    await page.getByLabel("Visibility").selectOption("private"); // is sent at once
    await page.waitForURL("**/works?visibility=private");
    expect(await page.locator("#list .tile-title").allTextContents()).toEqual(["a lake in progress"]);
  });

  it("loads older panoramas while the reader scrolls, and leads back to the newest", async () => {
    const task = await service.kept(ann, { prompt: "one of many" });
    for (let n = 0; n < 30; n += 1) {
      const id = service.ids.taskId();
      const copy = { ...task, id, slug: service.ids.slug() };
      await putTask(service.database, copy);
    }
    const { page } = tab;
    await page.goto("/works");
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, 3000);
        return page.locator("#list > li").count();
      })
      .toBe(31);

    // After a panorama further down is made private, the list is still there.
    const card = page.locator("#list > li").nth(28);
    const change = async (words: string) => {
      await card.getByLabel("Actions: ").click();
      await card.getByRole("button", { name: words }).click();
    };
    const says = (words: string) => card.locator(".tile-note", { hasText: words }).waitFor();
    await card.scrollIntoViewIfNeeded();
    await expect.poll(() => page.evaluate("history.state === scrollY")).toBe(true);
    await change("Make private");
    await says("private");
    await expect.poll(() => page.evaluate("scrollY")).toBeGreaterThan(1000);
    expect(await page.locator("#list > li").count()).toBe(31);
    await change("Make public");
    await says("public");
    await service.database.sql("delete from session");
    await change("Make private");
    await page.getByText("You were logged out. Log in to go on.").waitFor();
    await logInAs(tab, ann);
    await page.goto("/works");

    const last = await page.locator("#list > li").nth(23).getAttribute("id");
    await page.goto(`/works?before=${last}`);
    expect(await page.locator("#list > li").count()).toBe(7);
    await page.getByRole("link", { name: "Newest panoramas" }).click();
    expect(new URL(page.url()).search).toBe("");
  });
});
