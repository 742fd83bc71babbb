import { ok, safeTry } from "neverthrow";
import { parseEmail } from "../../domain/account.js";
import { parseOrderCredits } from "../../domain/order.js";
import { tokens } from "../tokens.js";
import { type Command, optionalText, text } from "./command.js";
import { optionMessage } from "./option-message.js";

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
      const amount = optionalText(values, "credits");
      const credits = amount === undefined ? undefined : yield* parseOrderCredits(Number(amount)).mapErr(optionMessage);
      const openAccount = await service.get(tokens.openAccount);
      const opened = await openAccount({
        email,
        password: optionalText(values, "password"),
        credits,
        keyName: values.key === true ? "first key" : undefined,
      });
      const { account, secret } = yield* opened.mapErr((error) =>
        error.kind === "email_taken"
          ? `An account for ${error.email} already exists.`
          : "A key needs a paid order. Add --credits, or create the key after an order is paid.",
      );
      return ok({
        json: { account_id: account.id, ...(secret && { api_key: secret }) },
        lines: [`account ${account.id}`, ...(secret ? [`key     ${secret}  (shown only once)`] : [])],
      });
    }),
};
