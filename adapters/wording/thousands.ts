/** A number as people read it, such as "4,000". */
export const thousands = (number: number): string => number.toLocaleString("en-GB");
