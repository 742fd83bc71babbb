import { HandClock } from "../../adapters/memory/hand-clock.js";
import { MemoryObjectStorage } from "../../adapters/memory/memory-object-storage.js";
import { memoryStores } from "../../adapters/memory/memory-stores.js";
import { InProcessTaskSignals } from "../../adapters/scheduling/in-process-task-signals.js";
import { NodeSecrets } from "../../adapters/system/node-secrets.js";
import { RandomIds } from "../../adapters/system/random-ids.js";
import { generationTime } from "../../application/panoramas/generation-time.js";
import type { AccountId, Email } from "../../domain/account.js";
import { credits } from "../../domain/credits.js";
import { type Stores, useCases } from "./application.js";
import { FakeImaging } from "./fake-imaging.js";
import { RecordingReporter } from "./recording-reporter.js";
import { ScriptedProvider } from "./scripted-provider.js";

/** The application with its stores; every other port is a fake that the test controls. */
export const aWorld = (stores: Stores = memoryStores()) => {
  const ports = {
    ...stores,
    provider: new ScriptedProvider(),
    storage: new MemoryObjectStorage(),
    imaging: new FakeImaging(),
    clock: new HandClock(),
    ids: new RandomIds(),
    secrets: new NodeSecrets(),
    signals: new InProcessTaskSignals(),
    generationTime: generationTime(),
    reporter: new RecordingReporter(),
  };
  ports.provider.clock = ports.clock;
  const requests = stores.requestsAt(ports.clock);
  return { ...ports, requests, ...useCases(ports) };
};

export type World = ReturnType<typeof aWorld>;

/** Opens an account with `amount` paid credits. */
export const anOwner = async ({ accounts, ids, clock }: World, amount: number): Promise<AccountId> => {
  const id = ids.accountId();
  const now = clock.now();
  const order = { id: ids.orderId(), accountId: id, credits: credits(amount), createdAt: now };
  const account = { id, email: `${id}@example.com` as Email, createdAt: now };
  const opened = await accounts.open(account, undefined, { ...order, state: "paid", paidAt: now }, undefined);
  opened._unsafeUnwrap();
  return id;
};
