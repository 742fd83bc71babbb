import { beforeAll, describe, expect, it } from "vitest";
import { aCreationRequest, anImageName, aSucceededTask } from "../../../../adapters/contracts/support/builders.js";
import { keep, uploading } from "../../../../domain/images/storage-status.js";
import type { Slug } from "../../../../domain/tasks/slug.js";
import { putTask } from "../../../support/put-task.js";
import { setUpService, visiting } from "../../../support/visit.js";
import type { Person } from "../../../support/web-service.js";

describe("the pages of public panoramas", () => {
  const service = setUpService();
  let eve: Person;
  beforeAll(async () => {
    eve = await service.person("eve", 10_000);
  });

  const read = async (path: string) => (await visiting(service).get(path)).text;
  const publish = async (prompt: string, n: number): Promise<Slug> => {
    const task = aSucceededTask({
      ...{ id: service.ids.taskId(), slug: service.ids.slug(), accountId: eve.id },
      request: aCreationRequest({ prompt, resolution: "2k", visibility: "public" }),
      image: keep(uploading("https://provider.example/1.jpg", anImageName(n))),
    });
    await putTask(service.database, task);
    return task.slug;
  };

  it("stay small with the longest prompts: they show the first 80 characters, the viewer all of them on demand", async () => {
    const slugs: Slug[] = [];
    for (let n = 0; n < 12; n += 1) slugs.push(await publish(`${n} ${"🌊".repeat(3_997)}`, n));
    service.heroPanoramas.push(...slugs);
    for (const [path, bytesMax, title] of [
      ["/", 30_000, /<a [^>]*>\d+ (🌊){77,78}…<\/a>/u],
      ["/gallery", 30_000, /<span class="tile-title" dir="auto">11 (🌊){77}…<\/span>/u],
      [`/p/${slugs[0]}`, 20_000, /<h1 dir="auto">0 (🌊){78}…<\/h1>/u],
    ] as const) {
      const page = await read(path);
      expect([path, page.length < bytesMax]).toEqual([path, true]);
      expect(page).toMatch(title);
    }
    const page = await read(`/p/${slugs[0]}`);
    const title = `0 ${"🌊".repeat(78)}…`;
    expect(page).toContain(`<meta property="og:title" content="${title}">`);
    expect(page).toContain(`<title>${title} · Panorama</title>`);
    expect(page).toContain(`<p dir="auto">0 ${"🌊".repeat(3_997)}</p>`);
    expect(page).not.toContain("Use this prompt"); // it does not fit into an address
  });
});
