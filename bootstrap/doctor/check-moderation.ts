import type { Config } from "../config.js";
import { ConfigurationError } from "../configuration-error.js";
import { openModeration } from "../moderation/open-moderation.js";
import { broken, type Finding, fine } from "./finding.js";

const HARMLESS = { kind: "text", text: "a quiet lake" } as const;
const ANSWER_MILLISECONDS = 4_000;

/** Whether the moderation answers, and allows something harmless. */
export const checkModeration = async ({ moderation }: Pick<Config, "moderation">): Promise<readonly Finding[]> => {
  if (moderation === undefined) return [];
  const name = "moderation";
  try {
    const opened = await openModeration(moderation);
    const timeout = Math.min(moderation.timeoutMilliseconds, ANSWER_MILLISECONDS);
    const answered = await opened.judge(HARMLESS, AbortSignal.timeout(timeout));
    return answered.match(
      (answer) =>
        answer === "allow"
          ? [fine(name, `MODERATION=${moderation.kind} answers.`)]
          : [broken(name, "failed", `MODERATION=${moderation.kind} answers ${answer} to "${HARMLESS.text}".`)],
      ({ reason }) => [
        broken(name, "unreachable", `MODERATION=${moderation.kind} does not answer: ${reason}. Check MODERATION_URL.`),
      ],
    );
  } catch (error) {
    if (error instanceof ConfigurationError) return [broken(name, "configuration", error.message)];
    throw error;
  }
};
