import { readFile, writeFile } from "node:fs/promises";
import { quantile } from "../statistics.js";

/** One line of the table: figures of paired rounds and their ratios. */
export type Row = {
  readonly work: string;
  readonly against: string;
  /** `higher`: a throughput; `lower`: a time, a size. */
  readonly better: "higher" | "lower";
  readonly unit: string;
  readonly ours: readonly number[];
  readonly theirs: readonly number[];
  /** The 99th percentile of our response times at this throughput, in milliseconds. */
  readonly p99?: readonly number[];
  /** Microseconds of the main thread for each answer; none of theirs if it is no server. */
  readonly cpu?: { readonly ours: readonly number[]; readonly theirs: readonly number[] };
};

const COSTLY = 0.15;

const nameOf = ({ work, against }: Row): string => `${work} / ${against}`;

const ratiosOf = ({ ours, theirs }: Row): readonly number[] =>
  ours.map((own, index) => own / (theirs[index] ?? Number.NaN));

const figure = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(2));

/** The median of both sides. */
const cpuOf = ({ cpu }: Row): string =>
  [cpu?.ours ?? [], cpu?.theirs ?? []]
    .filter((times) => times.length > 0)
    .map((times) => `${figure(quantile(times, 0.5))} µs`)
    .join(" : ");

/**
 * Prints the ratios with their spread beside those of the stored baseline. Returns the rows whose ratio is worse than
 * the baseline's by more than 15 %.
 */
export const report = async (rows: readonly Row[], baselineFile: string): Promise<readonly string[]> => {
  const baseline = JSON.parse(await readFile(baselineFile, "utf8").catch(() => "{}")) as Record<string, number>;
  console.log(
    "| work | against | ratio, median (least to most) | ours | p99 | theirs | main thread for one | baseline |",
  );
  console.log("|---|---|---|---|---|---|---|---|");
  const worse: string[] = [];
  for (const row of rows) {
    const [least, ratio, most] = [0, 0.5, 1].map((share) => quantile(ratiosOf(row), share)) as [number, number, number];
    const [ours, theirs] = [row.ours, row.theirs].map((of) => `${figure(quantile(of, 0.5))} ${row.unit}`);
    const before = baseline[nameOf(row)];
    const spread = `${ratio.toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)})`;
    const p99 = row.p99 === undefined ? "" : `${figure(quantile(row.p99, 0.5))} ms`;
    console.log(
      `| ${row.work} | ${row.against} | ${spread} | ${ours} | ${p99} | ${theirs} | ${cpuOf(row)} | ${before?.toFixed(2) ?? "none"} |`,
    );
    if (before === undefined) continue;
    const change = row.better === "higher" ? before / ratio - 1 : ratio / before - 1;
    // Also a figure that is not a number.
    if (!(change <= COSTLY)) worse.push(`${nameOf(row)}: ${ratio.toFixed(2)}, was ${before.toFixed(2)}`);
  }
  return worse;
};

export const save = async (rows: readonly Row[], file: string): Promise<void> => {
  const known = JSON.parse(await readFile(file, "utf8").catch(() => "{}")) as Record<string, number>;
  const ratios = rows.map((row) => [nameOf(row), Number(quantile(ratiosOf(row), 0.5).toFixed(2))] as const);
  await writeFile(file, `${JSON.stringify({ ...known, ...Object.fromEntries(ratios) }, null, 2)}\n`);
};
