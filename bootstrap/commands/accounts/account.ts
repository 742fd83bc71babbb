import { err, ok, type ResultAsync, safeTry } from "neverthrow";
import { passwordLinkUrl } from "../../../adapters/mail/message-of.js";
import { notFound } from "../../../application/errors.js";
import { pageOf } from "../../../application/page-of.js";
import type { AccountSummary } from "../../../application/ports/stores/operator-store.js";
import { parseEmail } from "../../../domain/accounts/account.js";
import { parseOrderCredits } from "../../../domain/credits/order.js";
import { parseLowBalanceThreshold } from "../../../domain/credits/standing.js";
import type { AccountId } from "../../../domain/ids.js";
import { type CommandError, failed, misused, refused } from "../../command-error.js";
import { operatorName } from "../../operator-name.js";
import type { Service } from "../../service.js";
import { tokens } from "../../tokens.js";
import { ACCOUNT, type Command, optionalText, REASON, textOf, type Values } from "../common/command.js";
import { invalidOption, notFoundOrInvalid } from "../common/invalid-option.js";
import { LIMIT, limitOf, nextLine } from "../common/page.js";
import { readPassword } from "../common/read-password.js";
import { summaryJson, summaryLine } from "./account-summary.js";

/** Not reached: a command hashes one password. */
const BUSY = "Too many passwords are being hashed. Try again.";

const EMAIL = { email: { type: "string", about: "e-mail address of the account" } } as const;

export const accountCreate: Command = {
  words: "account create",
  about: "Opens an account. Add --password-stdin to allow logins on the web pages.",
  usage: "--email E [--password-stdin] [--credits N] [--key]",
  options: {
    ...EMAIL,
    "password-stdin": { type: "boolean", about: "read a password of 10 to 200 characters from standard input" },
    credits: { type: "string", about: "credits of a first, paid order" },
    key: { type: "boolean", about: "create an API key; needs --credits" },
  },
  required: ["email"],
  example: "account create --email ann@example.com --credits 100 --key",
  isRecorded: true,
  run: (service, values) =>
    safeTry(async function* () {
      const email = yield* parseEmail(textOf(values, "email")).mapErr(invalidOption);
      const amount = optionalText(values, "credits");
      const credits = amount === undefined ? undefined : yield* parseOrderCredits(Number(amount)).mapErr(invalidOption);
      const password =
        values["password-stdin"] === true ? yield* await readPassword(`Password for ${email}: `) : undefined;
      const { accounts } = await service.get(tokens.storeUseCases);
      const opened = await accounts.open({
        email,
        password,
        credits,
        keyName: values.key === true ? "first key" : undefined,
      });
      const { account, secret } = yield* opened.mapErr((error) => {
        switch (error.kind) {
          case "email_taken":
            return refused(`An account for ${error.email} already exists.`);
          case "no_paid_order":
            return misused("A key needs a paid order. Add --credits, or create the key after an order is paid.");
          case "hashing_busy":
            return failed(BUSY);
        }
      });
      return ok({
        json: { account_id: account.id, ...(secret && { api_key: secret }) },
        lines: [`account ${account.id}`, ...(secret ? [`key     ${secret}  (shown only once)`] : [])],
      });
    }),
};

export const accountInvite: Command = {
  words: "account invite",
  about:
    "Creates an invitation link: it opens one account and is valid for seven days. With SMTP_URL, a link is also sent by e-mail.",
  usage: "EMAIL",
  options: {},
  positional: "email",
  required: ["email"],
  example: "account invite ann@example.com",
  isRecorded: true,
  run: (service, values) =>
    safeTry(async function* () {
      const email = yield* parseEmail(textOf(values, "email")).mapErr(invalidOption);
      const { operators } = await service.get(tokens.storeUseCases);
      const { token, expiresAt } = yield* (await operators.invite(email)).mapErr((error) =>
        refused(
          error.kind === "email_taken"
            ? `An account for ${error.email} already exists.`
            : "Nobody can be invited, because signUp is closed in PANORAMA_SETTINGS. Set it to invited, or use panorama account create.",
        ),
      );
      const { publicUrl, mail } = await service.get(tokens.config);
      if (mail !== undefined) {
        const [{ emailOutbox }, ids] = await Promise.all([service.get(tokens.stores), service.get(tokens.ids)]);
        const message = { id: ids.unguessable(), kind: "invitation", to: email } as const;
        await emailOutbox.add(message, (await service.get(tokens.clock)).now());
      }
      const link = passwordLinkUrl(publicUrl, token);
      return ok({
        json: { email, link, expires_at: expiresAt.toISOString(), sent: mail !== undefined },
        lines: [
          link,
          `It opens an account for ${email}, once, until ${expiresAt.toISOString()}.`,
          ...(mail === undefined ? [] : ["The service also sends an e-mail with a link of its own to this address."]),
        ],
      });
    }),
};

