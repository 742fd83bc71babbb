import { ok } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest } from "../../adapters/contracts/support/builders.js";
import { HandClock } from "../../adapters/memory/hand-clock.js";
import { memoryPorts } from "../../adapters/memory/memory-ports.js";
import { memoryStores } from "../../adapters/persistence/memory-stores.js";
import { type ApplicationSettings, completeSettings } from "../../application/application-settings.js";
import { type Application, createApplication } from "../../application/create-application.js";
import type { ScheduledWork } from "../../application/ports/clock.js";
import { type Account, parseEmail } from "../../domain/accounts/account.js";
import { credits } from "../../domain/credits/credits.js";
import { CREDIT_PACKS } from "../../domain/credits/order.js";
import type { AccountId } from "../../domain/ids.js";
import { PANORAMA_POLICY, RATE_LIMITS } from "../../domain/panorama-policy.js";
import type { Task } from "../../domain/tasks/task.js";

const EMAIL = parseEmail("customer@example.com")._unsafeUnwrap();

const allPorts = (clock: HandClock) => ({ ...memoryPorts(clock), ...memoryStores(clock, RATE_LIMITS) });

describe("createApplication", () => {
  let ports: ReturnType<typeof allPorts>;
  let app: Application;
  const made = (settings: ApplicationSettings = {}): Application => {
    app = createApplication({ ports, settings });
    return app;
  };

  beforeEach(() => {
    ports = allPorts(new HandClock());
    made();
  });

  const opened = async (amount = 100): Promise<Account> =>
    (await app.accounts.open({ email: EMAIL, credits: credits(amount) }))._unsafeUnwrap().account;
  const created = async (owner: AccountId): Promise<Task> =>
    (await app.panoramas.create(owner, aCreationRequest()))._unsafeUnwrap().task;
  const read = async ({ id, accountId }: Task): Promise<Task> =>
    (await app.panoramas.read(id, accountId))._unsafeUnwrap();

  it("leads from the sign-up over a purchase to a stored panorama, its webhook and its event", async () => {
    await app.start();
    const attempt = { email: EMAIL, password: "correct horse battery", remoteAddress: "192.0.2.1" };
    expect(await app.accounts.signUp(attempt)).toEqual(ok(undefined));
    const session = (await app.accounts.logIn(attempt))._unsafeUnwrap();
    const account = (await app.accounts.findSession(session))?.account as Account;
    expect(account.email).toBe(EMAIL);
    const refused = await app.panoramas.create(account.id, aCreationRequest());
    expect(refused._unsafeUnwrapErr().kind).toBe("insufficient_credits");

    const { order, checkoutUrl } = (await app.credits.buy(account, CREDIT_PACKS[0]))._unsafeUnwrap();
    expect(checkoutUrl).toBe(`https://payments.example/${order.id}`);
    const { body, signature } = ports.payments.pay(order.id);
    const forged = await app.credits.receivePaymentWebhook(body, "forged");
    expect(forged._unsafeUnwrapErr().kind).toBe("unverified_webhook");
    for (const _ of [1, 2]) {
      const paid = (await app.credits.receivePaymentWebhook(body, signature))._unsafeUnwrap();
      expect([paid?.id, paid?.state]).toEqual([order.id, "paid"]);
    }
    expect(await app.credits.readBalance(account.id)).toBe(100);

    const { secret } = (await app.accounts.createApiKey(account.id, "first"))._unsafeUnwrap();
    const admitted = (await app.accounts.admitApiRequest(secret, "write"))._unsafeUnwrap();
    expect(admitted.accountId).toBe(account.id);
    const endpoint = (await app.webhooks.createEndpoint(account.id, "https://customer.example/"))._unsafeUnwrap();

    const abort = new AbortController();
    const stream = await app.events.stream(account.id, undefined, undefined, abort.signal);
    const firstEvent = stream.next();
    const { task } = (
      await app.panoramas.create(account.id, aCreationRequest(), undefined, { apiKey: admitted.key })
    )._unsafeUnwrap();
    const waiting = app.panoramas.waitFor(task.id, account.id, 30_000, abort.signal);
    await ports.clock.advance(8_000);
    expect((await waiting)._unsafeUnwrap().state).toBe("succeeded");
    expect(await read(task)).toMatchObject({ state: "succeeded", image: { status: "saved" } });
    expect(ports.storage.objects.size).toBe(2);
    expect(await app.credits.readBalance(account.id)).toBe(100 - task.reservation.credits);
    expect((await firstEvent).value).toMatchObject({ event: { type: "panorama.succeeded", taskId: task.id } });
    expect(
      ports.webhookSender.sent.map(({ url, body, secrets }) => [
        url,
        JSON.parse(body).type,
        JSON.parse(body).data,
        secrets,
      ]),
    ).toEqual(
      ["panorama.succeeded", "panorama.saved"].map((type) => [
        endpoint.url,
        type,
        expect.objectContaining({ id: task.id, status: "succeeded" }),
        [endpoint.secret],
      ]),
    );
    expect(await app.credits.verifyLedger()).toEqual({ accounts: 1, findings: [] });
    expect(ports.reporter.of("work_failed")).toEqual([]);
    abort.abort();
    await app.stop();
    expect(ports.clock.sleeping).toBe(0);
  });

  it("uses the settings that are given", async () => {
    const webhookPrivateOrigins = ["http://10.0.0.1"];
    made({ generationDeadlineMilliseconds: 30_000, webhookPrivateOrigins });
    await app.start();
    const { id } = await opened();
    expect(app.webhookPrivateOrigins).toEqual(webhookPrivateOrigins);
    expect((await app.webhooks.createEndpoint(id, "http://10.0.0.1/hook")).isOk()).toBe(true);
    ports.provider.play({ poll: "running" });
    const task = await created(id);
    await ports.clock.advance(40_000);
    expect(await read(task)).toMatchObject({ state: "failed", reason: "deadline_passed" });
    await app.stop();
  });

  it("refuses a creation whose estimated wait is too long, once generation times are known", async () => {
    made({ generationDeadlineMilliseconds: 10_000 });
    await app.start();
    const { id } = await opened();
    ports.provider.concurrencyMax = 1;
    const fiveMore = async () => {
      const outcomes: string[] = [];
      for (let n = 0; n < 5; n += 1) {
        const outcome = await app.panoramas.create(id, aCreationRequest());
        outcomes.push(
          outcome.match(
            ({ task }) => task.state,
            ({ kind }) => kind,
          ),
        );
      }
      return outcomes;
    };
    const queued = Array(3).fill("queued");
    expect(await fiveMore()).toEqual(["submitted", ...queued, "queued"]);
    await ports.clock.advance(60_000);
    expect(await fiveMore()).toEqual(["submitted", ...queued, "upstream_error"]);
    await app.stop();
  });

  it("stop resolves at its deadline if work does not end", async () => {
    await app.start();
    await created((await opened()).id);
    ports.provider.hold("poll");
    await ports.clock.advance(6_000);
    let hasStopped = false;
    const stopping = app.stop(3_000).then(() => {
      hasStopped = true;
    });
    await ports.clock.advance(2_999);
    expect(hasStopped).toBe(false);
    await ports.clock.advance(1);
    await stopping;
  });

  it("does no background work before start: another process may do it", async () => {
    const { id } = await opened();
    const task = await created(id);
    await app.webhooks.createEndpoint(id, "https://customer.example/");
    await app.panoramas.cancel(task.id, id);
    await ports.clock.advance(60_000);
    expect((await read(task)).state).toBe("failed");
    expect(ports.webhookSender.sent).toEqual([]);
    const other = createApplication({ ports });
    await other.start();
    await ports.clock.advance(1_000);
    expect(ports.webhookSender.sent).toHaveLength(1);
    await other.stop();
  });

  it("wakes waits and event streams when a task ends", async () => {
    const { id } = await opened();
    const task = await created(id);
    const { signal } = new AbortController();
    const stream = await app.events.stream(id, undefined, undefined, signal);
    const event = stream.next();
    const waiting = app.panoramas.waitFor(task.id, id, 30_000, signal);
    await ports.clock.settled();
    await app.panoramas.cancel(task.id, id);
    expect((await waiting)._unsafeUnwrap().state).toBe("failed");
    expect((await event).value).toMatchObject({ event: { type: "panorama.failed" } });
  });

  it("reports work that throws, and runs it again", async () => {
    const broken = new Error("the store is unreachable");
    const { tasks } = ports;
    let calls = 0;
    ports = {
      ...ports,
      tasks: Object.assign(Object.create(tasks), {
        claim: async (...args: Parameters<typeof tasks.claim>) => {
          calls += 1;
          if (args[0] === "poll" && calls < 3) throw broken;
          return tasks.claim(...args);
        },
      }),
    };
    made();
    await app.start();
    const task = await created((await opened()).id);
    await ports.clock.advance(10_000);
    expect(ports.reporter.of("work_failed")).toEqual([{ kind: "work_failed", work: "poll", error: broken }]);
    expect((await read(task)).state).toBe("succeeded");
    await app.stop();
  });

  it("stores the last use of a key when it stops", async () => {
    const { account, secret } = (
      await app.accounts.open({ email: EMAIL, credits: credits(1), keyName: "first" })
    )._unsafeUnwrap();
    const { key } = (await app.accounts.admitApiRequest(secret, "read"))._unsafeUnwrap();
    app.accounts.noteKeyUse(key.id);
    await app.stop();
    const [listed] = (await app.accounts.listApiKeys(account.id))._unsafeUnwrap();
    expect(listed?.key.lastUsedAt).toEqual(ports.clock.now());
    const error = new Error("the store is unreachable");
    ports.keys.recordUses = () => Promise.reject(error);
    app.accounts.noteKeyUse(key.id);
    await app.stop();
    expect(ports.reporter.of("work_failed")).toEqual([{ kind: "work_failed", work: "write_key_uses", error }]);
  });

  it("has the defaults of the service", () => {
    expect(completeSettings({})).toEqual({
      policy: PANORAMA_POLICY,
      signUp: "open",
      gallery: "open",
      welcomeCredits: 0,
      submissionDeadlineMilliseconds: 35_000,
      generationDeadlineMilliseconds: 600_000,
      queueDeadlineMilliseconds: 600_000,
      queueMax: 10_000,
      leaseMilliseconds: 60_000,
      pollMillisecondsMax: 60_000,
      resultBounds: {},
      referenceRetentionHours: 24,
      operatorLogDays: 730,
      webhookPrivateOrigins: [],
      processes: "several",
      viewerUrl: undefined,
    });
  });

  it("polls at once after a webhook of the provider", async () => {
    await app.start();
    const task = await created((await opened()).id);
    const { name } = ports.provider;
    const webhook = ports.providerWebhooks.get(name)?.about(task.id);
    if (webhook === undefined) throw new Error("the provider sends webhooks");
    expect((await app.panoramas.receiveProviderWebhook("other", webhook))._unsafeUnwrapErr().kind).toBe("not_found");
    expect(await app.panoramas.receiveProviderWebhook(name, webhook)).toEqual(ok(undefined));
    for (let turns = 0; turns < 5; turns += 1) await ports.clock.settled();
    expect((await read(task)).state).toBe("succeeded");
    await app.stop();
  });

  it("calls no port when it is made", () => {
    const untouchable = new Proxy({} as typeof ports, {
      get: (_, name) => {
        const calls = () => {
          throw new Error(`${String(name)} is called`);
        };
        return new Proxy(calls, { get: () => calls });
      },
      ownKeys: () => Reflect.ownKeys(ports),
      getOwnPropertyDescriptor: (_, name) => ({ ...Reflect.getOwnPropertyDescriptor(ports, name), configurable: true }),
    });
    expect(() => createApplication({ ports: { ...untouchable, schedule: () => scheduleOf([]) } })).not.toThrow();
  });

  it("gives its work to the schedule of its ports, with the times of the service", async () => {
    const works: Pick<ScheduledWork, "name" | "everySeconds" | "offsetSeconds">[] = [];
    const woken: string[] = [];
    const several = {
      ...ports,
      schedule: <Name extends string>(given: readonly ScheduledWork<Name>[]) => {
        works.push(...given.map(({ run: _, ...work }) => work));
        return scheduleOf(woken);
      },
    };
    app = createApplication({ ports: several });
    expect(works).toEqual([
      { name: "start", everySeconds: 1 },
      { name: "poll", everySeconds: 1 },
      { name: "check", everySeconds: 1 },
      { name: "store", everySeconds: 1 },
      { name: "recover", everySeconds: 5 },
      { name: "erase", everySeconds: 5 },
      { name: "wake_waits", everySeconds: 1 },
      { name: "deliver", everySeconds: 1 },
      { name: "wake_streams", everySeconds: 1 },
      { name: "delete_old_rows", everySeconds: 60, offsetSeconds: 45 },
      { name: "delete_references", everySeconds: 60, offsetSeconds: 30 },
      { name: "write_key_uses", everySeconds: 60, offsetSeconds: 45 },
      { name: "clean_up", everySeconds: 3600 },
    ]);
    await app.start();
    const task = await created((await opened()).id);
    await app.panoramas.cancel(task.id, task.accountId);
    expect(woken).toEqual(["start", "deliver"]);
    works.length = 0;
    createApplication({ ports: several, settings: { processes: "one" } });
    expect(works.map(({ name }) => name)).not.toContain("watch");
    expect(works).toHaveLength(12);
  });

  it("cleans the provider and the rate limits every hour", async () => {
    ports = allPorts(new HandClock(new Date("2026-01-01T12:59:50.000Z")));
    const cleaned: string[] = [];
    const clean = (what: string) => ({ clean: async () => void cleaned.push(what) });
    ports.provider = Object.assign(ports.provider, clean("provider"));
    ports.rateLimits = Object.assign(ports.rateLimits, clean("rate limits"));
    made();
    await app.start();
    await ports.clock.advance(9_999);
    expect(cleaned).toEqual([]);
    await ports.clock.advance(1);
    expect(cleaned).toEqual(["provider", "rate limits"]);
    await app.stop();
  });
});

const scheduleOf = (woken: string[]) => ({
  start: () => {},
  wake: (name: string) => void woken.push(name),
  stop: async () => {},
});
