import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { VISITOR_LIMITS } from "../../../adapters/http/limits/visitor-limits.js";
import { HttpService } from "../../support/http-service.js";

describe("GET /provenance/{sha256}", () => {
  let service: HttpService;
  beforeEach(async () => {
    service = await HttpService.start();
  });
  afterEach(() => service.end());

  const ask = async (sha256: string) => {
    const answer = await fetch(`${service.url}/api/v1/provenance/${sha256}`);
    return { status: answer.status, body: await answer.json(), retryAfter: answer.headers.get("retry-after") };
  };

  it("answers everybody whether, when and by which provider a file was made, also after it was deleted", async () => {
    const sha256 = createHash("sha256").update("a file").digest("hex");
    expect(await ask(sha256)).toMatchObject({ status: 200, body: { made_here: false } });
    const madeAt = new Date("2026-11-24T02:00:00Z");
    await service.provenance.record([{ sha256, provider: "local", madeAt }]);
    const known = { made_here: true, made_at: "2026-11-24T02:00:00.000Z", provider: "local" };
    expect(await ask(sha256)).toMatchObject({ status: 200, body: known });
    expect(await ask(sha256.toUpperCase())).toMatchObject({ status: 200, body: known });
  });

  it.each(["abc", "g".repeat(64), "0".repeat(65), "%00"])("refuses %j, which is no SHA-256", async (text) => {
    expect(await ask(text)).toMatchObject({ status: 400, body: { error: { code: "invalid_request" } } });
  });

  it("limits the requests of a network", async () => {
    const statuses = new Set<number>();
    for (let n = 0; n <= VISITOR_LIMITS.search; n += 1) statuses.add((await ask("0".repeat(64))).status);
    expect([...statuses]).toEqual([200, 429]);
    expect(await ask("0".repeat(64))).toMatchObject({ retryAfter: "1", body: { error: { code: "rate_limited" } } });
  });
});