export const accountPasswordLink: Command = {
  words: "account password-link",
  about: "Creates a link to set a new password. It works once and is valid for one hour.",
  usage: "--account ID",
  options: ACCOUNT,
  required: ["account"],
  example: "account password-link --account acc_…",
  isRecorded: true,
  run: (service, values) =>
    safeTry(async function* () {
      const { operators } = await service.get(tokens.storeUseCases);
      const id = textOf(values, "account") as AccountId;
      const made = yield* await operators.makePasswordLink(id);
      const link = passwordLinkUrl((await service.get(tokens.config)).publicUrl, made.token);
      const expires = made.expiresAt.toISOString();
      return ok({
        json: { email: made.email, link, expires_at: expires },
        lines: [link, `It sets the password of ${made.email}, once, until ${expires}.`],
      });
    }),
};

export const accountSetLowBalance: Command = {
  words: "account set-low-balance",
  about: "Sets the low-balance threshold. The owner gets one notice each time the balance falls below it.",
  usage: "--account ID --credits N | --off",
  options: {
    ...ACCOUNT,
    credits: { type: "string", about: "threshold in credits" },
    off: { type: "boolean", about: "remove the threshold" },
  },
  required: ["account"],
  example: "account set-low-balance --account acc_… --credits 50",
  isRecorded: true,
  run: (service, values) =>
    safeTry(async function* () {
      const id = textOf(values, "account") as AccountId;
      const given = optionalText(values, "credits");
      if ((given === undefined) === (values.off !== true)) return err(misused("Give either --credits N or --off."));
      const threshold = given === undefined ? undefined : yield* parseLowBalanceThreshold(given).mapErr(invalidOption);
      const { accounts } = await service.get(tokens.storeUseCases);
      yield* await accounts.setLowBalance(id, threshold);
      return ok({
        json: { account_id: id, low_balance: threshold ?? null },
        lines: [
          threshold === undefined ? `account ${id} has no low balance` : `low balance of ${id}: ${threshold} credits`,
        ],
      });
    }),
};

export const accountList: Command = {
  words: "account list",
  about: "Lists accounts, newest first.",
  usage: "[--limit N] [--before ID]",
  options: { ...LIMIT, before: { type: "string", about: "only accounts older than this one" } },
  required: [],
  example: "account list --limit 100",
  run: (service, values) =>
    safeTry(async function* () {
      const limit = yield* limitOf(values);
      const { operators } = await service.get(tokens.stores);
      const found = await operators.accounts(limit + 1, optionalText(values, "before") as AccountId | undefined);
      const { items, last } = pageOf(found, limit);
      return ok({
        json: { accounts: items.map(summaryJson), next: last?.account.id ?? null },
        lines: [...items.map(summaryLine), ...nextLine(last?.account.id)],
      });
    }),
};

/** The account with the given id or e-mail address. */
const accountOf = (service: Service, values: Values): ResultAsync<AccountSummary, CommandError> =>
  safeTry(async function* () {
    const [id, given] = [optionalText(values, "account"), optionalText(values, "email")];
    if ((id === undefined) === (given === undefined)) return err(misused("Give either --account ID or --email E."));
    const { operators } = await service.get(tokens.stores);
    if (given === undefined) {
      const summary = await operators.account(id as AccountId);
      return summary === undefined ? err(notFound(`There is no account ${id}.`)) : ok(summary);
    }
    const email = yield* parseEmail(given).mapErr(invalidOption);
    const found = await (await service.get(tokens.stores)).accounts.findByEmail(email);
    const summary = found && (await operators.account(found.account.id));
    return summary === undefined ? err(notFound(`There is no account for ${email}.`)) : ok(summary);
  });

