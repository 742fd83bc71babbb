import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/support/builders.js";
import { RecordingWebhookSender } from "../../../adapters/memory/recording-ports.js";
import { deliverEvents } from "../../../application/webhooks/deliver-events.js";
import { createEndpoint } from "../../../application/webhooks/endpoints.js";
import type { AccountId } from "../../../domain/ids.js";
import type { AttemptResult } from "../../../domain/webhooks/webhook-delivery.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

const SUCCESS: AttemptResult = { kind: "delivered", detail: "status 200" };
const TIMEOUT: AttemptResult = { kind: "failed", detail: "TimeoutError", isGone: false, isUnanswered: true };
const STRANGER = "https://stranger.example/hook";
const STRANGER_MILLISECONDS = 200;

/** One process delivers, as the schedule of the service does: every second, and at once when a task ends. */
describe("deliverEvents with slow receivers of other accounts", () => {
  let world: World;
  let stranger: AccountId;
  let sender: RecordingWebhookSender;
  let deliver: (stopping?: AbortSignal) => Promise<number>;
  let claimNow: () => void;
  let run: Promise<unknown> | undefined;
  let again: boolean;

  beforeEach(async () => {
    world = aWorld();
    run = undefined;
    again = false;
    stranger = await anOwner(world, 10_000);
    sender = new RecordingWebhookSender();
    deliver = deliverEvents(
      { ...world, sender },
      {
        leaseMilliseconds: 20_000,
        concurrency: 256,
        bodyOf: ({ type }) => type,
        onWake: (claim) => {
          claimNow = claim;
        },
      },
    );
    await addEndpoint(stranger, STRANGER);
  });

  const addEndpoint = async (account: AccountId, url: string) =>
    (await createEndpoint(world, { privateOrigins: [] })(account, url))._unsafeUnwrap();
  const wake = (): void => {
    claimNow();
    if (run !== undefined) again = true;
    else {
      run = deliver().finally(() => {
        run = undefined;
        if (again) wake();
        again = false;
      });
    }
  };
  const failTask = async (account: AccountId): Promise<void> => {
    world.provider.play({ submit: "refuse" });
    await world.createPanorama(account, aCreationRequest());
    wake();
  };
  const pass = async (milliseconds: number): Promise<void> => {
    for (let passed = 0; passed < milliseconds; passed += 100) {
      await world.clock.advance(100);
      if (passed % 1_000 === 0) wake();
      for (let n = 0; n < 5; n += 1) await world.clock.settled();
    }
  };
  const deliveredTo = (url: string): number => sender.sent.filter((sent) => sent.url === url).length;
  /** Milliseconds until the stranger's event is confirmed. */
  const timeOfStranger = async (): Promise<number> => {
    const before = world.clock.now().getTime();
    await failTask(stranger);
    for (let tries = 0; tries < 2_000; tries += 1) {
      const [latest] = await world.deliveries.list(stranger, 1, undefined);
      if (latest?.delivery.state === "delivered") return latest.delivery.endedAt.getTime() - before;
      await pass(100);
    }
    throw new Error("the stranger's event was not delivered");
  };
  const answerAfter = async (milliseconds: number, result: AttemptResult): Promise<AttemptResult> => {
    await world.clock.sleep(milliseconds);
    return result;
  };
  const hostileAccounts = async (count: number, endpoints: number, urlOf: (n: number) => string) => {
    const accounts: AccountId[] = [];
    for (let n = 0; n < count; n += 1) {
      const account = await anOwner(world, 10_000);
      accounts.push(account);
      for (let e = 0; e < endpoints; e += 1) await addEndpoint(account, urlOf(n * endpoints + e));
    }
    return accounts;
  };

  it.each([
    ["never answer", 10_000, TIMEOUT, 2],
    ["confirm after 9 seconds", 9_000, SUCCESS, 6], // more than all slots
  ])(
    "delivers a stranger's event in time beside 60 receivers of six accounts that %s",
    async (_, slowness, result, tasks) => {
      sender.answer = ({ url }) =>
        url === STRANGER ? answerAfter(STRANGER_MILLISECONDS, SUCCESS) : answerAfter(slowness, result);
      await timeOfStranger(); // the first event is a challenge
      const calm = await timeOfStranger();
      const hostile = await hostileAccounts(6, 10, (n) => `https://slow-${n}.example/hook`);
      const times: number[] = [];
      for (let round = 0; round < 3; round += 1) {
        for (const account of hostile) for (let n = 0; n < tasks; n += 1) await failTask(account);
        await pass(9_500);
        times.push(await timeOfStranger());
      }
      expect(Math.max(...times)).toBeLessThanOrEqual(2 * calm);
    },
  );

  it("sends an unverified host at most 12 webhooks a minute", async () => {
    sender.answer = ({ url }) => (url === STRANGER ? SUCCESS : answerAfter(50, { ...TIMEOUT, detail: "status 404" }));
    const hostile = await hostileAccounts(3, 10, (n) => `https://never-asked.example/${n}`);
    for (let minute = 0; minute < 4; minute += 1) {
      for (const account of hostile) for (let n = 0; n < 4; n += 1) await failTask(account);
      await pass(60_000);
    }
    const attempts = sender.sent.filter(({ url }) => url.startsWith("https://never-asked.example")).length;
    expect(attempts).toBeGreaterThan((4 * 60) / 10); // it is still tried, one URL after the other
    expect(attempts).toBeLessThanOrEqual((4 * 60) / 5 + 1);
    expect(new Set(sender.sent.map(({ url }) => url)).size).toBeGreaterThan(20);
  });

  it("tries a receiver that stopped answering with one event at a time, and sends all when it works again", async () => {
    const [account] = (await hostileAccounts(1, 1, () => "https://repaired.example/hook")) as [AccountId];
    await failTask(account);
    await pass(1_000);
    sender.answer = () => answerAfter(10_000, TIMEOUT);
    for (let n = 0; n < 30; n += 1) await failTask(account);
    await pass(120_000);
    const during = deliveredTo("https://repaired.example/hook") - 1;
    expect(during).toBeLessThanOrEqual(12 + 5); // those in flight when it stopped, and one after each pause
    sender.answer = () => SUCCESS;
    await pass(300_000);
    const states = (await world.deliveries.list(account, 100, undefined)).map(({ delivery }) => delivery.state);
    expect(new Set(states)).toEqual(new Set(["delivered"]));
  });
});
