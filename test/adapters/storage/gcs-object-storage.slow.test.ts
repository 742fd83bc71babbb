import { Storage } from "@google-cloud/storage";
import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { objectStorageContract } from "../../../adapters/contracts/object-storage-contract.js";
import { type GcsObjectStorage, gcsObjectStorage } from "../../../adapters/storage/gcs-object-storage.js";
import type { RetryTimes } from "../../../adapters/storage/retry-times.js";
import { type ObjectName, panoramaName, referenceImageName } from "../../../domain/images/object-name.js";
import type { BucketFault } from "../../support/bucket-faults.js";
import { FakeGcs } from "../../support/fake-gcs.js";
import { freePort } from "../../support/free-port.js";
import { startLocalServer } from "../../support/local-server.js";

const PUBLIC_URL = "https://cdn.example/bucket";
/** Long enough for several attempts. */
const RETRY_TIMES: RetryTimes = { attemptMilliseconds: 800, totalMilliseconds: 5_000, firstPauseMilliseconds: 10 };
/** Long enough for two attempts that time out. */
const SHORT_RETRY_TIMES: RetryTimes = {
  attemptMilliseconds: 200,
  totalMilliseconds: 1_000,
  firstPauseMilliseconds: 10,
};

const NAME = referenceImageName("ab".repeat(11), "image/png");
const BYTES = Buffer.from(new Uint8Array(300_000).map((_, index) => (index * index) % 251));

let gcs: FakeGcs;
let storage: GcsObjectStorage;

beforeEach(async () => {
  vi.stubEnv("NO_PROXY", "127.0.0.1"); // on a machine with a proxy, the client must not use it to reach the fake
  gcs = await FakeGcs.start();
  storage = storageWith(RETRY_TIMES);
});
afterEach(() => gcs.close());

const storageWith = (retryTimes?: RetryTimes) =>
  gcsObjectStorage({ bucket: gcs.bucket, publicUrl: PUBLIC_URL, apiEndpoint: gcs.url, retryTimes });

/** Stores an object without a request. */
const given = (name: ObjectName, bytes: Uint8Array = BYTES) =>
  gcs.objects.set(name, { bytes: Buffer.from(bytes), contentType: "image/png", cacheControl: undefined });

const expectAll = (bytes: Uint8Array | undefined) => expect(BYTES.equals(bytes ?? Buffer.alloc(0))).toBe(true);

describe("GcsObjectStorage", () => {
  // With the adapter's own times: twenty writers on a busy machine need seconds.
  objectStorageContract({ describe, it }, async () => storageWith());
});

describe("GcsObjectStorage.put", () => {
  it("stores the bytes and the content type, and lets caches keep the object forever", async () => {
    expect((await storage.put(NAME, BYTES, "image/png")).isOk()).toBe(true);

    expectAll(gcs.objects.get(NAME)?.bytes);
    const file = new Storage({ apiEndpoint: gcs.url }).bucket(gcs.bucket).file(NAME);
    const [metadata] = await file.getMetadata();
    expect(metadata).toMatchObject({
      contentType: "image/png",
      cacheControl: "public, max-age=31536000, immutable",
      size: "300000",
    });
  });

  it("writes an object once when it is put twice", async () => {
    await storage.put(NAME, BYTES, "image/png");

    expect((await storage.put(NAME, BYTES, "image/png")).isOk()).toBe(true);

    expect(gcs.writes).toBe(1);
  });
});

