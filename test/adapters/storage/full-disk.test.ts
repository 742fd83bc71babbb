import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { filesystemObjectStorage } from "../../../adapters/storage/filesystem-object-storage.js";
import type { ObjectStorage } from "../../../application/ports/object-storage.js";
import { panoramaName } from "../../../domain/images/object-name.js";
import { fillDisk } from "../../support/full-disk.js";
import { scratchFolder } from "../../support/scratch-folder.js";

describe("a data directory on a full disk", () => {
  let folder: string;
  let storage: ObjectStorage;
  let makeRoom = () => {};

  beforeEach(async () => {
    folder = await scratchFolder();
    storage = await filesystemObjectStorage({ folder, assetUrl: "https://panoramas.example/assets" });
  });
  afterEach(() => makeRoom());

  const files = async () => [
    ...(await readdir(join(folder, "incoming"))),
    ...(await readdir(join(folder, "panoramas"))),
  ];

  it.each([0, 1])(
    "takes no object, leaves no part of it, serves and deletes others: close fails %i times",
    async (n) => {
      const [kept, refused] = [panoramaName("k".repeat(22)), panoramaName("r".repeat(22))];
      await storage.put(kept, Buffer.from("kept"), "image/jpeg");
      makeRoom = fillDisk(folder, { closeFails: n === 1 });
      const put = () => storage.put(refused, Buffer.from("refused"), "image/jpeg");
      expect((await put())._unsafeUnwrapErr()).toMatchObject({ kind: "storage_unavailable" });
      expect(Buffer.from((await storage.read(kept))._unsafeUnwrap()).toString()).toBe("kept");
      expect(await files()).toEqual([kept.slice("panoramas/".length)]);
      expect((await storage.delete(kept)).isOk()).toBe(n === 0); // its folder is closed, too
      makeRoom();
      expect((await put()).isOk()).toBe(true);
      expect(await files()).toEqual([refused.slice("panoramas/".length)]);
    },
  );
});
