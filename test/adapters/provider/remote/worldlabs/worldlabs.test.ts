import { err, ok } from "neverthrow";
import sharp from "sharp";
import { afterEach, describe, expect, it } from "vitest";
import { aCreationRequest, noon, taskId } from "../../../../../adapters/contracts/support/builders.js";
import { MemoryObjectStorage } from "../../../../../adapters/memory/memory-object-storage.js";
import { correlationSeed } from "../../../../../adapters/provider/remote/dialect.js";
import { RandomIds } from "../../../../../adapters/system/random-ids.js";
import { invalidRequest } from "../../../../../domain/invalid-request.js";
import type { CreationRequest } from "../../../../../domain/tasks/creation-request.js";
import { remoteProviderContract } from "../../../../support/contracts/remote-provider-contract.js";
import type { FakeWorldlabs } from "../../../../support/fake-worldlabs.js";
import { answers, FAULTS, refuses } from "../../../../support/faulty-server.js";
import { hostedPicture } from "../../../../support/hosted-pictures.js";
import { startWorldlabs } from "../../../../support/providers-under-test.js";
import { plain } from "../../../../support/test-images.js";

remoteProviderContract("World Labs Marble", startWorldlabs, {
  callsPerSecond: 10,
  concurrencyMax: 2,
  pauseSeconds: 20,
  searchable: true,
  upstreamTaskIdOf: (id) => `worlds/world-${id}`,
  foundAs: (id) => id.replace("operations/", "worlds/world-"),
  hasNoStatus: true,
  cancels: false,
  keyVariable: "WORLDLABS_API_KEY",
});

const URLS = [1, 2, 3].map((n) => `https://pictures.example/${n}.jpg`);
const uri = (url: string | undefined) => ({ source: "uri", uri: url });

