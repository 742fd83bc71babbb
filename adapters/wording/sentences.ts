import type { BudgetSpent } from "../../domain/credits/budget.js";
import type { InsufficientCredits } from "../../domain/credits/reservation.js";
import type { Abilities } from "../../domain/tasks/abilities.js";
import { AHEAD_MAX } from "../../domain/tasks/queue.js";
import { creditsText } from "./numbers.js";

/** Message for a spent budget of an API key: which one, its remaining credits, and when it renews. */
export const budgetSentence = ({ window, budget, left, cost, renewsAt }: BudgetSpent): string =>
  `This costs ${cost} credits, but this API key may spend ${budget} credits per ${window} and has ${left} left. ` +
  `The budget of the ${window} renews at ${renewsAt.toISOString().replace(".000", "")}.`;

/** Message for the owner of a suspended account. The operator's reason may end with a full stop. */
export const suspendedSentence = ({ reason }: { readonly reason: string }): string =>
  `This account is suspended: ${reason.replace(/\.$/, "")}. Ask the operator.`;

/** Message for the owner of a panorama that others cannot see. */
export const hiddenSentence = (reason: string): string => `The operator has hidden it from others: ${reason}`;

/** Refusal of a creation after a payment came back. `undefined` if the credits are just too few. */
export const returnedPaymentSentence = ({
  balance,
  cost,
  debt,
  hasOpenDispute,
}: InsufficientCredits): string | undefined => {
  if (hasOpenDispute) {
    return "A payment of this account is disputed. Nothing can be created until the dispute has ended. Ask the operator.";
  }
  if (debt === undefined) return undefined;
  const missing = debt + cost - balance;
  return `A payment was returned after its credits were spent, so this account owes ${creditsText(debt)}. A purchase pays them first: buy at least ${missing} to create this.`;
};

type Forecast = { readonly queue_position?: number | undefined; readonly estimated_seconds?: number | undefined };

/** Forecast of a task in processing, in clauses: "behind 3 tasks in the queue", "about 40 s left". */
export const forecastWords = ({
  queue_position: position,
  estimated_seconds: seconds,
}: Forecast): readonly string[] => [
  ...(position === undefined ? [] : [placeWords(position)]),
  ...(seconds === undefined
    ? []
    : [seconds < 120 ? `about ${seconds} s left` : `about ${Math.round(seconds / 60)} min left`]),
];

const placeWords = (position: number): string => {
  if (position === 0) return "next in the queue";
  if (position === 1) return "behind 1 task in the queue";
  return `behind ${position < AHEAD_MAX ? position : `${AHEAD_MAX} or more`} tasks in the queue`;
};

type Images = Pick<Abilities, "imagesMin" | "imagesMax">;

/** "3", or "1 to 3" if there must be one. */
export const imagesRange = ({ imagesMin, imagesMax }: Images): string =>
  imagesMin > 0 && imagesMin < imagesMax ? `${imagesMin} to ${imagesMax}` : String(imagesMax);

/** "3 reference images", "1 picture". */
export const countedImages = (images: Images, noun = "reference image"): string =>
  `${imagesRange(images)} ${noun}${images.imagesMax === 1 ? "" : "s"}`;

/** Number of reference images that an installation accepts. */
export const imagesSentence = (images: Images): string => {
  if (images.imagesMax === 0) return "This installation takes no reference images.";
  return `This installation ${images.imagesMin > 0 ? "needs" : "takes up to"} ${countedImages(images)}.`;
};

/** Number of characters that a prompt may have. */
export const promptSentence = ({ promptCharactersMax }: Pick<Abilities, "promptCharactersMax">): string =>
  `A prompt has at most ${promptCharactersMax} characters.`;
