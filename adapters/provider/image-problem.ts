const PREFIX = "a reference image: ";

/** For the log: a reference image, and what is wrong with it. */
export const aboutImage = (problem: string): string => PREFIX + problem;

/** What the customer is told of a reason for the log: the clause behind `aboutImage`, if it is one. */
export const imageProblemIn = (reason: string): string | undefined =>
  reason.startsWith(PREFIX) ? reason.slice(PREFIX.length) : undefined;

/** What the customer is told of an image of this service that was deleted. */
export const NOT_HOSTED = "it is not stored here any more";
