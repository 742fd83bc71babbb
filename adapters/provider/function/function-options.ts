import type { Clock } from "../../../application/ports/clock.js";
import type { FailureCause } from "../../../application/ports/generation-provider.js";
import type { ObjectStorage } from "../../../application/ports/object-storage.js";
import type { TaskId } from "../../../domain/ids.js";
import { type Abilities, ALL_ABILITIES } from "../../../domain/tasks/abilities.js";
import type { CreationRequest } from "../../../domain/tasks/creation-request.js";
import { shown } from "../../wording/shown.js";

/**
 * Makes one panorama: resolves to the bytes of a JPEG, PNG or WebP, or to their https URL. Pass `signal` to your calls:
 * it is aborted after the time-out, by `close`, and by a cancel. Throw a `GenerationError` for a known cause.
 */
export type Generate = (
  request: CreationRequest,
  context: { readonly signal: AbortSignal; readonly taskId: TaskId },
) => Promise<Uint8Array | URL | string>;

/** A generation has failed for a known cause. `message` is for the log. */
export class GenerationError extends Error {
  override readonly name = "GenerationError";
  override readonly cause: FailureCause;

  constructor(message: string, cause: FailureCause) {
    super(message);
    this.cause = cause;
  }
}

/** Options of a provider from a function. */
export type FunctionProviderOptions = {
  /** Name of the provider, such as `my-model`. Tasks continue after a restart only under the same name. */
  readonly name: string;
  /** The storage of the application. The ends of generations are in its folder `generations/`. */
  readonly storage: ObjectStorage;
  /** Called once for each generation, and never repeated. */
  readonly generate: Generate;
  /** Requests beyond these are refused. Default: no reference images, and prompts of up to 4,000 characters. */
  readonly abilities?: Partial<Abilities> | undefined;
  /** Generations that run at the same time. Default: 2. */
  readonly concurrencyMax?: number | undefined;
  /**
   * Maximum time of `generate`, the same in all processes. Default: 120 000. `createApplication` throws if it is above
   * the generation deadline.
   */
  readonly timeoutMilliseconds?: number | undefined;
  /** True only if an aborted call is not charged. Then a running generation can be canceled. Default: false. */
  readonly stopsOnAbort?: boolean | undefined;
  /** Origins of your own that a returned URL may lead to, although they use http or a private address. */
  readonly privateOrigins?: readonly string[] | undefined;
  /** User agent of fetches of returned URLs. Default: `panorama-service`. */
  readonly userAgent?: string | undefined;
  /** Default: the clock of the operating system. */
  readonly clock?: Clock | undefined;
};

export const DEFAULTS = { concurrencyMax: 2, timeoutMilliseconds: 120_000 };
export const TEXT_ONLY: Abilities = { ...ALL_ABILITIES, imagesMax: 0 };

/** Throws if an option cannot be right. */
export const checkOptions = (options: FunctionProviderOptions): void => {
  const { name, storage, generate, abilities } = options;
  const { concurrencyMax = DEFAULTS.concurrencyMax, timeoutMilliseconds = DEFAULTS.timeoutMilliseconds } = options;
  const { imagesMin, imagesMax, promptCharactersMax } = { ...TEXT_ONLY, ...abilities };
  const isWhole = (value: number, min: number, max: number) => Number.isInteger(value) && value >= min && value <= max;
  if (typeof name !== "string" || name === "") throw new TypeError(`name must be a text, and is ${shown(name)}.`);
  if (typeof storage?.list !== "function") {
    throw new TypeError("storage must be the object storage of the application, which keeps the ends of generations.");
  }
  if (typeof generate !== "function") throw new TypeError(`generate must be a function, and is ${shown(generate)}.`);
  if (!isWhole(concurrencyMax, 1, Number.MAX_SAFE_INTEGER)) {
    throw new RangeError(`concurrencyMax must be a whole number from 1, and is ${concurrencyMax}.`);
  }
  if (!(timeoutMilliseconds > 0 && Number.isFinite(timeoutMilliseconds))) {
    throw new RangeError(`timeoutMilliseconds must be a number above 0, and is ${timeoutMilliseconds}.`);
  }
  const { imagesMax: allImages, promptCharactersMax: allCharacters } = ALL_ABILITIES;
  if (
    !isWhole(imagesMax, 0, allImages) ||
    !isWhole(imagesMin, 0, imagesMax) ||
    !isWhole(promptCharactersMax, 1, allCharacters)
  ) {
    const limits = `imagesMin up to imagesMax, imagesMax up to ${allImages}, promptCharactersMax up to ${allCharacters}`;
    throw new RangeError(`abilities must have whole numbers (${limits}), and are ${JSON.stringify(abilities)}.`);
  }
};
