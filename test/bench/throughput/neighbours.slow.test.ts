import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fill, readOf } from "../load/data.js";
import { startScript } from "../load/processes.js";
import { type Installed, Rig } from "../rig.js";

const ACCOUNTS = 500;
/** Differ between any two answers, or belong to the connection. */
const NOT_COMPARED = ["connection", "date", "keep-alive"];
const REQUEST_ID = "a-request-of-the-test";

const answerOf = async (origin: string, { path, headers }: Pick<ReturnType<typeof readOf>, "path" | "headers">) => {
  const response = await fetch(origin + path, { headers: { ...headers, "x-request-id": REQUEST_ID } });
  const kept = [...response.headers].filter(([name]) => !NOT_COMPARED.includes(name));
  return { status: response.status, headers: Object.fromEntries(kept), body: await response.text() };
};

describe.each(["by-hand", "as-people-write-it"])("%s, with which reads are compared", (script) => {
  const rig = new Rig();
  let service: Installed["service"];
  let origin: string;
  beforeAll(async () => {
    ({ service } = await rig.install("sqlite", await rig.instantProvider(), (database) =>
      fill(database, ACCOUNTS, { running: true }),
    ));
    await service.start();
    const neighbour = await startScript(
      `throughput/${script}.ts`,
      join(service.dataDir, "panorama.sqlite"),
      service.url,
    );
    rig.defer(() => neighbour.stop());
    origin = neighbour.origin;
  });
  afterAll(() => rig.close());

  it("answers with the bytes and headers of the service, for a stored panorama and for one in progress", async () => {
    for (const n of [3, 10, 3]) {
      const answer = await answerOf(origin, readOf(n));
      expect(answer).toEqual(await answerOf(service.url, readOf(n)));
      expect(answer.status).toBe(200);
    }
  });

  it("answers 401 to an unknown key, 404 to the panorama of another account, and 429 to the 61st request", async () => {
    const statusOf = async (path: string, headers: Readonly<Record<string, string>>) =>
      (await answerOf(origin, { path, headers })).status;
    const { path, headers } = readOf(5);
    expect(await statusOf(path, { authorization: "Bearer sk-unknown" })).toBe(401);
    expect(await statusOf(readOf(6).path, headers)).toBe(404);
    for (let sent = 2; sent <= 60; sent += 1) expect(await statusOf(path, headers)).toBe(200);
    expect(await statusOf(path, headers)).toBe(429);
  });
});
