import { createHash } from "node:crypto";
import { ok } from "neverthrow";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { objectStorageContract } from "../../../adapters/contracts/object-storage-contract.js";
import type { RetryTimes } from "../../../adapters/storage/retry-times.js";
import { type S3ObjectStorageOptions, s3ObjectStorage } from "../../../adapters/storage/s3-object-storage.js";
import { type ObjectName, panoramaName, referenceImageName } from "../../../domain/object-name.js";
import { FakeS3, type S3Error, type S3Fault } from "../../support/fake-s3.js";
import { freePort } from "../../support/free-port.js";
import { S3Server } from "../../support/s3-server.js";

const PUBLIC_URL = "https://cdn.example/bucket";
/** Long enough for several attempts. */
const RETRY_TIMES: RetryTimes = { attemptMilliseconds: 800, totalMilliseconds: 5_000, firstPauseMilliseconds: 10 };
/** Long enough for two attempts that time out. */
const SHORT_RETRY_TIMES: RetryTimes = { attemptMilliseconds: 200, totalMilliseconds: 500, firstPauseMilliseconds: 10 };

const NAME = referenceImageName("ab".repeat(32), "image/png");
const bytesOf = (length: number) => Buffer.from(new Uint8Array(length).map((_, index) => (index * index) % 251));
const BYTES = bytesOf(300_000);
const MIB = 1024 * 1024;
/** Two parts. */
const LARGE = bytesOf(9 * MIB);
/** Long enough to upload a part on a busy machine. */
const LARGE_RETRY_TIMES: RetryTimes = {
  attemptMilliseconds: 2_000,
  totalMilliseconds: 15_000,
  firstPauseMilliseconds: 10,
};

const NOT_IMPLEMENTED: S3Error = { status: 501, code: "NotImplemented" };
const SLOW_DOWN: S3Error = { status: 503, code: "SlowDown" };
const INTERNAL_ERROR: S3Error = { status: 500, code: "InternalError" };

let s3: FakeS3;

beforeEach(async () => {
  s3 = await FakeS3.start();
});
afterEach(() => s3.close());

const storageWith = (options: Partial<S3ObjectStorageOptions> = {}) => {
  const { bucket, region, url: endpoint, credentials } = s3;
  return s3ObjectStorage({
    ...{ bucket, region, endpoint, credentials, publicUrl: PUBLIC_URL, retryTimes: RETRY_TIMES },
    ...options,
  });
};

/** A storage that has had its first use. */
const checked = async (options: Partial<S3ObjectStorageOptions> = {}) => {
  const storage = storageWith(options);
  // On a busy machine a check can take longer than one attempt may.
  await expect.poll(async () => (await storage.check()).isOk()).toBe(true);
  s3.requests.length = 0;
  s3.writes = 0;
  return storage;
};

/** Stores an object without a request. */
const given = (name: ObjectName, bytes: Uint8Array = BYTES) =>
  s3.objects.set(name, { bytes: Buffer.from(bytes), headers: {} });

const stored = (): Buffer => s3.objects.get(NAME)?.bytes ?? Buffer.alloc(0);

const methods = (): string[] => s3.requests.map((request) => request.split(" ")[0] ?? "");

const uploadRequests = (): string[] =>
  s3.requests.map((request) => request.replace(/ [^?]*/, " ").replace(/=[^&]*/g, ""));

const expectAll = (bytes: Uint8Array | undefined, expected = BYTES) =>
  expect(expected.equals(bytes ?? Buffer.alloc(0))).toBe(true);

const reasonOf = async (result: ReturnType<ReturnType<typeof storageWith>["put"]>) =>
  (await result)._unsafeUnwrapErr().reason;

