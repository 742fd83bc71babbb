import type { Resolution } from "../../domain/images/resolution.js";
import { type ProviderPrices, priceOf } from "../../domain/tasks/generation-cost.js";
import type { TriedPicture } from "./try-providers.js";

/** Everything that the sheet and `results.json` show. */
export type Results = {
  readonly startedAt: Date;
  readonly endedAt: Date;
  readonly isInterrupted: boolean;
  readonly resolution: Resolution;
  /** The files that were sent as reference images. */
  readonly references: readonly string[];
  /** The names of the providers, in order. */
  readonly providers: readonly string[];
  readonly pictures: readonly TriedPicture[];
  readonly prices: ProviderPrices;
};

/** What a provider did, over all its pictures. Medians are over those that it made, usable or not. */
export type Total = {
  readonly provider: string;
  readonly made: number;
  readonly unusable: number;
  readonly failed: number;
  readonly canceled: number;
  readonly medianSeconds: number | undefined;
  readonly medianSeam: number | undefined;
  readonly medianSeamRatio: number | undefined;
  /** Of the pole that is worse. */
  readonly medianPoleDeviation: number | undefined;
  /** US dollars of one picture, and of all, failed ones included. `undefined`: not known, or in another currency. */
  readonly pictureDollars: number | undefined;
  readonly totalDollars: number | undefined;
};

export const totalsOf = ({ providers, pictures, resolution, prices }: Results): readonly Total[] =>
  providers.map((provider) => {
    const own = pictures.filter((picture) => picture.provider === provider);
    const count = (status: TriedPicture["status"]) => own.filter((picture) => picture.status === status).length;
    const kept = own.filter((picture) => picture.seconds !== undefined);
    const median = (of: (picture: (typeof kept)[number]) => number) => medianOf(kept.map(of));
    const listDollars = listPriceOf(prices, provider, resolution);
    const isKnown = kept.length === 0 ? listDollars !== undefined : kept.every(({ cost }) => cost?.currency === "USD");
    const totalDollars = isKnown ? rounded(own.reduce((sum, picture) => sum + dollarsOf(picture), 0)) : undefined;
    return {
      provider,
      made: count("made"),
      unusable: count("unusable"),
      failed: count("failed"),
      canceled: count("canceled"),
      medianSeconds: median(({ seconds }) => seconds),
      medianSeam: median(({ figures }) => figures.seam),
      medianSeamRatio: median(({ figures }) => figures.seamRatio),
      medianPoleDeviation: median(({ figures }) => Math.max(figures.poleDeviation.zenith, figures.poleDeviation.nadir)),
      pictureDollars: listDollars ?? (totalDollars === undefined ? undefined : rounded(totalDollars / kept.length)),
      totalDollars,
    };
  });

/** `undefined` for a provider that bills by units. */
export const listPriceOf = (prices: ProviderPrices, provider: string, resolution: Resolution): number | undefined => {
  const price = priceOf(prices, provider);
  const micros = price?.currency === "USD" && price.perUnit === undefined ? price.perPanorama?.[resolution] : undefined;
  return micros === undefined ? undefined : micros / 1e6;
};

const dollarsOf = ({ cost }: TriedPicture): number => (cost?.currency === "USD" ? cost.micros / 1e6 : 0);

/** The middle one, or the mean of the two in the middle. */
export const medianOf = (values: readonly number[]): number | undefined => {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]];
  return low === undefined || high === undefined ? undefined : rounded((low + high) / 2);
};

const rounded = (value: number): number => Math.round(value * 1000) / 1000;

/** The content of `results.json`. */
export const jsonOf = (results: Results): object => ({
  started_at: results.startedAt.toISOString(),
  ended_at: results.endedAt.toISOString(),
  interrupted: results.isInterrupted,
  resolution: results.resolution,
  references: results.references,
  providers: totalsOf(results).map((total) => ({
    provider: total.provider,
    made: total.made,
    unusable: total.unusable,
    failed: total.failed,
    canceled: total.canceled,
    median_seconds: total.medianSeconds ?? null,
    median_seam: total.medianSeam ?? null,
    median_seam_ratio: total.medianSeamRatio ?? null,
    median_pole_deviation: total.medianPoleDeviation ?? null,
    picture_dollars: total.pictureDollars ?? null,
    total_dollars: total.totalDollars ?? null,
  })),
  pictures: results.pictures.map((picture) => ({
    provider: picture.provider,
    number: picture.number,
    prompt: picture.request.prompt,
    seed: picture.request.seed,
    status: picture.status,
    ...(picture.reason !== undefined && { reason: picture.reason }),
    ...(picture.seconds === undefined
      ? { ...(picture.cause !== undefined && { cause: picture.cause }) }
      : {
          seconds: rounded(picture.seconds),
          native_width: picture.nativeSize.widthPixels,
          native_height: picture.nativeSize.heightPixels,
          seam: picture.figures.seam,
          seam_ratio: picture.figures.seamRatio,
          zenith_deviation: picture.figures.poleDeviation.zenith,
          nadir_deviation: picture.figures.poleDeviation.nadir,
          horizon: picture.figures.horizon ?? null,
          picture: picture.files.picture,
          thumbnail: picture.files.thumbnail,
          sphere: picture.files.sphere,
        }),
  })),
});
