import { describe, expect, it } from "vitest";
import type { S3Fault } from "../../support/fake-s3.js";
import { expectAll, INTERNAL_ERROR, LARGE, LARGE_RETRY_TIMES, MIB, NAME, SLOW_DOWN, setUpS3 } from "./s3-setup.js";

const on = setUpS3();
const { checked, given, stored, methods, uploadRequests, reasonOf } = on;

describe("S3ObjectStorage.put of a large object", () => {
  it("uploads it in parts of 8 MiB, with the headers of any object", async () => {
    const storage = await checked({ retryTimes: LARGE_RETRY_TIMES });

    expect((await storage.put(NAME, LARGE, "image/png")).isOk()).toBe(true);

    expectAll(stored(), LARGE);
    expect(on.s3.objects.get(NAME)?.headers).toMatchObject({ "content-type": "image/png" });
    expect(uploadRequests()).toEqual([
      "HEAD ",
      "POST ?uploads",
      "PUT ?partNumber&uploadId&x-id",
      "PUT ?partNumber&uploadId&x-id",
      "POST ?uploadId",
    ]);
    expect(on.s3.uploads.size).toBe(0);
  });

  it("uploads an object of at most one part in one request", async () => {
    const storage = await checked({ retryTimes: LARGE_RETRY_TIMES });

    await storage.put(NAME, LARGE.subarray(0, 8 * MIB), "image/png");

    expect(methods()).toEqual(["PUT"]);
  });

  it.each<S3Fault>(["cut-before", "cut-after", "silence", "damage", "html", SLOW_DOWN])(
    "repeats only the part that had fault %j",
    async (fault) => {
      const storage = await checked({ retryTimes: LARGE_RETRY_TIMES });
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
    const storage = await checked({ retryTimes: LARGE_RETRY_TIMES });
    on.s3.faults = [...Array<undefined>(4), fault];

    expect((await storage.put(NAME, LARGE, "image/png")).isOk()).toBe(true);

    expectAll(stored(), LARGE);
    expect(on.s3.writes).toBe(1);
    expect(on.s3.uploads.size).toBe(0);
  });

  it.each([3, 4])("aborts it when request %i is refused", async (index) => {
    const storage = await checked({ retryTimes: LARGE_RETRY_TIMES });
    on.s3.faults = [...Array<undefined>(index), { status: 403, code: "AccessDenied" }];

    expect(await reasonOf(storage.put(NAME, LARGE, "image/png"))).toBe("S3 answered 403 (AccessDenied)");

    expect(methods().at(-1)).toBe("DELETE");
    expect(on.s3.uploads.size).toBe(0);
    expect(on.s3.objects.has(NAME)).toBe(false);
  });

  it("keeps the object that another writer has created meanwhile, and aborts its own upload", async () => {
    const storage = await checked({ retryTimes: LARGE_RETRY_TIMES });
    const put = storage.put(NAME, LARGE, "image/png");
    await expect.poll(() => on.s3.uploads.size).toBe(1);
    given(NAME, Buffer.from("first"));

    expect((await put).isOk()).toBe(true);

    expect(stored().toString()).toBe("first");
    expect(on.s3.uploads.size).toBe(0);
  });

  it("completes without the condition if only single-request uploads support it", async () => {
    on.s3.condition = "is known for one request only";
    const storage = await checked({ retryTimes: LARGE_RETRY_TIMES });

    expect((await storage.put(NAME, LARGE, "image/png")).isOk()).toBe(true);

    expectAll(stored(), LARGE);
  });
});
