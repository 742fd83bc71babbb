import type { Brand } from "../../../domain/ids.js";

/** The number of an action in the log. Later actions have greater numbers. */
export type OperatorActionId = Brand<number, "OperatorActionId">;

export type NewOperatorAction = {
  readonly at: Date;
  /** User of the operating system, and machine. */
  readonly operator: string;
  /** Command, such as `key revoke`. */
  readonly command: string;
  /** The given options by name, without secrets. */
  readonly arguments: Readonly<Record<string, string>>;
};

/**
 * `outcome`: `done`, or the kind of the error; `undefined` if the action has not ended, for example because it was
 * killed.
 */
export type OperatorAction = NewOperatorAction & {
  readonly id: OperatorActionId;
  readonly outcome: string | undefined;
};

/**
 * The log of operator actions. Actions are recorded before they begin, so that none is missing. Throws if the store is
 * unreachable.
 */
export interface OperatorLog {
  begin(action: NewOperatorAction): Promise<OperatorActionId>;
  end(id: OperatorActionId, outcome: string): Promise<void>;
  /** Newest first, at most `limit`, older than `before`. */
  list(limit: number, before: OperatorActionId | undefined): Promise<OperatorAction[]>;
  /** Deletes up to `limit` of the first actions that have ended and began before this time. Returns their number. */
  deleteBefore(at: Date, limit: number): Promise<number>;
}
