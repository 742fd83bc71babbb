/** Why the database cannot be opened. `configuration`: it is not there, or not of this version. */
export class DatabaseError extends Error {
  readonly kind: "unreachable" | "configuration";

  constructor(kind: DatabaseError["kind"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
