import { err, ok, safeTry } from "neverthrow";
import { type AccountId, parseEmail } from "../../domain/account.js";
import { parseLowBalanceThreshold } from "../../domain/low-balance.js";
import { parseOrderCredits } from "../../domain/order.js";
import { parsePassword } from "../../domain/password.js";
import { tokens } from "../tokens.js";
import { type Command, optionalText, text } from "./command.js";
import { optionMessage } from "./option-message.js";
import { readPassword } from "./read-password.js";

/** Not reached: a command hashes one password. */
const BUSY = "Too many passwords are being hashed. Try again.";

export const accountCreate: Command = {
  words: "account create",
  usage: "--email E [--password P] [--credits N] [--key]",
  options: {
    email: { type: "string" },
    password: { type: "string" },
    credits: { type: "string" },
    key: { type: "boolean" },
  },
  required: ["email"],
  run: (service, values) =>
    safeTry(async function* () {
      const email = yield* parseEmail(text(values, "email")).mapErr(optionMessage);
      const given = optionalText(values, "password");
      const password = given === undefined ? undefined : yield* parsePassword(given).mapErr(optionMessage);
      const amount = optionalText(values, "credits");
      const credits = amount === undefined ? undefined : yield* parseOrderCredits(Number(amount)).mapErr(optionMessage);
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
            return `An account for ${error.email} already exists.`;
          case "no_paid_order":
            return "A key needs a paid order. Add --credits, or create the key after an order is paid.";
          case "hashing_busy":
            return BUSY;
        }
      });
      return ok({
        json: { account_id: account.id, ...(secret && { api_key: secret }) },
        lines: [`account ${account.id}`, ...(secret ? [`key     ${secret}  (shown only once)`] : [])],
      });
    }),
};

export const accountSetPassword: Command = {
  words: "account set-password",
  usage: "--email E [--password P]",
  options: { email: { type: "string" }, password: { type: "string" } },
  required: ["email"],
  run: (service, values) =>
    safeTry(async function* () {
      const email = yield* parseEmail(text(values, "email")).mapErr(optionMessage);
      const given = optionalText(values, "password") ?? (await readPassword(`New password for ${email}: `));
      const password = yield* parsePassword(given).mapErr(optionMessage);
      const { accounts } = await service.get(tokens.storeUseCases);
      const set = await accounts.setPassword(email, password);
      yield* set.mapErr((error) => (error.kind === "not_found" ? error.message : BUSY));
      return ok({
        json: { email, status: "password_set" },
        lines: [`the password of ${email} is set, and all its sessions are ended`],
      });
    }),
};

export const accountSetLowBalance: Command = {
  words: "account set-low-balance",
  usage: "--account ID --credits N | --off",
  options: { account: { type: "string" }, credits: { type: "string" }, off: { type: "boolean" } },
  required: ["account"],
  run: (service, values) =>
    safeTry(async function* () {
      const id = text(values, "account") as AccountId;
      const given = optionalText(values, "credits");
      if ((given === undefined) === (values.off !== true)) return err("Give either --credits N or --off.");
      const threshold = given === undefined ? undefined : yield* parseLowBalanceThreshold(given).mapErr(optionMessage);
      const { accounts } = await service.get(tokens.storeUseCases);
      yield* (await accounts.setLowBalance(id, threshold)).mapErr(({ message }) => message);
      return ok({
        json: { account_id: id, low_balance: threshold ?? null },
        lines: [
          threshold === undefined ? `account ${id} has no low balance` : `low balance of ${id}: ${threshold} credits`,
        ],
      });
    }),
};