describe("GcsObjectStorage.put with a faulty bucket", () => {
  it.each<BucketFault>([408, 429, 500, 503, "cut-before", "cut-after", "cut-within", "silence", "stall", "html"])(
    "retries after fault %s and stores the object once",
    async (fault) => {
      gcs.faults = [fault];

      expect((await storage.put(NAME, BYTES, "image/png")).isOk()).toBe(true);

      expect(gcs.requests).toHaveLength(2);
      expect(gcs.writes).toBe(1);
      expectAll(gcs.objects.get(NAME)?.bytes);
    },
  );

  it("waits for a slow answer without a retry", async () => {
    gcs.faults = ["slow"];

    expect((await storage.put(NAME, BYTES, "image/png")).isOk()).toBe(true);

    expect(gcs.requests).toHaveLength(1);
  });

  it("succeeds on status 412, which means that the object exists", async () => {
    gcs.faults = [412];

    expect((await storage.put(NAME, BYTES, "image/png")).isOk()).toBe(true);

    expect(gcs.requests).toHaveLength(1);
  });

  it.each([400, 401, 403, 404])("does not retry after status %i, which a retry would get too", async (status) => {
    gcs.faults = [status];

    const result = await storage.put(NAME, BYTES, "image/png");

    expect(result._unsafeUnwrapErr()).toEqual({
      kind: "storage_unavailable",
      reason: `Cloud Storage answered ${status}`,
    });
    expect(gcs.requests).toHaveLength(1);
  });

  it("creates no object from bytes that were damaged in transit", async () => {
    gcs.faults = ["damage"];

    const result = await storage.put(NAME, BYTES, "image/png");

    expect(result._unsafeUnwrapErr().kind).toBe("storage_unavailable");
    expect(gcs.objects.size).toBe(0);
  });

  it("fails if the stored object has the checksum of other bytes", async () => {
    gcs.faults = ["wrong-checksum"];

    const result = await storage.put(NAME, BYTES, "image/png");

    expect(result._unsafeUnwrapErr().reason).toBe("Cloud Storage has stored other bytes than it was sent");
  });
});

describe("GcsObjectStorage.read", () => {
  it("returns an empty object", async () => {
    given(NAME, new Uint8Array());

    expect((await storage.read(NAME))._unsafeUnwrap()).toHaveLength(0);
  });

  it("returns not_found for a missing object without a retry", async () => {
    expect((await storage.read(NAME))._unsafeUnwrapErr().kind).toBe("not_found");
    expect(gcs.requests).toHaveLength(1);
  });

  it.each<BucketFault>([
    429,
    503,
    "cut-before",
    "cut-after",
    "cut-within",
    "silence",
    "stall",
    "html",
    "damage",
    "wrong-checksum",
  ])("retries after fault %s", async (fault) => {
    given(NAME);
    gcs.faults = [fault];

    expectAll((await storage.read(NAME))._unsafeUnwrap());

    expect(gcs.requests).toHaveLength(2);
  });

  it("fails if the bytes never match their checksum", async () => {
    given(NAME);
    gcs.faultAfterwards = "damage";

    expect((await storageWith(SHORT_RETRY_TIMES).read(NAME))._unsafeUnwrapErr()).toEqual({
      kind: "storage_unavailable",
      reason: "an object was damaged in transit",
    });
  });

  it("fails if every answer is a proxy's HTML page", async () => {
    given(NAME);
    gcs.faultAfterwards = "html";

    expect((await storageWith(SHORT_RETRY_TIMES).read(NAME))._unsafeUnwrapErr()).toEqual({
      kind: "storage_unavailable",
      reason: "the answer to a download is not from Cloud Storage",
    });
  });

  it("returns complete objects when concurrent downloads are truncated", async () => {
    const names = [..."abcdefgh"].map((letter) => panoramaName(letter.repeat(22)));
    for (const name of names) given(name);
    gcs.faults = ["stall", "cut-within", "stall", "cut-within"];

    const results = await Promise.all(names.map((name) => storage.read(name)));

    for (const result of results) expectAll(result._unsafeUnwrap());
  });
});

