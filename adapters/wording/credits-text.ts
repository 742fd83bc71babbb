/** An amount with its noun: "1 credit", "2 credits". */
export const creditsText = (credits: number): string => `${credits} ${credits === 1 ? "credit" : "credits"}`;
