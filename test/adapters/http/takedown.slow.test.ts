import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SqlOperatorStore } from "../../../adapters/persistence/accounts/sql-operator-store.js";
import { operatedPanoramas } from "../../../application/operators/panoramas.js";
import { thumbnailNameOf } from "../../../domain/images/object-name.js";
import type { SucceededTask } from "../../../domain/tasks/task.js";
import { changeTask } from "../../support/put-task.js";
import { logIn } from "../../support/visit.js";
import { type Person, WebService } from "../../support/web-service.js";

const REASON = "Shows a private person";

const FILES = ["512.webp", "tile-480.webp", "tile-960.webp"];
const SOCIAL_FILES = ["social.jpg", "social-600.jpg", "social-400.jpg", "social-200.jpg", "social-80.jpg"];

/**
 * Where everybody sees a public panorama. What else a client may try with its ids, on every route of the service:
 * `authorization.slow.test.ts`.
 */
describe("a panorama that an operator has hidden", () => {
  let service: WebService;
  let ann: Person;
  let task: SucceededTask;
  let owner: Record<string, string>;
  /** The headers of nobody, of a member, and of a program. */
  let strangers: readonly Record<string, string>[];
  let paths: readonly string[];
  let lists: readonly string[];

  beforeAll(async () => {
    service = await WebService.start();
    ann = await service.person("ann");
    const eve = await service.person("eve");
    service.provider.play({ poll: "succeeded", download: "image" });
    task = await service.kept(ann, { prompt: "zweiundvierzig unverwechselbare Kraniche", resolution: "4k" });
    service.temporaryImages.set("made.jpg", new Uint8Array([255, 216, 255]));
    const temporaryUrl = `${service.url}/generations/made.jpg`;
    await changeTask(service.database, { ...task, image: { ...task.image, temporaryUrl } });
    service.heroPanoramas.push(task.slug);
    owner = { cookie: (await logIn(service, ann)).cookie };
    strangers = [{}, { cookie: (await logIn(service, eve)).cookie }, { authorization: `Bearer ${eve.key}` }];
    const { imageName } = task.image;
    const page = `/p/${task.slug}`;
    paths = [
      ...[page, `${page}?embed=1`, `${page}/status`],
      ...[...FILES, ...SOCIAL_FILES].map((file) => `${page}/${file}`),
      `/oembed?url=${encodeURIComponent(service.url + page)}&format=json`,
      "/generations/made.jpg",
      ...[imageName, thumbnailNameOf(imageName)].map((name) => `/assets/${name}`),
    ];
    lists = ["/", "/gallery", "/gallery?q=Kraniche", "/gallery?sort=oldest", "/gallery?q=Kraniche&sort=oldest"];
  });
  afterAll(async () => {
    await service?.end();
    expect(service?.failures).toEqual([]);
  });

  const get = async (path: string, headers: Record<string, string>, method = "GET") => {
    await service.clock.advance(1_000); // limits of requests
    const response = await fetch(service.url + path, { method, headers, redirect: "manual" });
    const text = Buffer.from(await response.arrayBuffer()).toString("latin1");
    return { status: response.status, told: `${JSON.stringify([...response.headers])} ${text}` };
  };

  it("has public pages and files before", async () => {
    for (const headers of strangers) {
      for (const path of paths) expect([path, (await get(path, headers)).status]).toEqual([path, 200]);
      for (const path of lists) expect((await get(path, headers)).told, path).toContain(task.slug);
    }
  });

  it("answers 404 to others for GET, HEAD, Range and conditional requests", async () => {
    const operators = new SqlOperatorStore(service.database);
    const hidden = await operatedPanoramas({ ...service, operators }).hidePanorama(task.slug, {
      reason: REASON,
      by: "olga",
    });
    expect(hidden.isOk()).toBe(true);
    for (const headers of strangers) {
      for (const path of paths) {
        for (const part of [{}, { range: "bytes=0-9" }, { "if-none-match": "*" }]) {
          for (const method of ["GET", "HEAD"]) {
            const { status } = await get(path, { ...headers, ...part }, method);
            expect([method, path, part, status]).toEqual([method, path, part, 404]);
          }
        }
      }
      const [, name = ""] = task.image.imageName.split("/");
      const secrets = [task.id, task.slug, name.slice(0, 20), "unverwechselbare", REASON];
      for (const path of [...lists, `/works?from=${task.slug}`]) {
        const { told } = await get(path, headers);
        const others = secrets.filter((secret) => !path.includes(secret));
        expect([path, others.filter((secret) => told.includes(secret))]).toEqual([path, []]);
      }
    }
  });

  it("stays visible to its owner, with the reason on the pages and by REST", async () => {
    for (const path of ["/works", `/works/${task.slug}`]) expect((await get(path, owner)).told, path).toContain(REASON);
    for (const file of ["picture.jpg", "thumbnail.webp"]) {
      const { status, told } = await get(`/works/${task.slug}/${file}`, owner);
      expect([status, told.includes("private, no-store"), told.length > 1_000]).toEqual([200, true, true]);
    }
    const key = { authorization: `Bearer ${ann.key}` };
    expect((await get(`/api/v1/panoramas/${task.id}`, key)).told).toContain(`"hidden_reason":"${REASON}"`);
    expect((await get(`/p/${task.slug}`, key)).status).toBe(404);
  });
});
