import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { migratedInstallation } from "../support/migrated-installation.js";
import type { RestClient, Task } from "../support/rest-client.js";
import type { Installation } from "../support/service-process.js";

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

  beforeAll(async () => {
    installation = await migratedInstallation({
      DEMO: "false",
      SUBMIT_TIMEOUT_MS: "500",
      LEASE_MS: "2000", // work of the killed process resumes after this time
      LOCAL_PROVIDER_DELAY_MS: "300",
    });
  });
  afterAll(() => installation.remove());

  it(`loses no task and charges and refunds each once in ${ROUNDS} rounds`, async () => {
    const customers = await Promise.all(
      Array.from({ length: ACCOUNTS }, async (_, index) => {
        return (await installation.customer(`customer${index}@example.com`, CREDITS)).client;
      }),
    );
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
    const known = new Map<string, Task>();
    for (const client of customers) {
      for (const task of await untilAllHaveEnded(client)) known.set(task.id, task);
    }
    for (const [id, prompt] of accepted) {
      const task = known.get(id);
      if (prompt.includes("test:fail")) expect(task?.status).toBe("failed");
      else expect(task?.output?.storage_status).toBe("saved");
    }
    for (const task of known.values()) expect(["succeeded", "failed"]).toContain(task.status);

    // A customer who retries an unanswered creation is charged at most once.
    for (const { client, idempotencyKey, prompt } of unanswered.slice(0, 5)) {
      const repeated = await client.create({ prompt, resolution: "1k" }, { "idempotency-key": idempotencyKey });
      known.set(repeated.id, await client.untilKept(repeated.id));
    }

    const spent = [...known.values()].filter(({ status }) => status === "succeeded").length * 4;
    const balances = await Promise.all(customers.map((customer) => customer.credits()));
    expect(balances.reduce((sum, balance) => sum + balance, 0)).toBe(ACCOUNTS * CREDITS - spent);
    expect((await installation.answer("ledger", "verify")).json).toEqual({ accounts: ACCOUNTS, findings: [] });
    const files = await readdir(installation.dataDir, { recursive: true });
    expect(files.filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
});

/** Polls the list instead of each task: a key allows 60 reads a minute. */
const untilAllHaveEnded = async (client: RestClient): Promise<Task[]> => {
  for (;;) {
    const tasks = await all(client);
    const isInProgress = ({ status, output }: Task) =>
      status === "processing" || output?.storage_status === "uploading";
    if (!tasks.some(isInProgress)) return tasks;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
};

const all = async (client: RestClient): Promise<Task[]> => {
  const tasks: Task[] = [];
  let cursor = "";
  do {
    const response = await client.request(`/panoramas?limit=100${cursor && `&cursor=${cursor}`}`);
    const page = (await response.json()) as { data: Task[]; next_cursor: string | null };
    tasks.push(...page.data);
    cursor = page.next_cursor ?? "";
  } while (cursor !== "");
  return tasks;
};
