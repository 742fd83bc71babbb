import type { Brand } from "../../../domain/ids.js";

/** The number of an action in the log. Later actions have greater numbers. */
export type OperatorActionId = Brand<number, "OperatorActionId">;

/** What an operator does. */
export type NewOperatorAction = {
  readonly at: Date;
  /** Who: the user of the operating system and the machine. */
  readonly operator: string;
  /** Such as `key revoke`. */
  readonly command: string;
  /** The options that were given, by name. Without secrets. */
  readonly arguments: Readonly<Record<string, string>>;
};

/** `outcome`: `done`, or the kind of the error; `undefined` if it has not ended, for example because it was killed. */
export type OperatorAction = NewOperatorAction & {
  readonly id: OperatorActionId;
  readonly outcome: string | undefined;
};

/** What operators did. Actions are recorded before they begin, so that none is missing. Throws if it is unreachable. */
export interface OperatorLog {
  begin(action: NewOperatorAction): Promise<OperatorActionId>;
  end(id: OperatorActionId, outcome: string): Promise<void>;
  /** Newest first, at most `limit`, older than `before`. */
  list(limit: number, before: OperatorActionId | undefined): Promise<OperatorAction[]>;
}
