import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import { ok } from "neverthrow";
import { anEndpoint, endpointId } from "../../adapters/contracts/support/builders.js";
import { accountIdOf } from "../bench/throughput/data.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { type AnyDatabase, sqlStores } from "../support/sql-stores.js";
import type { OpenArena } from "./arena.js";
import type { Attack, Sample } from "./compare.js";
import { clientOf, generate, installWithLimits } from "./customers.js";

/*
 * Six hostile accounts have ten endpoints each, which confirm every webhook after nine seconds: endpoints that never
 * answer would soon get few. The delay of a stranger's webhook is measured, from the request whose task fails at once.
 */

const HOSTILE = [1, 2, 3, 4, 5, 6];
const STRANGER = 7;
const ENDPOINTS = 10;
/** More than the service sends at a time, over all endpoints. */
const EVENTS = 12;
/** What six accounts may have of the slots (domain/webhooks/share-slots.ts), less those that were late. */
const HELD_MIN = 180;
const SLOW_MILLISECONDS = 9_000;
const SETTLE_MILLISECONDS = 2_000;
const FAILING = { prompt: "a quiet lake test:reject", resolution: "1k" };

export const openDeliveries: OpenArena = async (environment) => {
  const slow = await Promise.all(Array.from({ length: ENDPOINTS }, () => SlowReceiver.start()));
  const stranger = await startLocalServer((request, response) => {
    request.resume();
    response.writeHead(204).end();
  });
  const service = await installWithLimits({
    PROVIDER: "local",
    WEBHOOK_PRIVATE_ORIGINS: [stranger, ...slow].map(({ origin }) => origin).join(","),
    ...environment,
  });
  const fail = (account: number) => generate(clientOf(service, account), FAILING);
  const prepare = async (database: AnyDatabase): Promise<void> => {
    const { endpoints } = sqlStores(database);
    const urls = HOSTILE.flatMap((account) => slow.map(({ origin }) => ({ account, url: `${origin}/${account}` })));
    for (const [n, { account, url }] of [{ account: STRANGER, url: stranger.origin }, ...urls].entries()) {
      await endpoints.insert(anEndpoint({ id: endpointId(n + 1), accountId: accountIdOf(account) as never, url }), () =>
        ok(undefined),
      );
    }
  };
  const sample = async (): Promise<Sample> => {
    const begun = performance.now();
    const received = once(stranger.server, "request");
    await fail(STRANGER);
    await received;
    return { milliseconds: performance.now() - begun, isRefused: false };
  };
  const attack: Attack = {
    start: async () => {
      await Promise.all(HOSTILE.map(fail)); // the first webhook of an endpoint is a challenge, and confirmed at once
      await setTimeout(SETTLE_MILLISECONDS);
      for (const one of slow) one.isSlow = true;
      await Promise.all(HOSTILE.flatMap((account) => Array.from({ length: EVENTS }, () => fail(account))));
      await setTimeout(SETTLE_MILLISECONDS);
      const held = slow.reduce((sum, one) => sum + one.held.size, 0);
      if (held < HELD_MIN) throw new Error(`the slow receivers hold ${held} webhooks only`);
    },
    stop: async () => {
      for (const one of slow) one.confirmAll();
      await setTimeout(2 * SETTLE_MILLISECONDS);
      return undefined;
    },
  };
  const close = async (): Promise<void> => {
    for (const server of [stranger, ...slow]) await server.close();
  };
  return { service, prepare, contests: [{ name: "webhooks", samples: 10, sample, attack }], close };
};

class SlowReceiver {
  isSlow = false;
  /** What is not confirmed yet. */
  readonly held = new Set<ServerResponse>();
  private server!: LocalServer;

  static async start(): Promise<SlowReceiver> {
    const receiver = new SlowReceiver();
    receiver.server = await startLocalServer(async (request, response) => {
      request.resume();
      receiver.held.add(response);
      if (receiver.isSlow) await setTimeout(SLOW_MILLISECONDS);
      receiver.confirm(response);
    });
    return receiver;
  }

  get origin(): string {
    return this.server.origin;
  }

  confirmAll(): void {
    this.isSlow = false;
    for (const response of this.held) this.confirm(response);
  }

  close(): Promise<void> {
    return this.server.close();
  }

  private confirm(response: ServerResponse): void {
    if (this.held.delete(response)) response.writeHead(204).end();
  }
}
