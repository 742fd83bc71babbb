import { type Abilities, ALL_ABILITIES, abilitiesOfAny } from "../../domain/tasks/abilities.js";
import type { GenerationProvider } from "../ports/generation-provider.js";

/**
 * What this installation can make: what at least one of its models can, also while the provider is down. Makes no call.
 * It may change while the service runs, because some providers tell what their model can do only when they are checked.
 */
export const readAbilities =
  ({ provider }: { readonly provider: Pick<GenerationProvider, "places"> }) =>
  (): Abilities => {
    const [first = ALL_ABILITIES, ...others] = provider.places().map(({ abilities = ALL_ABILITIES }) => abilities);
    return abilitiesOfAny([first, ...others]);
  };
