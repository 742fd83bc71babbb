/**
 * Orders owners by their recent work, the least first: an owner with little work does not wait for one with much. Work
 * counts half after each `halfLife` of work for all owners together. So no clock is needed, and the wait of the owner
 * with the most work is bounded, even if new owners come for ever.
 */
export class LeastServed {
  private readonly halfLife: number;
  /** Less than this counts as nothing: the owner is then equal to a new one. */
  private readonly least: number;
  private readonly served = new Map<string, number>();

  constructor(halfLife: number, least: number) {
    this.halfLife = halfLife;
    this.least = least;
  }

  /** The owner gets this amount of work. */
  add(owner: string, amount: number): void {
    const kept = 0.5 ** (amount / this.halfLife);
    for (const [other, sum] of this.served) {
      if (sum * kept < this.least) this.served.delete(other);
      else this.served.set(other, sum * kept);
    }
    this.served.set(owner, this.of(owner) + amount);
  }

  /** The work that the owner got lately. */
  of(owner: string): number {
    return this.served.get(owner) ?? 0;
  }

  /** Forgets all owners. */
  clear(): void {
    this.served.clear();
  }
}
