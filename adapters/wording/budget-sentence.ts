import type { BudgetSpent } from "../../domain/credits/budget.js";

/** Which budget of the API key is spent, how much is left of it, and when it renews. */
export const budgetSentence = ({ window, budget, left, cost, renewsAt }: BudgetSpent): string =>
  `This costs ${cost} credits, but this API key may spend ${budget} credits per ${window} and has ${left} left. ` +
  `The budget of the ${window} renews at ${renewsAt.toISOString().replace(".000", "")}.`;
