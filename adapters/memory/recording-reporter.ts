import type { OperationalEvent, Reporter } from "../../application/ports/reporter.js";

/** Keeps every event for the operator. */
export class RecordingReporter implements Reporter {
  /** Oldest first. */
  readonly events: OperationalEvent[] = [];

  report(event: OperationalEvent): void {
    this.events.push(event);
  }

  /** The recorded events of one kind. */
  of<Kind extends OperationalEvent["kind"]>(kind: Kind): Extract<OperationalEvent, { kind: Kind }>[] {
    return this.events.filter((event): event is Extract<OperationalEvent, { kind: Kind }> => event.kind === kind);
  }
}
