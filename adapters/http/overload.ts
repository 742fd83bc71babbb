import type { RequestKind } from "../../domain/panorama-policy.js";

/** A turn of the event loop handles so many requests however long it takes, and so long however many there are. */
const TURN_REQUESTS_MIN = 256;
const TURN_MILLISECONDS_MIN = 20;

/**
 * Decides which requests are refused at once, so that those that are handled are answered within a second. There are two
 * reasons: so much work waits for the database that a further request would wait too long, or so many requests have
 * arrived together that the last ones are late already.
 */
export class Overload {
  private readonly isDatabaseOverloaded: (kind: RequestKind) => boolean;
  private requestsInTurn = 0;
  private turnSince = 0;
  private readonly endTurn = () => {
    this.requestsInTurn = 0;
  };

  constructor(isDatabaseOverloaded: (kind: RequestKind) => boolean) {
    this.isDatabaseOverloaded = isDatabaseOverloaded;
  }

  refuses(kind: RequestKind): boolean {
    if (this.requestsInTurn === 0) {
      this.turnSince = performance.now();
      setImmediate(this.endTurn);
    }
    this.requestsInTurn += 1;
    return this.isDatabaseOverloaded(kind) || this.isTurnLong();
  }

  private isTurnLong(): boolean {
    return this.requestsInTurn > TURN_REQUESTS_MIN && performance.now() - this.turnSince > TURN_MILLISECONDS_MIN;
  }
}
