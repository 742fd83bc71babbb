export type UpstreamCall = {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as `multipart/form-data`, in place of `body`. */
  readonly form?: Form;
  /** Aborts the call, also while its answer is read. */
  readonly signal: AbortSignal;
  /** Asked when the connection is open, directly before the request is written to it. Absent: always. */
  readonly mayBeSent?: () => boolean;
};

/** Text fields and one file. */
export type Form = {
  readonly fields: Readonly<Record<string, string>>;
  readonly file: {
    readonly field: string;
    readonly name: string;
    readonly type: string;
    readonly bytes: Uint8Array;
  };
};

/** `body` is the decoded JSON; `undefined` if it is missing, incomplete or not JSON. */
export type Answer = {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: unknown;
};

/**
 * `not_sent`: there was no connection, so no byte of the request was sent. `too_late`: it was not sent either, because
 * `mayBeSent` did not allow it any more. `reason` is for the log.
 */
export type CallFailure = { readonly kind: "not_sent" | "too_late" | "no_answer"; readonly reason: string };
