import { readFile } from "node:fs/promises";
import type { Download } from "playwright-core";
import sharp from "sharp";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { COARSE, logInAs, ready, setUpBrowser, type Tab } from "../../support/browser.js";
import { halvesOf } from "../../support/pixels.js";
import { changeTask } from "../../support/put-task.js";
import type { Person } from "../../support/web-service.js";

describe("sharing a panorama", () => {
  const { service, openTab } = setUpBrowser();
  let ann: Person;
  let tab: Tab;

  beforeAll(async () => {
    ann = await service.person("ann", 1000);
    service.provider.play({ poll: "succeeded", download: "image" });
  });
  beforeEach(async () => {
    tab = await openTab({ ...COARSE, viewport: { width: 1000, height: 600 } });
  });

  const openSphere = async (url: string) => {
    await tab.page.goto(url);
    await ready(tab.page, "sphere");
  };

  it("shows the prompt as text, and saves the picture, the view and six cube faces as files", async () => {
    const prompt = '<img src=x onerror="alert(1)"> & </script><script>alert(2)</script>';
    const { slug, image } = await service.kept(ann, { prompt });
    await openSphere(`/p/${slug}`);
    expect(await tab.page.getByRole("heading", { level: 1 }).textContent()).toBe(prompt);
    expect(await tab.page.locator(".caption").textContent()).toContain("1 Jan 2026");
    const save = async (name: string, meanwhile = async () => {}): Promise<Download> => {
      await tab.page.getByRole("button", { name: "Download" }).press("Enter");
      const item = tab.page.locator("#downloads").getByText(name);
      const [download] = await Promise.all([tab.page.waitForEvent("download"), item.press("Enter").then(meanwhile)]);
      await tab.page.locator("#downloads").waitFor({ state: "hidden" });
      return download;
    };
    const bytesOf = async (download: Download) => readFile(await download.path());

    // The words of the title, and the beginning of the slug.
    const name = `img-src-x-onerror-alert-1-script-script-alert-2-${slug.slice(0, 6)}`;
    const picture = await save("Panorama");
    // Bytes of the page: for another origin, browsers ignore the attribute `download`.
    expect([picture.suggestedFilename(), picture.url()]).toEqual([`${name}.jpg`, expect.stringMatching(/^blob:/)]);
    expect(
      (await bytesOf(picture)).equals(Buffer.from((await service.storage.read(image.imageName))._unsafeUnwrap())),
    ).toBe(true);

    const view = await save("This view");
    expect(view.suggestedFilename()).toBe(`${name}-view.png`);
    expect(await halvesOf(await bytesOf(view))).toEqual([1, 2]);

    const cube = await save("Six cube faces");
    expect(cube.suggestedFilename()).toBe(`${name}-cube.zip`);
    const faces = storedFilesOf(await bytesOf(cube));
    expect([...faces.keys()]).toEqual(
      ["front", "right", "back", "left", "up", "down"].map((face) => `${name}-${face}.jpg`),
    );
    const seen = await Promise.all([...faces.values()].slice(0, 4).map(halvesOf));
    expect(seen).toEqual([
      [1, 2],
      [2, 3],
      [3, 0],
      [0, 1],
    ]);
    expect(await sharp(faces.get(`${name}-up.jpg`)).metadata()).toMatchObject({ width: 256, height: 256 });
  });

  it("offers a link that starts at this view, and the code of a frame, also without a clipboard, with the keyboard", async () => {
    const { slug } = await service.kept(ann, { prompt: "a place to share" });
    await tab.page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await openSphere(`/p/${slug}`);
    await tab.page.locator("#viewer").focus();
    await tab.page.keyboard.press("ArrowRight");
    await tab.page.keyboard.press("+");
    await tab.page.getByRole("button", { name: "Share" }).press("Enter");
    const link = tab.page.getByLabel("Link", { exact: true });
    expect(await link.inputValue()).toBe(`${service.url}/p/${slug}`);
    await tab.page.getByLabel("Start at this view").press("Space");
    const address = await link.inputValue();
    expect(address).toMatch(/#v=-?[\d.]+,0,91$/);
    await tab.page.getByRole("button", { name: "Copy link" }).press("Enter");
    await tab.page.getByText(/^Copied\.$|to copy\.$/).waitFor();
    expect(await tab.page.getByLabel("To embed it in a page").inputValue()).toBe(
      `<iframe title="a place to share" loading="lazy" allow="fullscreen; gyroscope; accelerometer; xr-spatial-tracking" src="${address.replace("#", "?embed=1#")}" style="display: block; width: 100%; aspect-ratio: 16 / 9; border: 0px;"></iframe>`,
    );
    const shown = async (url: string) => {
      await tab.page.goto("about:blank");
      await openSphere(url);
      return tab.page.evaluate<Record<string, string>>("({ ...document.getElementById('viewer').dataset })");
    };
    const [yaw] = address.split("#v=")[1]!.split(",");
    expect(await shown(address)).toMatchObject({ yaw: Number(yaw).toFixed(1), pitch: "0.0", fov: "91.0" });
    expect(await shown(`/p/${slug}#v=999,1e3,<b>`)).toMatchObject({ yaw: "0.0", pitch: "0.0", fov: "113.8" });
  });

  it("shares a portrait view that shows the same part on a wide screen and after a turn", async () => {
    const { slug } = await service.kept(ann, { resolution: "2k" });
    await tab.page.setViewportSize({ width: 390, height: 844 });
    await openSphere(`/p/${slug}`);
    await tab.page.getByRole("button", { name: "Zoom in" }).click();
    await tab.page.getByRole("button", { name: "Share" }).click();
    await tab.page.getByLabel("Start at this view").check();
    const address = await tab.page.getByLabel("Link", { exact: true }).inputValue();
    await tab.page.keyboard.press("Escape");
    const { width, height } = (await tab.page.locator("#viewer").boundingBox())!;
    const fov = async () => Number(await tab.page.locator("#viewer").getAttribute("data-fov"));
    const tangent = Math.tan((((await fov()) / 2) * Math.PI) / 180);
    const vertical = (Math.atan((tangent * height) / width) * 360) / Math.PI;
    expect(vertical).toBeGreaterThan(60);
    await tab.page.setViewportSize({ width: 844, height: 390 });
    await expect.poll(fov).toBeCloseTo(vertical, 0);
    await tab.page.setViewportSize({ width: 1000, height: 600 });
    await tab.page.goto("about:blank");
    await openSphere(address);
    expect(await fov()).toBeCloseTo(vertical, 0);
  });

  it("warns that only the owner can open a private panorama, and publishes it", async () => {
    const { slug, id } = await service.kept(ann, { prompt: "a secret place", visibility: "private" });
    await logInAs(tab, ann);
    await openSphere(`/works/${slug}`);
    expect(await tab.page.getByLabel("Link", { exact: true }).count()).toBe(0);
    await tab.page.getByRole("button", { name: "Share" }).click();
    await tab.page.getByText("Only you can open this panorama.").waitFor();
    await tab.page.getByRole("button", { name: "Make it public" }).click();
    await tab.page.waitForURL(`**/p/${slug}#share`);
    expect(await tab.page.getByLabel("Link", { exact: true }).inputValue()).toBe(`${service.url}/p/${slug}`);
    expect((await service.tasks.find(id, ann.id))?.request.visibility).toBe("public");
  });

  it("starts at its best view, also in a frame", async () => {
    const task = await service.kept(ann, { prompt: "a place to start", resolution: "2k" });
    const figures = { seam: 0, seamRatio: 1, poleDeviation: { zenith: 0, nadir: 0 }, view: { yaw: 120, pitch: 10 } };
    await changeTask(service.database, { ...task, figures });
    for (const path of [`/p/${task.slug}`, `/p/${task.slug}?embed=1`]) {
      await openSphere(path);
      const shown = await tab.page.evaluate("({ ...document.getElementById('viewer').dataset })");
      expect(shown).toMatchObject({ yaw: "120.0", pitch: "10.0", fov: "100.0" });
    }
  });

  it("asks for a login before it makes a panorama public, after the session has ended", async () => {
    const { slug, id } = await service.kept(ann, { prompt: "a secret place", visibility: "private" });
    await logInAs(tab, ann);
    await openSphere(`/works/${slug}`);
    await tab.page.getByRole("button", { name: "Share" }).click();
    await service.database.sql("delete from session");
    await tab.page.getByRole("button", { name: "Make it public" }).click();
    await tab.page.getByText("You were logged out. Log in to go on.").waitFor();
    expect(new URL(tab.page.url()).searchParams.get("next")).toBe(`/works/${slug}`);
    expect((await service.tasks.find(id, ann.id))?.request.visibility).toBe("private");
  });
});

/** The files of a ZIP file without compression, from its directory. */
const storedFilesOf = (zip: Buffer): Map<string, Buffer> => {
  const end = zip.length - 22;
  expect(zip.readUInt32LE(end)).toBe(0x06054b50);
  const files = new Map<string, Buffer>();
  let at = zip.readUInt32LE(end + 16);
  for (let n = zip.readUInt16LE(end + 10); n > 0; n -= 1) {
    const [bytes, nameBytes, local] = [zip.readUInt32LE(at + 24), zip.readUInt16LE(at + 28), zip.readUInt32LE(at + 42)];
    const content = local + 30 + zip.readUInt16LE(local + 26);
    files.set(zip.toString("utf8", at + 46, at + 46 + nameBytes), zip.subarray(content, content + bytes));
    at += 46 + nameBytes;
  }
  return files;
};
