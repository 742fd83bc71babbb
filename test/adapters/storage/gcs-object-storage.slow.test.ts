import { Storage } from "@google-cloud/storage";
import { err } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { objectStorageContract } from "../../../adapters/contracts/object-storage-contract.js";
import { type GcsObjectStorage, gcsObjectStorage } from "../../../adapters/storage/gcs-object-storage.js";
import type { RetryTimes } from "../../../adapters/storage/retry-times.js";
import { panoramaName } from "../../../domain/images/object-name.js";
import type { BucketFault } from "../../support/bucket-faults.js";
import {
  BYTES,
  expectAll,
  faultyBucketContract,
  NAME,
  PUBLIC_URL,
  RETRY_TIMES,
  SHORT_RETRY_TIMES,
} from "../../support/contracts/faulty-bucket-contract.js";
import { FakeGcs } from "../../support/fake-gcs.js";
import { startLocalServer } from "../../support/local-server.js";

const start = () => {
  vi.stubEnv("NO_PROXY", "127.0.0.1"); // on a machine with a proxy, the client must not use it to reach the fake
  return FakeGcs.start();
};
const open = (apiEndpoint: string, retryTimes?: RetryTimes) =>
  gcsObjectStorage({ bucket: "panoramas-of-tests", publicUrl: PUBLIC_URL, apiEndpoint, retryTimes });

describe("GcsObjectStorage in a bucket that fails", () => {
  faultyBucketContract({ service: "Cloud Storage", start, open });
});

describe("GcsObjectStorage", () => {
  let gcs: FakeGcs;
  let storage: GcsObjectStorage;
  beforeEach(async () => {
    gcs = await start();
    storage = open(gcs.url, RETRY_TIMES);
  });
  afterEach(() => gcs.close());

  const put = () => storage.put(NAME, BYTES, "image/png");

  // With the adapter's own times: twenty writers on a busy machine need seconds.
  objectStorageContract({ describe, it }, async () => open(gcs.url));

  it("stores the bytes and the content type, and lets caches keep the object forever", async () => {
    expect((await put()).isOk()).toBe(true);
    expectAll(gcs.objects.get(NAME)?.bytes);
    const file = new Storage({ apiEndpoint: gcs.url }).bucket(gcs.bucket).file(NAME);
    const [metadata] = await file.getMetadata();
    const cacheControl = "public, max-age=31536000, immutable";
    expect(metadata).toMatchObject({ contentType: "image/png", cacheControl, size: "300000" });
  });

  it.each<[BucketFault, number]>([
    ["cut-within", 2],
    ["stall", 2],
    ["slow", 1],
    [412, 1], // the object exists
  ])("puts an object when the answer has fault %s, with %i requests", async (fault, requests) => {
    gcs.faults = [fault];
    expect((await put()).isOk()).toBe(true);
    expect(gcs.requests).toHaveLength(requests);
  });

  it.each([400, 401, 403, 404])("does not retry after status %i, which a retry would get too", async (status) => {
    gcs.faults = [status];
    const reason = `Cloud Storage answered ${status}`;
    expect(await put()).toEqual(err({ kind: "storage_unavailable", reason }));
    expect(gcs.requests).toHaveLength(1);
  });

  it("creates no object from bytes that were damaged in transit", async () => {
    gcs.faults = ["damage"];
    expect((await put())._unsafeUnwrapErr().kind).toBe("storage_unavailable");
    expect(gcs.objects.size).toBe(0);
  });

  it("fails if the stored object has the checksum of other bytes", async () => {
    gcs.faults = ["wrong-checksum"];
    expect((await put())._unsafeUnwrapErr().reason).toBe("Cloud Storage has stored other bytes than it was sent");
  });

  it("returns complete objects when concurrent downloads are truncated", async () => {
    const names = [..."abcdefgh"].map((letter) => panoramaName(letter.repeat(22)));
    for (const name of names)
      gcs.objects.set(name, { bytes: BYTES, contentType: "image/png", cacheControl: undefined });
    gcs.faults = ["stall", "cut-within", "stall", "cut-within"];
    for (const result of await Promise.all(names.map((name) => storage.read(name)))) expectAll(result._unsafeUnwrap());
  });

  it("retries with exponential back-off", async () => {
    gcs.faultAfterwards = 503;
    await open(gcs.url, { attemptMilliseconds: 200, totalMilliseconds: 600, firstPauseMilliseconds: 40 }).read(NAME);
    expect(gcs.requests.length).toBeGreaterThan(1);
    // The shortest pauses are 20, 40, 80 and 160 ms. Without exponential growth there would be a dozen requests.
    expect(gcs.requests.length).toBeLessThanOrEqual(5);
  });

  it("check succeeds if the bucket answers, and returns the reason otherwise", async () => {
    expect((await storage.check()).isOk()).toBe(true);
    gcs.faults = [403, "stall"];
    expect((await storage.check())._unsafeUnwrapErr().reason).toBe("Cloud Storage answered 403");
    expect((await storage.check()).isErr()).toBe(true);
    const elsewhere = gcsObjectStorage({ bucket: "another-bucket", apiEndpoint: gcs.url, retryTimes: RETRY_TIMES });
    expect((await elsewhere.check())._unsafeUnwrapErr().reason).toBe("Cloud Storage answered 404");
  });

  it("urlOf starts with Google's URL of the bucket by default", () => {
    const plain = gcsObjectStorage({ bucket: "my-bucket" });
    expect(plain.urlOf(NAME)).toBe(`https://storage.googleapis.com/my-bucket/${NAME}`);
    expect(plain.nameOf(`https://storage.googleapis.com/my-bucket/${NAME}`)).toBe(NAME);
    expect(plain.nameOf(`https://storage.googleapis.com/another-bucket/${NAME}`)).toBeUndefined();
  });

  it("has returns an error if the answer is not from Cloud Storage", async () => {
    const proxy = await startLocalServer((_, response) =>
      response.setHeader("content-type", "application/json").end("{}"),
    );
    const reason = "the answer about an object is not from Cloud Storage";
    const answer = await open(proxy.origin, SHORT_RETRY_TIMES).has(NAME);
    expect(answer).toEqual(err({ kind: "storage_unavailable", reason }));
    await proxy.close();
  });
});
