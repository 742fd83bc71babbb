import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratchFolder } from "../../support/scratch-folder.js";

describe("FilesystemObjectStorage in a process that is killed", () => {
  it("never shows an incomplete object", async () => {
    for (const writesBeforeKill of [0, 1, 3]) {
      const folder = await scratchFolder();
      const writer = spawn(process.execPath, ["test/adapters/storage/put-until-killed.mjs", folder], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const exited = once(writer, "exit");
      await new Promise<void>((resolve) => {
        let output = "";
        writer.stdout.on("data", (chunk: Buffer) => {
          output += chunk.toString();
          if (output.split("\n").length > writesBeforeKill + 1) resolve();
        });
      });
      await untilAWriteIsUnfinished(join(folder, "incoming"));
      writer.kill("SIGKILL");
      await exited;

      const objects = await readdir(join(folder, "panoramas"));
      expect(objects.length).toBeGreaterThan(writesBeforeKill);
      for (const object of objects) {
        const bytes = await readFile(join(folder, "panoramas", object));
        expect(bytes.equals(Buffer.alloc(4_000_000, Number.parseInt(object, 10) % 256))).toBe(true);
      }
    }
  });
});

const untilAWriteIsUnfinished = async (folder: string): Promise<void> => {
  while ((await readdir(folder)).length === 0);
};
