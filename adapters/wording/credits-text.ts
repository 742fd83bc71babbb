import { thousands } from "./thousands.js";

/** An amount with its noun: "1 credit", "4,000 credits". */
export const creditsText = (credits: number): string => `${thousands(credits)} ${credits === 1 ? "credit" : "credits"}`;