describe("S3ObjectStorage in a real server", () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await S3Server.start();
  });
  afterAll(() => server.stop());

  const open = async () => {
    const { endpoint, region, credentials } = server;
    const bucket = await server.createBucket();
    return s3ObjectStorage({ bucket, region, endpoint, credentials, publicUrl: PUBLIC_URL });
  };

  objectStorageContract({ describe, it }, open);

  it("takes large objects, keeps the first one, and deletes it", async () => {
    const storage = await open();
    expect(await storage.check()).toEqual(ok(undefined));

    for (const bytes of [LARGE, BYTES, Buffer.concat([BYTES, LARGE])]) {
      expect(await storage.put(NAME, bytes, "image/png")).toEqual(ok(undefined));
      expectAll((await storage.read(NAME))._unsafeUnwrap(), LARGE);
    }

    expect(await storage.has(NAME)).toEqual(ok(true));
    expect(await storage.delete(NAME)).toEqual(ok(undefined));
    expect((await storage.read(NAME))._unsafeUnwrapErr().kind).toBe("not_found");
    expect(await storage.has(NAME)).toEqual(ok(false));
  });

  it("says what is wrong with the bucket or the access key", async () => {
    const { endpoint, region, credentials } = server;
    const bucket = await server.createBucket();
    const missing = s3ObjectStorage({ bucket: "no-such-bucket-of-ours", region, endpoint, credentials });
    const stranger = { accessKeyId: "AKIAUNKNOWN", secretAccessKey: "secret" };
    const unknown = s3ObjectStorage({ bucket, region, endpoint, credentials: stranger });

    expect((await missing.check())._unsafeUnwrapErr().reason).toBe("S3 answered 404 (NoSuchBucket)");
    expect((await unknown.check())._unsafeUnwrapErr().reason).toBe("S3 answered 403 (InvalidAccessKeyId)");
  });
});

describe.each<[string, Partial<FakeS3>]>([
  ["knows If-None-Match", {}],
  ["ignores If-None-Match", { condition: "is ignored" }],
  ["answers If-None-Match with 501", { condition: NOT_IMPLEMENTED }],
  ["answers If-None-Match with 400", { condition: { status: 400, code: "NotImplemented" } }],
  ["has other ETags than MD5 hashes", { hasMd5Etags: false }],
])("S3ObjectStorage in a service that %s", (_, behaviour) => {
  beforeEach(() => Object.assign(s3, behaviour));

  objectStorageContract({ describe, it }, async () => storageWith());

  it("writes an object once when it is put twice, large ones too", async () => {
    const storage = await checked({ retryTimes: LARGE_RETRY_TIMES });
    for (const bytes of [BYTES, LARGE]) {
      const name = panoramaName(String(bytes.length).padStart(22, "0"));
      s3.writes = 0;
      for (const _ of [1, 2]) expect((await storage.put(name, bytes, "image/png")).isOk()).toBe(true);
      expect(s3.writes).toBe(1);
      expectAll((await storage.read(name))._unsafeUnwrap(), bytes);
    }
  });
});

describe("S3ObjectStorage.put", () => {
  it("stores the bytes and the content type, and lets caches keep the object forever", async () => {
    const storage = await checked();

    expect((await storage.put(NAME, BYTES, "image/png")).isOk()).toBe(true);

    expectAll(stored());
    expect(s3.objects.get(NAME)?.headers).toEqual({
      "content-type": "image/png",
      "cache-control": "public, max-age=31536000, immutable",
      "x-amz-meta-sha256": createHash("sha256").update(BYTES).digest("hex"),
    });
    expect(methods()).toEqual(["PUT"]);
  });

  it("finds out once, with the first use, what the service does with If-None-Match", async () => {
    const storage = storageWith();

    await storage.put(NAME, BYTES, "image/png");
    await storage.put(panoramaName("A".repeat(22)), BYTES, "image/jpeg");

    expect(methods()).toEqual(["PUT", "PUT", "PUT", "PUT"]);
    expect([...s3.objects.keys()].sort()).toEqual([panoramaName("A".repeat(22)), "probe/create-only", NAME].sort());
  });

  it("looks for the object first and reads it back where If-None-Match is ignored", async () => {
    s3.condition = "is ignored";
    const storage = await checked();

    await storage.put(NAME, BYTES, "image/png");

    expect(methods()).toEqual(["HEAD", "PUT", "GET"]);
  });

  it("reads an object back where its ETag is not the MD5 hash", async () => {
    s3.hasMd5Etags = false;
    const storage = await checked();

    await storage.put(NAME, BYTES, "image/png");

    expect(methods()).toEqual(["PUT", "GET"]);
  });
});