describe("worldlabs dialect", () => {
  let worldlabs: Awaited<ReturnType<typeof startWorldlabs>>;
  let warnings: string[];
  const started = async (...[overrides, model]: Parameters<typeof startWorldlabs>) => {
    warnings = [];
    worldlabs = await startWorldlabs({ warn: (message) => warnings.push(message), ...overrides }, model);
    return worldlabs;
  };
  afterEach(() => worldlabs.close());

  const submit = (request: CreationRequest = aCreationRequest({ prompt: "a lake" }), id = taskId(1)) =>
    worldlabs.provider.submit({ taskId: id, request });
  const theTask = ({ tasks }: FakeWorldlabs) => {
    const [task] = tasks;
    if (task === undefined) throw new Error("Nothing was started.");
    return task;
  };
  const callsOf = ({ server }: FakeWorldlabs) => server.requests.map(({ method, path }) => `${method} ${path}`);
  /** The upstream task id of a creation whose answer is lost. */
  const lost = async ({ fake, provider }: Awaited<ReturnType<typeof startWorldlabs>>) => {
    fake.faults.creates.push(FAULTS.cutAfter);
    expect((await submit())._unsafeUnwrapErr().kind).toBe("unknown");
    return (await provider.search(taskId(1), noon))._unsafeUnwrap() ?? "";
  };

  describe("creation", () => {
    it("sends the key in its header and the task as a tag, and makes a private world", async () => {
      const { fake } = await started();
      const id = new RandomIds().taskId();
      expect((await submit(undefined, id))._unsafeUnwrap()).toBe(`operations/${theTask(fake).id}`);
      const [{ method, path, headers, body } = {}] = fake.server.requests;
      expect([method, path, headers?.["wlt-api-key"]]).toEqual([
        "POST",
        "/marble/v1/worlds:generate",
        "worldlabs-secret",
      ]);
      expect(body).toEqual({
        display_name: id,
        model: "marble-1.0-draft",
        seed: correlationSeed(id),
        tags: [expect.stringMatching(/^[0-9a-f]{32}$/)],
        permission: { public: false },
        world_prompt: { type: "text", text_prompt: "a lake" },
      });
    });

    it("uses the configured model, which is in the provider's name", async () => {
      const { fake, provider } = await started({}, "marble-1.1");
      expect([provider.name, provider.account]).toEqual(["worldlabs:marble-1.1", "worldlabs"]);
      await submit();
      expect(theTask(fake).input.model).toBe("marble-1.1");
    });

    it("refuses a prompt above 2000 characters before anything is sent", async () => {
      const { provider } = await started();
      expect(provider.checkRequest(aCreationRequest({ prompt: "x".repeat(2_000) }))).toEqual(ok(undefined));
      expect(provider.checkRequest(aCreationRequest({ prompt: "x".repeat(2_001) }))).toEqual(
        err(invalidRequest("prompt", { name: "characters_max", max: 2_000, actual: 2_001 })),
      );
    });

    it.each([
      [
        {
          detail: [{ loc: ["body", "world_prompt", "multi_image_prompt", 0], msg: "not a lake", type: "value_error" }],
        },
        " (body.world_prompt.multi_image_prompt.0 value_error)",
      ],
      [{ detail: [{ loc: ["a lake"], msg: "", type: "a lake" }] }, ""],
      ["<html>", ""],
    ])("warns the operator, without the prompt, if it does not fit the provider's schema", async (body, where) => {
      const { fake } = await started();
      fake.faults.creates.push(refuses(422, {}, body));
      expect((await submit())._unsafeUnwrapErr().kind).toBe("refused");
      expect(warnings).toEqual([`worldlabs refuses creations: it does not understand the creation${where}.`]);
    });
  });

  describe("reference images", () => {
    it.each<[number, string | undefined, object]>([
      [1, "a lake", { type: "image", image_prompt: uri(URLS[0]), text_prompt: "a lake" }],
      [1, undefined, { type: "image", image_prompt: uri(URLS[0]) }],
      [
        2,
        undefined,
        { type: "multi-image", multi_image_prompt: [0, 180].map((azimuth, n) => ({ azimuth, content: uri(URLS[n]) })) },
      ],
      [
        3,
        "a lake",
        {
          type: "multi-image",
          multi_image_prompt: [0, 120, 240].map((azimuth, n) => ({ azimuth, content: uri(URLS[n]) })),
          text_prompt: "a lake",
        },
      ],
    ])(
      "%i of them, and the prompt %s, are all given to the model, evenly around the viewer",
      async (count, prompt, expected) => {
        const { fake, provider } = await started();
        const request = aCreationRequest({ prompt, image_urls: URLS.slice(0, count) });
        expect(provider.checkRequest(request)).toEqual(ok(undefined));
        expect((await submit(request)).isOk()).toBe(true);
        const task = theTask(fake);
        expect(task.input.world_prompt).toEqual(expected);
        expect(fake.referencesOf(task)).toEqual(URLS.slice(0, count));
        expect(fake.promptOf(task)).toBe(prompt);
      },
    );

    it.each([
      [400, 200, true],
      [300, 200, false],
    ])("that this service hosts are sent as bytes: %i × %i is a panorama: %s", async (width, height, is_pano) => {
      const storage = new MemoryObjectStorage();
      const { fake } = await started({ storage });
      const bytes = await plain({ widthPixels: width, heightPixels: height }).png().toBuffer();
      const image_urls = [await hostedPicture(storage, bytes)];
      expect((await submit(aCreationRequest({ prompt: undefined, image_urls }))).isOk()).toBe(true);
      expect(theTask(fake).input.world_prompt).toEqual({
        type: "image",
        image_prompt: { source: "data_base64", data_base64: bytes.toString("base64"), extension: "png" },
        is_pano,
      });
    });

    it("above the provider's limit are made smaller", async () => {
      const storage = new MemoryObjectStorage();
      const { fake } = await started({ storage });
      const large = await plain({ widthPixels: 2_000, heightPixels: 1_500 }).png({ compressionLevel: 0 }).toBuffer();
      expect(large.length).toBeGreaterThan(7_500_000);
      expect((await submit(aCreationRequest({ image_urls: [await hostedPicture(storage, large)] }))).isOk()).toBe(true);
      const [sent] = fake.referencesOf(theTask(fake));
      const [type, data = ""] = String(sent).split(",");
      expect(type).toBe("data:image/jpeg;base64");
      expect(await sharp(Buffer.from(data, "base64")).metadata()).toMatchObject({
        format: "jpeg",
        width: 2_000,
        height: 1_500,
      });
    });
  });

  it("fails a generation that has ended without a panorama", async () => {
    const { fake, provider } = await started();
    fake.plan = "succeed without image";
    const id = (await submit())._unsafeUnwrap();
    expect(await provider.poll(id)).toEqual(ok({ state: "failed", reason: "the world has no panorama" }));
  });

  describe("a lost creation", () => {
    it.each(["world", "bare"] as const)("continues as the world found by its tag, wrapped as %s", async (wrapper) => {
      const { fake, provider } = await started();
      Object.assign(fake, { wrapper, plan: "run" });
      const id = await lost(worldlabs);
      expect(id).toBe(`worlds/world-${theTask(fake).id}`);
      expect(await provider.poll(id)).toEqual(ok({ state: "running" }));
      fake.plan = "succeed";
      const temporaryUrl = `${fake.baseUrl}/panoramas/${theTask(fake).id}.png?sig=1`;
      expect(await provider.poll(id)).toEqual(ok({ state: "succeeded", temporaryUrl }));
      expect((await provider.download(temporaryUrl, id)).isOk()).toBe(true);
      expect(fake.tasks).toHaveLength(1);
    });

    it("counts as running if its world has failed", async () => {
      const { fake, provider } = await started();
      fake.plan = "fail";
      expect(await provider.poll(await lost(worldlabs))).toEqual(ok({ state: "running" }));
    });

    it.each<[string, unknown]>([
      ["worlds of other tags", { worlds: [{ world_id: "w1", tags: ["other"] }] }],
      ["worlds without tags", { worlds: [{ world_id: "w1", tags: null }] }],
      ["a further page", { worlds: [], next_page_token: "bmV4dA==" }],
    ])("may exist if the list has %s", async (_, list) => {
      const { fake, provider } = await started();
      fake.faults.lists.push(answers(list));
      const reason = "the list has worlds without the tag that was asked for";
      expect(await provider.search(taskId(1), noon)).toEqual(err({ kind: "provider_unavailable", reason }));
    });
  });

  describe("discard", () => {
    it("deletes the world of the operation", async () => {
      const { fake, provider } = await started();
      const id = (await submit())._unsafeUnwrap();
      await provider.poll(id);
      expect(await provider.discard?.(id)).toEqual(ok(undefined));
      expect([...fake.deleted]).toEqual([`world-${theTask(fake).id}`]);
      expect(callsOf(fake).slice(-2)).toEqual([
        `GET /marble/v1/operations/${theTask(fake).id}`,
        `DELETE /marble/v1/worlds/world-${theTask(fake).id}`,
      ]);
    });

    it("deletes a world that was found again, without looking for its operation", async () => {
      const { fake, provider } = await started();
      const id = await lost(worldlabs);
      expect(await provider.discard?.(id)).toEqual(ok(undefined));
      expect([...fake.deleted]).toEqual([`world-${theTask(fake).id}`]);
      expect(callsOf(fake).filter((call) => call.includes("operations"))).toEqual([]);
    });

    it("returns provider_unavailable if the read of the operation fails", async () => {
      const { fake, provider } = await started();
      const id = (await submit())._unsafeUnwrap();
      fake.faults.polls.push(FAULTS.failsBefore);
      expect((await provider.discard?.(id))?._unsafeUnwrapErr().kind).toBe("provider_unavailable");
      expect([...fake.deleted]).toEqual([]);
      expect(await provider.discard?.(id)).toEqual(ok(undefined));
      expect(fake.deleted.size).toBe(1);
    });

    it("deletes nothing if the operation has expired or names no world", async () => {
      const { fake, provider } = await started();
      const id = (await submit())._unsafeUnwrap();
      fake.faults.polls.push(refuses(404), answers({ done: false, metadata: null }));
      for (let n = 0; n < 2; n += 1) expect(await provider.discard?.(id)).toEqual(ok(undefined));
      expect([...fake.deleted]).toEqual([]);
    });
  });

  it("reports an answer that is not the credits of an account as unchecked", async () => {
    const { fake, provider } = await started();
    fake.credits = { balance: 7 };
    const reason = "the answer is not the credits of an account";
    expect(await provider.check()).toEqual(err({ kind: "unchecked", reason }));
  });
});
