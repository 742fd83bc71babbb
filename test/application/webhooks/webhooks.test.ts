import { err, ok } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, accountId, endpointId } from "../../../adapters/contracts/support/builders.js";
import { endpointTests, webhooks } from "../../../application/webhooks/webhooks.js";
import type { AccountId } from "../../../domain/ids.js";
import { EVENT_TYPES } from "../../../domain/tasks/account-event.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

let world: World;
let owner: AccountId;
beforeEach(async () => {
  world = aWorld();
  owner = await anOwner(world, 1_000);
});

const URL_A = "https://a.example/hook";
const create = (url: string, account = owner) => webhooks(world).createEndpoint(account, url);
const urls = async () => (await webhooks(world).listEndpoints(owner))._unsafeUnwrap().map(({ url }) => url);
const noAccount = err({ kind: "not_found", message: `There is no account ${accountId(404)}.` });
const noEndpoint = (id: string) => err({ kind: "not_found", message: `There is no endpoint ${id} on this account.` });

describe("createEndpoint", () => {
  it("adds an endpoint that is on and has a secret of its own", async () => {
    const [one, other] = [(await create(URL_A))._unsafeUnwrap(), (await create(`${URL_A}/2`))._unsafeUnwrap()];
    expect(one).toEqual({
      id: one.id,
      accountId: owner,
      url: URL_A,
      secret: one.secret,
      previous: undefined,
      createdAt: world.clock.now(),
      failingSince: undefined,
      off: undefined,
    });
    expect(one.secret).not.toBe(other.secret);
    expect(await world.endpoints.list(owner)).toEqual([one, other]);
  });

  it("refuses a URL that is not allowed, unless its origin is the operator's, an unknown account, and the eleventh endpoint", async () => {
    const url = "http://10.0.0.1:9000/hook";
    expect(
      (await webhooks(world, { webhookPrivateOrigins: ["http://10.0.0.1:9000"] }).createEndpoint(owner, url)).isOk(),
    ).toBe(true);
    expect((await create("http://a.example/hook"))._unsafeUnwrapErr()).toMatchObject({
      kind: "invalid_request",
      field: "url",
      rule: { name: "https_url" },
    });
    expect(await create(URL_A, accountId(404))).toEqual(noAccount);
    for (let n = 1; n < 10; n += 1) expect((await create(`https://a.example/${n}`)).isOk()).toBe(true);
    expect(await create(URL_A)).toEqual(err({ kind: "too_many_endpoints", limit: 10 }));
  });
});

describe("listEndpoints", () => {
  it("lists the default endpoint too, and makes it once", async () => {
    await create(URL_A);
    expect((await urls()).sort()).toEqual([URL_A, undefined]);
    expect(await webhooks(world).listEndpoints(owner)).toEqual(await webhooks(world).listEndpoints(owner));
    expect(await webhooks(world).listEndpoints(accountId(404))).toEqual(noAccount);
  });
});

describe("rotateEndpointSecret", () => {
  it("makes a new secret, and keeps the old one valid for 24 hours", async () => {
    const endpoint = (await create(URL_A))._unsafeUnwrap();
    const rotated = (await webhooks(world).rotateEndpointSecret(endpoint.id, owner))._unsafeUnwrap();
    expect(rotated.secret).not.toBe(endpoint.secret);
    const until = new Date(world.clock.now().getTime() + 24 * 60 * 60 * 1000);
    expect(rotated.previous).toEqual({ secret: endpoint.secret, until });
    expect(await webhooks(world).rotateEndpointSecret(endpointId(404), owner)).toEqual(noEndpoint(endpointId(404)));
  });
});

