import { err, ok, type Result } from "neverthrow";
import { accentContrast, CONTRAST_MIN, type Colour } from "../../adapters/web/accent-colours.js";
import type { Identity } from "../../adapters/web/identity.js";
import { shownJson } from "./setting-sentence.js";

/** As in the settings file. */
type IdentitySettings = {
  readonly name?: string | undefined;
  readonly accent?: string | undefined;
  readonly accentOnDark?: string | undefined;
};

/** The identity that the settings describe. */
export const identityOf = ({ name, ...colours }: IdentitySettings): Result<Identity, string> => {
  // The schema lets only colours pass.
  const { accent, accentOnDark } = colours as { accent?: Colour; accentOnDark?: Colour };
  const chosen = [
    ["accent", accent, "light"],
    ["accentOnDark", accentOnDark, "dark"],
  ] as const;
  for (const [setting, value, scheme] of chosen) {
    if (value === undefined) continue;
    const found = accentContrast(value, scheme);
    if (found >= CONTRAST_MIN) continue;
    return err(
      `identity.${setting} is ${shownJson(value)}: must be ${scheme === "light" ? "darker" : "lighter"}, because its contrast on a ${scheme} background is ${oneDecimal(found)}, and text needs ${CONTRAST_MIN} (WCAG 2.2 AA)`,
    );
  }
  if (accent !== undefined && accentOnDark !== undefined) {
    return ok({ name, accent: { onLight: accent, onDark: accentOnDark } });
  }
  if (accent === undefined && accentOnDark === undefined) return ok({ name });
  const missing = accent === undefined ? "accent" : "accentOnDark";
  return err(`identity.${missing} is missing: an accent needs a colour for light and one for dark backgrounds`);
};

/** Rounded down: a lack of contrast must be visible. */
const oneDecimal = (value: number): number => Math.floor(value * 10) / 10;
