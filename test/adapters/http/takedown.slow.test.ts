import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Listener } from "../../../adapters/http/servers/listener.js";
import { MemoryOperatorStore } from "../../../adapters/memory/stores/memory-operator-store.js";
import { withholdPanorama } from "../../../application/operators/withhold-panorama.js";
import { thumbnailNameOf } from "../../../domain/images/object-name.js";
import type { SucceededTask } from "../../../domain/tasks/task.js";
import { PASSWORD, type Person, WebService } from "../../support/web-service.js";

const PROMPT = "zweiundvierzig unverwechselbare Kraniche";
const REASON = "Shows a private person";

/** A stranger, in every role. */
type Client = { readonly name: string; readonly headers: Readonly<Record<string, string>> };

describe("a panorama that an operator has hidden", () => {
  let service: WebService;
  let [ann, eve]: Person[] = [];
  let task: SucceededTask;
  let strangers: readonly Client[];
  let owner: Client;
  const routes = new Set<string>();

  beforeAll(async () => {
    const route = vi.spyOn(Listener.prototype, "route");
    service = await WebService.start();
    for (const [method, path] of route.mock.calls) routes.add(`${method} ${path}`);
    route.mockRestore();
    [ann, eve] = [await service.person("ann"), await service.person("eve")];
    service.provider.play({ poll: "succeeded", download: "image" });
    task = await service.kept(ann as Person, { prompt: PROMPT, resolution: "4k" });
    const stored = service.database.tasks.get(task.id);
    const temporaryUrl = `${service.url}/generations/made.jpg`;
    service.temporaryImages.set("made.jpg", new Uint8Array([255, 216, 255]));
    Object.assign(stored ?? {}, { task: { ...task, image: { ...task.image, temporaryUrl } } });
    service.heroPanoramas.push(task.slug);
    owner = { name: "the owner", headers: { cookie: await cookieOf(ann as Person), origin: service.url } };
    strangers = [
      { name: "nobody", headers: { origin: service.url } },
      { name: "a member", headers: { cookie: await cookieOf(eve as Person), origin: service.url } },
      { name: "a key", headers: { authorization: `Bearer ${eve?.key}` } },
    ];
  });
  afterAll(async () => {
    await service?.end();
    expect(service?.failures).toEqual([]);
  });

  const cookieOf = async ({ email }: Person): Promise<string> => {
    const body = new URLSearchParams({ email, password: PASSWORD });
    const init = { method: "POST", body, headers: { origin: service.url }, redirect: "manual" } as const;
    return (await fetch(`${service.url}/login`, init)).headers.get("set-cookie")?.split(";")[0] ?? "";
  };

  /** What the panorama can be called in a path. A new name of a parameter must be added here. */
  const namesOf = (parameter: string): readonly string[] => {
    const image = task.image.imageName;
    const [folder = ""] = image.split("/");
    const known: Readonly<Record<string, readonly string[]>> = {
      slug: [task.slug],
      id: [task.id],
      folder: [folder],
      file: [image, thumbnailNameOf(image)].map((name) => name.slice(folder.length + 1)),
      name: ["made.jpg"],
      sha256: ["0".repeat(64)],
      provider: ["scripted"],
    };
    const names = known[parameter];
    if (names === undefined) throw new Error(`the test does not know what :${parameter} is`);
    return names;
  };

  /** Every path of the route that names the panorama, or has no parameter. */
  const pathsOf = (route: string): readonly string[] => {
    const [, path = ""] = route.split(" ");
    const filled = [...path.matchAll(/:(\w+)/g)].reduce<readonly string[]>(
      (paths, [name, parameter = ""]) =>
        paths.flatMap((one) => namesOf(parameter).map((value) => one.replace(name, value))),
      [path],
    );
    const queries: Readonly<Record<string, readonly string[]>> = {
      "/oembed": [`?url=${encodeURIComponent(`${service.url}/p/${task.slug}`)}&format=json`],
      "/gallery": ["", "?q=Kraniche", "?sort=oldest", "?q=Kraniche&sort=oldest"],
      "/works": ["", `?from=${task.slug}`],
      [`/p/${task.slug}`]: ["", "?embed=1"],
    };
    return filled.flatMap((one) => (queries[one] ?? [""]).map((query) => one + query));
  };

  /** A stream goes on for minutes: its beginning says whether it is there. */
  const send = async ({ headers }: Client, route: string, path: string, token = "") => {
    const method = route.split(" ")[0]?.toUpperCase() ?? "";
    const form = { body: new URLSearchParams({ reason: "other", form_token: token }) };
    const body = method === "GET" || method === "DELETE" ? {} : form;
    const stop = new AbortController();
    const init = { method, headers, redirect: "manual", signal: stop.signal, ...body } as const;
    const response = await fetch(service.url + path, init);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    const text = isStream ? "" : Buffer.from(await response.arrayBuffer()).toString("latin1");
    stop.abort();
    return { status: response.status, told: `${JSON.stringify([...response.headers])} ${text}` };
  };

  /** The routes at which one of these clients gets something of the panorama. */
  const shownTo = async (clients: readonly Client[]): Promise<string[]> => {
    const shown: string[] = [];
    const secrets = [task.id, task.slug, task.image.imageName.split("/")[1]?.slice(0, 20) ?? "", "Kraniche", REASON];
    for (const route of [...routes].sort()) {
      // What these do to a panorama of somebody else: authorization.slow.test.ts. They end the sessions of this test.
      if (/^post .*(logout|\/login|signup|password)/.test(route)) continue;
      for (const path of pathsOf(route)) {
        for (const client of clients) {
          const { status, told } = await send(client, route, path);
          const isNamed = /:(slug|id|file|name)/.test(route) || path.startsWith("/oembed");
          const isAnswered = isNamed && status < 300 && told.length > 0;
          const sent = path.includes(task.id) || path.includes(task.image.imageName) ? [] : secrets;
          const isTold = sent.some((secret) => !decodeURIComponent(path).includes(secret) && told.includes(secret));
          if (isAnswered || isTold) shown.push(`${route} ${path.includes("?") ? path.split("?")[1] : ""}`.trim());
        }
        await service.clock.advance(61_000); // limits of requests
      }
    }
    return [...new Set(shown)];
  };

  it("is shown to everybody before, at these routes", async () => {
    const before = await shownTo(strangers);
    expect(before.map((route) => route.replace(task.slug, "SLUG")).sort()).toEqual([
      "get /",
      "get /assets/:folder/:file",
      "get /gallery",
      "get /gallery q=Kraniche",
      "get /gallery q=Kraniche&sort=oldest",
      "get /gallery sort=oldest",
      "get /generations/:name",
      `get /oembed url=${encodeURIComponent(`${service.url}/p/SLUG`)}&format=json`,
      "get /p/:slug",
      "get /p/:slug embed=1",
      "get /p/:slug/512.webp",
      "get /p/:slug/social-200.jpg",
      "get /p/:slug/social-400.jpg",
      "get /p/:slug/social-600.jpg",
      "get /p/:slug/social-80.jpg",
      "get /p/:slug/social.jpg",
      "get /p/:slug/status",
      "get /p/:slug/tile-480.webp",
      "get /p/:slug/tile-960.webp",
    ]);
  }, 120_000);

  it("is found by nobody else afterwards, on any route of the service", async () => {
    const operators = new MemoryOperatorStore(service.database);
    const hidden = await withholdPanorama({ ...service, operators })(task.slug, { reason: REASON, by: "olga" });
    expect(hidden.isOk()).toBe(true);
    expect(await shownTo(strangers)).toEqual([]);
    // Whoever may use a route at all is told that there is no such panorama.
    const { told: works } = await send(strangers[1] as Client, "get", "/works");
    const token = /name="form_token" value="([^"]+)"/.exec(works)?.[1];
    const elsewhere: string[] = [];
    for (const route of [...routes].sort()) {
      const isOfPanoramas = !route.includes("/account/"); // these ids are of keys, orders, endpoints and deliveries
      if (!/:(slug|id|file|name)|^get \/oembed/.test(route) || !isOfPanoramas) continue;
      for (const path of pathsOf(route)) {
        const answers = strangers.map(async (client) => (await send(client, route, path, token)).status);
        const statuses = await Promise.all(answers);
        if (!statuses.includes(404)) elsewhere.push(`${route} ${statuses}`);
      }
      await service.clock.advance(61_000);
    }
    expect(elsewhere).toEqual([]);
  }, 120_000);

  it("is not found by requests for a part, for the headers, or for what a cache has", async () => {
    const { imageName } = task.image;
    const paths = [
      `/p/${task.slug}`,
      `/p/${task.slug}/social.jpg`,
      `/p/${task.slug}/512.webp`,
      "/generations/made.jpg",
    ];
    const images = [imageName, thumbnailNameOf(imageName)].map((name) => `/assets/${name}`);
    for (const path of [...paths, ...images]) {
      for (const headers of [{ range: "bytes=0-9" }, { "if-none-match": "*" }, {}]) {
        for (const method of ["GET", "HEAD"]) {
          const { status } = await fetch(service.url + path, { method, headers });
          expect([method, path, headers, status]).toEqual([method, path, headers, 404]);
        }
      }
    }
  });

  it("is seen by its owner, who is told why on the pages and by REST", async () => {
    for (const path of ["/works", `/works/${task.slug}`]) {
      expect([path, (await send(owner, "get", path)).told.includes(REASON)]).toEqual([path, true]);
    }
    for (const file of ["picture.jpg", "thumbnail.webp"]) {
      const { status, told } = await send(owner, "get", `/works/${task.slug}/${file}`);
      expect([status, told.includes("private, no-store"), told.length > 1_000]).toEqual([200, true, true]);
    }
    const byKey = { name: "the owner's key", headers: { authorization: `Bearer ${ann?.key}` } };
    const { told } = await send(byKey, "get", `/api/v1/panoramas/${task.id}`);
    expect(told).toContain(`"hidden_reason":"${REASON}"`);
    expect(await send(byKey, "get", `/p/${task.slug}`)).toMatchObject({ status: 404 });
  });
});
