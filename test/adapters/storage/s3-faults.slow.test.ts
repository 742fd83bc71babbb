import { describe, expect, it } from "vitest";
import type { S3Error, S3Fault } from "../../support/fake-s3.js";
import { freePort } from "../../support/free-port.js";
import { BYTES, expectAll, INTERNAL_ERROR, NAME, SHORT_RETRY_TIMES, SLOW_DOWN, setUpS3 } from "./s3-setup.js";

const on = setUpS3();
const { storageWith, checked, given, stored, methods, reasonOf } = on;

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
    on.s3.faults = [fault];

    expect((await storage.put(NAME, BYTES, "image/png")).isOk()).toBe(true);

    expect(on.s3.requests).toHaveLength(2);
    expect(on.s3.writes).toBe(1);
    expectAll(stored());
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
    on.s3.faults = [error];

    expect(await reasonOf(storage.put(NAME, BYTES, "image/png"))).toBe(reason);

    expect(on.s3.requests).toHaveLength(1);
  });

  it("corrects its clock and retries after an answer about clock skew", async () => {
    const storage = await checked();
    const date = new Date(Date.now() + 60 * 60 * 1000).toUTCString();
    on.s3.faults = [{ status: 403, code: "RequestTimeTooSkewed", headers: { date } }];

    expect((await storage.put(NAME, BYTES, "image/png")).isOk()).toBe(true);

    expect(on.s3.requests).toHaveLength(2);
  });

  it("accepts a wrong ETag if the object itself is right", async () => {
    const storage = await checked();
    on.s3.faults = ["wrong-checksum"];

    expect((await storage.put(NAME, BYTES, "image/png")).isOk()).toBe(true);

    expect(methods()).toEqual(["PUT", "GET"]);
  });

  it("replaces bytes that were damaged in transit to a service that does not check them", async () => {
    on.s3.checksContentMd5 = false;
    const storage = await checked();
    on.s3.faults = ["damage"];

    expect((await storage.put(NAME, BYTES, "image/png")).isOk()).toBe(true);

    expect(methods()).toEqual(["PUT", "GET", "GET", "PUT"]);
    expectAll(stored());
  });

  it("fails if a service that does not check the bytes damages them each time", async () => {
    on.s3.checksContentMd5 = false;
    const storage = await checked();
    on.s3.faults = ["damage", undefined, undefined, "damage", undefined, undefined, "damage"];

    expect(await reasonOf(storage.put(NAME, BYTES, "image/png"))).toBe("S3 has stored other bytes than it was sent");
  });
});

describe("S3ObjectStorage while the service is unavailable", () => {
  describe.each(["put", "read", "delete"] as const)("%s", (call) => {
    it.each<S3Fault>([SLOW_DOWN, "silence", "cut-before", "html"])(
      "gives up at the total timeout when every request gets fault %j",
      async (fault) => {
        const storage = await checked({ retryTimes: SHORT_RETRY_TIMES });
        given(NAME);
        on.s3.faultAfterwards = fault;
        const start = performance.now();

        const result = await (call === "put" ? storage.put(NAME, BYTES, "image/png") : storage[call](NAME));

        expect(result._unsafeUnwrapErr().kind).toBe("storage_unavailable");
        expect(on.s3.requests.length).toBeGreaterThan(1);
        // Without a total timeout, it never gives up. A busy machine needs more than the timeout.
        expect(performance.now() - start).toBeLessThan(20 * SHORT_RETRY_TIMES.totalMilliseconds);
      },
    );
  });

  it.each<S3Fault>([SLOW_DOWN, "silence", "cut-before", "cut-after", "html"])(
    "deletes an object although one request gets fault %j",
    async (fault) => {
      const storage = await checked();
      given(NAME);
      on.s3.faults = [fault];
      expect((await storage.delete(NAME)).isOk()).toBe(true);
      expect(on.s3.objects.has(NAME)).toBe(false);
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
