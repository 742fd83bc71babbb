import { mkdir, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { ok } from "neverthrow";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { uploadSlots } from "../../../../adapters/system/semaphore.js";
import { panoramaPolicy } from "../../../../domain/panorama-policy.js";
import { expectError } from "../../../support/error-answer.js";
import { type Customer, HttpService } from "../../../support/http-service.js";
import { RawConnection } from "../../../support/raw-connection.js";

const MIB = 1024 * 1024;

const SIGNATURES = {
  "image/jpeg": [0xff, 0xd8, 0xff],
  "image/png": [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  "image/webp": [...Buffer.from("RIFF....WEBP")],
};

/** Bytes that start with the signature of the image type and continue with `seed`. */
const bytesOf = (type: keyof typeof SIGNATURES, sizeBytes = 100, seed = 0): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(sizeBytes).fill(seed);
  bytes.set(SIGNATURES[type].slice(0, sizeBytes));
  return bytes;
};

const jpeg = (sizeBytes?: number, seed?: number): Blob =>
  new Blob([bytesOf("image/jpeg", sizeBytes, seed)], { type: "image/jpeg" });

const formOf = (files: readonly Blob[], field = "files"): FormData => {
  const form = new FormData();
  for (const [index, file] of files.entries()) form.append(field, file, `file-${index}`);
  return form;
};

describe("POST /images", () => {
  let service: HttpService;
  let customer: Customer;

  beforeAll(async () => {
    service = await HttpService.start();
  });
  beforeEach(async () => {
    customer = await service.customer();
    service.calls.uploadImages = 0;
  });
  afterAll(() => service.end());

  const upload = (body: RequestInit["body"], headers: Record<string, string> = {}) =>
    service.request("/images", customer, { method: "POST", body: body ?? null, headers });
  const urlsOf = async (response: Response) => {
    expect(response.status).toBe(200);
    return ((await response.json()) as { image_urls: string[] }).image_urls;
  };
  const filesInProgress = () => readdir(`${service.folder}/uploads`);

  it.each(["image/jpeg", "image/png", "image/webp"] as const)("accepts %s and returns its https URL", async (type) => {
    const bytes = bytesOf(type);
    const [url = ""] = await urlsOf(await upload(formOf([new Blob([bytes], { type })])));
    expect(url).toMatch(/^https:\/\/objects\.example\/references\/[\w-]{22}\.(jpg|png|webp)$/);
    const stored = await service.storage.read(service.storage.nameOf(url)!);
    expect(stored._unsafeUnwrap()).toEqual(bytes);
    expect(await filesInProgress()).toEqual([]);
  });

  it("returns the time until which unused images are kept", async () => {
    const response = await upload(formOf([jpeg(100, 1)]));
    const expiresAt = new Date(service.clock.now().getTime() + 24 * 3_600_000).toISOString();
    expect(await response.json()).toEqual({ image_urls: [expect.any(String)], expires_at: expiresAt });
    const described = await (await fetch(`${service.url}/api/v1/openapi.json`)).text();
    expect(described).toContain("An image that no creation uses is deleted after 24 hours.");
    expect(JSON.parse(described)["x-panorama"].uploads.unused_hours).toBe(24);
  });

  it("returns the URLs in the order of the files, and the same URL for equal bytes", async () => {
    const [first, second] = [jpeg(100, 1), jpeg(100, 2)];
    const urls = await urlsOf(await upload(formOf([first, second, first, second, first])));
    expect(urls).toHaveLength(5);
    expect(urls[0]).not.toBe(urls[1]);
    expect([urls[2], urls[3], urls[4]]).toEqual([urls[0], urls[1], urls[0]]);
    expect(await urlsOf(await upload(formOf([second])))).toEqual([urls[1]]);
  });

  it.each([
    ["one file of exactly 10 MiB", [10 * MIB]],
    ["files of exactly 20 MiB in total", [10 * MIB, 10 * MIB]],
    ["5 files", [1, 2, 3, 4, 5].map((n) => 100 + n)],
  ])("accepts %s", async (_, sizes) => {
    expect(await urlsOf(await upload(formOf(sizes.map((size) => jpeg(size)))))).toHaveLength(sizes.length);
  });

  it.each([
    ["no files at all", formOf([]), "files: is required"],
    ["files under another name only", formOf([jpeg()], "images"), "files: is required"],
    ["6 files", formOf(Array(6).fill(jpeg())), "files: must be at most 5 files"],
    ["one file of 10 MiB and a byte", formOf([jpeg(), jpeg(10 * MIB + 1)]), "files[1]: must have at most 10 MiB"],
    [
      "20 MiB and a byte in total",
      formOf([jpeg(10 * MIB), jpeg(10 * MIB), jpeg(4)]),
      "files: must have at most 20 MiB",
    ],
    ["a GIF", formOf([new Blob(["GIF89a"], { type: "image/gif" })]), "files[0]: must be one of image/jpeg"],
    ["an HTML file that is declared as JPEG", formOf([new Blob(["<html>"], { type: "image/jpeg" })]), "files[0]: "],
    [
      "a PNG that is declared as JPEG",
      formOf([jpeg(), new Blob([bytesOf("image/png")], { type: "image/jpeg" })]),
      "files[1]: is declared as",
    ],
    ["an empty file", formOf([new Blob([], { type: "image/jpeg" })]), "files[0]: "],
  ])("refuses %s with 400 and stores nothing", async (_, form, message) => {
    const before = service.storage.objects.size;
    const response = await upload(form);
    expect(await expectError(response, 400, "invalid_request")).toContain(message);
    expect(service.storage.objects.size).toBe(before);
    expect(await filesInProgress()).toEqual([]);
  });

  it("accepts 50 parts and refuses more", async () => {
    const form = formOf([jpeg()]);
    for (let n = 1; n < 50; n++) form.append(`field-${n}`, "x");
    expect((await upload(form)).status).toBe(200);
    form.append("field-50", "x");
    expect(await expectError(await upload(form), 400, "invalid_request")).toContain("50 parts");
  });

  it.each([
    ["JSON", '{"files": []}', "application/json", "Content-Type: must be multipart/form-data"],
    ["no content type", new Uint8Array(5), "", "Content-Type: must be multipart/form-data"],
    ["multipart without a boundary", "--x--", "multipart/form-data", "has no boundary"],
    ["another multipart", "--x--", "multipart/mixed; boundary=x", "Content-Type: must be multipart/form-data"],
    ["a body without the boundary", "nothing", "multipart/form-data; boundary=x", "request body: "],
  ])("refuses %s with 400", async (_, body, type, message) => {
    const response = await upload(body, { "content-type": type });
    expect(await expectError(response, 400, "invalid_request")).toContain(message);
    expect(service.calls.uploadImages).toBe(0);
    expect(await filesInProgress()).toEqual([]);
  });

  it("refuses a Content-Length of more than 25 MiB without reading the body", async () => {
    const connection = await RawConnection.open(service.port);
    connection.send(
      `POST /api/v1/images HTTP/1.1\r\nhost: x\r\nx-api-key: ${customer.key}\r\n` +
        `content-type: multipart/form-data; boundary=x\r\ncontent-length: ${25 * MIB + 1}\r\n\r\n`,
    );
    const answer = await connection.response();
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"code":"invalid_request","message":"request body: must have at most 25 MiB');
    connection.close();
  });

  it("refuses more than 25 MiB without a Content-Length while reading", async () => {
    const form = new Request("http://x", { method: "POST", body: formOf([jpeg(1)], "files") });
    const type = form.headers.get("content-type") ?? "";
    const boundary = /boundary=(.*)/.exec(type)?.[1];
    const endless = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(
          Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="other"; filename="x"\r\n\r\n`),
        );
      },
      pull(controller) {
        controller.enqueue(new Uint8Array(MIB));
      },
    });
    const response = await service.request("/images", customer, {
      method: "POST",
      body: endless,
      headers: { "content-type": type },
      duplex: "half",
    } as RequestInit);
    expect(await expectError(response, 400, "invalid_request")).toContain("25 MiB");
  });

  it("gives 500 without telling why if the upload cannot be written to disk, or the storage is unavailable", async () => {
    const failing = await HttpService.start();
    const owner = await failing.customer();
    const refusal = async () => {
      const response = await failing.request("/images", owner, { method: "POST", body: formOf([jpeg()]) });
      return expectError(response, 500, "internal_error");
    };
    failing.storage.available = false;
    expect(await refusal()).not.toContain("switched off");
    expect(String(failing.failures.at(-1)?.error)).toContain("switched off");
    await rm(`${failing.folder}/uploads`, { recursive: true });
    expect(await refusal()).not.toContain(failing.folder);
    expect(String(failing.failures.at(-1)?.error)).toContain("ENOENT");
    await failing.end();
  });

  it("deletes at startup the files of killed processes, but not of running processes", async () => {
    const uploadsFolder = `${service.folder}/left-over`;
    for (const name of ["abandoned", "under-way"]) {
      await mkdir(`${uploadsFolder}/${name}`, { recursive: true });
      await writeFile(`${uploadsFolder}/${name}/0`, "half an image");
    }
    const twoHoursAgo = Date.now() / 1000 - 2 * 60 * 60;
    await utimes(`${uploadsFolder}/abandoned`, twoHoursAgo, twoHoursAgo);
    const successor = await HttpService.start({}, { uploadsFolder });
    expect(await readdir(uploadsFolder)).toEqual(["under-way"]);
    await successor.end();
  });
});

it("POST /images processes only a few uploads at the same time, in turn by account, because each has its files in memory then", async () => {
  const turns = vi.spyOn(uploadSlots, "run");
  let atOnce = 0;
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const service = await HttpService.start({
    panoramas: {
      uploadImages: async () => {
        atOnce += 1;
        await released;
        return ok({ urls: [], expiresAt: new Date(0) });
      },
    },
  });
  onTestFinished(async () => {
    turns.mockRestore();
    await service.end();
  });
  const customers = await Promise.all(Array.from({ length: 8 }, () => service.customer()));
  const uploads = customers.map(async (customer) => {
    const init = { method: "POST", body: formOf([jpeg()]) };
    return (await service.request("/images", customer, init)).status;
  });
  await expect.poll(() => turns.mock.calls.length).toBe(8);
  const owners = turns.mock.calls.map(([, owner]) => owner);
  expect(new Set(owners)).toEqual(new Set(customers.map(({ accountId }) => accountId)));
  expect(atOnce).toBe(3);
  release();
  expect(await Promise.all(uploads)).toEqual(Array(8).fill(200));
  expect(atOnce).toBe(8);
});

it("POST /images applies the limits of the policy while the files arrive", async () => {
  const policy = panoramaPolicy({
    uploads: { filesMax: 2, fileBytesMax: 2 * MIB, totalBytesMax: 3 * MIB, requestBytesMax: 4 * MIB },
  });
  const service = await HttpService.start({ policy });
  onTestFinished(() => service.end());
  const customer = await service.customer();
  const refusal = async (...files: Blob[]) => {
    const response = await service.request("/images", customer, { method: "POST", body: formOf(files) });
    return expectError(response, 400, "invalid_request");
  };
  expect(await refusal(jpeg(), jpeg(), jpeg())).toContain("2");
  expect(await refusal(jpeg(2 * MIB + 1))).toContain("2 MiB");
  expect(await refusal(jpeg(2 * MIB), jpeg(2 * MIB - 1000))).toContain("3 MiB");
  expect(await refusal(jpeg(5 * MIB))).toContain("4 MiB");
  expect(service.calls.uploadImages).toBe(0);
});
