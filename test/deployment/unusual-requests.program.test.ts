import { setTimeout } from "node:timers/promises";
import { connect } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Customer, HttpService } from "../support/http-service.js";
import { Nginx } from "../support/nginx.js";
import { UNUSUAL_REQUESTS } from "../support/unusual-requests.js";

describe("behind bootstrap/deployment/nginx.conf, the native server", () => {
  let service: HttpService;
  let nginx: Nginx;
  let customer: Customer;

  beforeAll(async () => {
    service = await HttpService.start();
    customer = await service.customer();
    nginx = await Nginx.start(Array.from({ length: 3 }, () => `127.0.0.1:${service.port}`));
  });
  afterAll(async () => {
    await nginx.remove();
    await service.end();
  });

  it.each(
    UNUSUAL_REQUESTS.filter(({ native, isForNodeOnly }) => native !== undefined && isForNodeOnly !== true).map(
      (row) => [row.what, row] as const,
    ),
  )("answers %s", async (_, { parts, answer }) => {
    await service.clock.advance(60_000); // the limit of requests
    const { hostname, port } = new URL(nginx.url);
    const socket = connect({ host: hostname, port: Number(port), ca: nginx.certificate });
    for (const part of parts) {
      socket.write(Buffer.from(part.replace("KEY", customer.key), "latin1"));
      await setTimeout(20); // so that the next part is a packet of its own
    }
    let received = "";
    for await (const chunk of socket) {
      received += chunk;
      if (received.includes(answer.says)) break;
    }
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${answer.status} `));
    expect(received).toContain(answer.says);
  });

  it.each(["100-continue", "100-Continue"])("serves a client that sends Expect: %s", async (text) => {
    const { hostname, port } = new URL(nginx.url);
    const socket = connect({ host: hostname, port: Number(port), ca: nginx.certificate });
    socket.write(`POST /api/v1/panoramas HTTP/1.1\r\nhost: x\r\nexpect: ${text}\r\ncontent-length: 2\r\n\r\n`);
    const [first] = await socket.take(1).toArray();
    expect(String(first)).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  });
});
