import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ApiKeyId } from "../../../../domain/accounts/api-key.js";
import { A_CREATION, type Customer, HttpService } from "../../../support/http-service.js";
import { RawConnection } from "../../../support/raw-connection.js";
import { logIn, startService } from "../../../support/visit.js";

/** Sends the head and half of the body of a `POST`. Returns what sends the rest, and reads the answer. */
const half = async (url: string, headers: readonly string[], body: string) => {
  const { port, pathname } = new URL(url);
  const connection = await RawConnection.open(Number(port));
  const lines = [`POST ${pathname} HTTP/1.1`, "host: localhost", ...headers, `content-length: ${body.length}`];
  connection.send(`${lines.join("\r\n")}\r\n\r\n${body.slice(0, 9)}`);
  await fetch(new URL("/healthz", url)); // on a later connection: the server has read the head
  return async () => {
    connection.send(body.slice(9));
    const answer = await connection.response();
    connection.close();
    return answer;
  };
};

const ENDED = "This API key was revoked or has expired while the request was read. Nothing was done or charged.";

describe("a key that is revoked while a body arrives", () => {
  let service: HttpService;
  let customer: Customer;

  beforeEach(async () => {
    service = await HttpService.start();
    customer = await service.customer();
  });
  afterEach(() => service.end());

  const halfAtApi = (path: string, body: string, ...headers: readonly string[]) =>
    half(`${service.url}/api/v1${path}`, [`authorization: Bearer ${customer.key}`, ...headers], body);
  const revoke = async () => {
    for (const { id } of await service.keys.listLive(customer.accountId))
      await service.keys.revoke(id as ApiKeyId, service.clock.now());
  };

  it("creates and charges nothing, and repeats nothing", async () => {
    const creation = JSON.stringify(A_CREATION);
    const repeated = { "idempotency-key": "once" };
    expect((await service.create(customer, A_CREATION, repeated)).status).toBe(202);
    const rests = [
      await halfAtApi("/panoramas", creation),
      await halfAtApi("/panoramas", creation, "idempotency-key: once"),
    ];
    await revoke();
    for (const rest of rests) {
      const answer = await rest();
      expect(answer).toMatch(/^HTTP\/1\.1 401 /);
      expect(answer).toContain(ENDED);
    }
    expect(await service.ledger.balance(customer.accountId)).toBe(96);
  });

  it("stores no upload", async () => {
    const head = 'content-disposition: form-data; name="files"; filename="a.png"\r\ncontent-type: image/png';
    const body = `--b\r\n${head}\r\n\r\n\x89PNG\r\n\x1a\n pixels\r\n--b--\r\n`;
    const rest = await halfAtApi("/images", body, "content-type: multipart/form-data; boundary=b");
    await revoke();
    const answer = await rest();
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    expect(answer).toContain(ENDED);
    expect(service.storage.objects.size).toBe(0);
  });

  it("cancels before a body that nobody reads", async () => {
    const id = await service.created(customer);
    const rest = await halfAtApi(`/panoramas/${id}/cancel`, "a body that nobody reads");
    const read = async () => (await service.request(`/panoramas/${id}`, customer)).json();
    await vi.waitFor(async () => expect(await read()).toMatchObject({ status: "failed" }));
    await revoke();
    expect(await rest()).toMatch(/^HTTP\/1\.1 200 /);
  });
});

it.each([
  ["/account/keys", "name=mine"],
  ["/account/webhooks", "url=https%3A%2F%2Fhooks.example.com"],
])("POST %s makes nothing for a session that ends while the form arrives", async (path, fields) => {
  const service = await startService();
  const ann = await service.person("ann");
  const member = await logIn(service, ann);
  const headers = [
    `cookie: ${member.cookie}`,
    `origin: ${service.url}`,
    "content-type: application/x-www-form-urlencoded",
  ];
  const rest = await half(service.url + path, headers, `${fields}&form_token=${member.token}`);
  await member.post("/logout");
  expect(await rest()).toMatch(/^HTTP\/1\.1 303 .*location: \/login\?next=/is);
  expect(await service.keys.list(ann.id)).toHaveLength(1);
  expect(await service.endpoints.list(ann.id)).toEqual([]);
});
