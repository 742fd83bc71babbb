import { beforeAll, describe, expect, it } from "vitest";
import {
  aCreationRequest,
  aFailedTask,
  anAccount,
  anApiKey,
  anEndpoint,
  anOrderCheckout,
  aPaidOrder,
  apiKeyId,
  aSucceededTask,
  noon,
  orderId,
  secondsAfter,
} from "../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import { MemoryObjectStorage } from "../../../adapters/memory/memory-object-storage.js";
import { memoryStores } from "../../../adapters/persistence/memory-stores.js";
import { accountExports, type ExportedRecord } from "../../../application/accounts/export-account.js";
import type { OrderStore } from "../../../application/ports/stores/ledger-store.js";
import { credits } from "../../../domain/credits/credits.js";
import { RATE_LIMITS } from "../../../domain/panorama-policy.js";
import { overridden } from "../../support/overridden.js";
import { TABLE_COLUMNS } from "../../support/table-columns.js";

/** Columns of a table, separated by spaces. */
type Columns = {
  /** Those that a record has as members of the same name. */
  readonly same: string;
  /** Those that it has otherwise: the paths of the members. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Those that it does not have, by the reason. */
  readonly withheld: Readonly<Record<string, string>>;
};

const COLUMNS: Readonly<Record<string, Columns>> = {
  account: {
    same: "id email createdAt credits debt openDisputes lowBalanceThreshold closedAt",
    renamed: { suspendedAt: "suspension.at", suspensionReason: "suspension.reason" },
    withheld: {
      "a hash": "passwordHash",
      "the sum of the ledger entries": "granted",
      "the number of unfinished panoramas": "activeTasks",
      "a place in the queue": "lastTurn",
      "a counter": "lastEvent",
      "a counter of today": "failureDay failures failureBytes",
      "nothing is left then": "erasedAt",
    },
  },
  credit_order: {
    same: "id credits createdAt priceCents currency paymentId takenBack dispute returnReason",
    renamed: { paidAt: "paidAt state", returned: "state" },
    withheld: {
      "the account of all records": "accountId",
      "a secret of the payment service": "checkoutSession",
      "a secret": "checkoutToken",
    },
  },
  api_key: {
    same: "id name prefix createdAt revokedAt lastUsedAt",
    renamed: {
      scopes: "limits.scopes",
      expiresAt: "limits.expiresAt",
      creditsPerDay: "limits.creditsPerDay",
      creditsPerMonth: "limits.creditsPerMonth",
    },
    withheld: { "the account of all records": "accountId", "a hash": "secretSha256" },
  },
  task: {
    same:
      "id slug resolution prompt imageUrls visibility seed metadata credits state failureReason apiKeyId webhookUrl " +
      "hiddenReason",
    renamed: {
      reservedAt: "createdAt",
      succeededAt: "finishedAt",
      failedAt: "finishedAt",
      imageName: "imageUrl",
      deletedAt: "isDeleted",
    },
    withheld: {
      "the account of all records": "accountId",
      "how the service works on it":
        "submittedAt upstreamTaskId failureImage failureDetail storageStatus temporaryUrl failureImageProblem startAt " +
        "failedAttempts nativeWidth nativeHeight sourceType resultFigures dueAt fence turn submissions place textsErasedAt " +
        "traceparent leasedUntil cancelWantedAt cancelRefusedAt inSearch startedAt generatedAt savedAt expiredAt " +
        "nextImageName",
      "what operators decide": "deletedBy hiddenAt hiddenBy chosenVisibility",
    },
  },
  ledger_entry: {
    same: "kind credits taskId orderId at reason reference",
    withheld: { "a counter": "id", "the account of all records": "accountId" },
  },
  webhook_endpoint: {
    same: "id url createdAt failingSince",
    renamed: { offAt: "off.at", offReason: "off.reason" },
    withheld: { "the account of all records": "accountId", "of a secret": "secret previousSecret previousUntil" },
  },
  reference_upload: {
    same: "uploadedAt",
    renamed: { name: "url" },
    withheld: { "the account of all records": "accountId" },
  },
};

const words = (texts: readonly string[]): readonly string[] => texts.flatMap((text) => text.split(" "));

const TYPES: Readonly<Record<string, ExportedRecord["type"]>> = {
  account: "account",
  credit_order: "order",
  api_key: "key",
  task: "panorama",
  ledger_entry: "ledger_entry",
  webhook_endpoint: "webhook_endpoint",
  reference_upload: "upload",
};

