import { readdir, readFile } from "node:fs/promises";
import { ok } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, anAccount, noon, taskId } from "../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import { memoryPorts } from "../../../adapters/memory/memory-ports.js";
import { CREDIT_PACKS, type CreditPack, openOrder } from "../../../domain/credits/order.js";

/** `memoryStores` has these on SQLite. */
const isStore = (file: string) => file.startsWith("stores/") && file !== "stores/meter-store.ts";

describe("memory adapters", () => {
  it("exist and are exported for every port except the stores", async () => {
    const files = await readdir("application/ports", { recursive: true });
    const texts = await Promise.all(
      files
        .filter((file) => file.endsWith(".ts") && !isStore(file))
        .map((file) => readFile(`application/ports/${file}`, "utf8")),
    );
    const ports = texts.flatMap((text) => [...text.matchAll(/export interface (\w+)/g)].map(([, name]) => name));
    // What another port extends is a part of that.
    const parts = new Set(
      texts.flatMap((text) => [...text.matchAll(/interface \w+ extends (\w+)/g)].map(([, name]) => name)),
    );
    expect(ports.length).toBeGreaterThan(12);
    const entries = ["index", "memory"].map((name) => readFile(`bootstrap/packages/panorama-core/${name}.ts`, "utf8"));
    const memory = (await Promise.all(entries)).join("").matchAll(/"..\/..\/..\/(adapters\/memory\/.*)\.js"/g);
    const sources = await Promise.all([...memory].map(([, source]) => readFile(`${source}.ts`, "utf8")));
    const without = ports.filter((port) => {
      if (parts.has(port)) return false;
      const adapter = new RegExp(`(implements |\\): )${port}\\b`);
      return !sources.some((source) => adapter.test(source));
    });
    expect(without).toEqual([]);
  });
});

describe("memoryPorts", () => {
  let ports: ReturnType<typeof memoryPorts<HandClock>>;
  beforeEach(() => {
    ports = memoryPorts(new HandClock(noon));
  });

  it("share one clock", async () => {
    await ports.clock.advance(60_000);
    const order = { taskId: taskId(1), request: aCreationRequest() };
    const late = await ports.provider.submit(order, new Date(noon.getTime() + 60_000));
    expect(late._unsafeUnwrapErr().kind).toBe("busy");
  });

  it("include a provider whose generations end at the chosen poll", async () => {
    const { provider } = ports;
    provider.endsAtPoll = 3;
    const order = { taskId: taskId(1), request: aCreationRequest() };
    const id = (await provider.submit(order))._unsafeUnwrap();
    const states: string[] = [];
    for (let n = 0; n < 4; n += 1) states.push((await provider.poll(id))._unsafeUnwrap().state);
    expect(states).toEqual(["running", "running", "succeeded", "succeeded"]);
    provider.play({ poll: "failed" });
    const other = (await provider.submit({ ...order, taskId: taskId(2) }))._unsafeUnwrap();
    states.length = 0;
    for (let n = 0; n < 3; n += 1) states.push((await provider.poll(other))._unsafeUnwrap().state);
    expect(states).toEqual(["running", "running", "failed"]);
  });

  it("include provider webhooks that cannot be forged", async () => {
    const webhooks = ports.providerWebhooks.get(ports.provider.name);
    if (webhooks === undefined) throw new Error("the provider sends webhooks");
    const genuine = webhooks.about(taskId(1));
    expect(await webhooks.taskOf(genuine)).toEqual(ok(taskId(1)));
    expect(await webhooks.taskOf(genuine)).toEqual(ok(taskId(1)));
    const forged = await webhooks.taskOf({ ...genuine, query: new URLSearchParams({ proof: "guessed" }) });
    expect(forged._unsafeUnwrapErr().kind).toBe("unverified_webhook");
    const empty = await webhooks.taskOf({ ...genuine, query: new URLSearchParams() });
    expect(empty._unsafeUnwrapErr().kind).toBe("unverified_webhook");
    webhooks.available = false;
    expect((await webhooks.taskOf(genuine))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
  });

  it("include payments that report a paid order", async () => {
    const { payments } = ports;
    const [pack] = CREDIT_PACKS as readonly [CreditPack];
    const { email, id: accountId } = anAccount();
    const order = openOrder(ports.ids.orderId(), accountId, pack.credits, noon);
    expect(() => payments.pay(order.id)).toThrow(`there is no checkout of the order ${order.id}`);
    const session = (await payments.checkout(order, pack, email))._unsafeUnwrap();
    expect(session.url).toBe(`https://payments.example/${order.id}`);
    expect(payments.checkouts.get(order.id)).toEqual({ order, pack, email, session });
    const { body, signature } = payments.pay(order.id);
    const { priceCents: amountCents, currency } = pack;
    const paid = { orderId: order.id, sessionId: session.id, token: session.token, amountCents, currency };
    expect(payments.payment(body, signature)).toEqual(ok(paid));
    const other = payments.otherWebhook();
    expect(payments.payment(other.body, other.signature)).toEqual(ok(undefined));
    expect(payments.payment(body, other.signature)._unsafeUnwrapErr().kind).toBe("unverified_webhook");
    expect(payments.payment(body, "")._unsafeUnwrapErr().kind).toBe("unverified_webhook");
    payments.available = false;
    expect((await payments.checkout(order, pack, email))._unsafeUnwrapErr().kind).toBe("payments_unavailable");
  });
});
