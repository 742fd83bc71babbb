import { createHash } from "node:crypto";
import { cp, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openSqliteDatabase } from "../../adapters/persistence/database/sqlite/open-sqlite-database.js";
import { accountsWithKeys, secretsOf } from "../support/accounts-with-keys.js";
import { pause } from "../support/fleet.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import { RestClient, type Task } from "../support/rest-client.js";
import { scratchFolder } from "../support/scratch-folder.js";
import { Installation } from "../support/service-process.js";

const sha256Of = async (url: string): Promise<string> => {
  const answer = await fetch(url);
  expect(answer.status, url).toBe(200);
  return createHash("sha256")
    .update(Buffer.from(await answer.arrayBuffer()))
    .digest("hex");
};

describe("panorama backup", () => {
  let installation: Installation;
  let keys: readonly string[];

  beforeAll(async () => {
    installation = await migratedInstallation({ DEMO: "false", LOCAL_PROVIDER_DELAY_MS: "0" });
    const database = await openSqliteDatabase(join(installation.dataDir, "panorama.sqlite"));
    keys = secretsOf(await accountsWithKeys(database, 2, 1_000));
    await database.close();
    await installation.start();
  });
  afterAll(() => installation.remove());

  it("copies database and objects of the running service, and another one serves every image of the copy", async () => {
    const folder = join(await scratchFolder(), "backup");
    const kept = new Map<string, string>(); // ids of finished panoramas with the SHA-256 of their image
    const deleted = new Set<string>();
    let isLoaded = true;
    const load = keys.map(async (key) => {
      const client = new RestClient(installation.url, key);
      const body = JSON.stringify({ prompt: "a foggy ocean test:plain", resolution: "1k" });
      while (isLoaded) {
        const created = (await (await client.request("/panoramas", { method: "POST", body })).json()) as {
          id?: string;
        };
        if (created.id === undefined) {
          await pause(100); // busy, or its rate limit is reached
          continue;
        }
        const { id, output } = await client.untilKept(created.id);
        kept.set(id, await sha256Of(output?.image_url ?? ""));
        if (kept.size % 3 !== 0) continue;
        const answer = await client.request(`/panoramas/${id}`, { method: "DELETE" });
        if (answer.status === 204) deleted.add(id);
      }
    });
    await expect.poll(() => kept.size).toBeGreaterThan(2);
    const before = [...kept.keys()].filter((id) => !deleted.has(id));
    const { status: done, json: made } = await installation.command("backup", folder, "--objects");
    expect({ done, made }).toEqual({ done: 0, made: { folder, objects: expect.any(Number), missing: [] } });
    isLoaded = false;
    await Promise.all(load);
    for (const path of [folder, join(folder, "panorama.sqlite")]) expect((await stat(path)).mode & 0o077).toBe(0);
    expect((await readdir(folder)).sort()).toEqual(["objects", "panorama.sqlite"]);

    const restored = await Installation.create({ DEMO: "false", LOCAL_PROVIDER_DELAY_MS: "0" });
    onTestFinished(() => restored.remove());
    await cp(folder, restored.dataDir, { recursive: true });
    await restored.start();
    const found = new Set<string>();
    for (const key of keys) {
      const client = new RestClient(restored.url, key);
      const { data } = (await (await client.request("/panoramas?limit=100&status=succeeded")).json()) as {
        data: Task[];
      };
      for (const { id, output } of data) {
        if (output?.storage_status !== "saved") continue; // the backup has shown it in progress
        expect(await sha256Of(output.image_url)).toBe(kept.get(id));
        expect((await fetch(output.thumbnail_url ?? "")).status).toBe(200);
        found.add(id);
      }
    }
    for (const id of before) if (!deleted.has(id)) expect([...found]).toContain(id);
    expect(await restored.answer("storage", "verify")).toMatchObject({ status: 0, json: { missing: [] } });
    expect(await restored.answer("ledger", "verify")).toMatchObject({ status: 0, json: { findings: [] } });

    const [lost = ""] = await readdir(join(restored.dataDir, "objects", "panoramas"));
    await rm(join(restored.dataDir, "objects", "panoramas", lost));
    expect(await restored.answer("storage", "verify")).toMatchObject({
      status: 1,
      json: { missing: [`panoramas/${lost}`] },
    });
  });

  it("replaces no file, and names the fault of its argument", async () => {
    const folder = await scratchFolder();
    const file = join(folder, "kept");
    await writeFile(file, "kept");
    const refusal = async (...args: string[]) => {
      const { error } = await installation.answer("backup", ...args);
      return error?.message;
    };
    expect(await refusal(file)).toBe(`${file} exists already. Choose another name, or delete it first.`);
    expect(await refusal(join(folder, "missing", "file"))).toMatch(/missing\/file could not be written: /);
    expect(await refusal()).toBe("panorama backup: FILE is required. Usage: panorama backup FILE [--objects]");
    const empty = await Installation.create();
    await mkdir(empty.dataDir, { recursive: true });
    expect((await empty.answer("backup", join(folder, "none"))).error?.message).toBe(
      `There is no database ${join(empty.dataDir, "panorama.sqlite")}.`,
    );
    await empty.remove();
    expect(await readdir(folder)).toEqual(["kept"]);
  });
});
