import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/support/builders.js";
import { readable } from "../../../adapters/memory/memory-imaging.js";
import { gcsObjectStorage } from "../../../adapters/storage/gcs-object-storage.js";
import type { RetryTimes } from "../../../adapters/storage/retry-times.js";
import { s3ObjectStorage } from "../../../adapters/storage/s3-object-storage.js";
import type { ObjectStorage } from "../../../application/ports/object-storage.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { SucceededTask } from "../../../domain/tasks/task.js";
import { type UseCases, useCases } from "../../support/application.js";
import type { BucketFault } from "../../support/bucket-faults.js";
import { FakeGcs } from "../../support/fake-gcs.js";
import { FakeS3 } from "../../support/fake-s3.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

const PUBLIC_URL = "https://cdn.example/bucket";
/** Long enough for two attempts that time out. */
const retryTimes: RetryTimes = { attemptMilliseconds: 300, totalMilliseconds: 900, firstPauseMilliseconds: 10 };
/** With all its requests and repetitions, an image and its thumbnail; a busy machine is slower. */
const SAVING_MILLISECONDS_MAX = 20_000;
const TEN_MINUTES = 600_000;
const PRICE = 6;

type Bucket = {
  readonly objects: ReadonlyMap<string, { readonly bytes: Uint8Array }>;
  readonly requests: string[];
  faults: (BucketFault | undefined)[];
  faultAfterwards: BucketFault | undefined;
  close(): Promise<void>;
};

const startS3 = async () => {
  const s3 = await FakeS3.start();
  const { bucket, region, url: endpoint, credentials } = s3;
  const storage = s3ObjectStorage({ bucket, region, endpoint, credentials, publicUrl: PUBLIC_URL, retryTimes });
  return { bucket: s3 as Bucket, storage, check: () => storage.check() };
};
const startGcs = async () => {
  const gcs = await FakeGcs.start();
  const storage = gcsObjectStorage({ bucket: gcs.bucket, publicUrl: PUBLIC_URL, apiEndpoint: gcs.url, retryTimes });
  return { bucket: gcs as Bucket, storage, check: () => storage.check() };
};

const FAULTS: readonly BucketFault[] = [
  ...([500, 503, 403, "silence", "stall", "cut-before", "cut-after", "cut-within"] as const),
  ...(["damage", "wrong-checksum", "html"] as const),
];
/** What does not pass in one call, so that the application repeats the call. */
const LASTING_FAULTS: readonly BucketFault[] = [500, 403, "silence", "cut-before", "html"];

// On a machine with a proxy, the clients must not use it to reach the fakes.
beforeAll(() => vi.stubEnv("NO_PROXY", "127.0.0.1"));
afterAll(() => vi.unstubAllEnvs());