/** Tables without a record of their own. */
const OTHER_TABLES: Readonly<Record<string, string>> = {
  payment_return: "what it means is in the order",
  key_spending: "sums of panoramas",
  idempotency_key: "gone in a day; a name that a program has chosen",
  session: "a hash",
  password_link: "a hash, gone in a day",
  outgoing_email: "gone in a day",
  task_reference: "the URLs are in the panorama",
  task_metadata: "the pairs are in the panorama",
  event: "what happened to a panorama",
  webhook_delivery: "the way of an event",
  webhook_receiver: "of hosts, not of persons",
  reference_image: "contents, which accounts share",
  task_queue: "of the service",
  operator_action: "of operators",
  installation_secret: "of the service",
};

describe("the export of an account", () => {
  let records: readonly ExportedRecord[];
  beforeAll(async () => {
    const account = anAccount({ suspension: { at: noon, reason: "a reason" } });
    const later = secondsAfter(noon, 60);
    const standing = { accountId: account.id, credits: credits(7), debt: credits(2), openDisputes: 1, activeTasks: 0 };
    const key = anApiKey({
      revokedAt: later,
      lastUsedAt: later,
      prefix: "sk-abcdefgh",
      limits: { scopes: ["read"], expiresAt: later, creditsPerDay: credits(3), creditsPerMonth: credits(9) },
    });
    const returned = { dispute: "open", takenBack: credits(3), returnReason: "a return" } as const;
    const order = {
      ...aPaidOrder({ ...returned, checkout: anOrderCheckout(), paymentId: "pay_1" }),
      state: "refunded",
    };
    const request = aCreationRequest({
      prompt: "a lake",
      image_urls: ["https://example.com/1.jpg"],
      visibility: "public",
      seed: 7,
      metadata: { project: "x" },
      webhook_url: "https://example.com/hook",
    });
    const own = { hiddenReason: "a reason", apiKeyId: key.id };
    const entry = { accountId: account.id, at: noon, credits: 1 };
    const adjustment = { ...entry, kind: "adjustment", reason: "a gift", reference: "r-1" };
    const entries = [adjustment, { ...entry, kind: "purchase", orderId: orderId(1) }];
    const spent = { ...entry, kind: "reservation", taskId: aFailedTask().id, credits: -4 };
    const once = <Item>(items: readonly Item[]) => {
      let left = items;
      return async () => {
        const page = left;
        left = [];
        return page as never;
      };
    };
    const stores = memoryStores(new HandClock(), RATE_LIMITS);
    const exported = await accountExports({
      operators: overridden(stores.operators, {
        account: async () => ({ account, standing: { ...standing, lowBalanceThreshold: credits(5) }, closedAt: later }),
        tasks: once([
          { task: aSucceededTask({ request, ...own }), isDeleted: false },
          { task: aFailedTask({ request }), isDeleted: true },
        ]),
        unusedUploads: once([{ name: "upload-1", uploadedAt: noon }]),
      }),
      keys: overridden(stores.keys, { list: async () => [key, anApiKey({ id: apiKeyId(2) })] }),
      orders: overridden(stores.orders, { list: once([order]) as OrderStore["list"] }),
      ledger: overridden(stores.ledger, {
        list: once([...entries, spent].map((one, n) => ({ entry: one, cursor: n }))),
      }),
      endpoints: overridden(stores.endpoints, {
        list: async () => [anEndpoint({ failingSince: noon, off: { at: later, reason: "failing" } })],
      }),
      storage: overridden(new MemoryObjectStorage(), { urlOf: (name) => `https://service.example/${name}` }),
    }).export(account.id);
    const all: ExportedRecord[] = [];
    for await (const record of exported._unsafeUnwrap()) all.push(record);
    records = JSON.parse(JSON.stringify(all)) as ExportedRecord[];
  });

  const camelCase = (column: string) => column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const valueAt = (record: unknown, path: string): unknown =>
    path.split(".").reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], record);

  it("lists every column as exported or as excluded with a reason", () => {
    for (const [table, names] of TABLE_COLUMNS) {
      const columns = COLUMNS[table];
      if (columns === undefined) {
        expect([table, OTHER_TABLES[table]]).toEqual([table, expect.any(String)]);
        continue;
      }
      const { same, renamed = {}, withheld } = columns;
      const known = [...words([same, ...Object.values(withheld)]), ...Object.keys(renamed)];
      expect([table, known.sort()]).toEqual([table, names.map(camelCase).sort()]);
    }
  });

  it("contains the values of all exported columns", () => {
    for (const [table, { same, renamed = {} }] of Object.entries(COLUMNS)) {
      const ofTable = records.filter(({ type }) => type === TYPES[table]);
      for (const path of words([same, ...Object.values(renamed)])) {
        const values = ofTable.map((record) => valueAt(record, path)).filter((value) => value !== undefined);
        expect([table, path, values.length]).not.toEqual([table, path, 0]);
      }
    }
  });
});
