import { ok } from "neverthrow";
import { afterEach, beforeEach } from "vitest";
import {
  aCreationRequest,
  accountId,
  anAccount,
  anEndpoint,
  aPaidOrder,
  aSubmittingTask,
  endpointId,
  noon,
  orderId,
  secondsAfter,
  taskId,
} from "../../../adapters/contracts/support/builders.js";
import { inChangingZones } from "../../../adapters/contracts/support/in-changing-zones.js";
import type { DeliveryLease } from "../../../application/ports/stores/webhook-stores.js";
import { credits } from "../../../domain/credits/credits.js";
import type { AccountId } from "../../../domain/ids.js";
import { type AttemptResult, afterAttempt, giveUpDelivery } from "../../../domain/webhooks/webhook-delivery.js";
import { newReceiver, originFreeAt, type Receiver, receiverAfter } from "../../../domain/webhooks/webhook-receiver.js";
import { pendingAt } from "../../support/pending-at.js";
import type { Stores } from "../stores.js";
import { end, taskSteps } from "../task-steps.js";

export const ORIGIN = "https://receiver.example.com";

export type DeliveryStores = Pick<Stores, "accounts" | "deliveries" | "endpoints" | "tasks" | "close">;

/** What the suites of deliveries share: two accounts on new stores before each test, and functions that make events. */
export const setUpDeliveries = (makeStores: () => Promise<DeliveryStores>) => {
  const owner = accountId(1);
  const other = accountId(2);
  const always = () => ok(undefined);
  const now = secondsAfter(noon, 60);
  const until = secondsAfter(noon, 90);
  const failure: AttemptResult = { kind: "failed", detail: "status 500", isGone: false };
  const success: AttemptResult = { kind: "delivered", detail: "status 200" };
  let stores: DeliveryStores;

  beforeEach(async () => {
    stores = inChangingZones(await makeStores());
    for (const [n, id] of [owner, other].entries()) {
      const order = aPaidOrder({ id: orderId(n + 1), accountId: id, credits: credits(100_000) });
      await stores.accounts.open(anAccount({ id }), { order });
    }
  });
  afterEach(() => stores.close());

  const steps = taskSteps(() => stores.tasks);
  const opened = (n: number, accountId: AccountId, body: object) =>
    steps.open(aSubmittingTask({ id: taskId(n), accountId, request: aCreationRequest({ ...body }) }));
  const submitted = async (n = 1, account: AccountId = owner, body = {}) =>
    steps.submitted(await opened(n, account, body));
  const succeeded = async (n = 1, account: AccountId = owner, body = {}) =>
    steps.succeeded(await opened(n, account, body));
  const saved = async (n = 1, account: AccountId = owner, body = {}) => steps.saved(await opened(n, account, body));
  const addNewEndpoint = (n = 1, account: AccountId = owner) =>
    stores.endpoints.insert(anEndpoint({ id: endpointId(n), accountId: account }), always);
  /** One that has confirmed a webhook. */
  const addEndpoint = async (n = 1, account: AccountId = owner) => {
    await addNewEndpoint(n, account);
    await setReceiver(endpointId(n), { verifiedAt: noon, failures: 0, nextAt: noon });
  };
  /** As an attempt does that was the last one of a delivery that is deleted now. */
  const setReceiver = (lane: string, receiver: Receiver, originFreeAt = noon) => {
    const lease = { ...aLease(), lane };
    const ended = giveUpDelivery(lease.delivery, "status 200", noon);
    return stores.deliveries.record(lease, { delivery: ended, receiver, originFreeAt }, success, noon);
  };
  const aLease = (): DeliveryLease => ({
    id: 987_654,
    fence: 1,
    lane: "",
    origin: ORIGIN,
    receiver: newReceiver(noon),
    delivery: pendingAt(noon),
    event: { type: "credits.low", accountId: owner, number: 987_654, remainingCredits: credits(1), at: noon },
    task: undefined,
    url: `${ORIGIN}/hook`,
    endpoint: anEndpoint({ id: endpointId(987) }),
  });
  const listed = async (account = owner) =>
    (await stores.deliveries.list(account, 100, undefined))
      .reverse()
      .map(({ event }) => `${event.number} ${event.type}`);
  const claim = (limit = 100, laneLimit = 100, busyLanes: readonly string[] = [], at = now) =>
    stores.deliveries.claim({ now: at, until, limit, laneLimit, busyLanes, choose: (due) => due });
  const names = (leases: readonly DeliveryLease[]) =>
    leases.map(
      ({ endpoint, event }) => `${endpoint.id === endpointId(1) ? "" : "other "}${event.number} ${event.type}`,
    );
  const record = (lease: DeliveryLease, result: AttemptResult, at = now) =>
    stores.deliveries.record(
      lease,
      {
        delivery: afterAttempt(lease.delivery, result, at),
        receiver: receiverAfter(lease.receiver, result, at),
        originFreeAt: originFreeAt(result, at),
      },
      result,
      at,
    );
  const endpoint = async () => (await stores.endpoints.list(owner)).find(({ id }) => id === endpointId(1));

  return {
    get stores() {
      return stores;
    },
    owner,
    other,
    always,
    end,
    now,
    until,
    failure,
    success,
    submitted,
    succeeded,
    saved,
    addNewEndpoint,
    addEndpoint,
    setReceiver,
    listed,
    claim,
    names,
    record,
    endpoint,
  };
};

export type DeliverySetup = ReturnType<typeof setUpDeliveries>;
