import { beforeAll, describe, expect, it } from "vitest";
import { thumbnailNameOf } from "../../../../domain/images/object-name.js";
import type { SucceededTask } from "../../../../domain/tasks/task.js";
import { setUpService } from "../../../support/visit.js";
import type { Person } from "../../../support/web-service.js";

const ELSEWHERE = "https://other-installation.example/assets/panoramas/0123456789abcdefghijkl.jpg";

/** With assets at http, as the embedded default has them. */
describe("POST /panoramas with the image_url of a panorama", () => {
  const service = setUpService();
  let ann: Person;
  let bob: Person;
  /** URLs of panoramas of Ann. */
  const urls: Record<"published" | "secret" | "hidden" | "deleted" | "thumbnail", string> = {
    published: "",
    secret: "",
    hidden: "",
    deleted: "",
    thumbnail: "",
  };

  beforeAll(async () => {
    [ann, bob] = [await service.person("ann", 1000), await service.person("bob", 1000)];
    service.provider.play({ poll: "succeeded", download: "image" });
    const kept = (visibility: string) => service.kept(ann, { visibility });
    const urlOf = ({ image }: SucceededTask) => service.storage.urlOf(image.imageName);
    const [published, secret, hidden, deleted] = [
      await kept("public"),
      await kept("private"),
      await kept("public"),
      await kept("public"),
    ];
    (await service.tasks.hide(hidden.id, { at: service.clock.now(), reason: "why" }))._unsafeUnwrap();
    // Its file is still there: the work that deletes it has not run.
    (await service.tasks.delete(deleted.id, ann.id, service.clock.now()))._unsafeUnwrap();
    expect((await service.storage.has(deleted.image.imageName))._unsafeUnwrap()).toBe(true);
    Object.assign(urls, {
      published: urlOf(published),
      secret: urlOf(secret),
      hidden: urlOf(hidden),
      deleted: urlOf(deleted),
      thumbnail: service.storage.urlOf(thumbnailNameOf(published.image.imageName)),
    });
    expect(urls.published).toMatch(/^http:/);
  });

  const create = async ({ key }: Person, image_urls: readonly string[]) => {
    await service.clock.advance(60_000); // limits of requests
    const answer = await fetch(`${service.url}/api/v1/panoramas`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ prompt: "the same at night", resolution: "1k", image_urls }),
    });
    const { error } = (await answer.json()) as { error?: { code: string; message: string } };
    await service.work();
    return [answer.status, error?.code, error?.message];
  };

  const MISSING =
    "image_urls[0]: does not exist in this service: it was deleted, has expired, or was never there; upload the image again and use its new URL.";
  const NO_HTTPS = expect.stringContaining("image_urls[0]: must be a complete URL that starts with https://, but is ");
  it.each<[string, () => readonly string[], string]>([
    ["somebody else's private one", () => [urls.secret], MISSING],
    ["a deleted one that is not erased yet", () => [urls.deleted], MISSING],
    ["a hidden one", () => [urls.hidden], MISSING],
    ["a query", () => [`${urls.published}?size=4k`], MISSING],
    ["a fragment", () => [`${urls.published}#view`], MISSING],
    ["a thumbnail", () => [urls.thumbnail], "image_urls[0]: is a thumbnail; use the image_url of the panorama."],
    ["http elsewhere", () => [ELSEWHERE.replace("https", "http")], NO_HTTPS],
    ["upper case", () => [urls.published.replace("http", "HTTP")], NO_HTTPS],
    ["four of them", () => Array(4).fill(urls.published), "image_urls: must have at most 3 items, but has 4."],
  ])("refuses %s", async (_, images, sentence) => {
    const before = await service.ledger.balance(bob.id);
    expect(await create(bob, images())).toEqual([400, "invalid_request", sentence]);
    expect(await service.ledger.balance(bob.id)).toBe(before);
  });

  it.each<[string, () => Person, () => readonly string[]]>([
    ["an own private one", () => ann, () => [urls.secret]],
    ["a public one of another account", () => bob, () => [urls.published]],
    ["the same one twice", () => bob, () => [urls.published, urls.published]],
    ["an https one of another installation", () => bob, () => [ELSEWHERE]],
  ])("accepts %s", async (_, person, images) => {
    expect(await create(person(), images())).toEqual([202, undefined, undefined]);
    const [task] = await service.tasks.list(person().id, 1, undefined);
    expect([task?.state, task?.request.imageUrls]).toEqual(["succeeded", images()]);
  });
});
