import type { CommandError } from "../command-error.js";

/** Result of one check of `panorama doctor`. `message`: one or two sentences, with the value and a remedy. */
export type Finding = { readonly name: string; readonly message: string } & (
  | { readonly status: "ok" | "warning" | "not checked" }
  /** The kind decides the exit status. */
  | { readonly status: "failed"; readonly kind: FailureKind }
);

/** `configuration`: change a setting. `refused`: a port is in use. `unreachable`: what is set right does not answer. */
export type FailureKind = Extract<CommandError["kind"], "configuration" | "refused" | "unreachable" | "failed">;

/** Checks that belong together. `name`: of the first finding, if there is no result. */
export type Check = { readonly name: string; readonly run: () => Promise<readonly Finding[]> };

export const fine = (name: string, message: string): Finding => ({ name, status: "ok", message });
export const warning = (name: string, message: string): Finding => ({ name, status: "warning", message });
export const notChecked = (name: string, message: string): Finding => ({ name, status: "not checked", message });
export const broken = (name: string, kind: FailureKind, message: string): Finding => ({
  name,
  status: "failed",
  kind,
  message,
});

/** The text of an error, or its code: if a name has several addresses, the error of all of them has no message. */
export const reasonOf = (error: unknown): string => {
  const { message, code } = error as { readonly message?: unknown; readonly code?: unknown };
  return String(message || code || error).replace(/\.$/, "");
};
