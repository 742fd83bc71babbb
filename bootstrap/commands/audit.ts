import { err, ok, safeTry } from "neverthrow";
import { pageOf } from "../../application/page-of.js";
import type { OperatorAction, OperatorActionId } from "../../application/ports/stores/operator-log.js";
import { misused } from "../command-error.js";
import { tokens } from "../tokens.js";
import { type Command, optionalText } from "./common/command.js";
import { LIMIT, limitOf, nextLine } from "./common/page.js";

export const auditList: Command = {
  words: "audit list",
  about:
    "Lists the operator log, newest first: time, operator, command, outcome. An empty outcome means that the command was killed. It reaches back OPERATOR_LOG_DAYS. The log has no passwords, keys, URL user names or URL queries.",
  usage: "[--limit N] [--before NUMBER]",
  options: { ...LIMIT, before: { type: "string", about: "only actions older than this one" } },
  required: [],
  example: "audit list --limit 100",
  run: (service, values) =>
    safeTry(async function* () {
      const limit = yield* limitOf(values);
      const given = optionalText(values, "before");
      if (given !== undefined && !/^[0-9]{1,15}$/.test(given)) return err(misused("--before must be a number."));
      const { operatorLog } = await service.get(tokens.stores);
      const before = given === undefined ? undefined : (Number(given) as OperatorActionId);
      const { items, last } = pageOf(await operatorLog.list(limit + 1, before), limit);
      return ok({
        json: { actions: items.map(actionJson), next: last?.id ?? null },
        lines: [...items.map(actionLine), ...nextLine(last?.id)],
      });
    }),
};

const actionJson = ({ id, at, operator, command, arguments: given, outcome }: OperatorAction) => ({
  id,
  at: at.toISOString(),
  operator,
  command,
  arguments: given,
  outcome: outcome ?? null,
});

const actionLine = ({ id, at, operator, command, arguments: given, outcome }: OperatorAction): string =>
  [
    id,
    at.toISOString(),
    operator,
    outcome ?? "not ended",
    [command, ...Object.entries(given).map(([name, value]) => `--${name} ${JSON.stringify(value)}`)].join(" "),
  ].join("  ");
