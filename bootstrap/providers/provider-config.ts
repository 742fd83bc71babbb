import { err, ok, Result } from "neverthrow";
import * as z from "zod";
import { POLL_MILLISECONDS } from "../../adapters/provider/remote/calls/poll-delay.js";
import {
  FAL_QUALITIES,
  FAL_REFERENCES,
  type FalModelOptions,
  falChoice,
} from "../../adapters/provider/remote/fal/fal-choice.js";
import { needsComfyKey, REMOTE_DEFAULTS } from "../../adapters/provider/remote/remote-options.js";
import type { ProviderLimits } from "../../adapters/provider/remote/settings.js";
import { BUNDLED_WORKFLOWS } from "../../adapters/provider/remote/workflows/bundled-workflows.js";
import { WORLDLABS_MODELS } from "../../adapters/provider/remote/worldlabs/worldlabs-provider.js";
import { baseUrl, milliseconds, type SuccessOf, secret } from "../variables.js";

/** Remote providers. `true`: `PROVIDER` may name a model, as in `fal:seedream-4.5`. */
const REMOTE_PROVIDERS = {
  skybox: false,
  replicate: true,
  fal: true,
  worldlabs: true,
  comfy: true,
  comfyui: true,
  http: false,
} as const;
type RemoteKind = keyof typeof REMOTE_PROVIDERS;

const PROVIDERS_ALLOWED =
  `must be local, or a comma-separated list of ${Object.keys(REMOTE_PROVIDERS).join(", ")} without duplicates, ` +
  "where replicate, fal and worldlabs may name a model, such as fal:seedream-4.5, and comfy and comfyui a bundled workflow";

/** An element of `PROVIDER`. */
type ProviderName = { readonly kind: RemoteKind; readonly model: string | undefined };

const parseProviderName = (text: string): ProviderName | undefined => {
  const [, kind = "", model] = /^([a-z]+)(?::(.+))?$/.exec(text) ?? [];
  if (!Object.hasOwn(REMOTE_PROVIDERS, kind)) return undefined;
  const known = kind as RemoteKind;
  return model !== undefined && !REMOTE_PROVIDERS[known] ? undefined : { kind: known, model };
};

const providerNames = z.string().transform((list, context): "local" | readonly [ProviderName, ...ProviderName[]] => {
  const texts = list.split(",").map((name) => name.trim());
  if (list.trim() === "local") return "local";
  const [first, ...others] = texts.map(parseProviderName);
  if (first === undefined || others.includes(undefined) || new Set(texts).size < texts.length) {
    context.addIssue({ code: "custom", message: PROVIDERS_ALLOWED });
    return z.NEVER;
  }
  return [first, ...(others as ProviderName[])];
});

const ownServers = z
  .string()
  .transform((list) => list.split(",").map((url) => url.trim()))
  .pipe(z.tuple([baseUrl], baseUrl))
  .refine((urls) => new Set(urls).size === urls.length, "must have no duplicates");

const replicateModel = z
  .string()
  .regex(/^[\w.-]+\/[\w.-]+(:[0-9a-f]{64})?$/, "must be owner/name, or owner/name:version");
const worldlabsModel = z.enum(WORLDLABS_MODELS, `must be one of ${WORLDLABS_MODELS.join(", ")}`);
const bundledWorkflow = z.enum(BUNDLED_WORKFLOWS, `must be ${BUNDLED_WORKFLOWS.join(" or ")}`);

const BASE_URL_MEANING = "URL of a proxy or an emulator instead of the provider";

