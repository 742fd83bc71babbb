import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { migratedInstallation } from "../support/migrated-installation.js";
import { RestClient } from "../support/rest-client.js";
import type { Installation } from "../support/service-process.js";

const DAY_SECONDS = 86_400;

describe("panorama retention", () => {
  let installation: Installation;

  beforeEach(async () => {
    installation = await migratedInstallation({ DEMO: "false", LOCAL_PROVIDER_DELAY_MS: "0" });
    installation.environment.PANORAMA_SETTINGS = join(installation.dataDir, "settings.json");
  });
  afterEach(() => installation.remove());

  const keepFor = (finishedImagesDays: number | null) =>
    writeFile(installation.environment.PANORAMA_SETTINGS ?? "", JSON.stringify({ retention: { finishedImagesDays } }));
  const sql = (statement: string, ...parameters: (string | number)[]) => {
    const database = new DatabaseSync(join(installation.dataDir, "panorama.sqlite"), { timeout: 5_000 });
    try {
      return database.prepare(statement).all(...parameters) as Record<string, unknown>[];
    } finally {
      database.close();
    }
  };
  const finishedImages = async (...args: string[]) =>
    (await installation.answer("retention", ...args)).json.finished_images as Record<string, unknown>;
  const doctorSays = async () =>
    ((await installation.answer("doctor")).json.checks as { name: string; status: string }[]).find(
      ({ name }) => name === "retention",
    )?.status;

  it("shows what a shorter setting would erase, refuses it without --yes, and confirms it with it", async () => {
    await keepFor(365);
    await installation.start();
    const opened = await installation.answer(
      "account",
      "create",
      "--email",
      "a@example.com",
      "--credits",
      "20",
      "--key",
    );
    const client = new RestClient(installation.url, String(opened.json.api_key));
    const { id } = await client.create({ prompt: "a foggy ocean test:plain", resolution: "1k" });
    await client.untilKept(id);
    await installation.end("SIGTERM");
    // As the service does once a minute.
    expect(await finishedImages("apply")).toMatchObject({ in_force_seconds: 365 * DAY_SECONDS });
    expect(sql("select * from retention where retained = 'finished_images'")).toHaveLength(1);

    sql("update task set succeeded_at = succeeded_at - ?", 100 * DAY_SECONDS * 1000);
    await keepFor(36);
    expect(await doctorSays()).toBe("warning");
    const pending = {
      setting_seconds: 36 * DAY_SECONDS,
      in_force_seconds: 365 * DAY_SECONDS,
      confirmed_from: null,
      older_than_setting: 1,
      oldest: expect.any(String),
      newest: expect.any(String),
    };
    expect(await finishedImages("show")).toEqual(pending);
    const { status, error } = await installation.answer("retention", "apply");
    expect([status, error?.code]).toEqual([5, "refused"]);
    expect(error?.message).toMatch(
      /^finished images kept for 36 days would erase 1 image now, from \S+ to \S+\. To confirm/,
    );
    expect(await finishedImages("show")).toEqual(pending);
    expect(await finishedImages("apply", "--yes")).toEqual({ ...pending, confirmed_from: expect.any(String) });
    const audited = await installation.answer("audit", "list", "--limit", "1");
    expect(audited.json).toMatchObject({
      actions: [{ command: "retention apply", arguments: { yes: "true" }, outcome: "done" }],
    });

    await keepFor(365);
    expect(await finishedImages("apply")).toMatchObject({ in_force_seconds: 365 * DAY_SECONDS, confirmed_from: null });
    expect(await doctorSays()).toBe("ok");
  });
});
