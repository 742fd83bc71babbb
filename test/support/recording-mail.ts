import type { Letter, Mail } from "../../application/ports/mail.js";

/** Records every letter, oldest first. */
export class RecordingMail implements Mail {
  readonly letters: Letter[] = [];

  post(letter: Letter): void {
    this.letters.push(letter);
  }
}
