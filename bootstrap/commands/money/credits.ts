import { ok, safeTry } from "neverthrow";
import { parseAdjustmentReason, parseAdjustmentReference } from "../../../domain/credits/adjustment.js";
import { parseOrderCredits } from "../../../domain/credits/order.js";
import type { AccountId } from "../../../domain/ids.js";
import { refused } from "../../command-error.js";
import type { Service } from "../../service.js";
import { tokens } from "../../tokens.js";
import { ACCOUNT, type Command, optionalText, textOf, type Values } from "../common/command.js";
import { invalidOption } from "../common/invalid-option.js";

const OPTIONS = {
  ...ACCOUNT,
  credits: { type: "string", about: "1 to 1000000" },
  reason: { type: "string", about: "shown to the account owner, 1 to 200 characters" },
} as const;

const REFERENCE = {
  reference: { type: "string", about: "your reference, such as a ticket number. A reference is granted only once" },
} as const;

const REQUIRED = ["account", "credits", "reason"];

export const creditsGrant: Command = {
  words: "credits grant",
  about: "Adds credits to an account on every run. With --reference, only on the first run.",
  usage: "--account ID --credits N --reason TEXT [--reference R]",
  options: { ...OPTIONS, ...REFERENCE },
  required: REQUIRED,
  example: 'credits grant --account acc_… --credits 20 --reason "For the outage of 3 May"',
  isRecorded: true,
  run: (service, values) => adjust(service, values, 1),
};

export const creditsTake: Command = {
  words: "credits take",
  about: "Removes credits from an account on every run, at most its balance.",
  usage: "--account ID --credits N --reason TEXT",
  options: OPTIONS,
  required: REQUIRED,
  example: 'credits take --account acc_… --credits 20 --reason "Order ord_… was charged back"',
  isRecorded: true,
  run: (service, values) => adjust(service, values, -1),
};

const adjust = (service: Service, values: Values, sign: 1 | -1) =>
  safeTry(async function* () {
    const id = textOf(values, "account") as AccountId;
    const credits = yield* parseOrderCredits(Number(textOf(values, "credits"))).mapErr(invalidOption);
    const reason = yield* parseAdjustmentReason(textOf(values, "reason")).mapErr(invalidOption);
    const given = optionalText(values, "reference");
    const reference = given === undefined ? undefined : yield* parseAdjustmentReference(given).mapErr(invalidOption);
    const { operators } = await service.get(tokens.storeUseCases);
    const adjusted = await operators.adjustCredits(id, sign * credits, reason, reference);
    const balance = yield* adjusted.mapErr((error) => {
      switch (error.kind) {
        case "not_found":
          return error;
        case "reference_used":
          return refused(`The reference was used for ${error.known.credits} credits. Nothing was given.`);
        case "insufficient_credits":
          return refused(`Account ${id} has only ${error.balance} credits, so ${error.cost} cannot be taken.`);
      }
    });
    return ok({
      json: { account_id: id, remaining_credits: balance },
      lines: [`account ${id} has ${balance} credits now`],
    });
  });
