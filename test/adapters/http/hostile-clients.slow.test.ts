import { readdir } from "node:fs/promises";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Customer, HttpService } from "../../support/http-service.js";
import { RawConnection } from "../../support/raw-connection.js";

const CODES = {
  400: "invalid_request",
  401: "invalid_api_key",
  402: "insufficient_credits",
  404: "not_found",
  502: "upstream_error",
} as const;

describe("the HTTP server and misbehaving clients", () => {
  let service: HttpService;
  let customer: Customer;

  beforeAll(async () => {
    service = await HttpService.start();
  });
  beforeEach(async () => {
    customer = await service.customer(1_000_000);
  });
  afterAll(async () => {
    expect(service.failures).toEqual([]);
    await service.end();
  });

  /** Advances the clock by a minute, so that no rate limit applies, and finishes all tasks. */
  const nextMinute = async () => {
    await service.clock.advance(60_000);
    await service.settle();
  };

  const expectAnswer = async (response: Response): Promise<void> => {
    expect(response.status).toBeLessThan(500);
    if (response.ok) return;
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe(CODES[response.status as keyof typeof CODES]);
    expect(error.message).toMatch(/\S/);
  };

  describe("random input", () => {
    it("as bytes gets an error of the interface", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom("/panoramas", "/images"),
          fc.uint8Array({ maxLength: 2_000 }),
          fc.constantFrom("application/json", "multipart/form-data; boundary=x", 'multipart/form-data; boundary="', ""),
          async (path, bytes, type) => {
            const body = type.startsWith("multipart")
              ? Buffer.concat([Buffer.from('--x\r\ncontent-disposition: form-data; name="files"; '), bytes])
              : Buffer.from(bytes);
            const init = { method: "POST", body, headers: { "content-type": type } };
            await expectAnswer(await service.request(path, customer, init));
            await nextMinute();
          },
        ),
        { numRuns: 200 },
      );
      expect(await readdir(`${service.folder}/uploads`)).toEqual([]);
    });

    it("as headers and in the URL gets an answer", async () => {
      const visible = fc.string({
        unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
      });
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom("authorization", "x-api-key", "prefer", "idempotency-key", "x-request-id", "range", "accept"),
          visible,
          fc.webPath(),
          fc.webQueryParameters(),
          async (name, value, path, query) => {
            const headers = { "x-api-key": customer.key, [name]: value };
            for (const url of [`${path}?${query}`, `/panoramas${path}`, `/panoramas?${query}`]) {
              await expectAnswer(await fetch(`${service.url}/api/v1${url}`, { headers }));
            }
            await nextMinute();
          },
        ),
        { numRuns: 100 },
      );
    });
  });

  describe("a client that disconnects", () => {
    const head = (path: string, contentType: string, contentLength: number) =>
      `POST /api/v1${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${customer.key}\r\ncontent-type: ${contentType}\r\ncontent-length: ${contentLength}\r\n\r\n`;
    const jpegPart =
      '--x\r\ncontent-disposition: form-data; name="files"; filename="a.jpg"\r\ncontent-type: image/jpeg\r\n\r\n\xff\xd8\xff';
    let waitedFor = "";
    beforeEach(async () => {
      waitedFor = await service.created(customer);
    });
    const requests = {
      json: () => `${head("/panoramas", "application/json", 48)}{"resolution":"1k","prompt":"a quiet lake"}     `,
      upload: () => {
        const body = `${jpegPart}${"y".repeat(300_000)}\r\n--x--\r\n`;
        return head("/images", "multipart/form-data; boundary=x", body.length) + body;
      },
      chunked: () =>
        `POST /api/v1/images HTTP/1.1\r\nhost: x\r\nx-api-key: ${customer.key}\r\ncontent-type: multipart/form-data; boundary=x\r\ntransfer-encoding: chunked\r\n\r\n` +
        `${jpegPart.length.toString(16)}\r\n${jpegPart}\r\n8\r\n\r\n--x--\r\n\r\n0\r\n\r\n`,
      waiting: () =>
        `GET /api/v1/panoramas/${waitedFor} HTTP/1.1\r\nhost: x\r\nx-api-key: ${customer.key}\r\nprefer: wait=30\r\n\r\n`,
    };

    it.each(Object.keys(requests) as (keyof typeof requests)[])(
      "at any point of a %s request leaves no files, and the service answers the next request",
      async (name) => {
        const text = requests[name]();
        const cuts = Array.from({ length: 24 }, (_, n) => Math.round((text.length * (n + 1)) / 24));
        for (let round = 0; round < 2; round++) {
          await service.clock.advance(60_000);
          await Promise.all(
            cuts.map(async (cut, n) => {
              const connection = await RawConnection.open(service.port);
              connection.send(text.slice(0, cut));
              await new Promise((resolve) => setTimeout(resolve, (n % 6) * 2));
              if (n % 2 === 0) connection.send(text.slice(cut, cut + 10));
              if (n % 3 === 0) connection.socket.end();
              connection.close();
            }),
          );
        }
        while (service.inFlight > 0) await new Promise((resolve) => setTimeout(resolve, 5));
        await nextMinute();
        expect((await service.request("/credits", customer)).status).toBe(200);
        expect(await readdir(`${service.folder}/uploads`)).toEqual([]);
      },
    );

    it("before the end of its request is not charged", async () => {
      const connection = await RawConnection.open(service.port);
      connection.send(requests.json().slice(0, -10));
      const before = service.finished.length;
      await new Promise((resolve) => setTimeout(resolve, 20));
      connection.close();
      while (service.finished.length === before) await new Promise((resolve) => setImmediate(resolve));
      expect(service.finished.at(-1)).toMatchObject({ route: "/api/v1/panoramas", aborted: true });
      expect(await service.ledger.balance(customer.accountId)).toBe(1_000_000 - 4);
    });
  });

  it("reads no body of a request without an API key, and answers the next one on its connection", async () => {
    const connection = await RawConnection.open(service.port);
    connection.send("POST /api/v1/images HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n");
    expect(await connection.response()).toMatch(/^HTTP\/1\.1 401 /);
    expect(await readdir(`${service.folder}/uploads`)).toEqual([]);
    connection.send("x".repeat(1000));
    connection.send("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
    expect(await connection.response()).toMatch(/^HTTP\/1\.1 200 /);
    connection.close();
  });
});
