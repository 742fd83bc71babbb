import { createHash } from "node:crypto";
import { copyFile, cp, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openSqliteDatabase } from "../../adapters/persistence/sqlite/open-sqlite-database.js";
import { accountsWithKeys, secretsOf } from "../support/accounts-with-keys.js";
import { pause } from "../support/fleet.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import { RestClient, type Task } from "../support/rest-client.js";
import { scratchFolder } from "../support/scratch-folder.js";
import { Installation } from "../support/service-process.js";

const CUSTOMERS = 12;
/** Customers without tasks that a restored backup shows in progress, which count to their limit of active tasks. */
const IDLE = 3;

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
  let clients: RestClient[];
  let idle: RestClient[];

  beforeAll(async () => {
    // A restored backup shows tasks in progress: what they hold is free when their leases have ended.
    installation = await migratedInstallation({ DEMO: "false", LOCAL_PROVIDER_DELAY_MS: "0", LEASE_MS: "10000" });
    const database = await openSqliteDatabase(join(installation.dataDir, "panorama.sqlite"));
    keys = secretsOf(await accountsWithKeys(database, IDLE + CUSTOMERS, 1_000));
    await database.close();
    await installation.start();
    const all = keys.map((key) => new RestClient(installation.url, key));
    [idle, clients] = [all.slice(0, IDLE), all.slice(IDLE)];
  });
  afterAll(() => installation.remove());

  it("copies the database of the running service under load, and the service runs on the copy", async () => {
    const folder = await scratchFolder();
    const accepted: string[] = []; // the ids of creations, in the order of their answers
    let isLoaded = true;
    const load = clients.map(async (client) => {
      while (isLoaded) {
        const body = JSON.stringify({ prompt: "a lake test:fail", resolution: "1k" });
        const answer = await client.request("/panoramas", { method: "POST", body });
        const { id } = (await answer.json()) as { id?: string };
        if (id === undefined) await pause(100);
        else accepted.push(id);
      }
    });
    await expect.poll(() => accepted.length).toBeGreaterThan(20);
    const before = accepted.slice(-20);
    const file = join(folder, "backup.sqlite");
    expect(await installation.command("backup", file)).toMatchObject({ status: 0, json: { file }, stderr: "" });
    isLoaded = false;
    await Promise.all(load);
    await installation.end("SIGKILL");

    expect((await stat(file)).mode & 0o077).toBe(0);
    expect(await readdir(folder)).toEqual(["backup.sqlite"]);
    for (const name of ["panorama.sqlite", "panorama.sqlite-wal", "panorama.sqlite-shm"]) {
      await rm(join(installation.dataDir, name), { force: true });
    }
    await copyFile(file, join(installation.dataDir, "panorama.sqlite"));
    await installation.start();
    for (const id of before) {
      const answers = await Promise.all(clients.map((client) => client.request(`/panoramas/${id}`)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(CUSTOMERS - 1).fill(404)]);
    }
    await idle[0]?.create({ prompt: "after the restore", resolution: "1k" });
    const { status, json } = await installation.answer("ledger", "verify");
    expect({ status, json }).toEqual({ status: 0, json: { accounts: IDLE + CUSTOMERS, findings: [] } });
  });

  it("copies database and objects of the running service, and another one serves every image of the copy", async () => {
    const folder = join(await scratchFolder(), "backup");
    const kept = new Map<string, string>(); // ids of finished panoramas with the SHA-256 of their image
    const deleted = new Set<string>();
    let isLoaded = true;
    const load = idle.slice(1).map(async (client) => {
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
    expect((await stat(folder)).mode & 0o077).toBe(0);
    expect((await readdir(folder)).sort()).toEqual(["objects", "panorama.sqlite"]);

    const restored = await Installation.create({ DEMO: "false", LOCAL_PROVIDER_DELAY_MS: "0" });
    onTestFinished(() => restored.remove());
    await cp(folder, restored.dataDir, { recursive: true });
    await restored.start();
    const found = new Set<string>();
    for (const key of keys.slice(1, IDLE)) {
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
