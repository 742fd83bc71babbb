import { chmod, readdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { migratedInstallation } from "../support/migrated-installation.js";
import { RawConnection } from "../support/raw-connection.js";
import { RestClient } from "../support/rest-client.js";
import type { Installation } from "../support/service-process.js";

const installations: Installation[] = [];
afterEach(async () => {
  for (const installation of installations.splice(0)) await installation.remove();
});

const anInstallation = async (environment: Record<string, string> = {}): Promise<Installation> => {
  const installation = await migratedInstallation({ DEMO: "false", LOCAL_PROVIDER_DELAY_MS: "0", ...environment });
  installations.push(installation);
  return installation;
};

describe("serve on a SQLite data directory", () => {
  const refusal = ({ dataDir }: Installation) =>
    `Another panorama serve runs in DATA_DIR ${dataDir}. Stop it, or set another DATA_DIR, or set DATABASE_URL: only instances on PostgreSQL can share their data.`;

  it("is refused with one line while another serve runs there, which other commands do not disturb", async () => {
    const first = await anInstallation();
    const second = await anInstallation({ DATA_DIR: first.dataDir });
    await first.start();
    expect(await second.command("serve")).toMatchObject({ status: 5, error: { message: refusal(first) } });

    const { client } = await first.customer("a@example.com", 4);
    expect(await client.credits()).toBe(4);
    expect(await first.answer("migrate")).toMatchObject({ status: 0 });
    expect(await first.answer("ledger", "verify")).toMatchObject({ status: 0, json: { accounts: 1, findings: [] } });
    // The commands have released nothing.
    expect(await second.command("serve")).toMatchObject({ status: 5, error: { message: refusal(first) } });
    expect(await client.credits()).toBe(4);
  });
});

describe("GET /readyz", () => {
  it("answers 503 and names the storage while it takes no write", async () => {
    const installation = await anInstallation();
    await installation.start();
    await rename(join(installation.dataDir, "objects"), join(installation.dataDir, "objects-away"));
    const answer = await fetch(`${installation.url}/readyz`);
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      error: { code: "not_ready", message: "The service is not ready: storage." },
      checks: [
        { name: "database", ok: true },
        { name: "storage", ok: false },
      ],
    });
  });
});

describe("the files of the service", () => {
  /** Every file and folder in `folder` and the folder itself, if other users have access to it. */
  const open = async (folder: string): Promise<string[]> => {
    const names = await readdir(folder, { recursive: true });
    const paths = [folder, ...names.map((name) => join(folder, name))];
    const modes = await Promise.all(paths.map(async (path) => [path, (await stat(path)).mode & 0o077] as const));
    return modes.filter(([, mode]) => mode !== 0).map(([path]) => path);
  };

  it("have modes for their user only: data directory, database, images, TLS key, uploads", async () => {
    const { dataDir } = await anInstallation();
    const installation = await anInstallation({ DATA_DIR: join(dataDir, "new", "data") });
    const data = join(dataDir, "new");
    await installation.command("migrate");
    const options = ["--email", "a@example.com", "--credits", "9", "--key"];
    const { json } = await installation.command("account", "create", ...options);
    expect(await open(data)).toEqual([]);
    await installation.start();
    const client = new RestClient(installation.url, String(json.api_key));
    await client.untilKept((await client.create({ prompt: "a foggy ocean test:plain", resolution: "1k" })).id);

    const upload = await RawConnection.open(Number(new URL(installation.url).port));
    upload.send(
      `POST /api/v1/images HTTP/1.1\r\nhost: x\r\nx-api-key: ${json.api_key}\r\ncontent-length: 99999\r\ncontent-type: multipart/form-data; boundary=x\r\n\r\n--x\r\ncontent-disposition: form-data; name="files"; filename="a.jpg"\r\n\r\n${"x".repeat(40_000)}`,
    );
    await expect.poll(() => readdir(join(data, "data", "uploads"), { recursive: true })).toHaveLength(2);
    expect(await open(data)).toEqual([]);
    upload.close();
    expect(await installation.end("SIGTERM")).toBe(0);
    expect(installation.log).not.toContain("data_dir_shared");
  });

  it("can be shared on purpose: an existing data directory stays as it is, with a warning", async () => {
    const installation = await anInstallation();
    await chmod(installation.dataDir, 0o750);
    await installation.start();
    expect((await stat(installation.dataDir)).mode & 0o777).toBe(0o750);
    expect(await installation.end("SIGTERM")).toBe(0);
    expect(installation.log).toContain(`"event":"data_dir_shared","mode":"750"`);
  });
});
