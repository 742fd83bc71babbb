import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { ok } from "neverthrow";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { aCreationRequest, noon, taskId } from "../../../adapters/contracts/support/builders.js";
import { errorReply } from "../../../adapters/http/replies/errors.js";
import { MemoryObjectStorage } from "../../../adapters/memory/memory-object-storage.js";
import { PaintPool } from "../../../adapters/provider/local/paint-pool.js";
import { correlationSeed } from "../../../adapters/provider/remote/dialect.js";
import type { RemoteProvider } from "../../../adapters/provider/remote/remote-provider.js";
import type { TaskId } from "../../../domain/ids.js";
import { referenceImageName } from "../../../domain/images/object-name.js";
import { type PixelSize, RESOLUTION_NAMES, RESOLUTIONS, type Resolution } from "../../../domain/images/resolution.js";
import { useCases } from "../../support/application.js";
import type { FakeProvider, UpstreamTask } from "../../support/fake-provider.js";
import { MODELS, type ModelUnderTest } from "../../support/models-under-test.js";
import { scratchFolder } from "../../support/scratch-folder.js";
import { plain } from "../../support/test-images.js";
import { anOwner, aWorld } from "../../support/world.js";
import { aLocalProvider } from "./local/local-setup.js";

/** With everything that a template could take for its own. */
const PROMPT = 'A lake, "at dusk" – €5 for {prompt}, {references} & $& 湖';
const SEED = 42;
const CREDITS = 100;

const PHOTOS = await Promise.all(
  ["#d01030", "#10d030", "#3010d0"].map(async (colour) => {
    const bytes = await plain({ widthPixels: 384, heightPixels: 256 }, colour).png().toBuffer();
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const name = referenceImageName(sha256.slice(0, 22), "image/png");
    return { bytes, name, rgb: [...Buffer.from(colour.slice(1), "hex")], sha256 };
  }),
);
const URLS = PHOTOS.map(({ name }) => new MemoryObjectStorage().urlOf(name));
/** Where the photos lie across a panorama, by their number. */
const DIRECTIONS: readonly (readonly number[])[] = [[], [1 / 2], [1 / 2, 0], [1 / 2, 5 / 6, 1 / 6]];
const COLOUR_DISTANCE_MAX = 40;

/** Prompt alone, then one to three reference images without and with it. */
const ALL_KINDS = [
  { images: 0, prompt: PROMPT },
  ...[1, 2, 3].flatMap((images) => [
    { images, prompt: undefined },
    { images, prompt: PROMPT },
  ]),
];
/** A large picture costs seconds, and no rule is about its size and a missing prompt: these, with prompt only. */
const kindsFor = (resolution: Resolution) =>
  resolution === "1k" ? ALL_KINDS : ALL_KINDS.filter(({ images, prompt }) => prompt !== undefined && images !== 2);

type Row = {
  readonly name: string;
  readonly fromText: boolean;
  /** The numbers of reference images that are kept. */
  readonly images: ReadonlySet<number>;
  /** What is known of the picture's size before it is made. */
  readonly sizes: Readonly<Record<Resolution, string>>;
  readonly seed: string;
  readonly lost: string;
};
const rows = new Map<string, Row>();

