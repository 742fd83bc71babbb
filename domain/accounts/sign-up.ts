/** Who may open an account: everybody, those whom the operator has invited, or nobody. */
export const SIGN_UP_MODES = ["open", "invited", "closed"] as const;

/** One of `SIGN_UP_MODES`. */
export type SignUpMode = (typeof SIGN_UP_MODES)[number];

/** Nobody can open an account this way now. */
export type SignUpRefused = { readonly kind: "sign_up_refused"; readonly mode: Exclude<SignUpMode, "open"> };
