/**
 * Shares one resource among owners by weighted fair queueing: what ends first is what would end first if every owner
 * always had an equal part of the resource. So a small piece of work overtakes large ones, the work of a new owner
 * waits for about one piece of each other owner, and nothing is overtaken for ever. Work of one owner shares the part
 * of that owner.
 */
export class FairShare {
  /** How much work an owner that was never idle has got by now. */
  private progress = 0;
  private readonly owners = new Map<string, { pieces: number; done: number }>();

  /** A piece of work of this owner begins to wait. */
  join(owner: string): void {
    const share = this.owners.get(owner);
    if (share === undefined) this.owners.set(owner, { pieces: 1, done: this.progress });
    else share.pieces += 1;
  }

  /** A piece of work of this owner has ended. */
  leave(owner: string): void {
    const share = this.owners.get(owner);
    if (share === undefined) return;
    share.pieces -= 1;
    if (share.pieces === 0) this.owners.delete(owner);
  }

  /** The owner gets this amount of work. */
  add(owner: string, amount: number): void {
    const share = this.owners.get(owner);
    if (share === undefined) return;
    share.done += amount;
    this.progress += amount / this.owners.size;
  }

  /** When a piece with this amount left would end; the least is served first. */
  endOf(owner: string, amountLeft: number): number {
    return (this.owners.get(owner)?.done ?? this.progress) + amountLeft;
  }
}
