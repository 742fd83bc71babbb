/** A number as people read it, such as "4,000". */
export const count = (number: number): string => number.toLocaleString("en-GB");

/** A change of a balance, with the sign of mathematics: "+4", "−4". */
export const change = (credits: number): string => `${credits < 0 ? "−" : "+"}${count(Math.abs(credits))}`;

/** An amount with its noun: "1 credit", "4,000 credits". */
export const creditsCount = (credits: number): string => (credits === 1 ? "1 credit" : `${count(credits)} credits`);