describe("GcsObjectStorage while Cloud Storage is unavailable", () => {
  const calls = {
    put: () => storageWith(SHORT_RETRY_TIMES).put(NAME, BYTES, "image/png"),
    read: () => storageWith(SHORT_RETRY_TIMES).read(NAME),
    delete: () => storageWith(SHORT_RETRY_TIMES).delete(NAME),
  };

  describe.each(["put", "read", "delete"] as const)("%s", (call) => {
    // The answer to a deletion has no body in which it could stall.
    it.each<BucketFault>([503, "silence", call === "delete" ? "html" : "stall", "cut-before"])(
      "gives up at the total timeout when every request gets fault %s",
      async (fault) => {
        given(NAME);
        gcs.faultAfterwards = fault;
        const start = performance.now();

        const result = await calls[call]();

        expect(result._unsafeUnwrapErr().kind).toBe("storage_unavailable");
        expect(gcs.requests.length).toBeGreaterThan(1);
        // Without a total timeout, it never gives up. A busy machine needs more than the timeout.
        expect(performance.now() - start).toBeLessThan(20 * SHORT_RETRY_TIMES.totalMilliseconds);
      },
    );
  });

  it.each<BucketFault>([503, "silence", "cut-before", "cut-after", "html"])(
    "deletes an object although one request gets fault %s",
    async (fault) => {
      given(NAME);
      gcs.faults = [fault];
      expect((await storage.delete(NAME)).isOk()).toBe(true);
      expect(gcs.objects.size).toBe(0);
    },
  );

  it("retries with exponential back-off", async () => {
    gcs.faultAfterwards = 503;

    await storageWith({ attemptMilliseconds: 200, totalMilliseconds: 600, firstPauseMilliseconds: 40 }).read(NAME);

    expect(gcs.requests.length).toBeGreaterThan(1);
    // The shortest pauses are 20, 40, 80 and 160 ms. Without exponential growth there would be a dozen requests.
    expect(gcs.requests.length).toBeLessThanOrEqual(5);
  });

  it("does not show the password of the endpoint URL in the reason", async () => {
    const apiEndpoint = `http://user:pa55word@127.0.0.1:${await freePort()}`;
    const unreachable = gcsObjectStorage({ bucket: gcs.bucket, apiEndpoint, retryTimes: SHORT_RETRY_TIMES });

    const results = [
      await unreachable.put(NAME, BYTES, "image/png"),
      await unreachable.read(NAME),
      await unreachable.check(),
    ];

    for (const result of results) {
      // On a busy machine the time may end before the connection is refused.
      expect(result._unsafeUnwrapErr()).toEqual({
        kind: "storage_unavailable",
        reason: expect.stringMatching(
          /^Cloud Storage (cannot be used \(ECONNREFUSED\)|did not send a complete answer within 200 ms)$/,
        ),
      });
    }
  });
});

describe("GcsObjectStorage.check", () => {
  it("succeeds if the bucket answers", async () => {
    expect((await storage.check()).isOk()).toBe(true);
  });

  it("returns the reason of the failure and does not retry", async () => {
    gcs.faults = [403];

    expect((await storage.check())._unsafeUnwrapErr().reason).toBe("Cloud Storage answered 403");
    expect(gcs.requests).toHaveLength(1);
  });

  it("fails if the bucket does not exist", async () => {
    const elsewhere = gcsObjectStorage({ bucket: "another-bucket", apiEndpoint: gcs.url, retryTimes: RETRY_TIMES });

    expect((await elsewhere.check())._unsafeUnwrapErr().reason).toBe("Cloud Storage answered 404");
  });

  it.each<BucketFault>(["html", "silence", "stall", "cut-before"])("fails on fault %s", async (fault) => {
    gcs.faults = [fault];

    expect((await storage.check())._unsafeUnwrapErr().kind).toBe("storage_unavailable");
  });
});

describe("GcsObjectStorage.urlOf", () => {
  it("starts with the public URL if one is configured", () => {
    expect(storage.urlOf(NAME)).toBe(`${PUBLIC_URL}/${NAME}`);
  });

  it("starts with Google's URL of the bucket by default", () => {
    const plain = gcsObjectStorage({ bucket: "my-bucket" });

    expect(plain.urlOf(NAME)).toBe(`https://storage.googleapis.com/my-bucket/${NAME}`);
    expect(plain.nameOf(`https://storage.googleapis.com/my-bucket/${NAME}`)).toBe(NAME);
    expect(plain.nameOf(`https://storage.googleapis.com/another-bucket/${NAME}`)).toBeUndefined();
  });
});

describe("GcsObjectStorage.has", () => {
  it("returns true or false, and an error if the answer is not from Cloud Storage", async () => {
    expect(await storage.has(NAME)).toEqual(ok(false));
    given(NAME);
    expect(await storage.has(NAME)).toEqual(ok(true));
    const proxy = await startLocalServer((_, response) =>
      response.setHeader("content-type", "application/json").end("{}"),
    );
    const behind = gcsObjectStorage({
      bucket: gcs.bucket,
      apiEndpoint: proxy.origin,
      retryTimes: SHORT_RETRY_TIMES,
    });
    const reason = "the answer about an object is not from Cloud Storage";
    expect(await behind.has(NAME)).toEqual(err({ kind: "storage_unavailable", reason }));
    await proxy.close();
  });
});
