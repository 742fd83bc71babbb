import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readEventStream } from "../../adapters/client/requests/stream-events.js";
import { migratePostgresDatabase } from "../../adapters/persistence/database/postgres/migrate-postgres.js";
import { type Customer, Fleet, pause, untilDelivered } from "../support/fleet.js";
import { PostgresServer } from "../support/postgres.js";
import type { Installation } from "../support/service-process.js";
import { WebhookReceiver } from "../support/webhook-receiver.js";
import { addEndpoints, expectEveryEvent } from "./delivered-events.js";

const PANORAMA_CREDITS = 4;
const KILLS = 6;

describe("three instances on one PostgreSQL database", () => {
  let server: PostgresServer;
  let fleet: Fleet;
  let receiver: WebhookReceiver;
  let customers: Customer[];

  beforeAll(async () => {
    server = await PostgresServer.start();
    await migratePostgresDatabase(server.url);
    receiver = await WebhookReceiver.start();
    fleet = await Fleet.start(server.url, { WEBHOOK_PRIVATE_ORIGINS: receiver.origin });
    customers = await fleet.customers(20);
    const accounts = customers.map(({ id }) => id);
    await addEndpoints(fleet.database, receiver, accounts);
  });
  afterAll(async () => {
    await fleet?.remove();
    await receiver?.close();
    await server?.remove();
  });

  /** Creates tasks, two at a time per customer. Every 50th becomes a panorama, the others fail and are refunded. */
  const load = async (creations: number): Promise<string[]> => {
    let started = 0;
    const client = async (customer: Customer): Promise<string[]> => {
      const ids: string[] = [];
      while (started < creations) {
        started += 1;
        ids.push(await fleet.create(customer, started % 50 === 0 ? "a foggy ocean test:plain" : "test:fail"));
      }
      return ids;
    };
    return (await Promise.all([...customers, ...customers].map(client))).flat();
  };

  const expectConsistency = async (ids: readonly string[]) => {
    await untilDelivered(fleet.database.sql);
    const { tasks, entries, findings } = await fleet.ledgers();
    expect(findings).toEqual([]);
    const known = new Map(tasks.map((task) => [task.id, task]));
    for (const id of ids) expect(["succeeded", "failed"]).toContain(known.get(id)?.state);
    for (const task of tasks) {
      if (task.state === "succeeded") expect(task.storage_status).toBe("saved");
      const refunds = entries.filter((entry) => entry.task_id === task.id && entry.kind === "refund");
      expect(refunds).toHaveLength(task.state === "failed" ? 1 : 0);
    }
    const submissions = fleet.submissions();
    expect(submissions.size).toBeGreaterThan(ids.length / 4); // the last log lines of a killed instance may be lost
    for (const [id, times] of submissions) expect(times, `submissions of ${id}`).toBe(1);
    const accounts = await fleet.database.sql("select id, credits from account");
    for (const { id, credits } of accounts) {
      const panoramas = tasks.filter((task) => task.account_id === id && task.state === "succeeded").length;
      const [purchase] = entries.filter((entry) => entry.account_id === id && entry.kind === "purchase");
      expect(credits).toBe(Number(purchase?.credits) - panoramas * PANORAMA_CREDITS);
    }
  };

  const taskCount = async (): Promise<number> => (await fleet.database.sql("select id from task")).length;

  /** Resolves when an instance holds the lease to check or store the task's image, or has already stored it. */
  const untilStoring = async (id: string | undefined) => {
    for (;;) {
      const [row] = await fleet.database.sql(
        "select storage_status, due_at > now() + interval '2 seconds' as leased from task where id = ?",
        [id],
      );
      if (row?.leased === true || row?.storage_status === "saved") return;
      await pause(5);
    }
  };

  it("stream the events of a task that another instance has moved", async () => {
    const [streaming, creating] = fleet.instances as [Installation, Installation, Installation];
    const [customer] = customers;
    const headers = { authorization: `Bearer ${customer?.nextKey()}` };
    const leaving = new AbortController();
    const opened = await fetch(`${streaming.url}/api/v1/events`, { headers, signal: leaving.signal });
    expect(opened.status).toBe(200);
    streaming.signal("SIGSTOP"); // so that it cannot move the task itself
    try {
      const id = await fleet.create(customer as Customer, "test:fail", creating);
      const failed = () => fleet.database.sql("select id from task where id = ? and state = 'failed'", [id]);
      await expect.poll(failed).toHaveLength(1);
      streaming.signal("SIGCONT");
      for await (const { data } of readEventStream(opened.body as ReadableStream<Uint8Array>)) {
        expect(JSON.parse(data)).toMatchObject({ type: "panorama.failed", data: { id, status: "failed" } });
        break;
      }
    } finally {
      streaming.signal("SIGCONT");
      leaving.abort();
    }
  });

  it(`end each of 100 tasks once, and deliver every event in order, in spite of ${KILLS} kills`, async () => {
    const ids = load(100);
    for (let kill = 0; kill < KILLS; kill += 1) {
      const instance = fleet.instances[Math.floor(Math.random() * 3)];
      await pause(Math.random() * 1_000);
      expect(await instance?.end("SIGKILL")).toBe("SIGKILL");
      await instance?.start();
    }
    expect(new Set(await ids).size).toBe(100);
    await expectConsistency(await ids);
    await expectEveryEvent(fleet.database.sql, receiver);
  });

  it("end each of 60 tasks once although PostgreSQL was down meanwhile", async () => {
    const before = await taskCount();
    const ids = load(60);
    await expect.poll(taskCount).toBeGreaterThan(before + 10);
    await server.stop();
    for (const { url } of fleet.instances) expect((await fetch(`${url}/readyz`)).status).toBe(503);
    await server.restart();
    expect(new Set(await ids).size).toBe(60);
    await expectConsistency(await ids);
    await expectEveryEvent(fleet.database.sql, receiver);
    for (const { url } of fleet.instances) expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  it("stay consistent when one of them is paused for longer than its lease", async () => {
    const [paused, ...others] = fleet.instances as [Installation, ...Installation[]];
    const ids: string[] = [];
    // The others are paused first, so that a lease in the database belongs to this instance when it is paused.
    for (const other of others) other.signal("SIGSTOP");
    let leasedId: string | undefined;
    for (const customer of customers.slice(0, 10)) {
      ids.push(await fleet.create(customer, "a foggy ocean test:plain", paused));
      await untilStoring(ids.at(-1));
      paused.signal("SIGSTOP");
      await pause(100);
      const [row] = await fleet.database.sql(
        "select id from task where state = 'generated' or storage_status = 'uploading'",
      );
      leasedId = row && String(row.id);
      if (leasedId !== undefined) break;
      paused.signal("SIGCONT"); // it had already stored the image
    }
    expect(leasedId).toBeDefined();
    for (const other of others) other.signal("SIGCONT");
    ids.push(...(await Promise.all(customers.map((customer) => fleet.create(customer, "test:fail", others[0])))));
    await untilDelivered(fleet.database.sql);
    const before = await fleet.ledgers();

    paused.signal("SIGCONT");
    await pause(2_000);
    expect(await fleet.ledgers()).toEqual(before);
    await expectConsistency(ids);
  });
});
