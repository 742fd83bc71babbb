import { afterEach, beforeEach, expect, it } from "vitest";
import type { RetryTimes } from "../../../adapters/storage/retry-times.js";
import type { ObjectStorage } from "../../../application/ports/object-storage.js";
import { referenceImageName } from "../../../domain/images/object-name.js";
import type { BucketFault } from "../bucket-faults.js";
import type { FakeBucket } from "../fake-bucket.js";
import { freePort } from "../free-port.js";

export const PUBLIC_URL = "https://cdn.example/bucket";
export const NAME = referenceImageName("ab".repeat(11), "image/png");
export const bytesOf = (length: number) => Buffer.from(new Uint8Array(length).map((_, index) => (index * index) % 251));
export const BYTES = bytesOf(300_000);

export const expectAll = (bytes: Uint8Array | undefined, expected = BYTES) =>
  expect(expected.equals(bytes ?? Buffer.alloc(0))).toBe(true);

/** Long enough for several attempts. */
export const RETRY_TIMES: RetryTimes = {
  attemptMilliseconds: 800,
  totalMilliseconds: 5_000,
  firstPauseMilliseconds: 10,
};
/** Long enough for two attempts that time out. */
export const SHORT_RETRY_TIMES: RetryTimes = {
  attemptMilliseconds: 200,
  totalMilliseconds: 1_000,
  firstPauseMilliseconds: 10,
};

/** `Extra`: faults that only this service has. */
type Bucket<Extra extends object> = FakeBucket<BucketFault | Extra> & {
  readonly objects: ReadonlyMap<string, { readonly bytes: Buffer }>;
};

type Given<Extra extends object> = {
  /** As the reasons of failures name it. */
  readonly service: string;
  readonly start: () => Promise<Bucket<Extra>>;
  readonly open: (endpoint: string, retryTimes: RetryTimes) => Checked;
};
type Checked = ObjectStorage & { readonly check: () => ReturnType<ObjectStorage["delete"]> };

/** The storage after its first use, none of whose requests is counted. */
export const firstUsed = async <Storage extends Checked>(
  storage: Storage,
  bucket: { readonly requests: string[]; writes: number },
): Promise<Storage> => {
  // On a busy machine a check can take longer than one attempt may.
  await expect.poll(async () => (await storage.check()).isOk()).toBe(true);
  bucket.requests.length = 0;
  bucket.writes = 0;
  return storage;
};

/** What a storage in a bucket does if the bucket's service fails. */
export const faultyBucketContract = <Extra extends object = never>({ service, start, open }: Given<Extra>): void => {
  let bucket: Bucket<Extra>;
  let storage: Checked;
  beforeEach(async () => {
    bucket = await start();
    storage = await used(RETRY_TIMES);
  });
  afterEach(() => bucket.close());

  /** A storage that has had its first use. */
  const used = (retryTimes: RetryTimes) => firstUsed(open(bucket.url, retryTimes), bucket);
  const put = (into: ObjectStorage = storage) => into.put(NAME, BYTES, "image/png");
  /** A storage that has the object, and gives up soon. */
  const withObject = async (retryTimes = SHORT_RETRY_TIMES) => {
    const opened = await used(retryTimes);
    await put();
    bucket.requests.length = 0;
    return opened;
  };

  it.each<BucketFault>([408, 429, 500, 503, "cut-before", "cut-after", "silence", "html"])(
    "put retries after fault %j and stores the object once",
    async (fault) => {
      bucket.faults = [fault];
      expect((await put()).isOk()).toBe(true);
      expect([bucket.requests.length, bucket.writes]).toEqual([2, 1]);
      expectAll(bucket.objects.get(NAME)?.bytes);
      expect((await put()).isOk()).toBe(true);
      expect(bucket.writes).toBe(1);
    },
  );

  it.each<BucketFault>([
    ...([429, 503, "cut-before", "cut-after", "cut-within"] as const),
    ...(["silence", "stall", "html", "damage", "wrong-checksum"] as const),
  ])("read retries after fault %j", async (fault) => {
    const full = await withObject(RETRY_TIMES);
    bucket.faults = [fault];
    expectAll((await full.read(NAME))._unsafeUnwrap());
    expect(bucket.requests).toHaveLength(2);
  });

  it("read returns an empty object, and not_found for a missing one without a retry", async () => {
    await storage.put(NAME, new Uint8Array(), "image/png");
    expect((await storage.read(NAME))._unsafeUnwrap()).toHaveLength(0);
    await storage.delete(NAME);
    bucket.requests.length = 0;
    expect((await storage.read(NAME))._unsafeUnwrapErr().kind).toBe("not_found");
    expect(bucket.requests).toHaveLength(1);
  });

  it.each([
    ["damage", /^an object was damaged in transit$/],
    ["html", new RegExp(`^the answer (to a download )?is not from ${service}$`)],
  ] as const)("read fails if every answer has fault %s", async (fault, reason) => {
    const full = await withObject();
    bucket.faultAfterwards = fault;
    const failed = { kind: "storage_unavailable", reason: expect.stringMatching(reason) };
    expect((await full.read(NAME))._unsafeUnwrapErr()).toEqual(failed);
  });

  it.each(["put", "read", "delete"] as const)("%s gives up when every request fails", async (call) => {
    for (const fault of [503, "silence", "cut-before", "html"] as const) {
      bucket.faultAfterwards = undefined;
      const full = await withObject();
      bucket.faultAfterwards = fault;
      const start = performance.now();
      const result = await (call === "put" ? put(full) : full[call](NAME));
      expect([fault, result._unsafeUnwrapErr().kind]).toEqual([fault, "storage_unavailable"]);
      expect(bucket.requests.length).toBeGreaterThan(1);
      // Without a total timeout, it never gives up. A busy machine needs more than the timeout.
      expect(performance.now() - start).toBeLessThan(20 * SHORT_RETRY_TIMES.totalMilliseconds);
    }
  });

  it.each<BucketFault>([503, "silence", "cut-before", "cut-after", "html"])(
    "delete succeeds although one request gets fault %j",
    async (fault) => {
      const full = await withObject(RETRY_TIMES);
      bucket.faults = [fault];
      expect((await full.delete(NAME)).isOk()).toBe(true);
      expect(bucket.objects.has(NAME)).toBe(false);
    },
  );

  it("names the system's error, and neither URL nor password of the endpoint", async () => {
    const unreachable = open(`http://user:pa55word@127.0.0.1:${await freePort()}`, SHORT_RETRY_TIMES);
    for (const result of [await put(unreachable), await unreachable.read(NAME), await unreachable.check()]) {
      // On a busy machine the time may end before the connection is refused.
      const reason = /(cannot be used \(ECONNREFUSED\)|did not send a complete answer within 200 ms)$/;
      expect(result._unsafeUnwrapErr()).toEqual({
        kind: "storage_unavailable",
        reason: expect.stringMatching(new RegExp(`^${service} ${reason.source}`)),
      });
    }
  });

  it.each<BucketFault>([403, "html", "silence", "cut-before"])(
    "check fails on fault %j, without a retry",
    async (fault) => {
      bucket.requests.length = 0;
      bucket.faults = [fault];
      expect((await storage.check())._unsafeUnwrapErr().kind).toBe("storage_unavailable");
      expect(bucket.requests).toHaveLength(1);
    },
  );

  it("urlOf starts with the public URL if one is configured", () => {
    expect(storage.urlOf(NAME)).toBe(`${PUBLIC_URL}/${NAME}`);
  });
};