describe("deliveries of an account", () => {
  const failedTasks = async (count: number) => {
    world.provider.play({ submit: "refuse" });
    for (let n = 0; n < count; n += 1) await world.createPanorama(owner, aCreationRequest());
  };

  it("listDeliveries lists them newest first, page by page", async () => {
    await create(URL_A);
    await failedTasks(3);
    const first = (await webhooks(world).listDeliveries(owner, 2))._unsafeUnwrap();
    expect(first.deliveries.map(({ event, url }) => [event.number, url])).toEqual([
      [3, URL_A],
      [2, URL_A],
    ]);
    const second = (await webhooks(world).listDeliveries(owner, 2, first.next))._unsafeUnwrap();
    expect(second.deliveries.map(({ event }) => event.number)).toEqual([1]);
    expect(second.next).toBeUndefined();
    expect((await webhooks(world).listDeliveries(owner, 3))._unsafeUnwrap().next).toBeUndefined();
    expect(await webhooks(world).listDeliveries(accountId(404), 3)).toEqual(noAccount);
  });

  it("resendDelivery makes one pending again, due now", async () => {
    await create(URL_A);
    await failedTasks(1);
    const { id } = (await webhooks(world).listDeliveries(owner, 1))._unsafeUnwrap().deliveries[0]!;
    await world.clock.advance(7_000);
    expect(await webhooks(world).resendDelivery(id, owner)).toEqual(ok(undefined));
    const [resent] = (await webhooks(world).listDeliveries(owner, 1))._unsafeUnwrap().deliveries;
    expect(resent?.delivery).toMatchObject({ state: "pending", attempts: 0, dueAt: world.clock.now() });
  });
});

describe("testEndpoint", () => {
  it("sends a signed webhook.test to the endpoint, and returns the outcome", async () => {
    await create(`${URL_A}/another`);
    const endpoint = (await create(URL_A))._unsafeUnwrap();
    (await webhooks(world).rotateEndpointSecret(endpoint.id, owner))._unsafeUnwrap();
    const [, rotated] = await world.endpoints.list(owner);
    const at = world.clock.now();
    world.webhookSender.answer = async () => {
      await world.clock.advance(120);
      return { kind: "failed", detail: "status 500", isGone: false, cause: "ECONNRESET" };
    };
    expect(await endpointTests(world).testEndpoint(endpoint.id, owner)).toEqual(
      ok({ isDelivered: false, detail: "status 500", milliseconds: 120 }),
    );
    world.webhookSender.answer = () => ({ kind: "delivered", detail: "status 204" });
    expect(await endpointTests(world).testEndpoint(endpoint.id, owner)).toEqual(
      ok({ isDelivered: true, detail: "status 204", milliseconds: 0 }),
    );
    const [first, second] = world.webhookSender.sent;
    expect(first).toEqual({
      url: URL_A,
      id: expect.stringMatching(/^evt_test_[\w-]{22}$/),
      body: JSON.stringify({ type: "webhook.test", timestamp: at.toISOString(), data: {} }),
      secrets: [rotated?.secret, endpoint.secret],
      at,
    });
    expect(second?.id).not.toBe(first?.id);
    expect(EVENT_TYPES).not.toContain(JSON.parse(first?.body ?? "").type);
    expect((await webhooks(world).listDeliveries(owner, 9, undefined))._unsafeUnwrap().deliveries).toEqual([]);
    expect(world.reporter.of("webhook_attempt")).toMatchObject([
      { state: "failed", cause: "ECONNRESET" },
      { state: "delivered", cause: undefined },
    ]);
  });

  it("refuses the endpoint of another account, a deleted one, and the one without a URL", async () => {
    const stranger = await anOwner(world, 1);
    const [own, foreign] = [(await create(URL_A))._unsafeUnwrap(), (await create(URL_A, stranger))._unsafeUnwrap()];
    (await webhooks(world).deleteEndpoint(own.id, owner))._unsafeUnwrap();
    const withoutUrl = (await webhooks(world).listEndpoints(owner))
      ._unsafeUnwrap()
      .find(({ url }) => url === undefined);
    for (const id of [own.id, foreign.id, withoutUrl?.id ?? endpointId(1)]) {
      expect((await endpointTests(world).testEndpoint(id, owner))._unsafeUnwrapErr().kind).toBe("not_found");
    }
    expect(world.webhookSender.sent).toEqual([]);
  });
});
