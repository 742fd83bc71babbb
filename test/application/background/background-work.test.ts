import { beforeEach, describe, expect, it, vi } from "vitest";
import {
  aCreationRequest,
  aFailedTask,
  aGeneratedTask,
  aQueuedTask,
  aSubmittedTask,
  aSubmittingTask,
  aSucceededTask,
  taskId,
} from "../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import { InProcessEventSignals } from "../../../adapters/memory/in-process-signals.js";
import { memoryPorts } from "../../../adapters/memory/memory-ports.js";
import { memoryStores } from "../../../adapters/persistence/memory-stores.js";
import type { ApplicationSettings } from "../../../application/application-settings.js";
import { wakeAfter } from "../../../application/background/background-work.js";
import { createApplication } from "../../../application/create-application.js";
import { parseEmail } from "../../../domain/accounts/account.js";
import { credits } from "../../../domain/credits/credits.js";
import { RATE_LIMITS } from "../../../domain/panorama-policy.js";

describe("backgroundWork", () => {
  const allPorts = () => ({ ...memoryPorts(clock), ...memoryStores(clock, RATE_LIMITS) });
  let clock: HandClock;
  let ports: ReturnType<typeof allPorts>;
  beforeEach(() => {
    clock = new HandClock(new Date("2026-01-01T12:59:30.000Z")); // the work of every hour follows
    ports = allPorts();
  });
  /** Runs the service for the time. */
  const runFor = async (milliseconds: number, settings: ApplicationSettings) => {
    const app = createApplication({ ports, settings });
    await app.start();
    await clock.advance(milliseconds);
    await app.stop();
    expect(ports.reporter.of("work_failed")).toEqual([]);
  };

  it("leases, limits and corrects due work with the times of the service", async () => {
    const claims = vi.spyOn(ports.tasks, "claim");
    const deliveries = vi.spyOn(ports.deliveries, "claim");
    const deletable = vi.spyOn(ports.references, "claimDeletable");
    const within: Record<string, number> = {};
    ports.tasks.bringForward = async (work, boundsNow) => {
      within[work] = boundsNow().latest.getTime() - clock.now().getTime();
    };
    await runFor(60_000, { leaseMilliseconds: 300_000, pollMillisecondsMax: 400_000 });
    const leases = claims.mock.calls.map(([work, now, until, limit]) => [work, until.getTime() - now.getTime(), limit]);
    expect(Object.fromEntries(leases.map(([work, ...lease]) => [work, lease]))).toEqual({
      poll: [300_000, 64],
      check: [900_000, 8],
      store: [900_000, 4],
      recover: [300_000, 16],
      giveUp: [300_000, 16],
      erase: [300_000, 4],
    });
    const [delivery] = deliveries.mock.calls[0]!;
    expect(delivery.until.getTime() - delivery.now.getTime()).toBe(20_000);
    const [now, until] = deletable.mock.calls[0]!;
    expect(until.getTime() - now.getTime()).toBe(300_000);
    const tolerance = 60_000;
    expect(within).toEqual({
      giveUp: 600_000 + tolerance,
      recover: 300_000 + tolerance,
      poll: 400_000 + tolerance,
      check: 900_000 + tolerance,
      store: 900_000 + tolerance,
      erase: 900_000 + tolerance,
    });
  });

  it("deletes expired uploads, and forgets events, texts and closed accounts, once a minute", async () => {
    const expire = vi.spyOn(ports.references, "expire");
    const forgotten = [
      vi.spyOn(ports.deliveries, "deleteEvents"),
      vi.spyOn(ports.tasks, "eraseTexts"),
      vi.spyOn(ports.operators, "closedNotErased"),
    ];
    await runFor(60_000, { referenceRetentionHours: 2 });
    expect(forgotten.map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1]);
    expect(expire.mock.calls.map(([before, now]) => now.getTime() - before.getTime())).toEqual([2 * 60 * 60 * 1000]);
  });

  it("sends an event at once beside a webhook without an answer", async () => {
    ports.webhookSender.answer = () => new Promise(() => {});
    const app = createApplication({ ports });
    await app.start();
    const email = parseEmail("customer@example.com")._unsafeUnwrap();
    const { id } = (await app.accounts.open({ email, credits: credits(100) }))._unsafeUnwrap().account;
    for (const count of [1, 2]) {
      const request = aCreationRequest({ webhook_url: `https://${count}.example/` });
      const { task } = (await app.panoramas.create(id, request))._unsafeUnwrap();
      await app.panoramas.cancel(task.id, id);
      for (let turns = 0; turns < 5; turns += 1) await clock.settled();
      expect(ports.webhookSender.sent).toHaveLength(count);
    }
    const claim = vi.spyOn(ports.deliveries, "claim");
    const { name } = ports.provider;
    await app.panoramas.receiveProviderWebhook(name, ports.providerWebhooks.get(name)!.about(taskId(404)));
    await clock.settled();
    expect(claim).not.toHaveBeenCalled(); // a poll starts no claim
    await app.stop(0);
  });
});

describe("wakeAfter", () => {
  it.each([
    [aQueuedTask(), []],
    [aSubmittingTask(), []],
    [aSubmittedTask(), []],
    [aGeneratedTask(), ["check", "start"]],
    [aSucceededTask(), ["start", "deliver", "streams of its account"]],
    [aFailedTask(), ["start", "deliver", "streams of its account"]],
  ])("after $state starts the work %j", (task, expected) => {
    const woken: string[] = [];
    const wake = (account: string) => woken.push(`streams of ${account === task.accountId ? "its" : "an"} account`);
    wakeAfter(task, (work) => woken.push(work), Object.assign(new InProcessEventSignals(), { wake }));
    expect(woken).toEqual(expected);
  });
});
