import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Customer, HttpService } from "../../../support/http-service.js";
import { serverName } from "../../../support/make-server.js";
import { RawConnection } from "../../../support/raw-connection.js";
import {
  type Answer,
  BODY,
  type Limit,
  post,
  READ,
  UNUSUAL_REQUESTS,
  type UnusualRequest,
} from "../../../support/unusual-requests.js";

describe("the HTTP server and correct requests in unusual form", () => {
  let service: HttpService;
  let customer: Customer;
  let balance: number;

  beforeAll(async () => {
    service = await HttpService.start();
    customer = await service.customer();
    balance = await service.ledger.balance(customer.accountId);
  });
  afterAll(async () => {
    expect(service.failures).toEqual([]);
    expect(await service.ledger.balance(customer.accountId)).toBe(balance);
    await service.end();
  });

  const sent = async (parts: readonly string[]): Promise<RawConnection> => {
    await service.clock.advance(60_000); // the limit of requests
    const connection = await RawConnection.open(service.port);
    connection.socket.setNoDelay(true);
    for (const part of parts) {
      connection.send(part.replace("KEY", customer.key));
      await setTimeout(20); // so that the next part is a packet of its own
    }
    return connection;
  };

  const expected = ({ answer, native }: UnusualRequest): Answer | Limit =>
    (serverName === "native" && native) || answer;

  it.each(UNUSUAL_REQUESTS.map((row) => [row.what, row] as const))(
    "answers %s, or its parser does not know it",
    async (_, row) => {
      const expects = expected(row);
      const connection = await sent(row.parts);
      if (expects === "silent") {
        await setTimeout(200);
        expect([connection.socket.bytesRead, connection.socket.closed]).toEqual([0, false]);
        return connection.close();
      }
      connection.socket.end();
      const answer = await connection.all();
      if (typeof expects === "string") {
        expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${expects} `));
        expect(answer).toContain("<i>uWebSockets/20 Server</i>");
        return;
      }
      expect(answer.replace("HTTP/1.1 100 Continue\r\n\r\n", "")).toMatch(new RegExp(`^HTTP/1\\.1 ${expects.status} `));
      expect(answer).toContain(expects.says);
      if (!expects.says.startsWith("<")) expect(answer).toContain("\r\ncontent-type: application/json");
    },
  );

  it.each(["100-continue", "100-Continue", "100-CONTINUE"])(
    "lets a client that sends Expect: %s go on",
    async (text) => {
      const head = post([`content-length: ${BODY.length}`, `expect: ${text}`], "");
      const connection = await sent([head]);
      if (serverName !== "native" || text === "100-continue") {
        expect(await connection.response()).toBe("HTTP/1.1 100 Continue\r\n\r\n");
      }
      connection.send(BODY); // uWebSockets knows lower case only: a client that waits for ever is not served there
      expect(await connection.response()).toContain(READ.says);
      connection.close();
    },
  );
});
