import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { lockExclusively } from "../../../../../adapters/persistence/database/schema/exclusive-lock.js";
import { scratchFolder } from "../../../../support/scratch-folder.js";

describe("lockExclusively", () => {
  it("gives the lock to one holder until it is released, and writes nothing", async () => {
    const file = join(await scratchFolder(), "serve.lock");
    const lock = lockExclusively(file);
    expect(lock).toBeDefined();
    expect(lockExclusively(file)).toBeUndefined();
    lock?.release();
    const next = lockExclusively(file);
    expect(next).toBeDefined();
    next?.release();
    expect(await readFile(file)).toHaveLength(0);
  });

  it("throws if the file cannot be created", async () => {
    const folder = await scratchFolder();
    expect(() => lockExclusively(join(folder, "missing", "serve.lock"))).toThrow(/unable to open/);
  });
});
