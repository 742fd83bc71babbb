import { MODERATION_ANSWERS, type ModeratedPart, type Moderation } from "../../application/ports/moderation.js";
import { expect } from "./support/expect.js";
import type { TestFunctions } from "./support/test-functions.js";

const text = (words: string): ModeratedPart => ({ kind: "text", text: words });
const PARTS: readonly ModeratedPart[] = [
  text("a quiet lake"),
  text(""),
  { kind: "image_url", url: "https://example.com/photo.jpg" },
  { kind: "image", bytes: Uint8Array.of(0xff, 0xd8, 0xff), type: "image/jpeg" },
];

/**
 * What every implementation of Moderation must do. `name` is the name of the suite. `make` makes one that allows
 * `a quiet lake` and blocks `blocked`, a text.
 */
export const describeModeration = (
  { describe, it }: Pick<TestFunctions, "describe" | "it">,
  name: string,
  blocked: string,
  make: () => Moderation | Promise<Moderation>,
): void => {
  describe(`${name} as Moderation`, () => {
    const answerTo = async (part: ModeratedPart) =>
      (await (await make()).judge(part, new AbortController().signal))._unsafeUnwrap();

    it("allows what is harmless, and blocks what is not", async () => {
      expect(await answerTo(text("a quiet lake"))).toBe("allow");
      expect(await answerTo(text(blocked))).toBe("block");
    });

    it("has an answer to every kind of part", async () => {
      for (const part of PARTS) expect(MODERATION_ANSWERS.includes(await answerTo(part))).toBe(true);
    });

    it("names parts by hashes that contain no text, the same for the same part", async () => {
      const moderation = await make();
      const hashes = PARTS.map((part) => moderation.hashOf(part));
      expect(new Set(hashes).size).toBe(PARTS.length);
      expect(PARTS.map((part) => moderation.hashOf(part))).toEqual(hashes);
      for (const hash of hashes) expect(/^[0-9a-f]{32,128}$/.test(hash)).toBe(true);
    });

    it("does not wait for an answer that nobody wants", async () => {
      const judged = (await make()).judge(text("a quiet lake"), AbortSignal.abort());
      await judged.catch(() => undefined); // that it ends is what counts
    });
  });
};
