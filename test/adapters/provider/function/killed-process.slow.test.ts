import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeImageApi } from "../../../support/fake-image-api.js";
import { freshDatabase } from "../../../support/postgres.js";
import { scratchFolder } from "../../../support/scratch-folder.js";
import { seamless } from "../../../support/test-images.js";

const run = promisify(execFile);

type Ended = { readonly stdout: string; readonly signal?: string | null };

/** What a process of process.ts prints. */
const outputOf = async (argument: object) => {
  const args = ["--import", "tsx", "test/adapters/provider/function/process.ts", JSON.stringify(argument)];
  const ended: Ended = await run(process.execPath, args).catch((error: Ended) => {
    if (error.signal !== "SIGKILL") throw error;
    return error;
  });
  return { ...JSON.parse(ended.stdout), signal: ended.signal };
};

const SAVED = { state: "succeeded", status: "saved", balance: 6, signal: undefined };
const LOST = { state: "failed", reason: "provider_unavailable", balance: 10, signal: undefined };

describe.each([
  ["SQLite", async () => ({})],
  ["PostgreSQL", async () => ({ postgresUrl: await freshDatabase() })],
])("functionProvider in two processes on one database of %s, the first of which is killed", (_, databaseOf) => {
  let api: FakeImageApi;

  beforeEach(async () => {
    api = await FakeImageApi.start();
    api.picture = await seamless({ widthPixels: 512, heightPixels: 256 }).jpeg().toBuffer();
  });
  afterEach(() => api.close());

  it.each([
    ["before the record", { ...LOST, reason: "never_submitted" }, 0],
    ["while it generates", LOST, 0],
    ["before put generations", LOST, 0],
    ["after put generations", SAVED, 0],
    ["before put panoramas", SAVED, 0],
    ["after put panoramas", SAVED, 0],
    ["before delete generations", SAVED, 1],
    ["after delete generations", SAVED, 0],
  ])("%s: the task ends once, and the API is called once", async (step, end, left) => {
    const folder = await scratchFolder();
    const shared = { folder, origin: api.origin, ...(await databaseOf()) };
    api.hold();
    const { account, signal } = await outputOf({ ...shared, step });
    expect(signal).toBe("SIGKILL");
    expect(await outputOf({ ...shared, account, aheadSeconds: 200 })).toEqual(end);
    expect(api.requests).toHaveLength(1);
    const generations = () => readdir(join(folder, "objects/generations"));
    expect(await generations()).toHaveLength(left);
    // A day later, the clean-up of the next process.
    if (left > 0) await outputOf({ ...shared, account, aheadSeconds: 25 * 60 * 60, cleans: true });
    expect(await generations()).toEqual([]);
    const panoramas = await readdir(join(folder, "objects/panoramas"));
    expect(panoramas).toHaveLength(end.state === "succeeded" ? 2 : 0);
  });
});
