import { err, ok, type Result } from "neverthrow";
import { z } from "zod";
import { parseBody } from "../answers/body.js";
import type { Read } from "../dialect.js";
import type { CheckFailure } from "../remote-options.js";
import { checkedJson, misconfigured, unchecked } from "../start-check.js";

/** The version of a model that predictions run, and the names of its inputs. */
export type ModelVersion = { readonly id: string; readonly inputs: ReadonlySet<string> };

/**
 * What a model must know. Replicate drops an input that it does not know without a word, so that the picture would have
 * the wrong size or a lost submission could not be found again.
 */
const REQUIRED_INPUTS = [
  "prompt",
  "aspect_ratio",
  "width",
  "height",
  "go_fast",
  "num_outputs",
  "output_format",
  "seed",
  "image",
  "prompt_strength",
] as const;

const versionSchema = z
  .object({
    id: z.string().regex(/^[0-9a-f]{64}$/),
    openapi_schema: z.object({
      components: z.object({
        schemas: z.object({ Input: z.object({ properties: z.record(z.string(), z.unknown()) }) }),
      }),
    }),
  })
  .transform(({ id, openapi_schema }) => ({
    id,
    inputs: new Set(Object.keys(openapi_schema.components.schemas.Input.properties)),
  }));
const modelSchema = z
  .object({ latest_version: versionSchema.nullable() })
  .transform(({ latest_version }) => latest_version);

/**
 * Finds the version that predictions of `model` run: the one in its name, or the latest one, because only official
 * models can be run by their name alone. Reads it once; the model keeps this version until the service starts again.
 */
export class ReplicateVersion {
  private readonly model: string;
  private known: ModelVersion | undefined;
  private reading: Promise<Result<ModelVersion, CheckFailure>> | undefined;

  /** `model` is `owner/name` or `owner/name:version`. */
  constructor(model: string) {
    this.model = model;
  }

  /** Concurrent calls share one read. After a failure the next call reads again. */
  async find(read: Read): Promise<Result<ModelVersion, CheckFailure>> {
    if (this.known !== undefined) return ok(this.known);
    this.reading ??= this.read(read).finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  private async read(read: Read): Promise<Result<ModelVersion, CheckFailure>> {
    const [name, versionId] = this.model.split(":");
    const answer = await read(versionId === undefined ? `/models/${name}` : `/models/${name}/versions/${versionId}`);
    if (answer.isOk() && answer.value.status === 404) {
      const what = versionId === undefined ? "model" : "version of a model";
      return err(misconfigured(`REPLICATE_MODEL=${this.model}: the provider has no such ${what}; set one that it has`));
    }
    const found = checkedJson(answer, "REPLICATE_API_KEY").andThen((body) =>
      parseBody<ModelVersion | null>(
        versionId === undefined ? modelSchema : versionSchema,
        "a model with its inputs",
        body,
      ).mapErr(({ reason }) => unchecked(reason)),
    );
    return found
      .andThen((version) => this.usable(version))
      .map((version) => {
        this.known = version;
        return version;
      });
  }

  private usable(version: ModelVersion | null): Result<ModelVersion, CheckFailure> {
    if (version === null) {
      return err(misconfigured(`REPLICATE_MODEL=${this.model}: the model has no version that can be run; set another`));
    }
    const missing = REQUIRED_INPUTS.filter((name) => !version.inputs.has(name));
    return missing.length === 0
      ? ok(version)
      : err(
          misconfigured(
            `REPLICATE_MODEL=${this.model}: version ${version.id} does not know the inputs ${missing.join(", ")}; ` +
              "set a FLUX.1 LoRA that the platform's own trainer has made",
          ),
        );
  }
}