describe("S3ObjectStorage.put with a faulty bucket", () => {
  it.each<S3Fault>([
    408,
    429,
    INTERNAL_ERROR,
    SLOW_DOWN,
    { status: 429, code: "SlowDown" },
    { status: 400, code: "RequestTimeout" },
    { status: 409, code: "ConditionalRequestConflict" },
    "cut-before",
    "cut-after",
    "silence",
    "html",
    "damage",
  ])("retries after fault %j and stores the object once", async (fault) => {
    const storage = await checked();
    s3.faults = [fault];

    expect((await storage.put(NAME, BYTES, "image/png")).isOk()).toBe(true);

    expect(s3.requests).toHaveLength(2);
    expect(s3.writes).toBe(1);
    expectAll(stored());
  });

  it("waits for a slow answer without a retry", async () => {
    const storage = await checked();
    s3.faults = ["slow"];

    expect((await storage.put(NAME, BYTES, "image/png")).isOk()).toBe(true);

    expect(s3.requests).toHaveLength(1);
  });

  it.each<[S3Error, string]>([
    [{ status: 400, code: "ExpiredToken" }, "S3 answered 400 (ExpiredToken)"],
    [{ status: 403, code: "AccessDenied" }, "S3 answered 403 (AccessDenied)"],
    [{ status: 403, code: "SignatureDoesNotMatch" }, "S3 answered 403 (SignatureDoesNotMatch)"],
    [{ status: 404, code: "NoSuchBucket" }, "S3 answered 404 (NoSuchBucket)"],
    [
      { status: 301, code: "PermanentRedirect", headers: { "x-amz-bucket-region": "us-west-2" } },
      "S3 answered 301: the bucket is in the region us-west-2",
    ],
    [
      { status: 307, code: "TemporaryRedirect", headers: { location: "http://127.0.0.1:1/elsewhere" } },
      "S3 answered 307 (TemporaryRedirect)",
    ],
  ])("does not retry after %j, which a retry would get too", async (error, reason) => {
    const storage = await checked();
    s3.faults = [error];

    expect(await reasonOf(storage.put(NAME, BYTES, "image/png"))).toBe(reason);

    expect(s3.requests).toHaveLength(1);
  });

  it("corrects its clock and retries when the service says that it is wrong", async () => {
    const storage = await checked();
    const date = new Date(Date.now() + 60 * 60 * 1000).toUTCString();
    s3.faults = [{ status: 403, code: "RequestTimeTooSkewed", headers: { date } }];

    expect((await storage.put(NAME, BYTES, "image/png")).isOk()).toBe(true);

    expect(s3.requests).toHaveLength(2);
  });

  it("accepts a wrong ETag if the object itself is right", async () => {
    const storage = await checked();
    s3.faults = ["wrong-checksum"];

    expect((await storage.put(NAME, BYTES, "image/png")).isOk()).toBe(true);

    expect(methods()).toEqual(["PUT", "GET"]);
  });

  it("replaces bytes that were damaged in transit to a service that does not check them", async () => {
    s3.checksContentMd5 = false;
    const storage = await checked();
    s3.faults = ["damage"];

    expect((await storage.put(NAME, BYTES, "image/png")).isOk()).toBe(true);

    expect(methods()).toEqual(["PUT", "GET", "GET", "PUT"]);
    expectAll(stored());
  });

  it("fails if a service that does not check the bytes damages them each time", async () => {
    s3.checksContentMd5 = false;
    const storage = await checked();
    s3.faults = ["damage", undefined, undefined, "damage", undefined, undefined, "damage"];

    expect(await reasonOf(storage.put(NAME, BYTES, "image/png"))).toBe("S3 has stored other bytes than it was sent");
  });

  it("deletes no object, whatever the fault", async () => {
    const storage = await checked();
    for (const fault of ["html", "wrong-checksum", "damage", "cut-after", 500] as const) {
      s3.faults = [fault];
      await storage.put(NAME, BYTES, "image/png");
    }

    expect(methods()).not.toContain("DELETE");
  });
});