export const accountShow: Command = {
  words: "account show",
  about: "Shows an account with its credits, and how many keys, endpoints and paid orders it has.",
  usage: "--account ID | --email E",
  options: { ...ACCOUNT, ...EMAIL },
  required: [],
  example: "account show --email ann@example.com",
  run: async (service, values) => {
    const found = await accountOf(service, values);
    if (found.isErr()) return err(found.error);
    const summary = found.value;
    const { id } = summary.account;
    const { ledger, keys, orders, endpoints } = await service.get(tokens.stores);
    const { remaining, reserved, spent, debt = 0 } = await ledger.totals(id);
    const { openDisputes = 0 } = summary.standing;
    const json = {
      ...summaryJson(summary),
      reserved_credits: reserved,
      spent_credits: spent,
      debt,
      disputed_payments: openDisputes,
      low_balance: summary.standing.lowBalanceThreshold ?? null,
      keys: (await keys.listLive(id)).length,
      paid_orders: await orders.countPaid(id),
      webhook_endpoints: (await endpoints.list(id)).length,
    };
    return ok({
      json,
      lines: [
        summaryLine(summary),
        `credits: ${remaining} remaining, ${reserved} reserved, ${spent} spent${debt > 0 ? `, ${debt} owed` : ""}`,
        ...(openDisputes > 0 ? [`payments that are disputed: ${openDisputes}`] : []),
        `${json.keys} keys that are not revoked, ${json.paid_orders} paid orders, ${json.webhook_endpoints} webhook endpoints`,
      ],
    });
  },
};

/** Suspends an account for a reason; without one, resumes it. */
const suspend = async (service: Service, id: AccountId, reason: string | undefined) => {
  const { operators } = await service.get(tokens.storeUseCases);
  const changed = await operators.suspendAccount(id, reason === undefined ? undefined : { reason, by: operatorName() });
  const status = reason === undefined ? "active" : "suspended";
  return changed
    .map(() => ({ json: { account_id: id, status }, lines: [`account ${id} is ${status}`] }))
    .mapErr(notFoundOrInvalid);
};

export const accountSuspend: Command = {
  words: "account suspend",
  about:
    "Suspends an account: its keys are refused and it cannot create panoramas. Running tasks continue, and its panoramas stay.",
  usage: "--account ID --reason TEXT",
  options: { ...ACCOUNT, ...REASON },
  required: ["account", "reason"],
  example: 'account suspend --account acc_… --reason "Publishes private persons"',
  isRecorded: true,
  run: (service, values) => suspend(service, textOf(values, "account") as AccountId, textOf(values, "reason")),
};

export const accountResume: Command = {
  words: "account resume",
  about: "Ends the suspension of an account.",
  usage: "--account ID",
  options: ACCOUNT,
  required: ["account"],
  example: "account resume --account acc_…",
  isRecorded: true,
  run: (service, values) => suspend(service, textOf(values, "account") as AccountId, undefined),
};

export const accountClose: Command = {
  words: "account close",
  about:
    "Closes an account permanently and deletes its personal data. Ledger, orders and task ids stay. The remaining balance is set to 0.",
  usage: "--account ID --confirm EMAIL",
  options: { ...ACCOUNT, confirm: { type: "string", about: "e-mail address of the account, as a confirmation" } },
  required: ["account", "confirm"],
  example: "account close --account acc_… --confirm ann@example.com",
  isRecorded: true,
  run: (service, values) =>
    safeTry(async function* () {
      const id = textOf(values, "account") as AccountId;
      const { operators } = await service.get(tokens.stores);
      const summary = await operators.account(id);
      if (summary === undefined) return err(notFound(`There is no account ${id}.`));
      // The address of a closed account is gone: what an interrupted run has left is completed without it.
      if (summary.closedAt === undefined && textOf(values, "confirm").trim().toLowerCase() !== summary.account.email) {
        return err(misused(`--confirm must be the e-mail address of account ${id}. panorama account show prints it.`));
      }
      const { operators: useCases } = await service.get(tokens.storeUseCases);
      const closed = await useCases.closeAccount(id);
      yield* closed.mapErr((error) =>
        error.kind === "not_found"
          ? error
          : refused(
              `Account ${id} has ${error.activeTasks} tasks in processing. Cancel them with panorama task cancel, or wait for them.`,
            ),
      );
      return ok({
        json: { account_id: id, status: "closed" },
        lines: [`account ${id} is closed; the service deletes its pictures in the background`],
      });
    }),
};
