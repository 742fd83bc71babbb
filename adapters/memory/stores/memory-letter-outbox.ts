import type { ClaimedLetter, LetterOutbox, PostedLetter } from "../../../application/ports/stores/letter-outbox.js";

/** The letters to be sent, in memory. Every method runs without an `await`, so it is atomic. */
export class MemoryLetterOutbox implements LetterOutbox {
  private readonly letters = new Map<string, ClaimedLetter & { readonly dueAt: Date }>();

  async add(letter: PostedLetter, dueAt: Date): Promise<void> {
    this.letters.set(letter.id, { ...letter, attempt: 0, dueAt });
  }

  async claim(now: Date, leasedUntil: Date, limit: number): Promise<readonly ClaimedLetter[]> {
    const due = [...this.letters.values()]
      .filter(({ dueAt }) => dueAt <= now)
      .sort((a, b) => a.dueAt.getTime() - b.dueAt.getTime())
      .slice(0, limit)
      .map(({ dueAt: _, attempt, ...letter }) => ({ ...letter, attempt: attempt + 1 }));
    for (const letter of due) this.letters.set(letter.id, { ...letter, dueAt: leasedUntil });
    return due;
  }

  async remove({ id, attempt }: ClaimedLetter): Promise<void> {
    if (this.letters.get(id)?.attempt === attempt) this.letters.delete(id);
  }

  async retry(letter: ClaimedLetter, dueAt: Date): Promise<void> {
    if (this.letters.get(letter.id)?.attempt === letter.attempt) this.letters.set(letter.id, { ...letter, dueAt });
  }
}