describe("S3ObjectStorage.put of a large object", () => {
  it("uploads it in parts of 8 MiB, with the headers of any object", async () => {
    const storage = await checked({ retryTimes: LARGE_RETRY_TIMES });

    expect((await storage.put(NAME, LARGE, "image/png")).isOk()).toBe(true);

    expectAll(stored(), LARGE);
    expect(s3.objects.get(NAME)?.headers).toMatchObject({ "content-type": "image/png" });
    expect(uploadRequests()).toEqual([
      "HEAD ",
      "POST ?uploads",
      "PUT ?partNumber&uploadId&x-id",
      "PUT ?partNumber&uploadId&x-id",
      "POST ?uploadId",
    ]);
    expect(s3.uploads.size).toBe(0);
  });

  it("uploads in one request what is not larger than a part", async () => {
    const storage = await checked({ retryTimes: LARGE_RETRY_TIMES });

    await storage.put(NAME, LARGE.subarray(0, 8 * MIB), "image/png");

    expect(methods()).toEqual(["PUT"]);
  });

  it.each<S3Fault>(["cut-before", "cut-after", "silence", "damage", "html", SLOW_DOWN])(
    "repeats only the part that had fault %j",
    async (fault) => {
      const storage = await checked({ retryTimes: LARGE_RETRY_TIMES });
      s3.faults = [...Array<undefined>(3), fault];

      expect((await storage.put(NAME, LARGE, "image/png")).isOk()).toBe(true);

      expectAll(stored(), LARGE);
      expect(methods().filter((method) => method === "PUT")).toHaveLength(3);
    },
  );

  it.each<S3Fault>([
    "cut-before",
    "cut-after",
    "cut-within",
    "stall",
    INTERNAL_ERROR,
    { status: 200, code: "InternalError" },
  ])("completes it once when the completion has fault %j", async (fault) => {
    const storage = await checked({ retryTimes: LARGE_RETRY_TIMES });
    s3.faults = [...Array<undefined>(4), fault];

    expect((await storage.put(NAME, LARGE, "image/png")).isOk()).toBe(true);

    expectAll(stored(), LARGE);
    expect(s3.writes).toBe(1);
    expect(s3.uploads.size).toBe(0);
  });

  it.each([3, 4])("aborts it when request %i is refused", async (index) => {
    const storage = await checked({ retryTimes: LARGE_RETRY_TIMES });
    s3.faults = [...Array<undefined>(index), { status: 403, code: "AccessDenied" }];

    expect(await reasonOf(storage.put(NAME, LARGE, "image/png"))).toBe("S3 answered 403 (AccessDenied)");

    expect(methods().at(-1)).toBe("DELETE");
    expect(s3.uploads.size).toBe(0);
    expect(s3.objects.has(NAME)).toBe(false);
  });

  it("keeps the object that another writer has created meanwhile, and aborts its own upload", async () => {
    const storage = await checked({ retryTimes: LARGE_RETRY_TIMES });
    const put = storage.put(NAME, LARGE, "image/png");
    await expect.poll(() => s3.uploads.size).toBe(1);
    given(NAME, Buffer.from("first"));

    expect((await put).isOk()).toBe(true);

    expect(stored().toString()).toBe("first");
    expect(s3.uploads.size).toBe(0);
  });

  it("completes it without the condition where only uploads in one request know it", async () => {
    s3.condition = "is known for one request only";
    const storage = await checked({ retryTimes: LARGE_RETRY_TIMES });

    expect((await storage.put(NAME, LARGE, "image/png")).isOk()).toBe(true);

    expectAll(stored(), LARGE);
  });
});

describe("S3ObjectStorage.read", () => {
  it("returns an empty object", async () => {
    given(NAME, new Uint8Array());

    expect((await storageWith().read(NAME))._unsafeUnwrap()).toHaveLength(0);
  });

  it("returns objects that other tools have copied, which have no checksum", async () => {
    given(NAME);

    expectAll((await storageWith().read(NAME))._unsafeUnwrap());
  });

  it("returns not_found for a missing object without a retry", async () => {
    expect((await storageWith().read(NAME))._unsafeUnwrapErr().kind).toBe("not_found");
    expect(s3.requests).toHaveLength(1);
  });

  it.each<S3Fault>([
    429,
    SLOW_DOWN,
    "cut-before",
    "cut-after",
    "cut-within",
    "silence",
    "stall",
    "html",
    "damage",
    "wrong-checksum",
  ])("retries after fault %j", async (fault) => {
    const storage = await checked();
    await storage.put(NAME, BYTES, "image/png");
    s3.requests.length = 0;
    s3.faults = [fault];

    expectAll((await storage.read(NAME))._unsafeUnwrap());

    expect(s3.requests).toHaveLength(2);
  });

  it("closes the connection of a download that stalls", async () => {
    const storage = await checked();
    await storage.put(NAME, BYTES, "image/png");
    s3.faults = ["stall"];

    expectAll((await storage.read(NAME))._unsafeUnwrap());

    await expect.poll(() => s3.connections()).toBe(1); // the one that is kept for the next request
  });

  it.each<[S3Fault, string]>([
    ["damage", "an object was damaged in transit"],
    ["html", "the answer is not from S3"],
    [{ status: 404, code: "NoSuchBucket" }, "S3 answered 404 (NoSuchBucket)"],
  ])("fails if every answer has fault %j", async (fault, reason) => {
    const storage = await checked({ retryTimes: SHORT_RETRY_TIMES });
    await storage.put(NAME, BYTES, "image/png");
    s3.faultAfterwards = fault;

    expect((await storage.read(NAME))._unsafeUnwrapErr()).toEqual({ kind: "storage_unavailable", reason });
  });
});

