import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { migratePostgresDatabase } from "../../adapters/persistence/database/postgres/migrate-postgres.js";
import { PostgresServer } from "../support/postgres.js";
import { RestClient } from "../support/rest-client.js";
import { Installation } from "../support/service-process.js";

const REQUESTS = 100;

describe("the service while its PostgreSQL is away", () => {
  let server: PostgresServer;
  let service: Installation;
  let key: string;

  beforeAll(async () => {
    server = await PostgresServer.start();
    await migratePostgresDatabase(server.url);
    service = await Installation.create({ DATABASE_URL: server.url });
    key = (await service.start()).demo_api_key ?? "";
  });
  afterAll(async () => {
    await service.remove();
    await server.remove();
  });

  it("answers with a body and Retry-After, writes few log lines, and continues afterwards", async () => {
    await server.stop();
    const startedAt = performance.now();
    const headers = { authorization: `Bearer ${key}` };
    const read = () => fetch(`${service.url}/api/v1/credits`, { headers });
    const answers = await Promise.all(
      Array.from({ length: REQUESTS }, async () => {
        const answer = await read();
        return { status: answer.status, after: answer.headers.get("retry-after"), body: await answer.json() };
      }),
    );
    expect(answers).toEqual(
      answers.map(() => ({
        status: 500,
        after: "5",
        body: {
          error: { code: "internal_error", message: "The service cannot reach its database. Retry in 5 s." },
        },
      })),
    );
    const creation = await fetch(`${service.url}/api/v1/panoramas`, { method: "POST", headers, body: "{}" });
    expect([creation.status, await creation.text()]).toEqual([
      500,
      expect.stringContaining(
        "The creation may have been accepted: check your tasks with GET /api/v1/panoramas before you send it again, or",
      ),
    ]);
    const page = await fetch(`${service.url}/gallery`);
    expect([page.status, page.headers.get("retry-after")]).toEqual([500, "5"]);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(503);
    const seconds = (performance.now() - startedAt) / 1000;

    await server.restart();
    await expect.poll(async () => (await read()).status).toBe(200);
    expect(
      await new RestClient(service.url, key).create({ prompt: "a quiet lake test:plain", resolution: "1k" }),
    ).toHaveProperty("id");
    await service.end("SIGTERM");
    const lines = service.log.split("\n").filter((line) => /"level":"error"/.test(line));
    const away = lines.filter((line) => line.includes('"event":"database_unavailable"'));
    expect(lines.filter((line) => line.includes("request_failed"))).toEqual([]);
    expect(away.length).toBeGreaterThan(0);
    // While the server starts again, it is away, too.
    expect(away.length).toBeLessThan(seconds + 25);
    expect(Math.max(...away.map((line) => line.length))).toBeLessThan(400);
  });
});
