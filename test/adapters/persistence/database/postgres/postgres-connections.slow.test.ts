import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type {
  LeasedConnection,
  PostgresStatement,
  Timeouts,
} from "../../../../../adapters/persistence/database/postgres/connections.js";
import { PostgresConnections } from "../../../../../adapters/persistence/database/postgres/postgres-connections.js";
import { StoreBusy } from "../../../../../application/ports/stores/store-errors.js";
import { administer, freshDatabase } from "../../../../support/postgres.js";
import { aProxyTo } from "../../../../support/postgres-proxy.js";

const quotient: PostgresStatement = { text: "select 12 / cast($1 as integer) as value", name: "quotient", brief: true };
const backend: PostgresStatement = { text: "select pg_backend_pid() as pid", name: "backend", brief: true };
const command = (text: string): PostgresStatement => ({ text, brief: false });

describe("PostgresConnections", () => {
  let url: string;
  const opened: PostgresConnections[] = [];

  beforeAll(async () => {
    url = await freshDatabase();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((connections) => connections.close()));
  });

  const connect = (max: number, timeouts: Partial<Timeouts> = {}, connectionString = url): PostgresConnections => {
    const connections = new PostgresConnections({ connectionString }, max, {
      connectMilliseconds: 3_000,
      waitMilliseconds: 3_000,
      responseMilliseconds: 5_000,
      idleMilliseconds: 10_000,
      ...timeouts,
    });
    opened.push(connections);
    return connections;
  };
  const divide = async (connections: PostgresConnections, by: number) => {
    const [row] = await connections.query(quotient, [by]);
    return row?.value;
  };
  /** Opens `count` connections; each runs `work`, so that it has prepared the statements in it. */
  const onEach = async (
    connections: PostgresConnections,
    count: number,
    work: (lease: LeasedConnection, n: number) => Promise<void>,
  ) => {
    const leases = await Promise.all(Array.from({ length: count }, () => connections.lease()));
    await Promise.all(leases.map((lease, n) => work(lease, n + 1)));
    for (const lease of leases) lease.release(false);
  };
  /** Runs `work` in a transaction and rolls back. */
  const inTransaction = async (connections: PostgresConnections, work: () => Promise<void>) => {
    const lease = await connections.lease();
    await lease.query(command("begin"), []);
    await work();
    await lease.query(command("rollback"), []);
    lease.release(false);
  };

  it("pipelines statements, and isolates a failed one", async () => {
    const proxy = await aProxyTo(url);
    const connections = connect(1, {}, proxy.url);
    expect(await divide(connections, 1)).toBe(12); // prepares the statement
    proxy.holdAnswers();
    const results = Promise.allSettled([1, 0, 2, 0, 3].map((by) => divide(connections, by)));
    await expect.poll(() => proxy.statementsHeld()).toBe(5);
    proxy.passAnswers();
    expect(
      (await results).map((result) => (result.status === "fulfilled" ? result.value : result.reason.code)),
    ).toEqual([12, "22012", 6, "22012", 4]);
    // The connection whose statement failed is not used again.
    expect(await divide(connections, 4)).toBe(3);
    expect(proxy.connections()).toBe(2);
    await connections.close();
    proxy.close();
  });

  it("does not fail statements because an earlier one could not be prepared", async () => {
    const connections = connect(1);
    await divide(connections, 1);
    const read = () => connections.query({ text: "select * from later where n = $1", name: "later", brief: true }, [1]);
    const [first, second] = [read(), read()];
    await expect(first).rejects.toThrow('relation "later" does not exist');
    await expect(second).rejects.toThrow('relation "later" does not exist');
  });

  it("sends nothing of others into a transaction", async () => {
    const connections = connect(1);
    await divide(connections, 1);
    const order: string[] = [];
    let read = Promise.resolve();
    await inTransaction(connections, async () => {
      read = divide(connections, 1).then(() => void order.push("read"));
      await setTimeout(50);
      order.push("end of the transaction");
    });
    await read;
    expect(order).toEqual(["end of the transaction", "read"]);
  });

  it("starts a transaction while all connections are busy with reads", async () => {
    const connections = connect(2);
    let reading = true;
    const reader = async () => {
      while (reading) await divide(connections, 1);
    };
    const readers = Array.from({ length: 32 }, reader);
    for (let n = 0; n < 20; n += 1) await inTransaction(connections, async () => {});
    reading = false;
    await Promise.all(readers);
  });

  describe("while first statements of requests wait", () => {
    const arrival: PostgresStatement = { ...quotient, first: true };

    it("sends statements of work in progress before them", async () => {
      const connections = connect(1);
      const order: string[] = [];
      const lease = await connections.lease();
      const all = [
        connections.query(arrival, [1]).then(() => order.push("first")),
        connections.query(backend, []).then(() => order.push("in progress")),
      ];
      lease.release(false);
      await Promise.all(all);
      expect(order).toEqual(["in progress", "first"]);
    });

    it("reports overload if more wait than the server handles in 300 ms", async () => {
      const connections = connect(1);
      const lease = await connections.lease();
      const outcomes = Array.from({ length: 768 }, () => connections.query(arrival, [1]));
      expect(connections.isOverloaded).toBe(false);
      outcomes.push(connections.query(arrival, [1]));
      expect(connections.isOverloaded).toBe(true);
      lease.release(false);
      await Promise.all(outcomes);
      expect(connections.isOverloaded).toBe(false);
    });

    it("reports overload after it has measured a slow server", async () => {
      const connections = connect(1);
      const slow: PostgresStatement = { text: "select pg_sleep(0.03)", brief: false, first: true };
      const outcomes = Promise.allSettled(Array.from({ length: 300 }, () => connections.query(slow, [])));
      expect(connections.isOverloaded).toBe(false);
      await expect.poll(() => connections.isOverloaded).toBe(true);
      await connections.close();
      await outcomes;
    });
  });

  it("sends nothing behind a statement that may wait for a lock", async () => {
    const connections = connect(3);
    const lock: PostgresStatement = { text: "select pg_advisory_lock($1)", name: "lock", brief: false };
    await onEach(connections, 3, async (lease, n) => {
      await lease.query(lock, [n]);
      await lease.query(quotient, [n]);
    });
    const holder = await connections.lease();
    await holder.query(lock, [4]);
    let waits = true;
    const waiting = connections.query(lock, [4]).then(() => {
      waits = false;
    });
    await Promise.all(Array.from({ length: 40 }, () => divide(connections, 1)));
    expect(waits).toBe(true);
    await holder.query(command("select pg_advisory_unlock(4)"), []);
    holder.release(false);
    await waiting;
  });

  it("delays at most seven statements behind a slow one", async () => {
    const connections = connect(2);
    const slow: PostgresStatement = { text: "select pg_sleep($1)", name: "slow", brief: true };
    await onEach(connections, 2, async (lease) => {
      await lease.query(slow, [0]);
      await lease.query(quotient, [1]);
    });
    let answered = 0;
    const sleeping = connections.query(slow, [1]).then(() => answered);
    const reads = Array.from({ length: 40 }, () => divide(connections, 1).then(() => (answered += 1)));
    expect(await sleeping).toBeGreaterThanOrEqual(40 - 7);
    await Promise.all(reads);
  });

  it("survives lost connections: statements in flight fail, the next one reconnects", async () => {
    const connections = connect(4);
    const admin = connect(1);
    const outcomes = new Set<string>();
    let ending = false;
    const record = (work: Promise<unknown>) =>
      work.then(
        () => void outcomes.add("answered"),
        () => void outcomes.add("failed"),
      );
    const use = async () => {
      while (!ending) {
        await record(divide(connections, 1));
        await record(
          (async () => {
            const lease = await connections.lease();
            try {
              await lease.query(command("begin"), []);
              await lease.query(quotient, [1]);
              await lease.query(command("commit"), []);
            } finally {
              lease.release((await lease.query(command("rollback"), []).catch(() => "broken")) === "broken");
            }
          })(),
        );
      }
    };
    const users = Array.from({ length: 12 }, use);
    const [own] = await admin.query(backend, []);
    for (let n = 0; n < 20 || outcomes.size < 2; n += 1) {
      await setTimeout(10);
      await admin.query(
        command(
          `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> ${Number(own?.pid)}`,
        ),
        [],
      );
    }
    ending = true;
    await Promise.all(users);
    expect(outcomes).toEqual(new Set(["answered", "failed"]));
    await expect.poll(() => divide(connections, 2).catch(String)).toBe(6);
  });

  it("closes a silent connection with a statement in flight, but not an idle one", async () => {
    const proxy = await aProxyTo(url);
    const connections = connect(1, { responseMilliseconds: 1_000 }, proxy.url);
    const [first] = await connections.query(backend, []);
    await setTimeout(1_500);
    expect(await connections.query(backend, [])).toEqual([first]);
    proxy.holdAnswers();
    const failed = await Promise.allSettled([1, 2, 3].map(() => connections.query(backend, [])));
    expect(failed.map((result) => result.status === "rejected" && result.reason.message)).toEqual(
      Array(3).fill("PostgreSQL did not answer for 1000 ms"),
    );
    proxy.passAnswers();
    expect(await connections.query(backend, [])).not.toEqual([first]);
    await connections.close();
    proxy.close();
  });

  it("does not close a connection of a transaction that waits for its owner, as the server owes no answer", async () => {
    const connections = connect(1, { responseMilliseconds: 200 });
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      const lease = await connections.lease();
      const [own] = await lease.query(backend, []);
      for (let pause = 0; pause < 3; pause += 1) {
        vi.advanceTimersByTime(5_000);
        expect(await lease.query(backend, [])).toEqual([own]);
      }
      lease.release(false);
      vi.advanceTimersByTime(5_000);
      expect(await connections.query(backend, [])).toEqual([own]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("does not count its own event-loop pause as server silence", async () => {
    const connections = connect(1, { responseMilliseconds: 300 });
    await divide(connections, 1);
    const answer = divide(connections, 2);
    await setTimeout(0); // the statement is sent
    const end = performance.now() + 1_000;
    while (performance.now() < end);
    expect(await answer).toBe(6);
  });

  it("closes idle connections, and opens new ones when needed", async () => {
    const connections = connect(3, { idleMilliseconds: 200 });
    const admin = connect(1);
    await Promise.all([1, 2, 3].map((by) => divide(connections, by)));
    const others = "select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
    await expect.poll(() => admin.query(command(others), [])).toEqual([]);
    expect(await divide(connections, 3)).toBe(4);
  });

  it("fails a statement that waits too long for a connection", async () => {
    const connections = connect(1, { waitMilliseconds: 300 });
    const lease = await connections.lease();
    await expect(divide(connections, 1)).rejects.toThrow("no connection to PostgreSQL became free in 300 ms");
    lease.release(false);
    expect(await divide(connections, 1)).toBe(12);
  });

  it("throws StoreBusy if the server refuses one more connection, but not if it refuses all", async () => {
    const role = `few_${randomBytes(4).toString("hex")}`;
    await administer(url, `create role ${role} login connection limit 1`);
    const limited = new URL(url);
    limited.username = role;
    const first = connect(2, {}, limited.href);
    await inTransaction(first, async () => {
      const refused = await divide(first, 4).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(StoreBusy);
      expect(String(refused)).toContain("no further connection to PostgreSQL could be opened: too many connections");
      const others = await divide(connect(2, {}, limited.href), 4).catch((error: unknown) => error);
      expect(others).not.toBeInstanceOf(StoreBusy);
    });
    expect(await divide(first, 4)).toBe(3);
  });

  it("fails statements, and nothing else, if the certificate in the URL cannot be read", async () => {
    const connections = connect(2, {}, `${url}?sslmode=verify-full&sslrootcert=/nowhere/ca.pem`);
    const failed = await Promise.allSettled([1, 2, 3].map((by) => divide(connections, by)));
    expect(failed.map((result) => result.status === "rejected" && result.reason.code)).toEqual(Array(3).fill("ENOENT"));
  });

  it("closes after the statements in flight, and refuses new ones", async () => {
    const connections = connect(2);
    const answered = Promise.all([1, 2, 3, 4].map((by) => divide(connections, by)));
    await expect.poll(() => divide(connections, 1).catch(String)).toBe(12);
    const last = divide(connections, 12);
    const closed = connections.close();
    await expect(divide(connections, 1)).rejects.toThrow("The connections to PostgreSQL are closed.");
    expect(await answered).toEqual([12, 6, 4, 3]);
    expect(await last).toBe(1);
    await closed;
  });
});
