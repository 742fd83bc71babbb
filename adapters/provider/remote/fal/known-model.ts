import { err, ok, type Result } from "neverthrow";
import { type Abilities, ALL_ABILITIES } from "../../../../domain/tasks/abilities.js";
import { type Read, wrongSetting } from "../dialect.js";
import { leadingCharacters } from "../leading-prompt.js";
import type { CheckFailure } from "../remote-options.js";
import { allows, endpointOfSchema, type FalExtras, type MappedEndpoint, verifyEndpoint } from "./endpoint-of-schema.js";
import type { FalChoice } from "./fal-choice.js";
import { endpointFor, endpointsOf, type FalModel, falAbilities } from "./fal-model.js";
import { type FalSchema, readFalSchema } from "./fal-schema.js";

/**
 * The chosen model. A preset is known at once, and compared with the schemas that fal publishes. Other endpoints are
 * known when their schemas were read; they stay as they are until the service starts again.
 */
export class KnownModel {
  private readonly choice: FalChoice;
  private readonly leading: number;
  private known: FalModel | undefined;
  private reading: Promise<Result<FalModel, CheckFailure>> | undefined;

  constructor(choice: FalChoice, promptTemplate: string | undefined) {
    this.choice = choice;
    this.leading = leadingCharacters(promptTemplate);
    this.known = choice.preset;
  }

  /** As far as it is known: nothing is sent to endpoints before their schemas are read. */
  get abilities(): Abilities {
    return this.known === undefined ? ALL_ABILITIES : this.abilitiesOf(this.known);
  }

  private abilitiesOf(model: FalModel): Abilities {
    return falAbilities(model, this.choice.references, this.leading);
  }

  /** Endpoints whose requests contain a seed, by which a lost submission is found. Empty for an unknown model. */
  get endpointIdsWithSeed(): readonly string[] {
    const endpoints = this.known === undefined ? [] : endpointsOf(this.known);
    return endpoints.filter(({ takes }) => takes.includes("seed")).map(({ id }) => id);
  }

  private get extras(): FalExtras {
    return { mask_url: this.choice.references === "canvas", loras: this.choice.loraUrl !== undefined };
  }

  /** Any endpoint of the model, for calls that concern all of them. */
  get anyEndpointId(): string {
    const { choice } = this;
    return choice.preset === undefined ? choice.endpoint : (endpointsOf(choice.preset)[0]?.id ?? "");
  }

  /** The id of the endpoint for a request with this number of reference images. */
  endpointId(references: number): string {
    const { choice } = this;
    if (choice.preset !== undefined) return endpointFor(choice.preset, references)?.id ?? "";
    return references === 0 ? choice.endpoint : (choice.editEndpoint ?? choice.endpoint);
  }

  /** Concurrent calls share one read. After a failure the next call reads again. */
  async find(read: Read): Promise<Result<FalModel, CheckFailure>> {
    return this.known === undefined ? this.check(read) : ok(this.known);
  }

  async check(read: Read): Promise<Result<FalModel, CheckFailure>> {
    this.reading ??= this.read(read).finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  private async read(read: Read): Promise<Result<FalModel, CheckFailure>> {
    const { choice } = this;
    const found =
      choice.preset === undefined ? await this.mapped(choice, read) : await this.verified(choice.preset, read);
    return found.map((model) => {
      this.known = model;
      return model;
    });
  }

  private async verified(preset: FalModel, read: Read): Promise<Result<FalModel, CheckFailure>> {
    const setting = `FAL_MODEL=${this.choice.name}`;
    for (const endpoint of endpointsOf(preset)) {
      const schema = await this.schemaOf(setting, endpoint.id, read);
      if (schema.isErr()) return err(schema.error);
      const verified = verifyEndpoint(endpoint, schema.value, this.extras);
      if (verified.isErr()) {
        return err(wrongSetting(`${setting}: fal's endpoint ${endpoint.id} ${verified.error}; set another model`));
      }
      const quality = this.qualityOf(endpoint, schema.value);
      if (quality.isErr()) return err(quality.error);
    }
    return ok(preset);
  }

  private async mapped(
    { endpoint, editEndpoint }: Extract<FalChoice, { readonly preset?: undefined }>,
    read: Read,
  ): Promise<Result<FalModel, CheckFailure>> {
    const first = await this.endpointOf("FAL_MODEL", endpoint, read);
    if (first.isErr()) return err(first.error);
    const { needsImage, references } = first.value;
    const cannot = (setting: string, why: string) => err(wrongSetting(`${setting}: ${why}`));
    if (editEndpoint === undefined) {
      const { value } = first;
      return this.usable({ ...(!needsImage && { text: value }), ...(references && { images: value }) });
    }
    if (needsImage) {
      const why = "the endpoint needs a reference image; set one for text, or unset FAL_EDIT_MODEL";
      return cannot(`FAL_MODEL=${endpoint}`, why);
    }
    const second = await this.endpointOf("FAL_EDIT_MODEL", editEndpoint, read);
    if (second.isErr()) return err(second.error);
    if (second.value.references === undefined) {
      const why = "the endpoint has no image_urls and no image_url; set one that takes reference images";
      return cannot(`FAL_EDIT_MODEL=${editEndpoint}`, why);
    }
    return this.usable({ text: first.value, images: second.value });
  }

  private usable(model: FalModel): Result<FalModel, CheckFailure> {
    const setting = `FAL_MODEL=${this.choice.name}`;
    const { promptCharactersMax } = this.abilitiesOf(model);
    if (promptCharactersMax < 1) {
      const why = "its limit for prompts leaves no room beside the instructions for panoramas; set another model";
      return err(wrongSetting(`${setting}: ${why}`));
    }
    if (this.choice.references === "canvas" && model.images?.takes.includes("mask_url") !== true) {
      const why = "the model has no mask_url; set separate, or a model that has one";
      return err(wrongSetting(`FAL_REFERENCES=canvas: ${why}`));
    }
    return ok(model);
  }

  private async endpointOf(variable: string, id: string, read: Read): Promise<Result<MappedEndpoint, CheckFailure>> {
    const setting = `${variable}=${id}`;
    const schema = await this.schemaOf(setting, id, read);
    return schema.andThen((published) =>
      endpointOfSchema(id, published, this.extras)
        .mapErr((why) => wrongSetting(`${setting}: the endpoint ${why}; set another one`))
        .andThen((endpoint) => this.qualityOf(endpoint, published).map(() => endpoint)),
    );
  }

  private qualityOf(
    { id, takes }: Pick<MappedEndpoint, "id" | "takes">,
    schema: FalSchema,
  ): Result<void, CheckFailure> {
    const { quality } = this.choice;
    return !takes.includes("quality") || allows(schema.inputs.get("quality"), quality)
      ? ok(undefined)
      : err(wrongSetting(`FAL_QUALITY=${quality}: fal's endpoint ${id} does not have it; set another quality`));
  }

  private async schemaOf(setting: string, id: string, read: Read): Promise<Result<FalSchema, CheckFailure>> {
    const schema = await readFalSchema(id, read);
    return schema.andThen((published) =>
      published === undefined
        ? err(wrongSetting(`${setting}: fal has no endpoint ${id}; set a model that it has`))
        : ok(published),
    );
  }
}
