import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Frame, Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { uploading } from "../../../domain/images/storage-status.js";
import { COARSE, setUpBrowser } from "../../support/browser.js";
import { quarterAt } from "../../support/pixels.js";
import { changeTask } from "../../support/put-task.js";
import type { Person } from "../../support/web-service.js";

/** As WordPress makes it of what oEmbed answers: the frame has the origin `null`. */
const sandboxed = (url: string, allowed: string): string =>
  `<iframe sandbox="${allowed}" security="restricted" src="${url}" width="800" height="400" style="border:0"></iframe>`;

describe("a panorama in a sandboxed frame of another site", () => {
  let blog: Server;
  let blogUrl: string;
  let article = "";
  let policies: Readonly<Record<string, string>> = {};
  // Such a frame may not use sensors and headsets.
  const { service, openTab } = setUpBrowser(
    {},
    (problem) => problem === `request to ${blogUrl}/` || /permissions policy/i.test(problem),
  );
  let ann: Person;

  beforeAll(async () => {
    ann = await service.person("ann", 1000);
    blog = createServer((_, response) => {
      response.writeHead(200, { "content-type": "text/html", ...policies }).end(article);
    });
    await new Promise<void>((resolve) => blog.listen(0, "127.0.0.1", resolve));
    blogUrl = `http://127.0.0.1:${(blog.address() as AddressInfo).port}`;
  });
  afterAll(() => blog.close());

  /** The frame in the page that has it, and the page. */
  const open = async (url: string, allowed = "allow-scripts"): Promise<readonly [Frame, Page]> => {
    article = `<!doctype html><body style="margin:0">${sandboxed(url, allowed)}`;
    const { page } = await openTab({ ...COARSE, viewport: { width: 1000, height: 600 } });
    await page.goto(`${blogUrl}/`);
    await expect.poll(() => page.frames().length).toBe(2);
    return [page.frames()[1]!, page];
  };

  const drawn = async ([frame, page]: readonly [Frame, Page]): Promise<void> => {
    await frame.locator('body[data-ready="sphere"]').waitFor({ state: "attached" });
    await frame.locator('#viewer[data-quality="full"]').waitFor({ state: "attached" });
    expect(await frame.evaluate("self.origin")).toBe("null");
    expect([await quarterAt(page, 250, 200), await quarterAt(page, 550, 200)]).toEqual([1, 2]);
  };

  it("starts, with its fonts", async () => {
    service.provider.play({ poll: "succeeded", download: "image" });
    const { slug } = await service.kept(ann);
    const shown = await open(`${service.url}/p/${slug}?embed=1#?secret=2kWUqwpmMb`);
    await drawn(shown);
    expect(
      await shown[0].evaluate("document.fonts.load('16px Bricolage Grotesque').then((faces) => faces.length)"),
    ).toBe(1);
  });

  it("starts at its address with a slash at its end, with a large picture", async () => {
    const usual = service.provider.picture;
    service.provider.picture = async () =>
      sharp(await usual())
        .resize(8192, 4096, { kernel: "nearest" })
        .png()
        .toBuffer();
    service.provider.play({ poll: "succeeded", download: "image" });
    const { slug } = await service.kept(ann, { resolution: "4k" });
    service.provider.picture = usual;
    await drawn(await open(`${service.url}/p/${slug}/?embed=1`));
  });

  it.each([
    { "cross-origin-embedder-policy": "require-corp", "cross-origin-opener-policy": "same-origin" },
    { "cross-origin-embedder-policy": "credentialless", "referrer-policy": "no-referrer" },
  ])("starts in a page with the policies %o, beside its pictures, and opens its page", async (sent) => {
    policies = sent;
    service.provider.play({ poll: "succeeded", download: "image" });
    const task = await service.kept(ann);
    for (const path of [`/p/${task.slug}?embed=1`, `/p/${task.slug}/?embed=1`]) {
      const shown = await open(`${service.url}${path}`, "allow-scripts allow-popups");
      await drawn(shown);
      const [frame, page] = shown;
      const image = `${service.url}/assets/${task.image.imageName}`;
      for (const url of [image, `${service.url}/p/${task.slug}/social.jpg`, `${service.url}/p/${task.slug}/512.webp`]) {
        const loads = `new Promise((resolve) => {
          const image = new Image();
          image.onload = () => resolve(true);
          image.onerror = () => resolve(false);
          image.src = ${JSON.stringify(url)};
        })`;
        expect([url, await page.evaluate(loads)]).toEqual([url, true]);
      }
      const opened = page.context().waitForEvent("page");
      await frame.locator("#open").click();
      await (await opened).locator('body[data-ready="sphere"]').waitFor({ state: "attached" });
    }
    policies = {};
  });

  it("shows its result when it is ready", async () => {
    service.provider.play({ poll: "succeeded", download: "image" });
    const task = await service.kept(ann);
    const image = uploading(task.image.temporaryUrl, task.image.imageName);
    await changeTask(service.database, { ...task, image });
    const shown = await open(`${service.url}/p/${task.slug}?embed=1`);
    await shown[0].locator("#waiting").waitFor({ state: "attached" });
    await changeTask(service.database, task);
    await drawn(shown);
  });
});
