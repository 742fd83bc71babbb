import type { InsufficientCredits } from "../../domain/credits/reservation.js";
import { creditsText } from "./credits-text.js";

/** Why a creation is refused after a payment came back; `undefined` if the credits are just too few. */
export const returnedPaymentSentence = ({
  balance,
  cost,
  debt,
  isSuspended,
}: InsufficientCredits): string | undefined => {
  if (isSuspended) {
    return "A payment of this account is disputed. Nothing can be created until the dispute has ended. Ask the operator.";
  }
  if (debt === undefined) return undefined;
  const missing = debt + cost - balance;
  return `A payment was returned after its credits were spent, so this account owes ${creditsText(debt)}. A purchase pays them first: buy at least ${missing} to create this.`;
};