describe.each(MODELS)("$name", (model) => {
  it("receives every field of a request, or refuses the request without a charge", async () => {
    const { provider, fake, world, create, close } = await set(model);
    try {
      fake.plan = "run";
      const row = {
        name: model.name,
        fromText: false,
        images: new Set<number>(),
        sizes: new Map<Resolution, string>(),
      };
      const seeds = new Set<string>();
      let latest: TaskId | undefined;
      for (const resolution of RESOLUTION_NAMES) {
        for (const { images, prompt } of kindsFor(resolution)) {
          const wanted = aCreationRequest({ prompt, image_urls: URLS.slice(0, images), resolution, seed: SEED });
          const owner = await anOwner(world, CREDITS);
          const before = fake.server.requests.length;
          const created = await create(owner, wanted);
          if (created.isErr()) {
            const reply = errorReply(created.error);
            const { error } = JSON.parse(String(reply.body));
            expect([reply.status, error.code, error.param]).toEqual([400, "invalid_request", "image_urls"]);
            expect(provider.checkRequest(wanted).isErr()).toBe(true);
            expect(await world.ledger.balance(owner)).toBe(CREDITS);
            expect(await world.tasks.list(owner, 10, undefined)).toEqual([]);
            expect(fake.server.requests.length).toBe(before);
            continue;
          }
          expect(provider.checkRequest(wanted).isOk()).toBe(true);
          const task = fake.tasks.at(-1) as UpstreamTask;
          const received = await Promise.all(fake.referencesOf(task).map((picture) => photosIn(picture, images)));
          expect(received.flat()).toEqual([1, 2, 3].slice(0, images));
          if (prompt !== undefined) expect(fake.promptOf(task)).toContain(prompt);
          latest = created.value.task.id;
          seeds.add(seedIn(task, latest));
          row.sizes.set(resolution, (model.said ?? ((one) => sizeText(askedOf(fake, one))))(task));
          if (images === 0) row.fromText = true;
          else row.images.add(images);
        }
      }
      expect(seeds.size).toBe(1);
      rows.set(model.name, {
        ...row,
        sizes: Object.fromEntries(row.sizes) as Row["sizes"],
        seed: [...seeds].join(),
        lost: await searched(provider, fake, latest as TaskId),
      });
    } finally {
      await close();
    }
  });
});

it("`local` paints every request in the exact size, with all reference images in it", async () => {
  const [storage, pool] = [new MemoryObjectStorage(), new PaintPool(2)];
  await storePhotos(storage);
  const provider = aLocalProvider({ folder: await scratchFolder(), pool, storage });
  try {
    // 2k: local/local-provider.slow.test.ts, 4k: test/bootstrap/service.slow.test.ts
    for (const images of [0, 1, 2, 3]) {
      const request = aCreationRequest({
        prompt: "a foggy ocean",
        image_urls: URLS.slice(0, images),
        resolution: "1k",
      });
      const id = (await provider.submit({ taskId: taskId(images), request }))._unsafeUnwrap();
      await provider.idle();
      const progress = (await provider.poll(id))._unsafeUnwrap();
      if (progress.state !== "succeeded") throw new Error(`The generation is ${JSON.stringify(progress)}.`);
      const { bytes } = (await provider.download(progress.temporaryUrl))._unsafeUnwrap();
      expect(await sizeOf(bytes)).toEqual(RESOLUTIONS["1k"]);
      expect(await photosOn(Buffer.from(bytes), images)).toEqual([1, 2, 3].slice(0, images));
      expect((await provider.search(taskId(images)))._unsafeUnwrap()).toBe(id);
    }
  } finally {
    await pool.close();
  }
  const sizes = RESOLUTION_NAMES.map((resolution) => [resolution, sizeText(RESOLUTIONS[resolution])]);
  rows.set("`local`", {
    name: "`local`",
    fromText: true,
    images: new Set([1, 2, 3]),
    sizes: Object.fromEntries(sizes) as Row["sizes"],
    seed: "used",
    lost: "by our id",
  });
});

it("PROVIDERS.md has the measured table (after a change: vitest run THIS_FILE --update)", async () => {
  expect([...rows.keys()]).toEqual([...MODELS.map(({ name }) => name), "`local`"]);
  const document = await readFile("PROVIDERS.md", "utf8");
  const parts = /^(.*<!-- what every model keeps, written by a test -->\n).*(<!-- end -->\n.*)$/s.exec(document);
  if (parts === null) throw new Error("PROVIDERS.md does not have the two marks of the table.");
  const [, before, after] = parts;
  const head = ["model", "text alone", "reference images", ...RESOLUTION_NAMES, "`seed`", "a lost submission is found"];
  const table = [head, head.map(() => "---"), ...[...rows.values()].map(cellsOf)];
  const lines = table.map((cells) =>
    `| ${cells.join(" | ")} |`.replaceAll("| ---", "|---").replaceAll("--- |", "---|"),
  );
  await expect([before, ...lines.map((line) => `${line}\n`), after].join("")).toMatchFileSnapshot(
    "../../../PROVIDERS.md",
  );
});

const cellsOf = ({ name, fromText, images, sizes, seed, lost }: Row): readonly string[] => {
  const counts = [...(fromText ? [0] : []), ...images];
  const [fewest, most] = [Math.min(...counts), Math.max(...counts)];
  const text = fewest === most ? (most === 0 ? "none" : `${most}`) : `${fewest} to ${most}`;
  return [name, fromText ? "yes" : "no", text, ...RESOLUTION_NAMES.map((one) => sizes[one]), seed, lost];
};

