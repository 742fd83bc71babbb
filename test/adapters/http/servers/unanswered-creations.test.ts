import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { A_CREATION, HttpService } from "../../../support/http-service.js";
import { type ClientPackets, packetsAroundCreation } from "../../../support/packets-around-creation.js";
import { RawConnection } from "../../../support/raw-connection.js";

const TIMINGS: readonly (readonly [name: string, milliseconds: number])[] = [
  ["at once", 0], // as by SQLite
  ["after a while", 30], // as by PostgreSQL
];

describe.concurrent.each(TIMINGS)("a creation that is stored %s", (_, milliseconds) => {
  let service: HttpService;

  beforeAll(async () => {
    service = await HttpService.start();
    if (milliseconds === 0) return;
    const open = service.tasks.open.bind(service.tasks);
    service.tasks.open = (async (...parameters: Parameters<typeof open>) => {
      await setTimeout(milliseconds);
      return open(...parameters);
    }) as typeof service.tasks.open;
  });
  afterAll(async () => {
    expect(service.failures).toEqual([]);
    await service.end();
  });

  /** Resolves when the client has nothing more to wait for: it is answered, or the connection is closed. */
  const exchange = async ({ packets, halfCloses }: ClientPackets, pauseMilliseconds: number): Promise<string> => {
    const connection = await RawConnection.open(service.port);
    const before = service.finished.length;
    for (const packet of packets) {
      connection.send(packet);
      await setTimeout(pauseMilliseconds);
    }
    if (halfCloses) connection.socket.end();
    for (let n = 0; n < 2_000 && (service.inFlight > 0 || service.finished.length === before); n++) await setTimeout(5);
    connection.socket.end();
    return connection.all();
  };

  it.sequential.each(packetsAroundCreation(JSON.stringify(A_CREATION)))(
    "is answered if it is charged: $name",
    async (row) => {
      const customer = await service.customer();
      let [charged, answered] = [0, 0];
      // On a busy machine the system may join packets. With a longer pause it does not.
      for (let pause = 5; pause <= 500 && charged === 0; pause *= 10) {
        answered = (await exchange(row.of(customer.key), pause)).match(/HTTP\/1\.1 202 /g)?.length ?? 0;
        charged = (100 - (await service.ledger.balance(customer.accountId))) / 4;
        if (!row.isCharged) break;
      }
      expect(answered).toBe(charged);
      if (row.isCharged) expect(charged).toBeGreaterThan(0);
    },
  );
});
