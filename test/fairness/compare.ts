import { setTimeout } from "node:timers/promises";
import { readProcessMetrics } from "../bench/process-metrics.js";
import { quantile } from "../bench/statistics.js";

export type Sample = { readonly milliseconds: number; readonly isRefused: boolean };

/** How many requests a flood sent, and with how few it shows nothing. */
export type Rate = { readonly perSecond: number; readonly minimum: number };

/** `start` resolves when the attack is at its limits, `stop` when nothing of it is left. A flood returns its rate. */
export type Attack = { start(): Promise<void>; stop(): Promise<Rate | undefined> };

/** One resource: what the hostile client does to it, and the same request of another customer. */
export type Contest = {
  readonly name: string;
  readonly sample: () => Promise<Sample>;
  readonly attack: Attack;
  /** Samples of each half of a round. */
  readonly samples: number;
};

const ROUNDS = 5;
const PAUSE_MILLISECONDS = 20;
const RATIO_MAX = 2;
const REFUSED_SHARE_MAX = 0.05;

type Half = { readonly median: number; readonly refused: number };

/** Takes the samples one after the other. */
const half = async ({ sample, samples }: Contest): Promise<Half> => {
  const taken: Sample[] = [];
  while (taken.length < samples) {
    taken.push(await sample());
    await setTimeout(PAUSE_MILLISECONDS);
  }
  const refused = taken.filter(({ isRefused }) => isRefused).length / samples;
  return { median: medianOf(taken.map(({ milliseconds }) => milliseconds)), refused };
};

/**
 * Measures alternately without and with the attack, so that other work of the machine slows both halves of a round.
 * Returns the broken rules.
 */
export const compare = async (url: string, contest: Contest): Promise<string[]> => {
  const { name, attack } = contest;
  await half(contest); // warms up
  const rounds: { alone: Half; attacked: Half; busy: number }[] = [];
  const rates: Rate[] = [];
  while (rounds.length < ROUNDS) {
    const alone = await half(contest);
    try {
      await attack.start();
      const before = await readProcessMetrics(url);
      const attacked = await half(contest);
      const after = await readProcessMetrics(url);
      const busy = ((after.cpuSeconds - before.cpuSeconds) * 1_000) / (after.at - before.at);
      rounds.push({ alone, attacked, busy });
    } finally {
      const rate = await attack.stop();
      if (rate !== undefined) rates.push(rate);
    }
  }
  const ratio = medianOf(rounds.map(({ alone, attacked }) => attacked.median / alone.median));
  const refused = Math.max(...rounds.map(({ attacked }) => attacked.refused));
  const [before, during] = (["alone", "attacked"] as const).map((key) =>
    medianOf(rounds.map((one) => one[key].median)),
  );
  const busy = medianOf(rounds.map((round) => round.busy));
  const figures =
    `${before?.toFixed(1)} ms alone, ${during?.toFixed(1)} ms during the attack, ${ratio.toFixed(2)} times, ` +
    `${percent(refused)} refused`;
  const flood = rates.map(({ perSecond }) => perSecond.toFixed(0)).join(", ");
  console.log(
    `  ${name}: ${figures}; the service uses ${percent(busy)} of a processor` +
      (rates.length > 0 ? `; the flood sends ${flood} requests a second` : ""),
  );
  const tooSlow = rates.some(({ perSecond, minimum }) => perSecond < minimum);
  return [
    ...(ratio > RATIO_MAX || refused > REFUSED_SHARE_MAX ? [`${name}: ${figures}`] : []),
    ...(tooSlow ? [`${name}: the flood sends ${flood} requests a second only, so the figures show nothing`] : []),
  ];
};

const medianOf = (numbers: readonly number[]): number => quantile(numbers, 0.5);
const percent = (share: number): string => `${Math.round(100 * share)} %`;
