import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../../adapters/memory/hand-clock.js";
import { MemoryObjectStorage } from "../../../../adapters/memory/memory-object-storage.js";
import { LocalProvider } from "../../../../adapters/provider/local/local-provider.js";
import { PaintPool } from "../../../../adapters/provider/local/paint-pool.js";
import { ReferenceImages } from "../../../../adapters/provider/local/reference-images.js";
import { PublicFetch } from "../../../../adapters/provider/public-fetch.js";
import { fillDisk } from "../../../support/full-disk.js";

describe("the local provider on a full disk", () => {
  const pool = new PaintPool(1);
  const publicFetch = new PublicFetch();
  const order = { taskId: taskId(1), request: aCreationRequest({ resolution: "1k", prompt: "a foggy ocean" }) };
  let folder: string;
  let provider: LocalProvider;
  let makeRoom = () => {};

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "local-provider-"));
    const references = new ReferenceImages(new MemoryObjectStorage(), publicFetch);
    const clock = new HandClock();
    provider = new LocalProvider({
      clock,
      references,
      pool,
      folder,
      publicUrl: "https://p.example",
      delayMilliseconds: 0,
    });
  });
  afterEach(async () => {
    makeRoom();
    await provider.idle();
    await rm(folder, { recursive: true });
  });
  afterAll(() => Promise.all([pool.close(), publicFetch.close()]));

  it("starts nothing for an order that it cannot store, and takes the order when there is room", async () => {
    makeRoom = fillDisk(folder);
    expect((await provider.submit(order))._unsafeUnwrapErr()).toMatchObject({ kind: "unknown" });
    expect((await provider.search(order.taskId))._unsafeUnwrap()).toBeUndefined();
    expect(await readdir(join(folder, "jobs"))).toEqual([]);
    makeRoom();
    expect((await provider.submit(order)).isOk()).toBe(true);
  });

  it("keeps a job whose picture it cannot store, leaves no half picture, and ends it when there is room", async () => {
    const id = (await provider.submit(order))._unsafeUnwrap();
    makeRoom = fillDisk(folder);
    await provider.idle();
    expect((await provider.poll(id))._unsafeUnwrapErr()).toMatchObject({
      kind: "provider_unavailable",
      reason: expect.stringContaining("ENOSPC"),
    });
    await provider.idle();
    expect(await readdir(join(folder, "results"))).toEqual([]);
    makeRoom();
    await provider.poll(id);
    await provider.idle();
    expect((await provider.poll(id))._unsafeUnwrap()).toMatchObject({ state: "succeeded" });
  });

  it("can stop a job", async () => {
    const id = (await provider.submit(order))._unsafeUnwrap();
    makeRoom = fillDisk(folder);
    expect((await provider.cancel(id))._unsafeUnwrap()).toBe("canceled");
    expect([await readdir(join(folder, "jobs")), await readdir(join(folder, "results"))]).toEqual([[], []]);
  });
});