describe.concurrent.each([
  ["S3", startS3],
  ["Cloud Storage", startGcs],
])("a finished panorama with a faulty bucket of %s", (_, start) => {
  let bucket: Bucket;
  let storage: ObjectStorage;
  let world: World;
  let service: UseCases;
  let owner: AccountId;
  let id: TaskId;

  beforeEach(async () => {
    const started = await start();
    ({ bucket, storage } = started);
    await expect.poll(async () => (await started.check()).isOk()).toBe(true);
    await anotherTask();
  });
  afterEach(async () => {
    await bucket.close();
  });

  /** A generation that the provider has finished, of an account with 100 credits. */
  const anotherTask = async () => {
    world = aWorld();
    service = useCases({ ...world, storage });
    owner = await anOwner(world, 100);
    id = (await service.createPanorama(owner, aCreationRequest({ resolution: "2k" })))._unsafeUnwrap().task.id;
    await world.clock.advance(world.provider.nextPollMilliseconds());
    await service.poll();
    bucket.requests.length = 0;
  };
  const task = async () => (await service.readTask(id, owner))._unsafeUnwrap() as SucceededTask;
  const status = async () => (await task()).image.status;
  const storedTexts = () =>
    [...bucket.objects].filter(([name]) => name.startsWith("panoramas/")).map(([, { bytes }]) => readable(bytes));

  /** The work that stores; it must end in time. */
  const within = async (work: Promise<unknown>): Promise<void> => {
    const from = performance.now();
    await work;
    expect(performance.now() - from).toBeLessThan(SAVING_MILLISECONDS_MAX);
  };
  const expectPaidOnce = async () => {
    expect(await task()).toMatchObject({ state: "succeeded", reservation: { state: "captured", credits: PRICE } });
    expect(await world.ledger.balance(owner)).toBe(100 - PRICE);
    expect(world.reporter.of("task_succeeded")).toHaveLength(1);
    expect(world.reporter.of("work_failed")).toEqual([]);
  };
  const expectSaved = async () => {
    expect(await status()).toBe("saved");
    const { imageName, temporaryUrl } = (await task()).image;
    const text = `2048×1024 of ${temporaryUrl}`;
    const own = [...bucket.objects].filter(([name]) => name.startsWith(imageName.replace(/\.\w+$/, "")));
    expect(own).toHaveLength(2);
    expect(own.map(([, { bytes }]) => readable(bytes)).sort()).toEqual(
      [expect.stringContaining(text), expect.stringContaining(`thumbnail of ${text}`)].sort(),
    );
  };

  it.sequential.each(FAULTS)("is saved and paid once if any single request has the fault %j", async (fault) => {
    await service.check();
    const requests = bucket.requests.length;
    expect(requests).toBeGreaterThanOrEqual(2);
    for (let request = 0; request < requests; request += 1) {
      await anotherTask();
      bucket.faults = [...Array.from({ length: request }, () => undefined), fault];
      await within(service.check());
      await expectPaidOnce();
      bucket.faults = [];
      // At once, after a second, or after ten minutes for a thumbnail alone.
      for (const milliseconds of [1_000, TEN_MINUTES]) {
        expect(["saved", "saved-no-thumb", "uploading"]).toContain(await status());
        await world.clock.advance(milliseconds);
        await within(service.keep());
      }
      await expectPaidOnce();
      await expectSaved();
    }
  });

  it.sequential.each(LASTING_FAULTS)(
    "waits with storage_status uploading while every request has the fault %j",
    async (fault) => {
      bucket.faultAfterwards = fault;
      await within(service.check());
      for (let attempts = 0; attempts < 3; attempts += 1) {
        expect(await status()).toBe("uploading");
        await world.clock.advance(TEN_MINUTES);
        await within(service.keep());
      }
      await expectPaidOnce();
      expect(storedTexts()).toEqual([]);
      bucket.faultAfterwards = undefined;
      await world.clock.advance(TEN_MINUTES);
      await within(service.keep());
      await expectSaved();
      await expectPaidOnce();
    },
  );

  it.sequential("has the storage status expired if its temporary URL ends before the bucket answers, and stays paid", async () => {
    bucket.faultAfterwards = 500;
    await within(service.check());
    world.provider.play({ download: "gone" });
    await world.clock.advance(TEN_MINUTES);
    await within(service.keep());
    expect(await status()).toBe("expired");
    await expectPaidOnce();
  });

  it.sequential.each(FAULTS)(
    "gets its missing thumbnail although reading the image has the fault %j",
    async (fault) => {
      world.imaging.thumbnails = false;
      await service.check();
      expect(await status()).toBe("saved-no-thumb");
      world.imaging.thumbnails = true;
      bucket.faults = [fault];
      await world.clock.advance(TEN_MINUTES);
      await within(service.keep());
      bucket.faults = [];
      await world.clock.advance(TEN_MINUTES);
      await within(service.keep());
      await expectSaved();
      await expectPaidOnce();
    },
  );

  it.sequential.each(LASTING_FAULTS)(
    "can be deleted after a deletion in which every request had the fault %j",
    async (fault) => {
      await service.check();
      bucket.faultAfterwards = fault;
      const deleting = service.deletePanorama(id, owner);
      await within(deleting);
      expect((await deleting)._unsafeUnwrapErr().kind).toBe("storage_unavailable");
      expect(await status()).toBe("saved");
      bucket.faultAfterwards = undefined;
      expect((await service.deletePanorama(id, owner)).isOk()).toBe(true);
      expect(storedTexts()).toEqual([]);
      expect((await service.readTask(id, owner)).isErr()).toBe(true);
      expect(await world.ledger.balance(owner)).toBe(100 - PRICE);
    },
  );
});
