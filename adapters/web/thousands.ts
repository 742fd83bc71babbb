/** A number as people read it, such as "4,000". */
export const thousands = (number: number): string => number.toLocaleString("en-GB");

/** Credits as people read them, such as "4,000 credits". */
export const creditsIn = (credits: number): string => `${thousands(credits)} ${credits === 1 ? "credit" : "credits"}`;
