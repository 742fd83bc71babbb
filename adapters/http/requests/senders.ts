import { hash } from "node:crypto";
import type { AccountId } from "../../../domain/ids.js";
import { RecentMap } from "../../system/recent-map.js";
import type { SentRequest } from "../request-source.js";
import { secretOf } from "./api-key-header.js";
import { clientAddress, type TrustedProxies } from "./client-address.js";

/** The account of a request if its key is known, otherwise the network from which it comes. */
export type Sender = AccountId | `network ${string}`;

/** Capacity of the caches. They keep at least this many recent entries, at most twice as many. */
const KEYS_MAX = 10_000;
const NETWORKS_MAX = 10_000;

/** Longer headers are not cached: a client could fill the cache with headers of 16 kB. */
const FORWARDED_CHARACTERS_MAX = 256;

/** Finds the sender of a request without the database. */
export class Senders {
  private readonly trustedProxies: TrustedProxies;
  /** Accounts by SHA-256 of the key. */
  private readonly accounts = new RecentMap<string, AccountId>(KEYS_MAX);
  /** Networks by peer address and `x-forwarded-for`. */
  private readonly networks = new RecentMap<string, Sender>(NETWORKS_MAX);

  constructor(trustedProxies: TrustedProxies) {
    this.trustedProxies = trustedProxies;
  }

  /** Remembers the account of a key that was just authenticated. */
  learn(secretSha256: string, account: AccountId): void {
    this.accounts.set(secretSha256, account);
  }

  isKnown(secret: string): boolean {
    return this.accounts.has(digestOf(secret));
  }

  of(request: SentRequest): Sender {
    const secret = secretOf(request).unwrapOr(undefined);
    const account = secret && this.accounts.get(digestOf(secret));
    return account || this.networkOf(request);
  }

  networkOf(request: SentRequest): Sender {
    const { peerAddress } = request;
    const forwardedFor = request.header("x-forwarded-for");
    const from = forwardedFor === undefined ? peerAddress : `${peerAddress} ${forwardedFor}`;
    if (from.length > FORWARDED_CHARACTERS_MAX) return this.readNetwork(peerAddress, forwardedFor);
    const known = this.networks.get(from);
    if (known !== undefined) return known;
    const network = this.readNetwork(peerAddress, forwardedFor);
    this.networks.set(from, network);
    return network;
  }

  private readNetwork(peerAddress: string, forwardedFor: string | undefined): Sender {
    return `network ${clientAddress(peerAddress, forwardedFor, this.trustedProxies)}`;
  }
}

const digestOf = (secret: string): string => hash("sha256", secret, "hex");