/** The variables of the generation providers. */
export const providerVariables = {
  PROVIDER: providerNames
    .default("local")
    .describe(
      "generation providers: `local`, `skybox`, `replicate`, `fal`, `worldlabs`, `comfy`, `comfyui`, `http`, or several of these separated by commas, some with a model: `fal:seedream-4.5,replicate:owner/name,comfyui:qwen-image-edit,skybox`. PROVIDERS.md says what each can do",
    ),
  PROVIDER_POLL_MS: milliseconds(100)
    .optional()
    .meta({
      default: `\`${POLL_MILLISECONDS}\``,
      description:
        "minimum milliseconds between two polls of a generation at a remote provider, plus a random 0–50 %. After the first minute of a generation, 5/3 of this",
    }),
  PROVIDER_CALLS_PER_SECOND: z.coerce.number().int().min(1).max(100_000).optional().meta({
    default:
      "`skybox` 10, `replicate` 40, `fal` 20, `worldlabs` 10, `comfy` 10, `comfyui` 20 for each server, `http` 20",
    description: "maximum number of calls that one instance makes to a remote provider per second",
  }),
  PROVIDER_MAX_CONCURRENT: z.coerce.number().int().min(1).optional().meta({
    default:
      "`skybox` 1 (Standard plan; Business has 2), `fal` 2 (a new account), `worldlabs` 2 (about the three starts a minute of a new account), `comfy` 1 (other plans have 3 or 5), `comfyui` 1 for each server, `http` 1, `replicate` unlimited; `local` always 32",
    description:
      "maximum number of concurrent generations per remote provider (per server for ComfyUI), over all instances. Further tasks wait in a fair queue",
  }),
  LOCAL_PROVIDER_DELAY_MS: milliseconds(0)
    .default(1_500)
    .describe("minimum duration of a generation of the `local` provider"),
  SKYBOX_API_KEY: secret.optional().meta({
    default: "required for `skybox`",
    description: "key of a paid plan of Blockade Labs",
  }),
  SKYBOX_BASE_URL: baseUrl.default(REMOTE_DEFAULTS.skybox.baseUrl).describe(BASE_URL_MEANING),
  SKYBOX_STYLE_ID: z.coerce
    .number()
    .int()
    .min(1)
    .default(REMOTE_DEFAULTS.skybox.styleId)
    .describe("the style; 67 is photorealistic"),
  REPLICATE_API_KEY: secret.optional().meta({ default: "required for `replicate`", description: "API token" }),
  REPLICATE_BASE_URL: baseUrl.default(REMOTE_DEFAULTS.replicate.baseUrl).describe(BASE_URL_MEANING),
  REPLICATE_MODEL: replicateModel
    .default(REMOTE_DEFAULTS.replicate.model)
    .describe("`owner/name` or `owner/name:version`: a model with `width` and `height` inputs, or a FLUX.1 LoRA"),
  FAL_API_KEY: secret.optional().meta({ default: "required for `fal`", description: "API key" }),
  FAL_BASE_URL: baseUrl.default(REMOTE_DEFAULTS.fal.baseUrl).describe(BASE_URL_MEANING),
  FAL_PLATFORM_URL: baseUrl
    .default(REMOTE_DEFAULTS.fal.platformUrl)
    .describe("fal's interface that lists requests and models, for the check at the start and for lost submissions"),
  FAL_JWKS_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({ default: "fal's own URLs", description: "the public keys that verify fal's webhooks" }),
  FAL_MODEL: z.string().optional().meta({
    default: "`seedream-4.5`",
    description:
      "a preset: `seedream-4.5`, `gpt-image-2`, `gpt-image-2.5`, `flux-2`, `flux-3`, `hunyuan-world` (from one image), `flux-lora` (from text, needs `FAL_LORA_URL`); or the id of an endpoint",
  }),
  FAL_EDIT_MODEL: z
    .string()
    .optional()
    .describe("endpoint id for requests with reference images; only with an endpoint id in `FAL_MODEL`"),
  FAL_QUALITY: z
    .enum(FAL_QUALITIES)
    .optional()
    .meta({ default: "`medium`", description: "the quality, for endpoints that have it" }),
  FAL_REFERENCES: z.enum(FAL_REFERENCES).optional().meta({
    default: "`separate`",
    description:
      "`canvas`: for models with a mask: sends one panorama with the photos placed in it; the model paints the rest",
  }),
  FAL_LORA_URL: z
    .url({ protocol: /^https$/ })
    .optional()
    .meta({ default: "required for `flux-lora`", description: "https URL of LoRA weights trained on panoramas" }),
  WORLDLABS_API_KEY: secret.optional().meta({
    default: "required for `worldlabs`",
    description: "API key of the World Labs platform",
  }),
  WORLDLABS_BASE_URL: baseUrl.default(REMOTE_DEFAULTS.worldlabs.baseUrl).describe(BASE_URL_MEANING),
  WORLDLABS_MODEL: worldlabsModel.default(REMOTE_DEFAULTS.worldlabs.model).describe("the model"),
  COMFY_BASE_URL: baseUrl
    .default(REMOTE_DEFAULTS.comfy.baseUrl)
    .describe(
      "Comfy API v2: Comfy Cloud, a deployment (`https://….run.comfy.app`), or a `comfy-api-proxy` of your own; http and private addresses are allowed",
    ),
  COMFY_API_KEY: secret.optional().meta({
    default: "required for `comfy` at Comfy Cloud and for a deployment",
    description: "API key of Comfy",
  }),
  COMFY_WORKFLOW: z.string().optional().meta({ default: "`qwen-image-edit`", description: "as `COMFYUI_WORKFLOW`" }),
  COMFYUI_BASE_URL: ownServers.optional().meta({
    default: "required for `comfyui`",
    description: "base URLs of ComfyUI servers, separated by commas; http and private addresses are allowed",
  }),
  COMFYUI_WORKFLOW: z.string().optional().meta({
    default: "`qwen-image-360`",
    description:
      "a bundled workflow, `qwen-image-360` (from text) or `qwen-image-edit` (from text and up to three images), or a JSON file with a workflow in API format",
  }),
  HTTP_PROVIDER_URL: baseUrl.optional().meta({
    default: "required for `http`",
    description: "base URL of your worker; http and private addresses are allowed",
  }),
  HTTP_PROVIDER_TOKEN: secret.optional().describe("the bearer token of the worker, if it asks for one"),
};

