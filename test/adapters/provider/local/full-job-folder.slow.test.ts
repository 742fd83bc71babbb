import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../../adapters/contracts/support/builders.js";
import type { LocalProvider } from "../../../../adapters/provider/local/local-provider.js";
import { PaintPool } from "../../../../adapters/provider/local/paint-pool.js";
import { fillDisk } from "../../../support/full-disk.js";
import { scratchFolder } from "../../../support/scratch-folder.js";
import { aLocalProvider, filesIn } from "./local-setup.js";

describe("the local provider on a disk that is full or fails", () => {
  const pool = new PaintPool(1);
  const order = { taskId: taskId(1), request: aCreationRequest({ resolution: "1k", prompt: "a foggy ocean" }) };
  let folder: string;
  let provider: LocalProvider;
  let makeRoom = () => {};

  beforeEach(async () => {
    folder = await scratchFolder();
    provider = aLocalProvider({ folder, pool });
  });
  afterEach(async () => {
    makeRoom();
    await provider.idle();
  });
  afterAll(() => pool.close());

  it("starts nothing for an order that it cannot store, and takes the order when there is room", async () => {
    makeRoom = fillDisk(folder);
    expect((await provider.submit(order))._unsafeUnwrapErr()).toMatchObject({ kind: "unknown" });
    expect((await provider.search(order.taskId))._unsafeUnwrap()).toBeUndefined();
    expect(await filesIn(folder)).toEqual([[], []]);
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
    expect((await filesIn(folder))[1]).toEqual([]);
    makeRoom();
    await provider.poll(id);
    await provider.idle();
    expect((await provider.poll(id))._unsafeUnwrap()).toMatchObject({ state: "succeeded" });
  });

  it("can stop a job", async () => {
    const id = (await provider.submit(order))._unsafeUnwrap();
    makeRoom = fillDisk(folder);
    expect((await provider.cancel(id))._unsafeUnwrap()).toBe("canceled");
    expect(await filesIn(folder)).toEqual([[], []]);
  });

  it("reports submissions as unknown, and polls and searches as unavailable, without its folder", async () => {
    await provider.clean(); // the folder is there now
    await rm(join(folder, "jobs"), { recursive: true });
    await writeFile(join(folder, "jobs"), "not a folder");
    expect((await provider.submit(order))._unsafeUnwrapErr().kind).toBe("unknown");
    expect((await provider.poll("local-pan_1"))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
    expect((await provider.search(order.taskId))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
  });

  it("reports a generation whose file is damaged as unavailable", async () => {
    const id = (await provider.submit(order))._unsafeUnwrap();
    const [[name = ""] = []] = await filesIn(folder);
    await writeFile(join(folder, "jobs", name), "{");
    expect((await provider.poll(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
  });
});
