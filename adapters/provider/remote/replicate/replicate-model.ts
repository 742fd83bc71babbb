import { err, ok, type Result } from "neverthrow";
import * as z from "zod";
import { parseBody } from "../answers/read-answer.js";
import { checkedJson, type Read, unchecked, wrongSetting } from "../dialect.js";
import type { CheckFailure } from "../remote-options.js";
import { type ModelInputs, modelSchema, readModelInputs } from "./model-inputs.js";

/** `version` is sent with a prediction. It is a version id, or the name of an official model. */
export type ResolvedModel = { readonly version: string; readonly inputs: ModelInputs };

const versionSchema = z.object({ id: z.string(), openapi_schema: modelSchema });
const publishedSchema = z.object({ latest_version: versionSchema.nullable() });
type Version = z.infer<typeof versionSchema>;

const VERSION_ID = /^[0-9a-f]{64}$/;

/**
 * Reads the schema of a model once per process: of the version that the setting names, otherwise of the latest one.
 * Only official models can run without a version id.
 */
export class ReplicateModel {
  /** `owner/name` or `owner/name:version`. */
  private readonly model: string;
  /** `undefined` before the first successful read. */
  known: ResolvedModel | undefined;
  private pending: Promise<Result<ResolvedModel, CheckFailure>> | undefined;

  constructor(model: string) {
    this.model = model;
  }

  /** `owner/name`. */
  get name(): string {
    return this.model.split(":")[0] ?? "";
  }

  /** Concurrent calls share one read. After a failure the next call reads again. */
  async find(read: Read): Promise<Result<ResolvedModel, CheckFailure>> {
    if (this.known !== undefined) return ok(this.known);
    this.pending ??= this.read(read).finally(() => {
      this.pending = undefined;
    });
    return this.pending;
  }

  private async read(read: Read): Promise<Result<ResolvedModel, CheckFailure>> {
    const { model, name } = this;
    const versionId = model.split(":")[1];
    const answer = await read(versionId === undefined ? `/models/${name}` : `/models/${name}/versions/${versionId}`);
    if (answer.isOk() && answer.value.status === 404) {
      const what = versionId === undefined ? "model" : "version of a model";
      return err(wrongSetting(`REPLICATE_MODEL=${model}: the provider has no such ${what}; set one that it has`));
    }
    const json = checkedJson(answer, "REPLICATE_API_KEY");
    const version = json.andThen((body) =>
      parseBody<Version | null>(
        versionId === undefined ? publishedSchema.transform(({ latest_version }) => latest_version) : versionSchema,
        "a model with its inputs",
        body,
      ).mapErr(({ reason }) => unchecked(reason)),
    );
    return version
      .andThen((found) => this.resolve(found, versionId !== undefined))
      .map((known) => {
        this.known = known;
        return known;
      });
  }

  private resolve(version: Version | null, hasVersionInName: boolean): Result<ResolvedModel, CheckFailure> {
    const cannot = (why: string) =>
      wrongSetting(`REPLICATE_MODEL=${this.model}: the model ${why}; set bytedance/seedream-4 or another model`);
    if (version === null) return err(cannot("has no version that can be run"));
    const inputs = readModelInputs(version.openapi_schema).mapErr(cannot);
    return inputs.andThen((found): Result<ResolvedModel, CheckFailure> => {
      // Without `canvas`, the model counts as official: it runs by name if the setting names no version.
      if (found.references.kind !== "canvas" && !hasVersionInName) return ok({ version: this.name, inputs: found });
      return VERSION_ID.test(version.id)
        ? ok({ version: version.id, inputs: found })
        : err(unchecked("the version id in the answer is not 64 hexadecimal digits"));
    });
  }
}