describe("S3ObjectStorage while the service is unavailable", () => {
  describe.each(["put", "read", "delete"] as const)("%s", (call) => {
    it.each<S3Fault>([SLOW_DOWN, "silence", "cut-before", "html"])(
      "gives up at the total timeout when every request gets fault %j",
      async (fault) => {
        const storage = await checked({ retryTimes: SHORT_RETRY_TIMES });
        given(NAME);
        s3.faultAfterwards = fault;
        const start = performance.now();

        const result = await (call === "put" ? storage.put(NAME, BYTES, "image/png") : storage[call](NAME));

        expect(result._unsafeUnwrapErr().kind).toBe("storage_unavailable");
        expect(s3.requests.length).toBeGreaterThan(1);
        expect(performance.now() - start).toBeLessThan(2 * SHORT_RETRY_TIMES.totalMilliseconds);
      },
    );
  });

  it.each<S3Fault>([SLOW_DOWN, "silence", "cut-before", "cut-after", "html"])(
    "deletes an object although one request gets fault %j",
    async (fault) => {
      const storage = await checked();
      given(NAME);
      s3.faults = [fault];
      expect((await storage.delete(NAME)).isOk()).toBe(true);
      expect(s3.objects.has(NAME)).toBe(false);
    },
  );

  it("names the system's error, and no URL", async () => {
    const endpoint = `http://127.0.0.1:${await freePort()}`;
    const storage = storageWith({ endpoint, retryTimes: SHORT_RETRY_TIMES });

    // On a busy machine the time may end before the connection is refused.
    expect(await reasonOf(storage.put(NAME, BYTES, "image/png"))).toMatch(
      /^S3 (cannot be used \(ECONNREFUSED\)|did not send a complete answer within 200 ms)$/,
    );
  });
});

describe("S3ObjectStorage.check", () => {
  it("succeeds if the bucket can be read and written", async () => {
    expect((await storageWith({ retryTimes: LARGE_RETRY_TIMES }).check()).isOk()).toBe(true);
  });

  it.each<[string, Partial<S3ObjectStorageOptions>, string]>([
    ["the bucket does not exist", { bucket: "another-bucket" }, "S3 answered 404 (NoSuchBucket)"],
    [
      "the bucket is in another region",
      { region: "us-east-1" },
      "S3 answered 301: the bucket is in the region eu-test-1",
    ],
    [
      "the access key is unknown",
      { credentials: { accessKeyId: "AKIAOTHER", secretAccessKey: "secret" } },
      "S3 answered 403 (InvalidAccessKeyId)",
    ],
  ])("fails if %s", async (_, options, reason) => {
    expect((await storageWith(options).check())._unsafeUnwrapErr().reason).toBe(reason);
    expect(s3.requests).toHaveLength(1);
  });

  it.each<[string, (S3Fault | undefined)[], string[]]>([
    ["be listed, so that missing objects are answered with 403", [{ status: 403, code: "AccessDenied" }], ["GET"]],
    ["be written", [undefined, { status: 403, code: "AccessDenied" }], ["GET", "PUT"]],
  ])("fails if the bucket may not %s", async (_, faults, requests) => {
    s3.faults = faults;

    expect((await storageWith().check())._unsafeUnwrapErr().reason).toBe("S3 answered 403 (AccessDenied)");
    expect(methods()).toEqual(requests);
  });

  it.each<S3Fault>(["html", "silence", "cut-before"])("fails on fault %j, without a retry", async (fault) => {
    s3.faults = [fault];

    expect((await storageWith().check())._unsafeUnwrapErr().kind).toBe("storage_unavailable");
    expect(s3.requests).toHaveLength(1);
  });
});

describe("S3ObjectStorage.urlOf", () => {
  const urlWith = (options: Partial<S3ObjectStorageOptions>) =>
    s3ObjectStorage({ bucket: "my-bucket", region: "eu-central-1", ...options }).urlOf(NAME);

  it("starts with the public URL if one is configured", () => {
    expect(urlWith({ publicUrl: PUBLIC_URL })).toBe(`${PUBLIC_URL}/${NAME}`);
  });

  it.each<[Partial<S3ObjectStorageOptions>, string]>([
    [{}, "https://my-bucket.s3.eu-central-1.amazonaws.com"],
    [{ bucket: "my.bucket" }, "https://s3.eu-central-1.amazonaws.com/my.bucket"],
    [{ region: "cn-north-1" }, "https://my-bucket.s3.cn-north-1.amazonaws.com.cn"],
    [{ endpoint: "https://minio.example" }, "https://minio.example/my-bucket"],
  ])("with %j is in %s", (options, base) => {
    expect(urlWith(options)).toBe(`${base}/${NAME}`);
  });
});
