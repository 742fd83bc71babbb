import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CLIENT_VERSION } from "../../../adapters/client/requests/user-agent.js";
import { anEndpointSecret } from "../../../adapters/contracts/support/builders.js";
import { webhookSignature } from "../../../adapters/webhooks/webhook-signature.js";
import { FakeService, type Fault } from "../../support/fake-service.js";
import { HttpService } from "../../support/http-service.js";
import { pngBytes } from "../../support/image-bytes.js";
import { scratchFolder } from "../../support/scratch-folder.js";

const run = promisify(execFile);
const PYTHON = process.env.PYTHON_PATH ?? "/usr/bin/python3";
const SOURCES = "adapters/client/python";

describe("the Python client", () => {
  let service: HttpService;
  let faulty: FakeService;
  let isOver = false;
  let work: Promise<void>;

  beforeAll(async () => {
    [service, faulty] = await Promise.all([HttpService.start(), FakeService.start()]);
    const keepWorking = async (): Promise<void> => {
      while (!isOver) {
        await service.settle();
        await service.keep();
        await service.watchStreams();
        await sleep(50); // lets the answers through
      }
    };
    work = keepWorking();
  });
  afterAll(async () => {
    isOver = true;
    await work;
    await Promise.all([service.end(), faulty.stop()]);
  });

  it("creates, waits, lists, uploads and streams, continues a lost creation, and verifies webhooks", async () => {
    const { key } = await service.customer(100);
    const picture = join(await scratchFolder(), "lake.png");
    await writeFile(picture, pngBytes(100));
    faulty.failNext("POST", "/panoramas", { kind: "accept-and-drop" }, { kind: "accept-and-drop" });
    const refused = '{"error":{"code":"invalid_api_key","message":"revoked"}}';
    faulty.failNext("GET", "/panoramas/task-3", { kind: "answer", status: 401, body: refused });
    faulty.failNext("DELETE", "/panoramas/task-2", { kind: "answer", status: 200, body: "<h1>Log in</h1>" });
    faulty.failNext("GET", "/panoramas?", { kind: "answer", status: 200, body: '{"data":[]}' });
    const cut: Fault = { kind: "answer", status: 502, headers: { "content-length": "99" }, body: "<h1>" };
    faulty.failNext("GET", "/credits", cut, cut);
    const secret = anEndpointSecret();
    const body = '{"type":"credits.low","timestamp":"2026-11-21T12:00:00Z","data":{"remaining_credits":1}}';
    const seconds = Math.floor(Date.now() / 1000);
    const headers = {
      "Webhook-Id": "evt_1",
      "webhook-timestamp": String(seconds),
      "webhook-signature": `v1,other ${webhookSignature("evt_1", seconds, body, [secret])}`,
    };
    const webhook = JSON.stringify([body, headers, secret]);
    const script = "test/adapters/client/python/use_client.py";
    const { stdout } = await run(PYTHON, [script, service.url, faulty.origin, faulty.apiKey, picture, webhook], {
      env: { PATH: process.env.PATH, PYTHONPATH: SOURCES, PYTHONDONTWRITEBYTECODE: "1", PANORAMA_API_KEY: key },
    });
    expect(JSON.parse(stdout)).toEqual({
      uploaded: 3,
      run: ["succeeded", "saved"],
      read: { order: "17" },
      listed: [true],
      events: ["panorama.succeeded", "panorama.saved"],
      provenance: { made_here: false },
      abilities: 3,
      deleted: ["not_found", 404, true, true],
      refused: ["InvalidRequestError", "prompt"],
      misspelt: true,
      key: ["AuthenticationError", false],
      async: ["succeeded", "succeeded"],
      "async listed": 2,
      "async credits": 88,
      entries: [
        ["reservation", -4, 88],
        ["reservation", -4, 92],
        ["reservation", -4, 96],
        ["purchase", 100, 100],
      ],
      "entries page": [3, true],
      "async event": "panorama.succeeded",
      lost: ["ConnectionError", true],
      continued: "task-1",
      failed: ["generation_failed", "failed", null],
      "while waiting": ["invalid_api_key", true, true],
      strange: [
        ["unexpected_answer", 200],
        ["unexpected_answer", 200],
        ["network_error", null],
      ],
      webhook: "evt_1",
      signed: "evt_test",
      untrusted: ["missing_header", "wrong_time", "wrong_signature"],
    });
    expect(faulty.tasks).toHaveLength(3);
    expect(faulty.received[0]?.headers["user-agent"]).toMatch(/^panorama-client\/\d+\.\d+\.\d+ Python\/3/);
  });

  it("has the version of the packages", async () => {
    const version = `"${CLIENT_VERSION}"`;
    expect(await readFile(`${SOURCES}/panorama_client/transport.py`, "utf8")).toContain(`VERSION = ${version}`);
    expect(await readFile(`${SOURCES}/pyproject.toml`, "utf8")).toContain(`version = ${version}`);
  });
});
