import { err, ok, type Result } from "neverthrow";
import { csvLine } from "../../../adapters/wording/csv-line.js";
import type { Usage, UsageReport } from "../../../application/operators/read-usage.js";
import { USAGE_PARTS, type UsagePart, type UsageQuery } from "../../../application/ports/stores/usage-store.js";
import type { GenerationCost } from "../../../domain/tasks/generation-cost.js";
import { type CommandError, misused } from "../../command-error.js";
import { tokens } from "../../tokens.js";
import { type Command, optionalText, type Values } from "../common/command.js";

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;

export const usage: Command = {
  words: "usage",
  about: "Sums panoramas, credits and costs over days in UTC, by when the panoramas were ordered.",
  usage: `[--from DAY] [--to DAY] [--by ${USAGE_PARTS.join("|")}] [--csv]`,
  options: {
    from: { type: "string", about: "first day, such as 2026-11-01; by default that of the month of --to" },
    to: { type: "string", about: "last day; by default today" },
    by: { type: "string", about: "a row for each; without it there is only the total" },
    csv: { type: "boolean", about: "prints the rows for spreadsheets, without the total" },
  },
  required: [],
  example: "usage --from 2026-11-01 --by provider",
  run: async (service, values) => {
    const clock = await service.get(tokens.clock);
    const query = queryOf(values, clock.now());
    if (query.isErr()) return err(query.error);
    const { operators } = await service.get(tokens.storeUseCases);
    const report = await operators.readUsage(query.value);
    const { by, from, to } = query.value;
    const rows = by === undefined ? [report.total] : report.rows;
    return ok({
      json: { from: dayOf(from), to: dayOf(lastOf(to)), by: by ?? null, ...jsonOf(report, by) },
      lines: values.csv === true ? csvOf(by, rows) : tableOf(by, by === undefined ? rows : [...rows, report.total]),
    });
  },
};

const queryOf = (values: Values, now: Date): Result<UsageQuery, CommandError> => {
  const by = optionalText(values, "by");
  if (by !== undefined && !USAGE_PARTS.some((part) => part === by)) {
    return err(misused(`--by must be one of ${USAGE_PARTS.join(", ")}.`));
  }
  return dayIn(values, "from").andThen((from) =>
    dayIn(values, "to").andThen((to) => {
      const last = to ?? new Date(`${dayOf(now)}T00:00:00Z`);
      const first = from ?? new Date(`${dayOf(last).slice(0, 7)}-01T00:00:00Z`);
      if (first > last) return err(misused("--from must not be later than --to."));
      const end = new Date(last.getTime() + DAY_MILLISECONDS);
      return ok({ from: first, to: end, by: by as UsagePart | undefined });
    }),
  );
};

const dayIn = (values: Values, option: string): Result<Date | undefined, CommandError> => {
  const given = optionalText(values, option);
  if (given === undefined) return ok(undefined);
  const day = new Date(`${given}T00:00:00Z`);
  const isDay = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(given) && !Number.isNaN(day.getTime()) && dayOf(day) === given;
  return isDay ? ok(day) : err(misused(`--${option} must be a day, such as 2026-11-01.`));
};

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);
const lastOf = (to: Date): Date => new Date(to.getTime() - DAY_MILLISECONDS);

const jsonOf = ({ rows, total }: UsageReport, by: UsagePart | undefined) => ({
  ...(by !== undefined && { rows: rows.map((row) => ({ [by]: row.part ?? null, ...rowJson(row) })) }),
  total: rowJson(total),
});

const rowJson = (row: Usage) => ({
  panoramas: row.succeeded,
  failed: row.failed,
  in_progress: row.active,
  credits: row.charged,
  refunded_credits: row.refunded,
  reserved_credits: row.held,
  costs: row.costs.map(amountJson),
  panoramas_without_cost: row.withoutCost,
  ...(row.margin && { margin: amountJson(row.margin) }),
});

const amountJson = ({ currency, micros }: GenerationCost) => ({ currency, amount: micros / 1e6 });

/** The columns of every row; `costs` and `margin` are beside them. */
const COLUMNS: readonly (readonly [string, (row: Usage) => number])[] = [
  ["panoramas", ({ succeeded }) => succeeded],
  ["failed", ({ failed }) => failed],
  ["in_progress", ({ active }) => active],
  ["credits", ({ charged }) => charged],
  ["refunded_credits", ({ refunded }) => refunded],
  ["reserved_credits", ({ held }) => held],
  ["panoramas_without_cost", ({ withoutCost }) => withoutCost],
];

/** A column for each currency, because amounts of different ones have no sum. */
const csvOf = (by: UsagePart | undefined, rows: readonly Usage[]): string[] => {
  const inCosts = currenciesIn(rows, ({ costs }) => costs);
  const inMargins = currenciesIn(rows, ({ margin }) => (margin ? [margin] : []));
  const names = [
    ...COLUMNS.map(([name]) => name),
    ...inCosts.map((currency) => `cost_${currency}`),
    ...inMargins.map((currency) => `margin_${currency}`),
  ];
  const cellsOf = (row: Usage) => [
    ...COLUMNS.map(([, of]) => of(row)),
    ...inCosts.map((currency) => amountIn(row.costs, currency)),
    ...inMargins.map((currency) => amountIn(row.margin ? [row.margin] : [], currency)),
  ];
  const line = (part: string, cells: readonly (string | number)[]) =>
    csvLine([...(by === undefined ? [] : [part]), ...cells]);
  return [line(by ?? "", names), ...rows.map((row) => line(row.part ?? "", cellsOf(row)))];
};

const currenciesIn = (rows: readonly Usage[], amountsOf: (row: Usage) => readonly GenerationCost[]): string[] =>
  [...new Set(rows.flatMap((row) => amountsOf(row).map(({ currency }) => currency)))].sort();

const amountIn = (amounts: readonly GenerationCost[], currency: string): number | string => {
  const found = amounts.find((amount) => amount.currency === currency);
  return found === undefined ? "" : found.micros / 1e6;
};

const tableOf = (by: UsagePart | undefined, rows: readonly Usage[]): string[] => {
  const head = [by ?? "", "panoramas", "failed", "credits", "refunded", "reserved", "cost", "margin"];
  const cells = rows.map((row, index) => [
    row.part ?? (by !== undefined && index < rows.length - 1 ? "(none)" : "total"),
    ...[row.succeeded, row.failed, row.charged, row.refunded, row.held].map(String),
    costText(row),
    row.margin ? amountText(row.margin) : "-",
  ]);
  const widths = head.map((name, column) => Math.max(...[head, ...cells].map((line) => (line[column] ?? name).length)));
  return [head, ...cells].map((line) =>
    line
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
};

const costText = ({ costs, withoutCost }: Usage): string =>
  [...costs.map(amountText), ...(withoutCost > 0 ? [`${withoutCost} unknown`] : [])].join(" + ") || "-";

const amountText = ({ currency, micros }: GenerationCost): string => `${(micros / 1e6).toFixed(2)} ${currency}`;
