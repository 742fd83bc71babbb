import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openPostgresDatabase } from "../../adapters/persistence/database/postgres/open-postgres-database.js";
import type { PostgresDatabase } from "../../adapters/persistence/database/postgres/postgres-database.js";
import { SystemClock } from "../../adapters/system/system-clock.js";
import { panoramas } from "../../application/panoramas/panoramas.js";
import type { AccountId, TaskId } from "../../domain/ids.js";
import { FAL_KEY, FakeFal } from "../support/fake-fal.js";
import { FakeS3 } from "../support/fake-s3.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import { freshDatabase } from "../support/postgres.js";
import type { RestClient, Task } from "../support/rest-client.js";
import { Installation } from "../support/service-process.js";
import { sqlStores } from "../support/sql-stores.js";
import { seamless } from "../support/test-images.js";

const ASSETS = "https://objects.example";
const CREDITS = 100;
const COST = 4;

type Source = { readonly email: string; readonly account: string; readonly client: RestClient; readonly task: Task };

/** Two instances on one PostgreSQL database and one bucket, with one slot at the provider: creations can be held. */
describe("the source of a change, between its acceptance and its sending", () => {
  let s3: FakeS3;
  let fal: FakeFal;
  let database: PostgresDatabase;
  let first: Installation;
  let second: Installation;

  beforeAll(async () => {
    [s3, fal] = [await FakeS3.start(), await FakeFal.start()];
    fal.picture = await seamless({ widthPixels: 1024, heightPixels: 512 }).jpeg().toBuffer();
    const databaseUrl = await freshDatabase();
    database = await openPostgresDatabase(databaseUrl, 2);
    const environment = {
      DATABASE_URL: databaseUrl,
      DEMO: "false",
      LEASE_MS: "1000",
      STORAGE: "s3",
      S3_BUCKET: s3.bucket,
      S3_REGION: s3.region,
      S3_ENDPOINT: s3.url,
      S3_PUBLIC_URL: ASSETS,
      AWS_ACCESS_KEY_ID: s3.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
      AWS_SESSION_TOKEN: s3.credentials.sessionToken,
      PROVIDER: "fal",
      PROVIDER_MAX_CONCURRENT: "1",
      PROVIDER_POLL_MS: "100",
      FAL_API_KEY: FAL_KEY,
      FAL_BASE_URL: fal.baseUrl,
      FAL_PLATFORM_URL: fal.platformUrl,
      FAL_JWKS_URL: fal.jwksUrl,
    };
    first = await migratedInstallation(environment);
    second = await Installation.create(environment);
    for (const instance of [first, second]) await instance.start();
  });
  afterAll(async () => {
    await first?.remove();
    await second?.remove();
    await database?.close();
    await Promise.all([s3?.close(), fal?.close()]);
  });

  afterEach(() => {
    fal.plan = "succeed"; // also after a failure, which would keep the slot
  });

  const sourceOf = async (name: string): Promise<Source> => {
    const email = `${name}@example.com`;
    const { account, client } = await first.customer(email);
    const { id } = await client.create({ prompt: `the lake of ${name}`, resolution: "1k", visibility: "public" });
    return { email, account, client, task: await client.untilKept(id) };
  };
  const untilGone = async ({ task }: Source) => {
    const name = (task.output?.image_url ?? "").slice(ASSETS.length + 1);
    await expect.poll(() => s3.objects.has(name)).toBe(false);
  };

  const remove = async ({ client, task }: Source) => {
    expect((await client.request(`/panoramas/${task.id}`, { method: "DELETE" })).status).toBe(204);
  };
  const hide = async (source: Source) => {
    await second.run("gallery", "hide", source.task.output?.slug ?? "", "--reason", "Shows a private person");
    await untilGone(source); // background work renames its objects
  };
  const makePrivate = async ({ account, task }: Source) => {
    const { changeVisibility } = panoramas({ ...sqlStores(database), clock: new SystemClock() });
    (await changeVisibility(task.id as TaskId, account as AccountId, "private"))._unsafeUnwrap();
  };
  const closeAccount = async (source: Source) => {
    await second.run("account", "close", "--account", source.account, "--confirm", source.email);
    await untilGone(source); // background work deletes its objects
  };

  it.each([
    ["deleted", remove, "reference_unreachable"],
    ["hidden by the operator", hide, "reference_unreachable"],
    ["made private by its owner", makePrivate, undefined], // its acceptance counts, and its file is still there
    ["in an account that is closed", closeAccount, "reference_unreachable"],
  ] as const)("%s: the change ends once, and a repeat by its key gives the same task", async (what, change, reason) => {
    const name = what.split(" ").at(-1) ?? "";
    const source = await sourceOf(`ann-${name}`);
    const url = source.task.output?.image_url ?? "";
    const bob = await first.customer(`bob-${name}@example.com`, CREDITS);

    fal.plan = "run";
    const { id: blocking } = await bob.client.create({ prompt: "a pier", resolution: "1k" });
    const sentBefore = fal.tasks.length;
    const body = JSON.stringify({ prompt: "the same at night", resolution: "1k", image_urls: [url] });
    const createAt = async ({ url: origin }: Installation, key: string) => {
      const headers = { authorization: `Bearer ${bob.key}`, "idempotency-key": key };
      const answer = await fetch(`${origin}/api/v1/panoramas`, { method: "POST", headers, body });
      const { id, error } = (await answer.json()) as Partial<Task>;
      return { status: answer.status, id, error, replayed: answer.headers.get("idempotent-replayed") };
    };
    const accepted = await createAt(first, "change");
    expect(accepted).toMatchObject({ status: 202, replayed: null });
    const again = { ...accepted, replayed: "true" };

    await change(source);
    expect(await createAt(second, "change")).toEqual(again);
    expect(await createAt(second, "another")).toMatchObject({
      status: 400,
      error: { code: "invalid_request", message: expect.stringContaining("does not exist in this service") },
    });
    expect(fal.tasks).toHaveLength(sentBefore);

    fal.plan = "succeed";
    expect(await bob.client.untilKept(blocking)).toMatchObject({ status: "succeeded" });
    const ended = await bob.client.untilKept(accepted.id ?? "");
    expect([ended.status, ended.error?.reason]).toEqual([reason === undefined ? "succeeded" : "failed", reason]);
    for (const instance of [first, second]) expect(await createAt(instance, "change")).toEqual(again);

    expect(fal.tasks).toHaveLength(sentBefore + (reason === undefined ? 1 : 0));
    expect(JSON.stringify(fal.server.requests)).not.toContain(ASSETS);
    expect(await bob.client.credits()).toBe(CREDITS - COST - (reason === undefined ? COST : 0));
    const entries = await database.sql("select kind, credits from ledger_entry where task_id = ? order by id", [
      ended.id,
    ]);
    const refunds = reason === undefined ? [] : [{ kind: "refund", credits: COST }];
    expect(entries).toEqual([{ kind: "reservation", credits: -COST }, ...refunds]);
    expect(await second.run("ledger", "verify")).toMatchObject({ findings: [] });
  });
});
