import { send } from "./exchange.js";

/** What the account of this key has left, as a sentence for the form with this cost. */
export const balanceSentence = async (creditsPath: string, key: string, cost: number): Promise<string> => {
  if (key === "") return "Your balance appears here when you have given a key.";
  try {
    const answer = await send({ method: "GET", path: creditsPath, headers: [], body: undefined }, key);
    const { remaining_credits: credits, error } = (await answer.json()) as {
      readonly remaining_credits?: number;
      readonly error?: { readonly message: string };
    };
    if (credits === undefined) return `Your balance cannot be read: ${error?.message}`;
    return `Your balance: ${credits} credits.${credits < cost ? " That is too few: it will be refused." : ""}`;
  } catch {
    return "Your balance cannot be read now.";
  }
};
