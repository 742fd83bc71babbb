import type { Letter, Mail } from "../../application/ports/mail.js";

/** Keeps every letter instead of sending it. */
export class RecordingMail implements Mail {
  /** Oldest first. */
  readonly letters: Letter[] = [];

  post(letter: Letter): void {
    this.letters.push(letter);
  }
}
