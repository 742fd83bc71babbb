import { createServer } from "node:http";
import { Storage } from "@google-cloud/storage";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { GcsObjectStorage, type Patience } from "../../../adapters/storage/gcs-object-storage.js";
import { type ObjectName, panoramaName, referenceImageName } from "../../../domain/object-name.js";
import { objectStorageContract } from "../../support/contracts/object-storage-contract.js";
import { FakeGcs, type Fault } from "../../support/fake-gcs.js";

const PUBLIC_URL = "https://cdn.example/bucket";
/** Enough for several attempts. */
const PATIENCE: Patience = { attemptMilliseconds: 800, totalMilliseconds: 5_000, firstPauseMilliseconds: 10 };
/** Enough for two that are never answered. */
const LITTLE: Patience = { attemptMilliseconds: 200, totalMilliseconds: 500, firstPauseMilliseconds: 10 };

const NAME = referenceImageName("ab".repeat(32), "image/png");
const BYTES = Buffer.from(new Uint8Array(300_000).map((_, index) => (index * index) % 251));

let gcs: FakeGcs;
let storage: GcsObjectStorage;

beforeEach(async () => {
  vi.stubEnv("NO_PROXY", "127.0.0.1"); // or the client would look for the fake behind a proxy, where there is one
  gcs = await FakeGcs.start();
  storage = storageWith(PATIENCE);
});
afterEach(() => gcs.close());

const storageWith = (patience: Patience) =>
  new GcsObjectStorage({ bucket: gcs.bucket, publicUrl: PUBLIC_URL, apiEndpoint: gcs.url }, patience);

/** Something is there to be read, without a request having been counted. */
const given = (name: ObjectName, bytes: Uint8Array = BYTES) =>
  gcs.objects.set(name, { bytes: Buffer.from(bytes), contentType: "image/png", cacheControl: undefined });

const expectAll = (bytes: Uint8Array | undefined) => expect(BYTES.equals(bytes ?? Buffer.alloc(0))).toBe(true);

objectStorageContract(async () => storage);

