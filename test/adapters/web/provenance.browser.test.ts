import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { setUpBrowser, type Tab } from "../../support/browser.js";
import type { WebService } from "../../support/web-service.js";

/** Both ways by which a file reaches the page. */
const WAYS = {
  chosen: async ({ page }: Tab, buffer: Buffer) => {
    await page.getByLabel("Choose a file").setInputFiles({ name: "panorama.jpg", mimeType: "image/jpeg", buffer });
  },
  dropped: async ({ page }: Tab, buffer: Buffer) => {
    const data = await page.evaluateHandle(`(() => {
      const bytes = Uint8Array.from(atob("${buffer.toString("base64")}"), (character) => character.charCodeAt(0));
      const data = new DataTransfer();
      data.items.add(new File([bytes], "panorama.jpg", { type: "image/jpeg" }));
      return data;
    })()`);
    await page.dispatchEvent("main", "drop", { dataTransfer: data });
  },
};

describe("the page on which people ask whether a file is from here", () => {
  const on = setUpBrowser();
  let service: WebService;
  let panorama: Buffer;

  beforeAll(async () => {
    ({ service } = on);
    const ann = await service.person("ann");
    service.provider.play({ poll: "succeeded", download: "image" });
    const { image } = await service.kept(ann);
    panorama = Buffer.from(await (await fetch(service.storage.urlOf(image.imageName))).arrayBuffer());
  });

  for (const [way, give] of Object.entries(WAYS)) {
    it(`knows a file that is ${way}, does not know it with a changed byte, and sends neither`, async () => {
      const tab = await on.openTab();
      const sent: string[] = [];
      tab.page.on("request", (request) => sent.push(`${request.method()} ${request.postData() ?? ""}`));
      const changed = Buffer.from(panorama);
      changed[changed.length - 3] = (changed.at(-3) ?? 0) ^ 1;
      for (const [file, answer] of [
        [panorama, /^Yes: it was made here with AI, on 1 Jan 2026.*, by scripted\.$/],
        [changed, /^No: this exact file was not made here/],
      ] as const) {
        await tab.page.goto("/provenance");
        await give(tab, file);
        await tab.page.waitForURL(/sha256=[0-9a-f]{64}$/);
        expect(await tab.page.getByRole("status").first().textContent()).toMatch(answer);
      }
      expect([...new Set(sent)]).toEqual(["GET "]);
    });
  }

  it("takes a digest without its script", async () => {
    const { page } = await on.openTab({ javaScriptEnabled: false });
    await page.goto("/provenance");
    const sha256 = createHash("sha256").update(panorama).digest("hex").toUpperCase();
    await page.getByLabel("SHA-256 of the file").fill(sha256);
    await page.getByRole("button", { name: "Check" }).click();
    expect(await page.getByRole("status").first().textContent()).toMatch(/^Yes: it was made here with AI/);
  });
});
