import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import type { ImageSource } from "../../../adapters/client/read-images.js";
import { pngBytes } from "../../support/image-bytes.js";
import { scratchFolder } from "../../support/scratch-folder.js";
import { failureOf, setUpClient } from "./client-setup.js";

const on = setUpClient();

/** Names, types and sizes of the files of the last upload. */
const sent = async (): Promise<unknown> => {
  const upload = on.service.requests("POST", "/images").at(-1);
  const headers = { "content-type": upload?.headers["content-type"] ?? "" };
  const form = await new Response(new Uint8Array(upload?.body ?? []), { headers }).formData();
  return (form.getAll("files") as File[]).map(({ name, type, size }) => [name, type, size]);
};

async function* inTwo(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(0, 5);
  yield bytes.subarray(5);
}

describe("PanoramaClient.upload", () => {
  const bytes = new Uint8Array(pngBytes(300));

  it.each<[string, ImageSource, string]>([
    ["a File", new File([bytes], "lake.png", { type: "image/png" }), "lake.png"],
    ["a Blob", new Blob([bytes]), "image-1"],
    ["bytes", bytes, "image-1"],
    ["bytes with a name", { bytes, name: "sky.png" }, "sky.png"],
    ["an ArrayBuffer", bytes.buffer, "image-1"],
    ["a stream", new Blob([bytes]).stream(), "image-1"],
    ["an iterable, as Node.js streams are", inTwo(bytes), "image-1"],
  ])("sends %s, alone or in a list", async (_, source, name) => {
    expect((await on.client.upload(source)).image_urls).toHaveLength(1);
    expect(await sent()).toEqual([[name, "image/png", 300]]);
  });

  it("sends files by path and by URL, in their order", async () => {
    const path = join(await scratchFolder(), "a lake, 50% darker.png");
    await writeFile(path, bytes);
    const { image_urls, expires_at } = await on.client.upload([path, pathToFileURL(path), pngBytes(100)]);
    expect([image_urls.length, expires_at]).toEqual([3, on.service.uploadsExpireAt]);
    const [upload] = on.service.requests("POST", "/images"); // the service needs the length to refuse it in time
    expect(Number(upload?.headers["content-length"])).toBe(upload?.body.length);
    expect(await sent()).toEqual([
      ["a lake, 50% darker.png", "image/png", 300],
      ["a lake, 50% darker.png", "image/png", 300],
      ["image-3", "image/png", 100],
    ]);
  });

  it("sends a stream again after a lost answer", async () => {
    on.service.failNext("POST", "/images", { kind: "accept-and-drop" });
    expect((await on.client.upload(inTwo(bytes))).image_urls).toHaveLength(1);
    expect(on.service.requests("POST", "/images").map(({ body }) => body.length)).toEqual([
      expect.any(Number),
      on.service.requests("POST", "/images")[0]?.body.length,
    ]);
  });

  it("ends when the caller aborts it while it reads a stream", async () => {
    const abort = new AbortController();
    const endless = () => new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) });
    const uploaded = on.client.upload(endless(), { signal: abort.signal });
    abort.abort();
    expect(await failureOf(uploaded)).toMatchObject({ name: "AbortedError", mayHaveBeenAccepted: false });
    const aborted = on.client.upload(endless(), { signal: abort.signal });
    expect((await failureOf(aborted)).name).toBe("AbortedError");
    expect(on.service.received).toEqual([]);
  });

  it("rejects with the error of the file system for a path without a file", async () => {
    await expect(on.client.upload("no-such-file.png")).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("names the file that is no image, and sends nothing", async () => {
    const error = await failureOf(on.client.upload([bytes, new Blob(["text"])]));
    expect(error).toMatchObject({ name: "InvalidRequestError", param: "files[1]", status: undefined });
    expect(on.service.received).toEqual([]);
  });
});
