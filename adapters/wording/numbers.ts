import { type PixelSize, RESOLUTION_NAMES, type Resolution } from "../../domain/images/resolution.js";

/** `24 hours`, `7 days`: days only if there are several whole ones. */
export const hours = (count: number): string => {
  const days = count / 24;
  if (days > 1 && Number.isInteger(days)) return `${days} days`;
  return count === 1 ? "1 hour" : `${count} hours`;
};

/** A limit as people read it: "10 MiB". */
export const mebibytes = (bytes: number): string => `${bytes / (1024 * 1024)} MiB`;

/** A number as people read it, such as "4,000". */
export const thousands = (number: number): string => number.toLocaleString("en-GB");

/** A size as people read it: "4096 × 2048". */
export const pixelSize = ({ widthPixels, heightPixels }: PixelSize): string => `${widthPixels} × ${heightPixels}`;

/** An amount with its noun: "1 credit", "4,000 credits". */
export const creditsText = (credits: number): string => `${thousands(credits)} ${credits === 1 ? "credit" : "credits"}`;

const either = new Intl.ListFormat("en-GB", { type: "disjunction" });

/** Prices of one panorama: "4 (1k), 6 (2k) or 10 (4k) credits". */
export const pricesSentence = (prices: Readonly<Record<Resolution, number>>): string =>
  `${either.format(RESOLUTION_NAMES.map((name) => `${prices[name]} (${name})`))} credits`;