/** The embedded provider, which paints panoramas on this machine. */
export type LocalProviderConfig = { readonly kind: "local"; readonly delayMilliseconds: number };

/** Remote providers in the order in which they are tried: each is the fallback of the previous one. */
export type RemoteProvidersConfig = {
  readonly kind: "remote";
  readonly inOrder: readonly [RemoteProviderConfig, ...RemoteProviderConfig[]];
};

/** A JSON file, or the name of a bundled workflow. Absent for the default. */
type WorkflowSetting = string | undefined;

/** The base URLs of all servers that a provider may ask. */
export const serversOf = (provider: RemoteProviderConfig): readonly string[] =>
  provider.kind === "comfyui" ? provider.baseUrls : [provider.baseUrl];

const variablesSchema = z.object(providerVariables);
type Variables = z.infer<typeof variablesSchema>;

/** Configuration of the providers that `PROVIDER` names. The error is one line for the operator. */
export const providerOf = (data: Variables): Result<LocalProviderConfig | RemoteProvidersConfig, string> => {
  if (data.PROVIDER === "local") return ok({ kind: "local", delayMilliseconds: data.LOCAL_PROVIDER_DELAY_MS });
  const [first, ...others] = data.PROVIDER;
  const configure = (name: ProviderName): Result<RemoteProviderConfig, string> => remoteProviderOf(name, data);
  return configure(first).andThen((preferred) =>
    Result.combine(others.map(configure)).map((fallbacks) => ({
      kind: "remote" as const,
      inOrder: [preferred, ...fallbacks] as const,
    })),
  );
};

