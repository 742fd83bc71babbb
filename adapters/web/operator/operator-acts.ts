import type { Result } from "neverthrow";
import type { UseCases } from "../../../application/create-application.js";
import type { NotFound } from "../../../application/errors.js";
import type { ObjectIsGone } from "../../../application/operators/restore-panorama.js";
import type { StorageUnavailable } from "../../../application/ports/object-storage.js";
import type { OperatorStore } from "../../../application/ports/stores/operator-store.js";
import type { OrderStore } from "../../../application/ports/stores/order-store.js";
import type { AccountId } from "../../../domain/account-id.js";
import type { ApiKeyId } from "../../../domain/accounts/api-key.js";
import { parseAdjustmentReason, parseAdjustmentReference } from "../../../domain/credits/ledger.js";
import type { OrderId } from "../../../domain/credits/order.js";
import type { InvalidRequest } from "../../../domain/invalid-request.js";
import type { TaskId } from "../../../domain/task-id.js";
import type { PageBody, PageRequest } from "../../web-page/page.js";
import { thousands } from "../../wording/thousands.js";

type Parts = Pick<UseCases, "accounts" | "panoramas" | "credits" | "operators"> & {
  readonly operator: {
    readonly store: Pick<OperatorStore, "account" | "task" | "key">;
    readonly orders: Pick<OrderStore, "find">;
  };
};

/** Resolves to the sentence that refuses it, or to `undefined` if it is done. `by`: who does it. */
type Run = (request: PageRequest & PageBody, id: string, by: string) => Promise<string | undefined>;

/** What an operator does with a form. */
export type OperatorAct = {
  /** Its name in the log of operators. */
  readonly command: string;
  readonly run: Run;
  /** The page that shows the result; `undefined` if nothing has this id. */
  readonly back: (id: string) => Promise<string | undefined>;
};

type Acts = Readonly<Record<string, OperatorAct>>;

/** By their paths: each does what its command does. */
export const operatorActs = (parts: Parts): Acts => ({
  ...accountActs(parts),
  ...keyActs(parts),
  ...orderActs(parts),
  ...taskActs(parts),
});

const accountPage = async ({ operator: { store } }: Parts, id: string): Promise<string | undefined> =>
  (await store.account(id as AccountId)) && `/operator/accounts/${id}`;

const accountActs = (parts: Parts): Acts => {
  const { accounts, operators } = parts;
  const { store } = parts.operator;
  const back = (id: string) => accountPage(parts, id);
  return {
    "accounts/:id/credits": { command: "credits grant", back, run: adjustBy(parts) },
    "accounts/:id/revoke-keys": {
      command: "key revoke",
      back,
      run: async (_request, id) => refusalOf(await operators.revokeKeys(id as AccountId)),
    },
    "accounts/:id/password-link": {
      command: "account password-link",
      back,
      run: async ({ remoteAddress }, id) => {
        const email = (await store.account(id as AccountId))?.account.email;
        if (email === undefined) return "There is no such account.";
        const sent = await accounts.sendPasswordLink({ email, remoteAddress, purpose: "new_password" });
        return sent.isOk() ? undefined : "No e-mail was sent. Try again later.";
      },
    },
    "accounts/:id/hide-all": {
      command: "gallery hide",
      back,
      run: async ({ form }, id, by) => refusalOf(await operators.withholdAccount(id as AccountId, reasonIn(form, by))),
    },
    "accounts/:id/suspend": {
      command: "account suspend",
      back,
      run: async ({ form }, id, by) => refusalOf(await operators.suspendAccount(id as AccountId, reasonIn(form, by))),
    },
    "accounts/:id/resume": {
      command: "account resume",
      back,
      run: async (_request, id) => refusalOf(await operators.suspendAccount(id as AccountId, undefined)),
    },
    "accounts/:id/close": { command: "account close", back, run: closeBy(parts) },
  };
};

const keyActs = (parts: Parts): Acts => ({
  "keys/:id/revoke": {
    command: "key revoke",
    back: async (id) => {
      const key = await parts.operator.store.key(id as ApiKeyId);
      return key && accountPage(parts, key.accountId);
    },
    run: async (_request, id) => refusalOf(await parts.accounts.revokeAnyApiKey(id as ApiKeyId)),
  },
});

const orderActs = ({ credits, operator: { orders } }: Parts): Acts => ({
  "orders/:id/pay": {
    command: "order pay",
    back: async (id) => (await orders.find(id as OrderId)) && "/operator",
    run: async (_request, id) => refusalOf(await credits.payOrder(id as OrderId)),
  },
});