/** The application with one model. */
const set = async (model: ModelUnderTest) => {
  const world = aWorld();
  const { clock, storage } = world;
  // All requests are started at once. A large canvas takes seconds on a busy machine.
  const limits = { concurrencyMax: 1_000, submitTimeoutMilliseconds: 120_000 };
  const remote = await model.start({ clock, storage, ...limits });
  expect((await remote.provider.check()).isOk()).toBe(true);
  await storePhotos(storage);
  const recorded = PHOTOS.map(({ name }) => ({ content: name, countedBytes: 1, name }));
  const uploader = await anOwner(world, CREDITS);
  (await world.references.add(uploader, recorded, clock.now(), () => ok(undefined)))._unsafeUnwrap();
  return { ...remote, world, create: useCases({ ...world, provider: remote.provider }).createPanorama };
};

const storePhotos = async (storage: MemoryObjectStorage): Promise<void> => {
  for (const { name, bytes } of PHOTOS) await storage.put(name, bytes, "image/png");
};

/** The numbers of the photos that a reference image is or shows; `given`: how many photos the request has. */
const photosIn = async (reference: unknown, given: number): Promise<number[]> => {
  const whole = PHOTOS.findIndex(
    ({ bytes, sha256 }) =>
      reference === `data:image/png;base64,${bytes.toString("base64")}` ||
      // An uploaded file has the hash of its bytes in its name.
      JSON.stringify(reference).includes(sha256),
  );
  if (whole >= 0) return [whole + 1];
  return photosOn(Buffer.from(String(reference).replace(/^data:image\/[a-z]+;base64,/, ""), "base64"), given);
};

/** The numbers of the photos that a panorama shows where they belong. */
const photosOn = async (panorama: Buffer, given: number): Promise<number[]> => {
  const { widthPixels, heightPixels } = await sizeOf(panorama);
  const horizon = { left: 0, top: heightPixels / 2, width: widthPixels, height: 1 };
  const row = await sharp(panorama).extract(horizon).removeAlpha().raw().toBuffer();
  return (DIRECTIONS[given] ?? []).flatMap((across, index) => {
    const at = Math.floor(across * widthPixels) * 3;
    const differences = PHOTOS[index]?.rgb.map((value, channel) => Math.abs(value - (row[at + channel] ?? 0))) ?? [];
    return Math.max(...differences) <= COLOUR_DISTANCE_MAX ? [index + 1] : [];
  });
};

const sizeOf = async (bytes: Uint8Array): Promise<PixelSize> => {
  const { width, height } = await sharp(bytes).metadata();
  return { widthPixels: width, heightPixels: height };
};

const askedOf = (fake: FakeProvider, task: UpstreamTask): PixelSize => {
  const asked = fake.sizeOf(task);
  if (asked === undefined) throw new Error("The model is asked for no size; say in MODELS which one it gives.");
  return { widthPixels: asked.width, heightPixels: asked.height };
};

const sizeText = ({ widthPixels, heightPixels }: PixelSize): string => `${widthPixels} × ${heightPixels}`;

/** What the task was started with, wherever its seed stands. */
const seedIn = ({ input }: UpstreamTask, id: TaskId): string => {
  const seeds: unknown[] = [];
  JSON.stringify(input, (key, value: unknown) => {
    if (key === "seed") seeds.push(value);
    return value;
  });
  if (seeds.length === 0) return "no";
  if (seeds.every((seed) => seed === SEED)) return "used";
  expect(seeds).toEqual([correlationSeed(id)]);
  return "our mark";
};

/** Whether the latest task of a fake whose tasks all run is found, now or after it has ended. */
const searched = async (provider: RemoteProvider, fake: FakeProvider, id: TaskId): Promise<string> => {
  const task = fake.tasks.at(-1) as UpstreamTask;
  const isFound = async () =>
    (await provider.search(id, noon)).map((found) => found?.includes(task.id)).unwrapOr(false);

  const how = seedIn(task, id) === "our mark" ? "by seed" : "by our id";
  if (await isFound()) return how;
  fake.plan = "succeed";
  return (await isFound()) ? `${how}, after the generation has ended` : "no";
};
