import { err, ok } from "neverthrow";
import type { RetentionReport } from "../../application/operators/confirm-retention.js";
import { isLonger, RETAINED, type RetentionTime } from "../../domain/images/retention.js";
import { refused } from "../command-error.js";
import { RETAINED_NAMES, retentionSettings, retentionText } from "../retention-settings.js";
import type { Service } from "../service.js";
import { tokens } from "../tokens.js";
import type { Command, Output } from "./common/command.js";

export const retentionShow: Command = {
  words: "retention show",
  about: "Shows for how long images are kept: by the settings, and by what is in force for all instances.",
  usage: "",
  options: {},
  required: [],
  example: "retention show",
  run: async (service) => ok(outputOf(await reportsOf(service, "readRetention"))),
};

export const retentionApply: Command = {
  words: "retention apply",
  about:
    "Says how many images shorter retentions in the settings would erase, and with --yes puts them in force after 24 hours.",
  usage: "[--yes]",
  options: { yes: { type: "boolean", about: "confirm it; without it, this only shows what would be erased" } },
  required: [],
  example: "retention apply --yes",
  isRecorded: true,
  run: async (service, values) => {
    const before = await reportsOf(service, "readRetention");
    const shorter = before.filter(isShorter);
    const erasing = shorter.filter(({ older }) => older.count > 0);
    if (values.yes !== true && erasing.length > 0) {
      return err(refused(`${erasing.flatMap(wouldErase).join(" ")} To confirm it: panorama retention apply --yes`));
    }
    return ok(outputOf(await reportsOf(service, "confirmRetention")));
  },
};

const reportsOf = async (
  service: Service,
  read: "readRetention" | "confirmRetention",
): Promise<readonly RetentionReport[]> => {
  const settings = retentionSettings(await service.get(tokens.config));
  const { operators } = await service.get(tokens.storeUseCases);
  const reports: RetentionReport[] = [];
  for (const retained of RETAINED) reports.push(await operators[read](retained, settings[retained]));
  return reports;
};

/** Before the first start nobody knows what was in force. */
const isShorter = ({ retention, setting }: RetentionReport): boolean =>
  isLonger(retention === undefined ? null : retention.inForce, setting);

const outputOf = (reports: readonly RetentionReport[]): Output => ({
  json: Object.fromEntries(reports.map((report) => [report.retained, jsonOf(report)])),
  lines: reports.flatMap(linesOf),
});

const jsonOf = ({ setting, retention, older }: RetentionReport) => ({
  setting_seconds: secondsOf(setting),
  in_force_seconds: retention === undefined ? null : secondsOf(retention.inForce),
  confirmed_from: retention?.confirmed?.from.toISOString() ?? null,
  older_than_setting: older.count,
  oldest: older.oldest?.toISOString() ?? null,
  newest: older.newest?.toISOString() ?? null,
});

const linesOf = (report: RetentionReport): string[] => {
  const { retained, setting, retention } = report;
  const name = RETAINED_NAMES[retained];
  if (retention === undefined)
    return [`${name}: the settings say ${retentionText(setting)}; the service has not started yet`];
  if (!isShorter(report)) return [`${name}: kept ${retentionText(retention.inForce)}`];
  const state = `${name}: kept ${retentionText(retention.inForce)}, although the settings say ${retentionText(setting)}`;
  const from = retention.confirmed?.from.toISOString();
  return [
    from === undefined
      ? `${state}: not confirmed (panorama retention apply)`
      : `${state}: confirmed, in force from ${from}. A longer retention in the settings, and a restart, takes it back`,
    ...wouldErase(report),
  ];
};

const wouldErase = ({ retained, setting, older }: RetentionReport): string[] => {
  const { count, oldest, newest } = older;
  const kept = `${RETAINED_NAMES[retained]} kept ${retentionText(setting)} would erase`;
  return oldest === undefined || newest === undefined
    ? [`${kept} nothing now.`]
    : [
        `${kept} ${count === 1 ? "1 image" : `${count} images`} now, from ${oldest.toISOString()} to ${newest.toISOString()}.`,
      ];
};

const secondsOf = (time: RetentionTime): number | null => (time === null ? null : time / 1000);
