import { describe, expect, it } from "vitest";
import { s3ObjectStorage } from "../../../adapters/storage/s3-object-storage.js";
import {
  BYTES,
  expectAll,
  faultyBucketContract,
  NAME,
  PUBLIC_URL,
} from "../../support/contracts/faulty-bucket-contract.js";
import { FakeS3, type S3Error, type S3Fault } from "../../support/fake-s3.js";
import { INTERNAL_ERROR, SLOW_DOWN, setUpS3 } from "./s3-setup.js";

describe("S3ObjectStorage in a bucket that fails", () => {
  faultyBucketContract({
    service: "S3",
    start: () => FakeS3.start(),
    open: (endpoint, retryTimes) => {
      const { bucket, region, credentials } = new FakeS3();
      return s3ObjectStorage({ bucket, region, endpoint, credentials, publicUrl: PUBLIC_URL, retryTimes });
    },
  });
});

describe("S3ObjectStorage.put with a faulty bucket", () => {
  const on = setUpS3();
  const { checked, stored, methods } = on;
  const put = (storage: Awaited<ReturnType<typeof checked>>) => storage.put(NAME, BYTES, "image/png");

  it.each<S3Fault>([
    INTERNAL_ERROR,
    SLOW_DOWN,
    { status: 429, code: "SlowDown" },
    { status: 400, code: "RequestTimeout" },
    { status: 409, code: "ConditionalRequestConflict" },
    "damage",
    // It corrects its clock.
    {
      status: 403,
      code: "RequestTimeTooSkewed",
      headers: { date: new Date(Date.now() + 60 * 60 * 1000).toUTCString() },
    },
  ])("retries after fault %j and stores the object once", async (fault) => {
    const storage = await checked();
    on.s3.faults = [fault];
    expect((await put(storage)).isOk()).toBe(true);
    expect([on.s3.requests.length, on.s3.writes]).toEqual([2, 1]);
    expectAll(stored());
  });

  it.each<[S3Error, string]>([
    [{ status: 400, code: "ExpiredToken" }, "S3 answered 400 (ExpiredToken)"],
    [{ status: 403, code: "AccessDenied" }, "S3 answered 403 (AccessDenied)"],
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
    on.s3.faults = [error];
    expect((await put(storage))._unsafeUnwrapErr().reason).toBe(reason);
    expect(on.s3.requests).toHaveLength(1);
  });

  it("accepts a wrong ETag if the object itself is right", async () => {
    const storage = await checked();
    on.s3.faults = ["wrong-checksum"];
    expect((await put(storage)).isOk()).toBe(true);
    expect(methods()).toEqual(["PUT", "GET"]);
  });

  it("replaces bytes that were damaged in transit to a service that does not check them, but not for ever", async () => {
    on.s3.checksContentMd5 = false;
    const storage = await checked();
    on.s3.faults = ["damage"];
    expect((await put(storage)).isOk()).toBe(true);
    expect(methods()).toEqual(["PUT", "GET", "GET", "PUT"]);
    expectAll(stored());
    await storage.delete(NAME);
    on.s3.faults = ["damage", undefined, undefined, "damage", undefined, undefined, "damage"];
    expect((await put(storage))._unsafeUnwrapErr().reason).toBe("S3 has stored other bytes than it was sent");
  });
});
