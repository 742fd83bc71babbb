import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeReplicate, REPLICATE_KEY } from "../../support/fake-replicate.js";
import { freshDatabase } from "../../support/postgres.js";
import { accountIdOf, creationOf, fill, readOf } from "../load/data.js";
import { type Running, startScript } from "../load/processes.js";
import type { Sent } from "../load/sent.js";
import { type DatabaseKind, type Installed, Rig } from "../rig.js";

const ACCOUNTS = 500;
/** Differ between any two answers, or belong to the connection. */
const NOT_COMPARED = ["connection", "date", "keep-alive"];
const REQUEST_ID = "a-request-of-the-test";
const ON_POSTGRES = "as-people-write-it-on-postgres";

const answerOf = async (origin: string, { path, method, headers, body }: Sent) => {
  const sent = { method, headers: { ...headers, "x-request-id": REQUEST_ID } };
  const response = await fetch(origin + path, { ...sent, body: body ?? null });
  const kept = [...response.headers].filter(([name]) => !NOT_COMPARED.includes(name));
  return { status: response.status, headers: Object.fromEntries(kept), body: await response.text() };
};

const started = async (rig: Rig, script: string, kind: DatabaseKind) => {
  const provider = await FakeReplicate.start();
  rig.defer(() => provider.close());
  const environment = { ...(await rig.instantProvider()), REPLICATE_BASE_URL: provider.baseUrl };
  const { service } = await rig.install(kind, { ...environment, REPLICATE_API_KEY: REPLICATE_KEY }, (database) =>
    fill(database, ACCOUNTS, { running: true }),
  );
  await service.start();
  const database = service.environment.DATABASE_URL ?? join(service.dataDir, "panorama.sqlite");
  const args = kind === "postgres" ? [provider.baseUrl, REPLICATE_KEY] : [];
  const neighbour = await startScript(`throughput/${script}.ts`, database, service.url, ...args);
  rig.defer(() => neighbour.stop());
  return { service, provider, neighbour };
};

describe.each([
  ["by-hand", "sqlite"],
  ["as-people-write-it", "sqlite"],
  [ON_POSTGRES, "postgres"],
] as const)("%s, with which reads are compared", (script, kind) => {
  const rig = new Rig(freshDatabase);
  let service: Installed["service"];
  let neighbour: Running;
  let provider: FakeReplicate;
  beforeAll(async () => {
    ({ service, neighbour, provider } = await started(rig, script, kind));
  });
  afterAll(() => rig.close());

  it("answers with the bytes and headers of the service, for a stored panorama and for one in progress", async () => {
    for (const n of [3, 10, 3]) {
      const answer = await answerOf(neighbour.origin, readOf(n));
      expect(answer).toEqual(await answerOf(service.url, readOf(n)));
      expect(answer.status).toBe(200);
    }
  });

  it("answers 401 to an unknown key, 404 to the panorama of another account, and 429 to the 61st request", async () => {
    const statusOf = async (differences: Partial<Sent>) =>
      (await answerOf(neighbour.origin, { ...readOf(5), ...differences })).status;
    expect(await statusOf({ headers: { authorization: "Bearer sk-unknown" } })).toBe(401);
    expect(await statusOf({ path: readOf(6).path })).toBe(404);
    for (let sent = 2; sent <= 60; sent += 1) expect(await statusOf({})).toBe(200);
    expect(await statusOf({})).toBe(429);
  });

  if (kind === "sqlite") return; // those make no panoramas

  it("creates as the service does: the same call, rows and answers", async () => {
    /** What the service reads of the new panorama, too. Without its id and its time. */
    const createOn = async (origin: string, n: number) => {
      const created = await answerOf(origin, creationOf(n));
      const { id, created_at } = JSON.parse(created.body) as { id: string; created_at: string };
      const read = await answerOf(service.url, { ...readOf(n), path: `/api/v1/panoramas/${id}` });
      const ledger = await service.run("ledger", "show", "--account", accountIdOf(n));
      const { method, path, body } = provider.server.requests.findLast((one) => one.method === "POST") ?? {};
      return JSON.parse(
        JSON.stringify({ created, read, ledger, call: { method, path, body } })
          .replaceAll(id, "ID")
          .replaceAll(created_at, "NOW"),
      );
    };
    const ofNeighbour = await createOn(neighbour.origin, 7);
    expect(ofNeighbour).toEqual(await createOn(service.url, 8));
    expect(ofNeighbour.created.status).toBe(202);
    expect(provider.tasks).toHaveLength(2);
  });
});
