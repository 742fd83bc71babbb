import { createHash } from "node:crypto";
import { ok } from "neverthrow";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { objectStorageContract } from "../../../adapters/contracts/object-storage-contract.js";
import { type S3ObjectStorageOptions, s3ObjectStorage } from "../../../adapters/storage/s3-object-storage.js";
import { panoramaName } from "../../../domain/images/object-name.js";
import { BYTES, bytesOf, expectAll, NAME, PUBLIC_URL } from "../../support/contracts/faulty-bucket-contract.js";
import type { FakeS3, S3Fault } from "../../support/fake-s3.js";
import { S3Server } from "../../support/s3-server.js";
import { INTERNAL_ERROR, LARGE_RETRY_TIMES, SLOW_DOWN, setUpS3 } from "./s3-setup.js";

const MIB = 1024 * 1024;
/** Two parts. */
const LARGE = bytesOf(9 * MIB);

const on = setUpS3();
const { storageWith, checked, stored, methods } = on;

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
  ["answers If-None-Match with 501", { condition: { status: 501, code: "NotImplemented" } }],
  ["answers If-None-Match with 400", { condition: { status: 400, code: "NotImplemented" } }],
  ["has other ETags than MD5 hashes", { hasMd5Etags: false }],
])("S3ObjectStorage in a service that %s", (_, behaviour) => {
  beforeEach(() => Object.assign(on.s3, behaviour));

  // With the adapter's own times: twenty writers on a busy machine need seconds.
  objectStorageContract({ describe, it }, async () => storageWith({ retryTimes: undefined }));

  it("writes an object once when it is put twice, large ones too", async () => {
    const storage = await checked(LARGE_RETRY_TIMES);
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

describe("S3ObjectStorage.put of a large object", () => {
  it("uploads it in parts of 8 MiB, with the headers of any object", async () => {
    const storage = await checked(LARGE_RETRY_TIMES);
    expect((await storage.put(NAME, LARGE, "image/png")).isOk()).toBe(true);
    expectAll(stored(), LARGE);
    expect(on.s3.objects.get(NAME)?.headers).toMatchObject({ "content-type": "image/png" });
    const requests = on.s3.requests.map((request) => request.replace(/ [^?]*/, " ").replace(/=[^&]*/g, ""));
    expect(requests).toEqual([
      "HEAD ",
      "POST ?uploads",
      "PUT ?partNumber&uploadId&x-id",
      "PUT ?partNumber&uploadId&x-id",
      "POST ?uploadId",
    ]);
    expect(on.s3.uploads.size).toBe(0);
  });

  it("uploads an object of at most one part in one request", async () => {
    const storage = await checked(LARGE_RETRY_TIMES);
    await storage.put(NAME, LARGE.subarray(0, 8 * MIB), "image/png");
    expect(methods()).toEqual(["PUT"]);
  });

  it.each<S3Fault>(["cut-before", "cut-after", "silence", "damage", "html", SLOW_DOWN])(
    "repeats only the part that had fault %j",
    async (fault) => {
      const storage = await checked(LARGE_RETRY_TIMES);
      on.s3.faults = [...Array<undefined>(3), fault];

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
    const storage = await checked(LARGE_RETRY_TIMES);
    on.s3.faults = [...Array<undefined>(4), fault];

    expect((await storage.put(NAME, LARGE, "image/png")).isOk()).toBe(true);
    expectAll(stored(), LARGE);
    expect(on.s3.writes).toBe(1);
    expect(on.s3.uploads.size).toBe(0);
  });

  it.each([3, 4])("aborts it when request %i is refused", async (index) => {
    const storage = await checked(LARGE_RETRY_TIMES);
    on.s3.faults = [...Array<undefined>(index), { status: 403, code: "AccessDenied" }];

    const refused = await storage.put(NAME, LARGE, "image/png");
    expect(refused._unsafeUnwrapErr().reason).toBe("S3 answered 403 (AccessDenied)");
    expect(methods().at(-1)).toBe("DELETE");
    expect(on.s3.uploads.size).toBe(0);
    expect(on.s3.objects.has(NAME)).toBe(false);
  });

  it("keeps the object that another writer has created meanwhile, and aborts its own upload", async () => {
    const storage = await checked(LARGE_RETRY_TIMES);
    const put = storage.put(NAME, LARGE, "image/png");
    await expect.poll(() => on.s3.uploads.size).toBe(1);
    on.s3.objects.set(NAME, { bytes: Buffer.from("first"), headers: {} });
    expect((await put).isOk()).toBe(true);
    expect(stored().toString()).toBe("first");
    expect(on.s3.uploads.size).toBe(0);
  });

  it("completes without the condition if only single-request uploads support it", async () => {
    on.s3.condition = "is known for one request only";
    const storage = await checked(LARGE_RETRY_TIMES);
    expect((await storage.put(NAME, LARGE, "image/png")).isOk()).toBe(true);
    expectAll(stored(), LARGE);
  });
});

describe("S3ObjectStorage.read", () => {
  it("returns objects that other tools have copied, which have no checksum", async () => {
    on.s3.objects.set(NAME, { bytes: BYTES, headers: {} });
    expectAll((await storageWith().read(NAME))._unsafeUnwrap());
  });

  it("closes the connection of a download that stalls", async () => {
    const storage = await checked();
    await storage.put(NAME, BYTES, "image/png");
    on.s3.faults = ["stall"];
    expectAll((await storage.read(NAME))._unsafeUnwrap());
    await expect.poll(() => on.s3.connections()).toBe(1); // the one that is kept for the next request
  });

  it("fails without a retry if the bucket does not exist", async () => {
    const storage = await checked();
    on.s3.faults = [{ status: 404, code: "NoSuchBucket" }];
    expect((await storage.read(NAME))._unsafeUnwrapErr()).toMatchObject({ reason: "S3 answered 404 (NoSuchBucket)" });
  });
});

describe("S3ObjectStorage.check", () => {
  it("succeeds if the bucket can be read and written", async () => {
    expect((await storageWith({ retryTimes: LARGE_RETRY_TIMES }).check()).isOk()).toBe(true);
  });

  it("fails if the bucket is in another region, and names the right one", async () => {
    const reason = "S3 answered 301: the bucket is in the region eu-test-1";
    expect((await storageWith({ region: "us-east-1" }).check())._unsafeUnwrapErr().reason).toBe(reason);
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
});

describe("S3ObjectStorage.urlOf", () => {
  it.each<[Partial<S3ObjectStorageOptions>, string]>([
    [{}, "https://my-bucket.s3.eu-central-1.amazonaws.com"],
    [{ bucket: "my.bucket" }, "https://s3.eu-central-1.amazonaws.com/my.bucket"],
    [{ region: "cn-north-1" }, "https://my-bucket.s3.cn-north-1.amazonaws.com.cn"],
    [{ endpoint: "https://minio.example" }, "https://minio.example/my-bucket"],
  ])("with %j is in %s", (options, base) => {
    const storage = s3ObjectStorage({ bucket: "my-bucket", region: "eu-central-1", ...options });
    expect(storage.urlOf(NAME)).toBe(`${base}/${NAME}`);
  });
});