describe("an object that is put into a bucket", () => {
  it("has its bytes, its content type, and may be cached for ever", async () => {
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

  it("is written once, however often it is put", async () => {
    await storage.put(NAME, BYTES, "image/png");

    expect((await storage.put(NAME, BYTES, "image/png")).isOk()).toBe(true);

    expect(gcs.writes).toBe(1);
  });
});

describe("an upload", () => {
  it.each<Fault>([408, 429, 500, 503, "cut-before", "cut-after", "cut-within", "silence", "stall", "html"])(
    "is repeated after %s, and stored once",
    async (fault) => {
      gcs.faults = [fault];

      expect((await storage.put(NAME, BYTES, "image/png")).isOk()).toBe(true);

      expect(gcs.requests).toHaveLength(2);
      expect(gcs.writes).toBe(1);
      expectAll(gcs.objects.get(NAME)?.bytes);
    },
  );

  it("waits for an answer that is slow", async () => {
    gcs.faults = ["slow"];

    expect((await storage.put(NAME, BYTES, "image/png")).isOk()).toBe(true);

    expect(gcs.requests).toHaveLength(1);
  });

  it("takes 412 for the news that the object is there already", async () => {
    gcs.faults = [412];

    expect((await storage.put(NAME, BYTES, "image/png")).isOk()).toBe(true);

    expect(gcs.requests).toHaveLength(1);
  });

  it.each([400, 401, 403, 404])("is not repeated after %i, which the next attempt would get too", async (status) => {
    gcs.faults = [status];

    const result = await storage.put(NAME, BYTES, "image/png");

    expect(result._unsafeUnwrapErr()).toEqual({
      kind: "storage_unavailable",
      reason: `Cloud Storage answered ${status}`,
    });
    expect(gcs.requests).toHaveLength(1);
  });

  it("that arrives damaged is refused before there is an object of it", async () => {
    gcs.faults = ["damage"];

    const result = await storage.put(NAME, BYTES, "image/png");

    expect(result._unsafeUnwrapErr().kind).toBe("storage_unavailable");
    expect(gcs.objects.size).toBe(0);
  });

  it("is no success if the storage has the checksum of other bytes", async () => {
    gcs.faults = ["wrong-checksum"];

    const result = await storage.put(NAME, BYTES, "image/png");

    expect(result._unsafeUnwrapErr().reason).toBe("Cloud Storage has stored other bytes than it was sent");
  });

  it.each<Fault>(["html", "wrong-checksum"])("never deletes an object, not even after %s", async (fault) => {
    gcs.faults = [fault];

    await storage.put(NAME, BYTES, "image/png");

    expect(gcs.requests.filter((request) => request.startsWith("DELETE"))).toEqual([]);
  });
});

describe("an object that is read", () => {
  it("may be empty", async () => {
    given(NAME, new Uint8Array());

    expect((await storage.read(NAME))._unsafeUnwrap()).toHaveLength(0);
  });

  it("is not found if nobody has put it, and asked for once", async () => {
    expect((await storage.read(NAME))._unsafeUnwrapErr().kind).toBe("not_found");
    expect(gcs.requests).toHaveLength(1);
  });

  it.each<Fault>([
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
  ])("is asked for again after %s", async (fault) => {
    given(NAME);
    gcs.faults = [fault];

    expectAll((await storage.read(NAME))._unsafeUnwrap());

    expect(gcs.requests).toHaveLength(2);
  });

  it("never has other bytes than its checksum says", async () => {
    given(NAME);
    gcs.thenAlways = "damage";

    expect((await storageWith(LITTLE).read(NAME))._unsafeUnwrapErr()).toEqual({
      kind: "storage_unavailable",
      reason: "an object arrived damaged",
    });
  });

  it("never is a proxy's page", async () => {
    given(NAME);
    gcs.thenAlways = "html";

    expect((await storageWith(LITTLE).read(NAME))._unsafeUnwrapErr()).toEqual({
      kind: "storage_unavailable",
      reason: "a download was answered, but not by Cloud Storage",
    });
  });

  it("arrives whole beside others whose answers stop in the middle", async () => {
    const names = [..."abcdefgh"].map((letter) => panoramaName(letter.repeat(22)));
    for (const name of names) given(name);
    gcs.faults = ["stall", "cut-within", "stall", "cut-within"];

    const results = await Promise.all(names.map((name) => storage.read(name)));

    for (const result of results) expectAll(result._unsafeUnwrap());
  });
});

describe("a storage that stays away", () => {
  const calls = {
    put: () => storageWith(LITTLE).put(NAME, BYTES, "image/png"),
    read: () => storageWith(LITTLE).read(NAME),
  };

  describe.each(["put", "read"] as const)("on %s", (call) => {
    it.each<Fault>([503, "silence", "stall", "cut-before"])(
      "is given up after nothing but %s, when the time is up",
      async (fault) => {
        given(NAME);
        gcs.thenAlways = fault;
        const start = performance.now();

        const result = await calls[call]();

        expect(result._unsafeUnwrapErr().kind).toBe("storage_unavailable");
        expect(gcs.requests.length).toBeGreaterThan(1);
        expect(performance.now() - start).toBeLessThan(2 * LITTLE.totalMilliseconds);
      },
    );
  });

  it("is asked less and less often", async () => {
    gcs.thenAlways = 503;

    await storageWith({ attemptMilliseconds: 200, totalMilliseconds: 600, firstPauseMilliseconds: 40 }).read(NAME);

    expect(gcs.requests.length).toBeGreaterThan(1);
    // The shortest pauses are 20, 40, 80 and 160 ms; after the next one there is no time. Without growth: a dozen.
    expect(gcs.requests.length).toBeLessThanOrEqual(5);
  });

  it("is complained of without the password in its address", async () => {
    const port = await aClosedPort();
    const apiEndpoint = `http://user:pa55word@127.0.0.1:${port}`;
    const away = new GcsObjectStorage({ bucket: gcs.bucket, apiEndpoint }, LITTLE);

    const results = [await away.put(NAME, BYTES, "image/png"), await away.read(NAME), await away.check()];

    for (const result of results) {
      expect(result._unsafeUnwrapErr()).toEqual({
        kind: "storage_unavailable",
        reason: "Cloud Storage cannot be used (ECONNREFUSED)",
      });
    }
  });
});

describe("the probe", () => {
  it("is content with a bucket that answers", async () => {
    expect((await storage.check()).isOk()).toBe(true);
  });

  it("says what is wrong, and asks only once", async () => {
    gcs.faults = [403];

    expect((await storage.check())._unsafeUnwrapErr().reason).toBe("Cloud Storage answered 403");
    expect(gcs.requests).toHaveLength(1);
  });

  it("sees that there is no such bucket", async () => {
    const elsewhere = new GcsObjectStorage({ bucket: "another-bucket", apiEndpoint: gcs.url }, PATIENCE);

    expect((await elsewhere.check())._unsafeUnwrapErr().reason).toBe("Cloud Storage answered 404");
  });

  it.each<Fault>(["html", "silence", "stall", "cut-before"])("is not content with %s", async (fault) => {
    gcs.faults = [fault];

    expect((await storage.check())._unsafeUnwrapErr().kind).toBe("storage_unavailable");
  });
});

describe("the URL of an object", () => {
  it("leads to the CDN, where there is one", () => {
    expect(storage.urlOf(NAME)).toBe(`${PUBLIC_URL}/${NAME}`);
  });

  it("leads to Google's own address of the bucket otherwise", () => {
    const plain = new GcsObjectStorage({ bucket: "my-bucket" });

    expect(plain.urlOf(NAME)).toBe(`https://storage.googleapis.com/my-bucket/${NAME}`);
    expect(plain.nameOf(`https://storage.googleapis.com/my-bucket/${NAME}`)).toBe(NAME);
    expect(plain.nameOf(`https://storage.googleapis.com/another-bucket/${NAME}`)).toBeUndefined();
  });
});

const aClosedPort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
};
