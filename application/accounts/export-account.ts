import { err, ok, type Result } from "neverthrow";
import { priceOf } from "../../domain/credits/order.js";
import type { AccountId } from "../../domain/ids.js";
import { endedAtOf } from "../../domain/tasks/account-event.js";
import { publicImageName, publicReason } from "../../domain/tasks/public-reason.js";
import { isActive } from "../../domain/tasks/task.js";
import { type NotFound, notFound } from "../errors.js";
import type { ApplicationPorts } from "../ports/application-ports.js";
import type { ObjectStorage } from "../ports/object-storage.js";
import type { AccountSummary, TaskOfAccount } from "../ports/stores/operator-store.js";

type ExportPorts = Pick<ApplicationPorts, "operators" | "keys" | "orders" | "ledger" | "endpoints" | "storage">;

/** A page is read in one turn of the event loop, in which nobody else is served. */
const PAGE_SIZE = 50;

/** One record of the export. `type` determines the other members. */
export type ExportedRecord = {
  readonly type: "account" | "key" | "order" | "ledger_entry" | "panorama" | "upload" | "webhook_endpoint";
} & Readonly<Record<string, unknown>>;

/** The data of accounts, for their owners. */
export function accountExports(ports: ExportPorts) {
  return {
    /** All personal data of an account, without hashes and secrets. Streams page by page. */
    async export(id: AccountId): Promise<Result<AsyncIterable<ExportedRecord>, NotFound>> {
      const account = await ports.operators.account(id);
      return account === undefined ? err(notFound(`There is no account ${id}.`)) : ok(recordsOf(ports, account));
    },
  };
}

async function* recordsOf(
  { operators, keys, orders, ledger, endpoints, storage }: ExportPorts,
  { account, standing, closedAt }: AccountSummary,
): AsyncIterable<ExportedRecord> {
  const { id } = account;
  const { credits, debt, openDisputes, lowBalanceThreshold } = standing;
  yield { type: "account", ...account, credits, debt, openDisputes, lowBalanceThreshold, closedAt };
  for (const { id: keyId, name, createdAt, revokedAt, limits, lastUsedAt, prefix } of await keys.list(id)) {
    yield { type: "key", id: keyId, name, prefix, createdAt, revokedAt, limits, lastUsedAt };
  }
  for await (const { checkout, price, ...order } of allOf(id, orders.list.bind(orders), (order) => order.id)) {
    const { priceCents, currency } = priceOf({ checkout, price }) ?? {};
    yield { type: "order", ...order, priceCents, currency };
  }
  for await (const { entry } of allOf(id, ledger.list.bind(ledger), ({ cursor }) => cursor)) {
    yield { type: "ledger_entry", ...entry };
  }
  for await (const found of allOf(id, operators.tasks.bind(operators), ({ task }) => task.id)) {
    yield panoramaOf(found, storage);
  }
  for (const { name, uploadedAt } of await operators.unusedUploads(id)) {
    yield { type: "upload", url: storage.urlOf(name), uploadedAt };
  }
  for (const { id: endpointId, url, createdAt, failingSince, off } of await endpoints.list(id)) {
    yield { type: "webhook_endpoint", id: endpointId, url, createdAt, failingSince, off };
  }
}

/** Everything that `list` finds, page by page. `cursorOf`: the cursor after an item. */
async function* allOf<Item, Cursor>(
  id: AccountId,
  list: (id: AccountId, limit: number, before: Cursor | undefined) => Promise<readonly Item[]>,
  cursorOf: (item: Item) => Cursor,
): AsyncIterable<Item> {
  for (let before: Cursor | undefined; ; ) {
    const page = await list(id, PAGE_SIZE, before);
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    before = cursorOf(last);
  }
}

function panoramaOf({ task, isDeleted }: TaskOfAccount, storage: ObjectStorage): ExportedRecord {
  const { id, slug, request, apiKeyId, reservedAt, state, reservation } = task;
  const image =
    task.state === "succeeded" && !isDeleted && task.image.status !== "expired"
      ? storage.urlOf(publicImageName(task))
      : undefined;
  return {
    type: "panorama",
    id,
    slug,
    ...request,
    apiKeyId,
    createdAt: reservedAt,
    state,
    failureReason: task.state === "failed" ? publicReason(task) : undefined,
    credits: reservation.credits,
    finishedAt: isActive(task) ? undefined : endedAtOf(task),
    hiddenReason: task.hiddenReason,
    isDeleted,
    imageUrl: image,
  };
}
