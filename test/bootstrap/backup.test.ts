import { copyFile, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSqliteDatabase } from "../../adapters/persistence/open-sqlite-database.js";
import { accountsWithKeys, secretsOf } from "../support/accounts-with-keys.js";
import { pause } from "../support/fleet.js";
import { RestClient } from "../support/rest-client.js";
import { scratchFolder } from "../support/scratch-folder.js";
import { Installation } from "../support/service-process.js";

const CUSTOMERS = 12;

describe("panorama backup", () => {
  let installation: Installation;
  let clients: RestClient[];
  /** Has no tasks that the backup shows in progress. */
  let idle: RestClient;

  beforeAll(async () => {
    installation = await Installation.create({ DEMO: "false", LOCAL_PROVIDER_DELAY_MS: "0" });
    const database = await openSqliteDatabase(join(installation.dataDir, "panorama.sqlite"));
    const keys = secretsOf(await accountsWithKeys(database, CUSTOMERS + 1, 1_000));
    await database.close();
    await installation.start();
    [idle, ...clients] = keys.map((key) => new RestClient(installation.url, key)) as [RestClient, ...RestClient[]];
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
    await idle.create({ prompt: "after the restore", resolution: "1k" });
    const { status, json } = await installation.command("ledger", "verify");
    expect({ status, json }).toEqual({ status: 0, json: { accounts: CUSTOMERS + 1, findings: [] } });
  });

  it("replaces no file, and says what is wrong with its argument", async () => {
    const folder = await scratchFolder();
    const file = join(folder, "kept");
    await writeFile(file, "kept");
    const refusal = async (...args: string[]) => {
      const { error } = await installation.command("backup", ...args);
      return error?.message;
    };
    expect(await refusal(file)).toBe(`${file} exists already. Choose another name, or delete it first.`);
    expect(await refusal(join(folder, "missing", "file"))).toMatch(/missing\/file could not be written: /);
    expect(await refusal()).toBe("panorama backup: FILE is required. Usage: panorama backup FILE");
    const empty = await Installation.create();
    await mkdir(empty.dataDir, { recursive: true });
    expect((await empty.command("backup", join(folder, "none"))).error?.message).toBe(
      `There is no database ${join(empty.dataDir, "panorama.sqlite")}.`,
    );
    await empty.remove();
    expect(await readdir(folder)).toEqual(["kept"]);
  });
});
