/** What the owner is told of a panorama that others cannot see. */
export const withheldSentence = (reason: string): string => `The operator has hidden it from others: ${reason}`;
