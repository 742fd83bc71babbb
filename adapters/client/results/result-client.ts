import { err, ok, type Result } from "neverthrow";
import type * as z from "zod";
import type { Clock } from "../../../application/ports/clock.js";
import type { CreationRequest } from "../../../domain/tasks/creation-request.js";
import type { TaskFilter } from "../../../domain/tasks/task-filter.js";
import {
  type CreatedTask,
  type CreditTotals,
  createdTaskSchema,
  creditTotalsSchema,
  type PanoramaTask,
  panoramaTaskSchema,
  type TaskPage,
  taskPageSchema,
  type UploadedImages,
  uploadedSchema,
} from "../answers.js";
import type { ClientError } from "../client-error.js";
import { creationInput } from "../creation-input.js";
import type { Offer } from "../offer.js";
import { PanoramaClient } from "../panorama-client.js";
import type { ReferenceImage } from "../read-images.js";

import { resultOf } from "../result-of.js";
import type { ServiceUrl } from "../service-url.js";
import { type ToldAbilities, toldAbilitiesSchema } from "../told-abilities.js";

/** @deprecated `Progress` of `panorama-client`. */
export type ResultProgress = { readonly task: PanoramaTask; readonly elapsedSeconds: number };

type Settings = { readonly baseUrl: ServiceUrl; readonly apiKey: string; readonly timeoutSeconds?: number };
type WithSignal = { readonly signal?: AbortSignal };
type Wait = WithSignal & { readonly seconds: number; readonly onProgress?: (progress: ResultProgress) => void };
type List = TaskFilter & WithSignal & { readonly limit?: number; readonly cursor?: string };
type Creation = WithSignal & { readonly idempotencyKey?: string; readonly maxCredits?: number | undefined };

/**
 * `PanoramaClient` as it was in version 2.0: its calls return a `Result`.
 *
 * @deprecated Use `PanoramaClient`, whose calls reject with a `PanoramaError`. The next major version is without this.
 */
export class ResultClient {
  readonly #client: PanoramaClient;

  constructor({ timeoutSeconds = 40, ...settings }: Settings, clock?: Clock, random?: () => number) {
    this.#client = new PanoramaClient({ ...settings, timeout: timeoutSeconds * 1000 }, clock, random);
  }

  /** @deprecated `PanoramaClient.create` takes the creation with the names of the REST interface. */
  create(request: CreationRequest, options: Creation = {}): Promise<Result<CreatedTask, ClientError>> {
    const { maxCredits, ...others } = options;
    return answered(this.#client.create(creationInput(request, maxCredits), others), createdTaskSchema);
  }

  /** @deprecated `PanoramaClient.read` */
  read(
    id: string,
    options: WithSignal & { readonly waitSeconds?: number } = {},
  ): Promise<Result<PanoramaTask, ClientError>> {
    return answered(this.#client.read(id, options), panoramaTaskSchema);
  }

  /** @deprecated `PanoramaClient.wait` with `onProgress` */
  waitUntilDone(id: string, wait: Wait): Promise<Result<PanoramaTask, ClientError>> {
    return this.#wait(id, { onProgress: () => {}, ...wait });
  }

  /** @deprecated `PanoramaClient.wait` */
  waitFor(id: string, wait: Wait): Promise<Result<PanoramaTask, ClientError>> {
    return this.#wait(id, wait);
  }

  /** @deprecated `PanoramaClient.cancel` */
  cancel(id: string, options: WithSignal = {}): Promise<Result<PanoramaTask, ClientError>> {
    return answered(this.#client.cancel(id, options), panoramaTaskSchema);
  }

  /** @deprecated `PanoramaClient.delete` */
  async delete(id: string, options: WithSignal = {}): Promise<Result<void, ClientError>> {
    return (await resultOf(this.#client.delete(id, options))).mapErr(plain);
  }

  /** @deprecated `PanoramaClient.upload` */
  upload(
    images: readonly ReferenceImage[],
    options: WithSignal & { readonly limits?: Offer["uploads"] } = {},
  ): Promise<Result<UploadedImages, ClientError>> {
    return answered(this.#client.upload(images, options), uploadedSchema);
  }

  /** @deprecated `PanoramaClient.offer` */
  async offer({
    timeoutSeconds,
    signal,
  }: WithSignal & { readonly timeoutSeconds?: number } = {}): Promise<Result<Offer | undefined, ClientError>> {
    const timeout = timeoutSeconds === undefined ? undefined : timeoutSeconds * 1000;
    return (await resultOf(this.#client.offer({ timeout, signal }))).mapErr(plain);
  }

  /** @deprecated `PanoramaClient.abilities` */
  abilities(options: WithSignal = {}): Promise<Result<ToldAbilities, ClientError>> {
    return answered(this.#client.abilities(options), toldAbilitiesSchema);
  }

  /** @deprecated `PanoramaClient.credits`, which returns `remaining_credits` and the other totals */
  async credits(options: WithSignal = {}): Promise<Result<number, ClientError>> {
    return (await this.creditTotals(options)).map(({ remaining_credits }) => remaining_credits);
  }

  /** @deprecated `PanoramaClient.credits` */
  creditTotals(options: WithSignal = {}): Promise<Result<CreditTotals, ClientError>> {
    return answered(this.#client.credits(options), creditTotalsSchema);
  }

  /** @deprecated `await PanoramaClient.list`, whose pages have 100 tasks by default */
  list({ limit = 20, ...options }: List = {}): Promise<Result<TaskPage, ClientError>> {
    return answered(this.#client.list({ limit, ...filterOf(options) }), taskPageSchema);
  }

  /** @deprecated `for await` over `PanoramaClient.list` */
  async *listAll(options: Omit<List, "cursor"> = {}): AsyncGenerator<Result<PanoramaTask, ClientError>, void> {
    const tasks = this.#client.list(filterOf(options))[Symbol.asyncIterator]();
    for (;;) {
      const next = await resultOf(tasks.next());
      if (next.isErr()) return yield err(plain(next.error));
      if (next.value.done === true) return;
      yield ok(panoramaTaskSchema.parse(next.value.value));
    }
  }

  #wait(id: string, { seconds, onProgress, signal }: Wait): Promise<Result<PanoramaTask, ClientError>> {
    const parsed =
      onProgress &&
      (({ task, elapsedSeconds }: { task: unknown; elapsedSeconds: number }) =>
        onProgress({ task: panoramaTaskSchema.parse(task), elapsedSeconds }));
    const options = { timeout: seconds * 1000, onProgress: parsed, signal };
    return answered(this.#client.wait(id, options), panoramaTaskSchema);
  }
}

const answered = async <T>(call: Promise<unknown>, schema: z.ZodType<T>): Promise<Result<T, ClientError>> =>
  (await resultOf(call)).map((value) => schema.parse(value)).mapErr(plain);

const plain = (error: ClientError): ClientError => {
  const { code, message, param, status, requestId, retryAfterSeconds, mayHaveBeenAccepted } = error;
  return { code, message, param, status, requestId, retryAfterSeconds, mayHaveBeenAccepted };
};

const filterOf = ({ createdAfter, createdBefore, ...others }: List) => ({
  ...others,
  created_after: createdAfter,
  created_before: createdBefore,
});
