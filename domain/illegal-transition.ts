/** An event that the state does not allow; nothing has changed. */
export type IllegalTransition = { readonly kind: "illegal_transition"; readonly from: string; readonly event: string };
