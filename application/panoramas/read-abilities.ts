import { type Abilities, ALL_ABILITIES, abilitiesOfAny } from "../../domain/tasks/abilities.js";
import type { GenerationProvider } from "../ports/generation-provider.js";

/**
 * The combined abilities of all models, including models that are down. Makes no call. May change after a check of a
 * provider, because some providers tell their abilities only then.
 */
export const readAbilities =
  ({ provider }: { readonly provider: Pick<GenerationProvider, "places"> }) =>
  (): Abilities => {
    const [first = ALL_ABILITIES, ...others] = provider.places().map(({ abilities = ALL_ABILITIES }) => abilities);
    return abilitiesOfAny([first, ...others]);
  };
