import type { RequestKind } from "../../../domain/panorama-policy.js";
import type { SentRequest } from "../request-source.js";
import type { Exchange } from "../requests/exchange.js";
import type { Sender, Senders } from "../requests/senders.js";

/** A turn of the event loop always handles this many requests, and always handles requests for this long. */
const TURN_REQUESTS_MIN = 256;
const TURN_MILLISECONDS_MIN = 20;

/** Senders are counted from this request of a turn on: shorter turns do not need the counts. */
const TURN_COUNTED_FROM = 64;

/** A sender with less than this share of the average number of requests is not the cause of an overload. */
const SMALL_SHARE = 1 / 2;

/** Before the network in the name of a sender. */
const NETWORK = "network ";

/**
 * Decides which requests are refused at once, so that the others are answered within a second. There are two reasons:
 * so much work waits for the database that another request would wait too long, or so many requests arrived together
 * that the last ones are late already.
 *
 * Senders with many requests in flight are refused first. A sender with less than half of the average number of
 * requests in flight is still served.
 * When all senders have about the same number, all are refused.
 */
export class Overload {
  private readonly isDatabaseOverloaded: (kind: RequestKind) => boolean;
  private readonly senders: Senders;
  private readonly inFlight: ReadonlySet<Exchange>[] = [];
  private requestsInTurn = 0;
  private turnSince = 0;
  /** Number of requests by sender: those of this turn, and those in flight at the first overload of the turn. */
  private readonly held = new Map<Sender, number>();
  private total = 0;
  private hasCountedFlight = false;
  private readonly endTurn = () => {
    this.requestsInTurn = 0;
    this.held.clear();
    this.total = 0;
    this.hasCountedFlight = false;
  };

  constructor(isDatabaseOverloaded: (kind: RequestKind) => boolean, senders: Senders) {
    this.isDatabaseOverloaded = isDatabaseOverloaded;
    this.senders = senders;
  }

  /** `inFlight`: the requests that are not answered yet. The set changes with them. */
  watch(inFlight: ReadonlySet<Exchange>): void {
    this.inFlight.push(inFlight);
  }

  refuses(kind: RequestKind, request: SentRequest): boolean {
    if (this.requestsInTurn === 0) {
      this.turnSince = performance.now();
      setImmediate(this.endTurn);
    }
    this.requestsInTurn += 1;
    const isOverloaded = this.isDatabaseOverloaded(kind) || this.isTurnLong();
    if (!isOverloaded && this.requestsInTurn < TURN_COUNTED_FROM) return false;
    const sender = this.senders.of(request);
    this.count(sender);
    return isOverloaded && !this.isSmall(sender);
  }

  /** The network of the client, for the log. */
  networkOf(request: SentRequest): string {
    return this.senders.networkOf(request).slice(NETWORK.length);
  }

  private isTurnLong(): boolean {
    return this.requestsInTurn > TURN_REQUESTS_MIN && performance.now() - this.turnSince > TURN_MILLISECONDS_MIN;
  }

  private isSmall(sender: Sender): boolean {
    if (!this.hasCountedFlight) {
      this.hasCountedFlight = true;
      for (const exchanges of this.inFlight) {
        for (const exchange of exchanges) if (!exchange.isIdle) this.count(this.senderOf(exchange));
      }
    }
    return (this.held.get(sender) ?? 0) < (SMALL_SHARE * this.total) / this.held.size;
  }

  private senderOf(exchange: Exchange): Sender {
    exchange.sender ??= this.senders.of(exchange);
    return exchange.sender;
  }

  private count(sender: Sender): void {
    this.held.set(sender, (this.held.get(sender) ?? 0) + 1);
    this.total += 1;
  }
}
