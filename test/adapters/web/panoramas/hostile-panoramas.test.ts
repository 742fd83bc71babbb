import { beforeAll, describe, expect, it } from "vitest";
import { aCreationRequest, anImageName, aSucceededTask } from "../../../../adapters/contracts/support/builders.js";
import { SqlOperatorStore } from "../../../../adapters/persistence/stores/sql-operator-store.js";
import { hideAllPanoramas } from "../../../../application/operators/hide-panorama.js";
import { keep, uploading } from "../../../../domain/images/storage-status.js";
import type { Slug } from "../../../../domain/tasks/slug.js";
import { putTask } from "../../../support/put-task.js";
import { setUpService, visiting } from "../../../support/visit.js";
import type { Person, WebService } from "../../../support/web-service.js";

/** Texts that would take over a page which shows them as they are. */
const HOSTILE = [
  "<script>alert(1)</script>",
  "\"onmouseover=alert(1) '><img src=x onerror=alert(1)>",
  "</title></main><!-- {alert(1)} {0} <a></a2>",
  "\u202egnivaz \u2066\u2067 right to left",
  "zero\u200bwidth\u200d\u2060\ufeff",
  `combining ${"e\u0301\u0302\u0303\u0304\u0305".repeat(40)}`,
  `long ${"W".repeat(3_000)}`,
];

describe("the pages of public panoramas", () => {
  const on = setUpService();
  let service: WebService;
  let eve: Person;
  beforeAll(async () => {
    ({ service } = on);
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

  it("run no script of a hundred hostile prompts, which leave the front page unchanged and one command hides", async () => {
    const front = async () => (await read("/")).replace(/\/signup\?prompt=[^>]+>/g, "");
    const before = await front();
    const slugs: Slug[] = [];
    for (let n = 0; n < 100; n++)
      slugs.push(await publish(`BUY NOW https://spam.example/${n} ${HOSTILE[n % HOSTILE.length]}`, n));
    expect(await front()).toEqual(before);
    for (const path of ["/gallery", ...slugs.slice(0, HOSTILE.length).map((slug) => `/p/${slug}`)]) {
      const text = await read(path);
      expect(text).toContain("spam.example");
      expect(text).not.toMatch(/<script>alert|<img src=x|"onmouseover=/);
    }
    const ports = { ...service, operators: new SqlOperatorStore(service.database) };
    const hidden = await hideAllPanoramas(ports)(eve.id, { reason: "Advertising", by: "olga" });
    expect(hidden._unsafeUnwrap()).toBe(100);
    expect(await read("/gallery")).not.toContain("spam.example");
    expect((await visiting(service).get(`/p/${slugs[99]}`)).status).toBe(404);
    expect(await front()).toEqual(before);
  });

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
