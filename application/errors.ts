/** There is no such thing, or it is not the asker's: the two are not told apart. */
export type NotFound = { readonly kind: "not_found"; readonly message: string };

export const notFound = (message: string): NotFound => ({ kind: "not_found", message });
