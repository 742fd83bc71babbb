import { createHash } from "node:crypto";
import type { AccountId } from "../../../domain/account-id.js";
import type { SentRequest } from "../server.js";
import { secretOf } from "./api-key-header.js";
import { clientAddress, type TrustedProxies } from "./client-address.js";

/** The account of a request if its key is known, otherwise the network from which it comes. */
export type Sender = AccountId | `network ${string}`;

/** Keys and networks that are remembered. Those that were added first are forgotten. */
const KEYS_MAX = 10_000;
const NETWORKS_MAX = 10_000;

/** Tells who sends a request, without the database. */
export class Senders {
  private readonly trustedProxies: TrustedProxies;
  /** By the digest of the key: keys themselves are not kept. */
  private readonly accounts = new Map<string, AccountId>();
  /** By what a network follows from. */
  private readonly networks = new Map<string, Sender>();

  constructor(trustedProxies: TrustedProxies) {
    this.trustedProxies = trustedProxies;
  }

  /** Remembers the account of a key that was just authenticated. */
  learn(secret: string, account: AccountId): void {
    const digest = digestOf(secret);
    if (this.accounts.has(digest)) return;
    add(this.accounts, digest, account, KEYS_MAX);
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
    const from = `${peerAddress} ${forwardedFor ?? ""}`;
    const known = this.networks.get(from);
    if (known !== undefined) return known;
    const network: Sender = `network ${clientAddress(peerAddress, forwardedFor, this.trustedProxies)}`;
    add(this.networks, from, network, NETWORKS_MAX);
    return network;
  }
}

const digestOf = (secret: string): string => createHash("sha256").update(secret).digest("base64");

const add = <Value>(map: Map<string, Value>, key: string, value: Value, max: number): void => {
  map.set(key, value);
  if (map.size <= max) return;
  for (const first of map.keys()) {
    map.delete(first);
    return;
  }
};
