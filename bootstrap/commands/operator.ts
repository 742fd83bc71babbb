import { err, ok, safeTry } from "neverthrow";
import { parseOperatorName } from "../../domain/accounts/operator.js";
import { failed, notFound } from "../command-error.js";
import { tokens } from "../tokens.js";
import { type Command, text } from "./common/command.js";
import { invalidOption } from "./common/invalid-option.js";
import { readPassword } from "./common/read-password.js";

const NAME = { name: { type: "string", about: "name of the operator, which the log of operators shows" } } as const;

export const operatorPassword: Command = {
  words: "operator password",
  about:
    "Lets somebody use the pages at /operator: sets the password, read from standard input, and prints what to enrol in an authenticator app.",
  usage: "--name NAME [--new-code]",
  options: { ...NAME, "new-code": { type: "boolean", about: "enrol again: the codes of the app so far end" } },
  required: ["name"],
  example: "operator password --name ann",
  isRecorded: true,
  run: (service, values) =>
    safeTry(async function* () {
      const name = yield* parseOperatorName(text(values, "name")).mapErr(invalidOption);
      const password = yield* await readPassword(`New password for the operator ${name}: `);
      const access = await service.get(tokens.operatorAccess);
      const set = await access.setPassword(name, password, values["new-code"] === true);
      const { codeSecret } = yield* set.mapErr(() => failed("Too many passwords are being hashed. Try again."));
      const { publicUrl } = await service.get(tokens.config);
      const url = codeSecret === undefined ? undefined : enrolmentUrl(name, codeSecret, new URL(publicUrl).host);
      return ok({
        json: { name, status: "password_set", otpauth_url: url ?? null },
        lines: [
          `the password of the operator ${name} is set, and all its sessions are ended`,
          ...(url === undefined ? [] : ["enrol this in an authenticator app; it is not shown again:", url]),
          `${publicUrl}/operator`,
        ],
      });
    }),
};

/** The key URI that authenticator apps read, also from a QR code of it. */
const enrolmentUrl = (name: string, secret: string, host: string): string =>
  `otpauth://totp/${encodeURIComponent(`${host}:${name}`)}?${new URLSearchParams({ secret, issuer: host })}`;

export const operatorList: Command = {
  words: "operator list",
  about: "Lists who may use the pages at /operator. Without anybody there are no such pages.",
  usage: "",
  options: {},
  required: [],
  example: "operator list",
  run: async (service) => {
    const operators = await (await service.get(tokens.operatorAccess)).list();
    return ok({
      json: { operators: operators.map(({ name, createdAt }) => ({ name, password_set_at: createdAt.toISOString() })) },
      lines: operators.map(({ name, createdAt }) => `${name}  password set ${createdAt.toISOString()}`),
    });
  },
};

export const operatorRemove: Command = {
  words: "operator remove",
  about: "Takes the pages at /operator from somebody, and ends the sessions.",
  usage: "--name NAME",
  options: NAME,
  required: ["name"],
  example: "operator remove --name ann",
  isRecorded: true,
  run: (service, values) =>
    safeTry(async function* () {
      const name = yield* parseOperatorName(text(values, "name")).mapErr(invalidOption);
      const removed = await (await service.get(tokens.operatorAccess)).remove(name);
      return removed
        ? ok({ json: { name, status: "removed" }, lines: [`the operator ${name} is removed`] })
        : err(notFound(`There is no operator ${name}.`));
    }),
};
