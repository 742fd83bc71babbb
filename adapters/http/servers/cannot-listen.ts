/** Why a listener cannot be opened: one sentence for the operator. */
export class CannotListen extends Error {
  /** Another process has the port. Otherwise address or port cannot be used here. */
  readonly isInUse: boolean;

  constructor(host: string, port: number, error: NodeJS.ErrnoException) {
    const isInUse = error.code === "EADDRINUSE";
    super(
      isInUse
        ? `Port ${port} on ${host} is in use. Stop the process that listens there, or choose another port.`
        : `Cannot listen on ${host}, port ${port}: ${error.message}.`,
    );
    this.isInUse = isInUse;
  }
}
