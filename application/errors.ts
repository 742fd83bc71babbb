/** There is no such thing, or it is not the asker's: the two are not told apart. */
export type NotFound = { readonly kind: "not_found"; readonly message: string };

export const notFound = (message: string): NotFound => ({ kind: "not_found", message });

/** A notice that is not from whom it says it is, or not in one piece. */
export type ForgedNotice = { readonly kind: "forged_notice"; readonly reason: string };

export const forgedNotice = (reason: string): ForgedNotice => ({ kind: "forged_notice", reason });
