import { createHash } from "node:crypto";
import { ok } from "neverthrow";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { objectStorageContract } from "../../../adapters/contracts/object-storage-contract.js";
import { type S3ObjectStorageOptions, s3ObjectStorage } from "../../../adapters/storage/s3-object-storage.js";
import { panoramaName } from "../../../domain/images/object-name.js";
import type { FakeS3, S3Fault } from "../../support/fake-s3.js";
import { S3Server } from "../../support/s3-server.js";
import {
  BYTES,
  expectAll,
  LARGE,
  LARGE_RETRY_TIMES,
  NAME,
  NOT_IMPLEMENTED,
  PUBLIC_URL,
  SHORT_RETRY_TIMES,
  SLOW_DOWN,
  setUpS3,
} from "./s3-setup.js";

const on = setUpS3();
const { storageWith, checked, given, stored, methods } = on;

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

  it("reports the fault of the bucket or the access key", async () => {
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
  beforeEach(() => Object.assign(on.s3, behaviour));

  // With the adapter's own times: twenty writers on a busy machine need seconds.
  objectStorageContract({ describe, it }, async () => storageWith({ retryTimes: undefined }));

  it("writes an object once when it is put twice, large ones too", async () => {
    const storage = await checked({ retryTimes: LARGE_RETRY_TIMES });
    for (const bytes of [BYTES, LARGE]) {
      const name = panoramaName(String(bytes.length).padStart(22, "0"));
      on.s3.writes = 0;
      for (const _ of [1, 2]) expect((await storage.put(name, bytes, "image/png")).isOk()).toBe(true);
      expect(on.s3.writes).toBe(1);
      expectAll((await storage.read(name))._unsafeUnwrap(), bytes);
    }
  });
});

describe("S3ObjectStorage.put", () => {
  it("stores the bytes and the content type, and lets caches keep the object forever", async () => {
    const storage = await checked();

    expect((await storage.put(NAME, BYTES, "image/png")).isOk()).toBe(true);

    expectAll(stored());
    expect(on.s3.objects.get(NAME)?.headers).toEqual({
      "content-type": "image/png",
      "cache-control": "public, max-age=31536000, immutable",
      "x-amz-meta-sha256": createHash("sha256").update(BYTES).digest("hex"),
    });
    expect(methods()).toEqual(["PUT"]);
  });

  it("tests the support of If-None-Match once, at the first use", async () => {
    const storage = storageWith();

    await storage.put(NAME, BYTES, "image/png");
    await storage.put(panoramaName("A".repeat(22)), BYTES, "image/jpeg");

    expect(methods()).toEqual(["PUT", "PUT", "PUT", "PUT"]);
    expect([...on.s3.objects.keys()].sort()).toEqual([panoramaName("A".repeat(22)), "probe/create-only", NAME].sort());
  });

  it("looks for the object first and reads it back where If-None-Match is ignored", async () => {
    on.s3.condition = "is ignored";
    const storage = await checked();

    await storage.put(NAME, BYTES, "image/png");

    expect(methods()).toEqual(["HEAD", "PUT", "GET"]);
  });

  it("reads an object back where its ETag is not the MD5 hash", async () => {
    on.s3.hasMd5Etags = false;
    const storage = await checked();

    await storage.put(NAME, BYTES, "image/png");

    expect(methods()).toEqual(["PUT", "GET"]);
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
    expect(on.s3.requests).toHaveLength(1);
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
    on.s3.requests.length = 0;
    on.s3.faults = [fault];

    expectAll((await storage.read(NAME))._unsafeUnwrap());

    expect(on.s3.requests).toHaveLength(2);
  });

  it("closes the connection of a download that stalls", async () => {
    const storage = await checked();
    await storage.put(NAME, BYTES, "image/png");
    on.s3.faults = ["stall"];

    expectAll((await storage.read(NAME))._unsafeUnwrap());

    await expect.poll(() => on.s3.connections()).toBe(1); // the one that is kept for the next request
  });

  it.each<[S3Fault, string]>([
    ["damage", "an object was damaged in transit"],
    ["html", "the answer is not from S3"],
    [{ status: 404, code: "NoSuchBucket" }, "S3 answered 404 (NoSuchBucket)"],
  ])("fails if every answer has fault %j", async (fault, reason) => {
    const storage = await checked({ retryTimes: SHORT_RETRY_TIMES });
    await storage.put(NAME, BYTES, "image/png");
    on.s3.faultAfterwards = fault;

    expect((await storage.read(NAME))._unsafeUnwrapErr()).toEqual({ kind: "storage_unavailable", reason });
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
    expect(on.s3.requests).toHaveLength(1);
  });

  it.each<[string, (S3Fault | undefined)[], string[]]>([
    ["be listed, so that missing objects are answered with 403", [{ status: 403, code: "AccessDenied" }], ["GET"]],
    ["be written", [undefined, { status: 403, code: "AccessDenied" }], ["GET", "PUT"]],
  ])("fails if the bucket may not %s", async (_, faults, requests) => {
    on.s3.faults = faults;

    expect((await storageWith().check())._unsafeUnwrapErr().reason).toBe("S3 answered 403 (AccessDenied)");
    expect(methods()).toEqual(requests);
  });

  it.each<S3Fault>(["html", "silence", "cut-before"])("fails on fault %j, without a retry", async (fault) => {
    on.s3.faults = [fault];

    expect((await storageWith().check())._unsafeUnwrapErr().kind).toBe("storage_unavailable");
    expect(on.s3.requests).toHaveLength(1);
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
