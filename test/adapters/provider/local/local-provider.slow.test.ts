import { readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ok, type Result } from "neverthrow";
import sharp from "sharp";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  generationProviderContract,
  type OrderedOutcome,
} from "../../../../adapters/contracts/generation-provider-contract.js";
import { aCreationRequest, taskId } from "../../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../../adapters/memory/hand-clock.js";
import { MemoryObjectStorage } from "../../../../adapters/memory/memory-object-storage.js";
import type { LocalProvider } from "../../../../adapters/provider/local/local-provider.js";
import {
  type Painter,
  type PaintingFailed,
  type PaintOrder,
  PaintPool,
} from "../../../../adapters/provider/local/paint-pool.js";
import { sourceTypeIn, sourceTypeXmp } from "../../../../adapters/system/source-type-xmp.js";
import { type ObjectName, referenceImageName } from "../../../../domain/images/object-name.js";
import { hostedPicture } from "../../../support/hosted-pictures.js";
import { scratchFolder } from "../../../support/scratch-folder.js";
import { bombPng, plain } from "../../../support/test-images.js";
import { aLocalProvider, filesIn } from "./local-setup.js";

/** Paints each picture once: most tests are about something else, and paint the same one. */
class RememberingPool extends PaintPool {
  private readonly painted = new Map<string, Awaited<ReturnType<Painter>>>();

  override run<T>(order: PaintOrder, work: (paint: Painter) => Promise<T>): Promise<Result<T, PaintingFailed>> {
    return super.run(order, (paint) =>
      work(async (scene, references) => {
        if (references.length > 0) return paint(scene, references);
        const key = JSON.stringify([scene, order.size]);
        const painted =
          this.painted.get(key) ?? (await paint(scene, references)).map((pixels) => Uint8Array.from(pixels));
        if (painted.isOk()) this.painted.set(key, painted);
        return painted;
      }),
    );
  }
}

const pool = new PaintPool(2);
const rememberingPool = new RememberingPool(2);
const storage = new MemoryObjectStorage();
let folder: string;
let clock: HandClock;
let provider: LocalProvider;

const aProvider = (paintPool: PaintPool = rememberingPool): LocalProvider =>
  aLocalProvider({ folder, pool: paintPool, clock, storage, delayMilliseconds: 1500 });

const TRIGGERS: Record<OrderedOutcome, string> = {
  succeed: "",
  fail: "test:fail",
  "be refused": "test:reject",
  expire: "",
};

beforeEach(async () => {
  folder = await scratchFolder();
  clock = new HandClock();
  provider = aProvider();
  await provider.clean(); // waits for its folders: nobody may make them while a test that ends at once removes all
});

afterEach(() => provider.idle());

afterAll(() => Promise.all([pool.close(), rememberingPool.close()]));

generationProviderContract({ describe, it, afterEach }, "LocalProvider", async () => ({
  provider,
  searchable: true,
  order: (n, outcome) => ({
    taskId: taskId(n),
    request: aCreationRequest({ resolution: "1k", prompt: `a foggy ocean ${TRIGGERS[outcome]}` }),
  }),
  expire: (url) => rm(join(folder, "results", url.slice(url.lastIndexOf("/") + 1))),
  allEnded: async () => {
    await provider.idle();
    await clock.advance(1500);
  },
  close: async () => {},
}));

