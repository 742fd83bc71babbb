import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/support/builders.js";
import { RecordingWebhookSender } from "../../../adapters/memory/recording-ports.js";
import { eventDelivery } from "../../../application/webhooks/deliver-events.js";
import { webhooks } from "../../../application/webhooks/webhooks.js";
import type { AccountId } from "../../../domain/ids.js";
import type { AttemptResult } from "../../../domain/webhooks/webhook-delivery.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

const SUCCESS: AttemptResult = { kind: "delivered", detail: "status 200" };
const TIMEOUT: AttemptResult = { kind: "failed", detail: "TimeoutError", isGone: false, isUnanswered: true };
const STRANGER = "https://stranger.example/hook";
const STRANGER_MILLISECONDS = 200;

/** One process delivers, as the schedule of the service does: every second, and at once when a task ends. */
describe("eventDelivery with slow receivers of other accounts", () => {
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
    ({ deliver, claimNow } = eventDelivery(
      { ...world, webhookSender: sender },
      { leaseMilliseconds: 20_000, concurrency: 256, bodyOf: ({ type }) => type },
    ));
    await addEndpoint(stranger, STRANGER);
  });

  const addEndpoint = async (account: AccountId, url: string) =>
    (await webhooks(world).createEndpoint(account, url))._unsafeUnwrap();
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
});