/** Each choice of a panorama for the gallery, and its end. */
const GALLERY_ACTS = [
  ["feature", "featured", true],
  ["unfeature", "featured", false],
  ["approve", "approved", true],
  ["unapprove", "approved", false],
] as const;

const taskActs = ({ panoramas, operators, operator: { store } }: Parts): Acts => {
  const back = async (id: string) => (await store.task(id as TaskId)) && `/operator/tasks/${id}`;
  return {
    "tasks/:id/retry": {
      command: "task retry",
      back,
      run: async (_request, id) => {
        const found = await store.task(id as TaskId);
        if (found === undefined) return "There is no such task.";
        const retried = await panoramas.retryImage(found.task.id, found.task.accountId);
        return retried.isOk() ? undefined : "Only an image whose storage has failed can be fetched again.";
      },
    },
    "tasks/:id/hide": {
      command: "gallery hide",
      back,
      run: async ({ form }, id, by) => refusalOf(await operators.withholdPanorama(id, reasonIn(form, by))),
    },
    "tasks/:id/show": {
      command: "gallery show",
      back,
      run: async (_request, id) =>
        (await operators.withholdPanorama(id, undefined)).isOk() ? undefined : "It is not hidden.",
    },
    "tasks/:id/restore": {
      command: "task restore",
      back,
      run: async (_request, id) => (await operators.restorePanorama(id)).match(() => undefined, restoreRefusal),
    },
    "tasks/:id/dismiss": {
      command: "report dismiss",
      back,
      run: async (_request, id) => refusalOf(await operators.dismissReports(id)),
    },
    ...Object.fromEntries(
      GALLERY_ACTS.map(([verb, choice, isChosen]) => [
        `tasks/:id/${verb}`,
        {
          command: `gallery ${verb}`,
          back,
          run: async (_request: PageRequest & PageBody, id: string) =>
            refusalOf(await operators.choosePanorama(id, choice, isChosen)),
        },
      ]),
    ),
  };
};

const reasonIn = (form: PageBody["form"], by: string) => ({ reason: form.get("reason") ?? "", by });

const WRONG_REASON = "Give a reason of 1 to 200 characters.";

/** Of the fields of these acts, only the reason has a rule. */
const refusalOf = (result: Result<unknown, NotFound | InvalidRequest>): string | undefined =>
  result.match(
    () => undefined,
    (error) => (error.kind === "not_found" ? error.message : WRONG_REASON),
  );

const restoreRefusal = (error: NotFound | ObjectIsGone | StorageUnavailable): string => {
  if (error.kind === "not_found") return error.message;
  return error.kind === "object_is_gone"
    ? "The storage has no file of it any more."
    : `The storage cannot be asked: ${error.reason}`;
};

const CREDITS_MAX = 1_000_000;

const adjustBy =
  ({ operators }: Parts): Run =>
  async ({ form }, id) => {
    const text = (form.get("credits") ?? "").trim().replace("−", "-");
    const amount = Number(text);
    const reason = parseAdjustmentReason(form.get("reason") ?? "");
    if (!/^[+-]?\d+$/.test(text) || amount === 0 || Math.abs(amount) > CREDITS_MAX) {
      return `Give a whole number of credits, at most ${CREDITS_MAX}.`;
    }
    if (reason.isErr()) return WRONG_REASON;
    // A form that is sent twice gives once.
    const reference = parseAdjustmentReference(form.get("reference") ?? "").unwrapOr(undefined);
    const adjusted = await operators.adjustCredits(id as AccountId, amount, reason.value, reference);
    return adjusted.match(
      () => undefined,
      (error) => {
        switch (error.kind) {
          case "insufficient_credits":
            return `The account has only ${thousands(error.balance)} credits.`;
          case "reference_used":
            return `This form was sent already, with ${error.known.credits} credits. Nothing more was given. Open the account again to give others.`;
          case "not_found":
            return "There is no such account.";
        }
      },
    );
  };

const closeBy =
  ({ operators, operator: { store } }: Parts): Run =>
  async ({ form }, id) => {
    const summary = await store.account(id as AccountId);
    if (summary === undefined) return "There is no such account.";
    const confirmed = (form.get("confirm") ?? "").trim().toLowerCase();
    if (summary.closedAt === undefined && confirmed !== summary.account.email) {
      return "The e-mail address is not that of the account. Nothing was closed.";
    }
    const closed = await operators.closeAccount(id as AccountId);
    return closed.match(
      () => undefined,
      (error) =>
        error.kind === "not_found"
          ? error.message
          : `${error.activeTasks} of its tasks are in progress. Try again when they have ended.`,
    );
  };