describe("LocalProvider", () => {
  const anOrder = (prompt: string | undefined, more: Readonly<Record<string, unknown>> = {}) => ({
    taskId: taskId(1),
    request: aCreationRequest({ resolution: "1k", prompt, ...more }),
  });

  /** Submits, waits for the painting and the delay, and polls. */
  const outcomeOf = async (order: ReturnType<typeof anOrder>) => {
    const id = (await provider.submit(order))._unsafeUnwrap();
    await provider.idle();
    await clock.advance(1500);
    return (await provider.poll(id))._unsafeUnwrap();
  };

  const urlOf = async (order: ReturnType<typeof anOrder>): Promise<string> => {
    const progress = await outcomeOf(order);
    if (progress.state !== "succeeded") throw new Error(`The generation is ${JSON.stringify(progress)}.`);
    return progress.temporaryUrl;
  };

  it.each([
    ["a panorama of this service, drawn with rules", "panoramas/", "algorithmicMedia", "algorithmicMedia"],
    ["a panorama made by a model", "panoramas/", "trainedAlgorithmicMedia", "compositeWithTrainedAlgorithmicMedia"],
    ["an upload with such a mark", "references/", "algorithmicMedia", "compositeWithTrainedAlgorithmicMedia"],
  ] as const)("says how its picture from %s was made", async (_, folder, mark, sourceType) => {
    const name = `${folder}${mark.padEnd(22, "0").slice(0, 22)}.jpg` as ObjectName; // a stored object never changes
    const picture = sharp({ create: { width: 64, height: 48, channels: 3, background: "#c03020" } });
    await storage.put(name, await picture.withXmp(sourceTypeXmp(mark)).jpeg().toBuffer(), "image/jpeg");
    const url = await urlOf(anOrder("a lake", { image_urls: [storage.urlOf(name)] }));
    const image = (await provider.download(url))._unsafeUnwrap();
    expect([image.sourceType, sourceTypeIn(image.bytes)]).toEqual([sourceType, sourceType]);
  });

  it("paints a JPEG of exactly the size", async () => {
    const url = await urlOf(anOrder("a foggy ocean", { resolution: "2k" }));
    const image = (await provider.download(url))._unsafeUnwrap();
    expect(image).toMatchObject({ thumbnail: "possible", sourceType: "algorithmicMedia" });
    expect(await sharp(image.bytes).metadata()).toMatchObject({ format: "jpeg", width: 2048, height: 1024 });
  });

  it("makes a picture of two colours for test:plain, without painting", async () => {
    const closed = new PaintPool(1);
    await closed.close();
    provider = aProvider(closed);
    const url = await urlOf(anOrder("a foggy ocean test:plain", { seed: 7 }));
    const { bytes } = (await provider.download(url))._unsafeUnwrap();
    const halves = await Promise.all(
      [0, 264].map(async (top) => {
        const half = sharp(bytes).extract({ left: 0, top, width: 1024, height: 248 });
        return (await sharp(await half.png().toBuffer()).stats()).channels.map(({ min, max }) => [min, max]);
      }),
    );
    const [sky, ground] = [
      [251, 233, 255],
      [178, 63, 0],
    ].map((colour) => colour.map((level) => [level, level]));
    expect(halves).toEqual([sky, ground]);
  });

  it("reports a generation as running until it is painted and the delay has passed", async () => {
    const id = (await provider.submit(anOrder("a foggy ocean")))._unsafeUnwrap();
    expect((await provider.poll(id))._unsafeUnwrap()).toEqual({ state: "running" });
    await provider.idle();
    await clock.advance(1499);
    expect((await provider.poll(id))._unsafeUnwrap()).toEqual({ state: "running" });
    await clock.advance(1);
    expect((await provider.poll(id))._unsafeUnwrap().state).toBe("succeeded");
  });

  it("ends a generation although the clock was set back", async () => {
    const id = (await provider.submit(anOrder("a foggy ocean")))._unsafeUnwrap();
    await provider.idle();
    clock.setBack(3_600_000);
    expect((await provider.poll(id))._unsafeUnwrap().state).toBe("succeeded");
  });

  it("returns an unguessable temporary URL and serves the image by its name", async () => {
    const url = await urlOf(anOrder("a foggy ocean"));
    expect(url).toMatch(/^https:\/\/p\.example\/generations\/[\w-]{22}\.jpg$/);
    const served = await provider.temporaryImage(url.slice(url.lastIndexOf("/") + 1));
    expect(served).toEqual((await provider.download(url))._unsafeUnwrap().bytes);
  });

  it.each(["../jobs/x.json", "nothing.jpg", "", "AAAAAAAAAAAAAAAAAAAAAA.jpg", "AAAAAAAAAAAAAAAAAAAAAA.jpg.failed"])(
    "finds no temporary image named %j",
    async (name) => {
      expect(await provider.temporaryImage(name)).toBeUndefined();
      const gone = await provider.download(`https://p.example/generations/${name}`);
      expect(gone._unsafeUnwrapErr().kind).toBe("result_gone");
    },
  );

  it("paints the same picture for the same prompt and seed, and another one for another seed", async () => {
    provider = aProvider(pool);
    const pictureOf = async (n: number, seed: number | undefined) => {
      const url = await urlOf({ ...anOrder("a foggy ocean", { seed }), taskId: taskId(n) });
      return Buffer.from((await provider.download(url))._unsafeUnwrap().bytes).toString("base64");
    };
    const [seven, again, eight, none] = [
      await pictureOf(1, 7),
      await pictureOf(2, 7),
      await pictureOf(3, 8),
      await pictureOf(4, undefined),
    ];
    expect(again === seven).toBe(true);
    expect(new Set([seven, eight, none]).size).toBe(3);
  });

  it("paints unfinished jobs of a previous process again", async () => {
    const previousPool = new PaintPool(1);
    const before = aProvider(previousPool);
    const id = (await before.submit(anOrder("a foggy ocean")))._unsafeUnwrap();
    await previousPool.close();
    await before.idle();
    expect(await readdir(join(folder, "results"))).toEqual([]);

    await clock.advance(1500);
    expect((await provider.poll(id))._unsafeUnwrap()).toEqual({ state: "running" });
    await provider.idle();
    expect((await provider.poll(id))._unsafeUnwrap().state).toBe("succeeded");
  });

  // One that is being painted: canceled-paintings.slow.test.ts.
  it("cancels a generation that waits for its delay, also twice, and leaves no file of it", async () => {
    const id = (await provider.submit(anOrder("a foggy ocean")))._unsafeUnwrap();
    await provider.idle();
    for (const _ of [1, 2]) expect(await provider.cancel(id)).toEqual(ok("canceled"));
    expect(await filesIn(folder)).toEqual([[], []]);
    const failed = { state: "failed", reason: "the generation does not exist" };
    expect(await provider.poll(id)).toEqual(ok(failed));
  });

  it("discard removes the job with its prompt and the result", async () => {
    const url = await urlOf(anOrder("a foggy ocean"));
    expect(await provider.discard(`local-${taskId(1)}`)).toEqual(ok(undefined));
    expect(await filesIn(folder)).toEqual([[], []]);
    expect(await provider.temporaryImage(url.split("/").at(-1) ?? "")).toBeUndefined();
  });

  it("removes jobs and results that are older than a day", async () => {
    const url = await urlOf(anOrder("a foggy ocean"));
    clock = new HandClock(new Date());
    provider = aProvider();
    await provider.clean();
    expect((await provider.download(url)).isOk()).toBe(true);

    const results = join(folder, "results");
    await writeFile(join(results, "left-behind.temporary"), "");
    const old = new Date(clock.now().getTime() - 25 * 60 * 60 * 1000);
    for (const part of ["jobs", "results"]) {
      for (const name of await readdir(join(folder, part))) await utimes(join(folder, part, name), old, old);
    }
    await provider.clean();
    expect((await provider.download(url))._unsafeUnwrapErr().kind).toBe("result_gone");
    expect((await provider.search(taskId(1)))._unsafeUnwrap()).toBeUndefined();
    expect(await readdir(results)).toEqual([]);
  });

  describe("a sandbox trigger in the prompt", () => {
    it.each(["test:reject", "a foggy ocean test:no-id", "TEST:REJECT please", "A foggy ocean (test:reject), please."])(
      "makes the creation refused: %j",
      async (prompt) => {
        expect((await provider.submit(anOrder(prompt)))._unsafeUnwrapErr().kind).toBe("refused");
        expect((await provider.search(taskId(1)))._unsafeUnwrap()).toBeUndefined();
      },
    );

    it.each([
      ["test:fail", undefined],
      ["test:content", "content_refused"],
      ["test:reference", "reference_unusable"],
      ["test:unreachable", "reference_unreachable"],
      ["test:timeout", "deadline_passed"],
      ["test:queue-timeout", "never_started"],
      ["test:unavailable", "provider_unavailable"],
    ])("%s makes the generation fail with the cause %s", async (trigger, cause) => {
      const failed = { state: "failed", reason: expect.stringMatching(/./), cause };
      expect(await outcomeOf(anOrder(`a foggy ocean ${trigger}`))).toEqual(failed);
    });

    it("test:slow makes the generation take a minute", async () => {
      expect((await outcomeOf(anOrder("a foggy ocean test:slow"))).state).toBe("running");
      await clock.advance(58_499);
      expect((await provider.poll(`local-${taskId(1)}`))._unsafeUnwrap().state).toBe("running");
      await clock.advance(1);
      expect((await provider.poll(`local-${taskId(1)}`))._unsafeUnwrap().state).toBe("succeeded");
    });

    it.each<[string, object, boolean]>([
      ["test:expired", { ends: "expired" }, false],
      ["test:storage-fail", { ends: "failed" }, true],
      ["test:no-thumb", { thumbnail: "unavailable" }, true],
    ])("%s makes a good image that must end as %j; served to others: %s", async (trigger, told, isServed) => {
      const url = await urlOf(anOrder(`a foggy ocean ${trigger}`));
      const image = (await provider.download(url))._unsafeUnwrap();
      expect(image).toMatchObject(told);
      expect((await sharp(image.bytes).metadata()).width).toBe(1024);
      expect((await provider.temporaryImage(url.slice(url.lastIndexOf("/") + 1))) !== undefined).toBe(isServed);
    });

    it("must be a whole word: test:failure and contest:fail have no effect", async () => {
      expect((await outcomeOf(anOrder("contest:fail test:failure"))).state).toBe("succeeded");
    });
  });

  describe("a reference image", () => {
    /** The URL of a second picture with these bytes. */
    const stored = (bytes: Uint8Array): Promise<string> => {
      storage.objects.clear();
      return hostedPicture(storage, bytes, 2);
    };
    const aSquare = () => plain({ widthPixels: 300, heightPixels: 300 }).png().toBuffer();

    it.each([
      [
        "is not on a public address",
        "reference_unreachable",
        "the host in its URL is unknown, or has no public address",
        async () => "https://127.0.0.1/a.png",
      ],
      [
        "is not in the storage",
        "reference_unreachable",
        "it is not stored here any more",
        async () => storage.urlOf(referenceImageName("c".repeat(22), "image/png")),
      ],
      [
        "is not an image",
        "reference_unusable",
        "it is an SVG picture, neither JPEG, PNG nor WebP",
        async () => stored(Buffer.from("<svg/>")),
      ],
      [
        "is cut off",
        "reference_unusable",
        "about 99 % of its rows are missing",
        async () => stored((await aSquare()).subarray(0, 100)),
      ],
    ])("that %s fails the generation as %s: %s", async (_, cause, imageProblem, imageUrl) => {
      const bad = await imageUrl();
      const imageUrls = [await hostedPicture(storage, await aSquare()), bad];
      expect(await outcomeOf(anOrder("a foggy ocean", { image_urls: imageUrls }))).toEqual({
        state: "failed",
        reason: expect.stringContaining("reference image"),
        cause,
        imageIndex: 1,
        imageProblem,
      });
    });

    it("that is a decompression bomb fails the generation without being decoded", async () => {
      const imageUrls = [await stored(bombPng({ widthPixels: 12_001, heightPixels: 10_000 }))];
      expect((await outcomeOf(anOrder("a foggy ocean", { image_urls: imageUrls }))).state).toBe("failed");
    });
  });

  it("writes no prompt into file names and leaves no temporary files", async () => {
    await outcomeOf(anOrder("a foggy ocean"));
    const [job] = await readdir(join(folder, "jobs"));
    expect(job).toBe(`${taskId(1)}.json`);
    expect(JSON.parse(await readFile(join(folder, "jobs", job!), "utf8"))).toMatchObject({ prompt: "a foggy ocean" });
    expect((await readdir(join(folder, "results"))).filter((name) => name.endsWith(".temporary"))).toEqual([]);
  });
});