const remoteProviderOf = (named: ProviderName, data: Variables) => {
  const { kind } = named;
  const needs = (what: string) => err(`Bad configuration: PROVIDER=${shownName(named)} needs ${what}.`);
  const limits: ProviderLimits = {
    pollMilliseconds: data.PROVIDER_POLL_MS,
    callsPerSecond: data.PROVIDER_CALLS_PER_SECOND,
    concurrencyMax: data.PROVIDER_MAX_CONCURRENT,
  };
  if (kind === "http") {
    const { HTTP_PROVIDER_URL: baseUrl, HTTP_PROVIDER_TOKEN: token } = data;
    return baseUrl === undefined ? needs("HTTP_PROVIDER_URL") : ok({ kind, baseUrl, token, ...limits });
  }
  if (kind === "comfy") {
    const { COMFY_BASE_URL: baseUrl, COMFY_API_KEY: apiKey, COMFY_WORKFLOW: workflow } = data;
    if (apiKey === undefined && needsComfyKey(baseUrl)) return needs("COMFY_API_KEY");
    const chosen = modelOf<WorkflowSetting>(named, bundledWorkflow, workflow);
    return chosen.map((workflowSetting) => ({ kind, baseUrl, apiKey, workflowSetting, ...limits }));
  }
  if (kind === "comfyui") {
    const { COMFYUI_BASE_URL: baseUrls, COMFYUI_WORKFLOW: workflow } = data;
    if (baseUrls?.some(isComfyCloud)) return err(COMFY_CLOUD);
    if (baseUrls === undefined) return needs("COMFYUI_BASE_URL");
    const chosen = modelOf<WorkflowSetting>(named, bundledWorkflow, workflow);
    return chosen.map((workflowSetting) => ({ kind, baseUrls, workflowSetting, ...limits }));
  }
  const prefix = kind.toUpperCase() as Uppercase<typeof kind>;
  const apiKey = data[`${prefix}_API_KEY`];
  if (apiKey === undefined) return needs(`${prefix}_API_KEY`);
  const access = { apiKey, baseUrl: data[`${prefix}_BASE_URL`], ...limits };
  switch (kind) {
    case "skybox":
      return ok({ kind, ...access, styleId: data.SKYBOX_STYLE_ID });
    case "replicate":
      return modelOf(named, replicateModel, data.REPLICATE_MODEL).map((model) => ({ kind, ...access, model }));
    case "worldlabs":
      return modelOf(named, worldlabsModel, data.WORLDLABS_MODEL).map((model) => ({ kind, ...access, model }));
    case "fal": {
      const jwksUrls = data.FAL_JWKS_URL === undefined ? REMOTE_DEFAULTS.fal.jwksUrls : [data.FAL_JWKS_URL];
      const urls = { platformUrl: data.FAL_PLATFORM_URL, jwksUrls };
      return falModelOf(named, data).map((model) => ({ kind, ...access, ...urls, ...model }));
    }
  }
};

/** A provider at one URL, or ComfyUI servers that run the same workflow. URLs have no trailing slash. */
export type RemoteProviderConfig = Readonly<SuccessOf<ReturnType<typeof remoteProviderOf>>>;

const isComfyCloud = (baseUrl: string): boolean => new URL(baseUrl).hostname === "cloud.comfy.org";

const COMFY_CLOUD =
  "Bad configuration: PROVIDER=comfyui is for ComfyUI servers of your own. For Comfy Cloud set PROVIDER=comfy and " +
  "COMFY_API_KEY, and remove COMFYUI_BASE_URL.";

const shownName = ({ kind, model }: ProviderName): string => (model === undefined ? kind : `${kind}:${model}`);

/** The model in `PROVIDER`, otherwise the model in the provider's own variable. */
const modelOf = <T>(named: ProviderName, schema: z.ZodType<T>, fromVariable: T): Result<T, string> => {
  if (named.model === undefined) return ok(fromVariable);
  const parsed = schema.safeParse(named.model);
  return parsed.success
    ? ok(parsed.data)
    : err(`Bad configuration: PROVIDER=${shownName(named)}: the model ${parsed.error.issues[0]?.message}.`);
};

/** `FAL_EDIT_MODEL` belongs to `FAL_MODEL`, not to a model in `PROVIDER`. */
const falModelOf = ({ model }: ProviderName, data: Variables): Result<FalModelOptions, string> => {
  const { FAL_MODEL, FAL_EDIT_MODEL, FAL_LORA_URL: loraUrl, FAL_QUALITY: quality, FAL_REFERENCES: references } = data;
  const chosen = model === undefined ? { model: FAL_MODEL, editModel: FAL_EDIT_MODEL } : { model };
  const options: FalModelOptions = { ...chosen, loraUrl, quality, references };
  return falChoice(options)
    .map(() => options)
    .mapErr((reason) => `Bad configuration: ${reason}.`);
};
