import { createHmac, randomBytes } from "node:crypto";
import type { ModeratedPart } from "../../application/ports/moderation.js";

/** Without a secret that all instances know, hashes can be compared within one process only. */
export const keyedHash = (secret: string | Uint8Array = randomBytes(32)) => {
  const key = createHmac("sha256", secret).update("names of moderated parts").digest();
  return (part: ModeratedPart): string => {
    const hash = createHmac("sha256", key).update(`${part.kind}\0`);
    if (part.kind === "image") return hash.update(part.bytes).digest("hex");
    return hash.update(part.kind === "text" ? part.text : part.url).digest("hex");
  };
};
