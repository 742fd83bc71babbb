import { beforeAll, describe, expect, it } from "vitest";
import { thumbnailNameOf } from "../../../../domain/images/object-name.js";
import { ALL_ABILITIES } from "../../../../domain/tasks/abilities.js";
import type { SucceededTask } from "../../../../domain/tasks/task.js";
import { logIn, setUpService, visiting } from "../../../support/visit.js";
import type { Person } from "../../../support/web-service.js";

describe("changing a panorama on the pages", () => {
  const service = setUpService();
  let ann: Person;
  let bob: Person;
  let published: SucceededTask;
  let secret: SucceededTask;

  beforeAll(async () => {
    [ann, bob] = [await service.person("ann", 1000), await service.person("bob", 1000)];
    service.provider.play({ poll: "succeeded", download: "image" });
    published = await service.kept(ann, { prompt: "a public lake" });
    secret = await service.kept(ann, { prompt: "a secret lake", visibility: "private" });
  });

  const urlOf = ({ image }: SucceededTask) => service.storage.urlOf(image.imageName);
  const link = "Change this panorama";

  it("is offered to visitors by the way through the log-in, not in frames or where no references are taken", async () => {
    const read = async (query = "") => (await visiting(service).get(`/p/${published.slug}${query}`)).text;
    expect(await read()).toContain(`<a href="/signup?next=%2Fworks%3Fchange%3D${published.slug}">${link}</a>`);
    expect(await read("?embed=1")).not.toContain(link);
    const own = await logIn(service, ann);
    expect(await own.read(`/works/${secret.slug}`)).toContain(`<a href="/works?change=${secret.slug}">${link}</a>`);
    service.provider.abilities = { ...ALL_ABILITIES, imagesMax: 0 };
    expect(await read()).not.toContain(link);
    expect(await own.read(`/works?change=${secret.slug}`)).not.toContain("What should be different?");
    service.provider.abilities = ALL_ABILITIES;

    const login = await visiting(service).post(`/login?next=${encodeURIComponent(`/works?change=${published.slug}`)}`, {
      ...{ email: bob.email, password: "correct horse battery" },
      next: `/works?change=${published.slug}`,
    });
    expect(login.location).toBe(`/works?change=${published.slug}`);
  });

  it("opens the form with the picture of an own or a public panorama, shown small, and ignores any other", async () => {
    const form = async (person: Person, slug: string) => (await logIn(service, person)).read(`/works?change=${slug}`);
    for (const [person, task] of [
      [ann, secret],
      [ann, published],
      [bob, published],
    ] as const) {
      const page = await form(person, task.slug);
      expect(page).toContain('placeholder="What should be different?"');
      expect(page).toMatch(/<textarea name="prompt"[^>]*><\/textarea>/);
      expect(page).toContain(`name="uploaded_url" value="${urlOf(task)}" checked`);
      expect(page).toContain(`<img src="${service.storage.urlOf(thumbnailNameOf(task.image.imageName))}"`);
    }
    for (const slug of [secret.slug, "unknown", "%00", "../x"]) {
      const page = await form(bob, slug);
      expect(page).not.toContain("What should be different?");
      expect(page).not.toContain(urlOf(secret));
    }
  });

  it("makes the new panorama, and says from which one, to those who may open that", async () => {
    const session = await logIn(service, ann);
    const fields = { resolution: "1k", visibility: "public", change: secret.slug, uploaded_url: urlOf(secret) };
    const made = await session.create({ ...fields, prompt: "the same at night" });
    expect(made.status).toBe(303);
    await service.work();
    const [task] = await service.tasks.list(ann.id, 1, undefined);
    expect(task?.request.imageUrls).toEqual([urlOf(secret)]);
    const from = `<span>Made from <a href="/works/${secret.slug}">a secret lake</a></span>`;
    expect(await session.read(`/works/${task?.slug}`)).toContain(from);
    const stranger = await visiting(service).get(`/p/${task?.slug}`);
    expect([stranger.status, stranger.text.includes("Made from")]).toEqual([200, false]);

    await service.clock.advance(60_000);
    const refused = await (await logIn(service, bob)).create({ ...fields, prompt: "the same at night" });
    expect([refused.status, refused.error]).toEqual([400, expect.stringContaining("does not exist")]);
    expect(refused.text).toContain('placeholder="What should be different?"');
  });

  it("is not offered on a hidden one", async () => {
    const hidden = await service.kept(ann, { prompt: "a hidden lake" });
    (await service.tasks.hide(hidden.id, { at: service.clock.now(), reason: "why" }))._unsafeUnwrap();
    const session = await logIn(service, ann);
    expect(await session.read(`/works/${hidden.slug}`)).not.toContain(link);
    expect(await session.read(`/works?change=${hidden.slug}`)).not.toContain("What should be different?");
  });
});
