import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openSqliteDatabase } from "../../adapters/persistence/database/sqlite/open-sqlite-database.js";
import type { AccountId } from "../../domain/ids.js";
import { untilDelivered } from "../support/fleet.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import type { RestClient, Task } from "../support/rest-client.js";
import type { Installation } from "../support/service-process.js";
import { WebhookReceiver } from "../support/webhook-receiver.js";
import { addEndpoints, expectEveryEvent } from "./delivered-events.js";

const ROUNDS = 5;
const ACCOUNTS = 4;
const CREDITS = 2_000;
/**
 * Most tasks fail and are refunded: the path with more ledger entries, and no image to paint. One account has painted
 * pictures.
 */
const promptsOf = (account: number): string[] => [
  account === 0 ? "a foggy ocean" : "a foggy ocean test:plain",
  "a lake test:fail",
  "a wood test:fail",
];

describe("the service under load, killed with SIGKILL at random moments", () => {
  let installation: Installation;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    receiver = await WebhookReceiver.start();
    installation = await migratedInstallation({
      DEMO: "false",
      SUBMIT_TIMEOUT_MS: "500",
      LEASE_MS: "2000", // work of the killed process resumes after this time
      LOCAL_PROVIDER_DELAY_MS: "300",
      WEBHOOK_PRIVATE_ORIGINS: receiver.origin,
    });
  });
  afterAll(async () => {
    await installation?.remove();
    await receiver?.close();
  });

  it(`loses no task, charges and refunds each once, and delivers every event in order in ${ROUNDS} rounds`, async () => {
    const opened = await Promise.all(
      Array.from({ length: ACCOUNTS }, (_, index) => installation.customer(`customer${index}@example.com`, CREDITS)),
    );
    const customers = opened.map(({ client }) => client);
    const database = await openSqliteDatabase(join(installation.dataDir, "panorama.sqlite"));
    onTestFinished(() => database.close());
    const accounts = opened.map(({ account }) => account as AccountId);
    await addEndpoints(database, receiver, accounts);
    const accepted = new Map<string, string>();
    const unanswered: { client: RestClient; idempotencyKey: string; prompt: string }[] = [];

    const createOne = async (client: RestClient, prompt: string): Promise<void> => {
      const idempotencyKey = randomUUID();
      const headers = { "idempotency-key": idempotencyKey };
      const body = JSON.stringify({ prompt, resolution: "1k" });
      const answer = await client.request("/panoramas", { method: "POST", body, headers }).then(
        async (response) => ({ status: response.status, task: (await response.json()) as Task }),
        () => undefined, // the service was killed: the customer does not know whether the task exists
      );
      if (answer === undefined) unanswered.push({ client, idempotencyKey, prompt });
      else if (answer.status === 202) accepted.set(answer.task.id, prompt);
      else expect(answer.status).toBe(429);
    };

    for (let round = 0; round < ROUNDS; round += 1) {
      await installation.start();
      const load = customers.flatMap((client, n) => promptsOf(n).map((prompt) => createOne(client, prompt)));
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 1_200));
      expect(await installation.end("SIGKILL")).toBe("SIGKILL");
      await Promise.all(load);
    }

    await installation.start();
    await untilDelivered(database.sql);
    const known = new Map(
      (await database.sql("select id, state, storage_status from task")).map((row) => [row.id, row]),
    );
    for (const [id, prompt] of accepted) {
      const { state, storage_status } = known.get(id) ?? {};
      expect([state, storage_status]).toEqual(prompt.includes("test:fail") ? ["failed", null] : ["succeeded", "saved"]);
    }

    // A customer who retries an unanswered creation is charged at most once.
    for (const { client, idempotencyKey, prompt } of unanswered.slice(0, 5)) {
      await client.create({ prompt, resolution: "1k" }, { "idempotency-key": idempotencyKey });
    }
    await untilDelivered(database.sql);
    await expectEveryEvent(database.sql, receiver);

    const spent = 4 * (await database.sql("select id from task where state = 'succeeded'")).length;
    const balances = await Promise.all(customers.map((customer) => customer.credits()));
    expect(balances.reduce((sum, balance) => sum + balance, 0)).toBe(ACCOUNTS * CREDITS - spent);
    expect((await installation.answer("ledger", "verify")).json).toEqual({ accounts: ACCOUNTS, findings: [] });
    const files = await readdir(installation.dataDir, { recursive: true });
    expect(files.filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
});
