import { createHash } from "node:crypto";
import { err, ok, type Result } from "neverthrow";
import { z } from "zod";
import type { Progress, ProviderUnavailable } from "../../../../application/ports/generation-provider.js";
import { imageTypeOf } from "../../../../domain/image-type.js";
import { RESOLUTIONS } from "../../../../domain/resolution.js";
import type { TaskId } from "../../../../domain/task-id.js";
import { unavailable } from "../../unavailable.js";
import { jsonOf, parseBody } from "../answers/body.js";
import { failedAs } from "../answers/failed-as.js";
import { meaningOf } from "../answers/meaning-of.js";
import { nonEmpty } from "../answers/non-empty.js";
import { succeededWith } from "../answers/succeeded-with.js";
import { correlationSeed } from "../correlation-seed.js";
import type { CreationContext, Dialect, Read, Report } from "../dialect.js";
import { imageCountWithin } from "../images/image-count-within.js";
import { referenceBytes } from "../images/reference-bytes.js";
import { NEUTRAL_PROMPT } from "../neutral-prompt.js";
import type { CheckFailure } from "../remote-options.js";
import { checkedJson, misconfigured, unchecked } from "../start-check.js";
import { filled, isConstant, type Workflow } from "./workflow.js";

/** Open models repeat parts of the picture above two megapixels. */
const LARGEST = RESOLUTIONS["2k"];
const NEGATIVE_PROMPT = "blurry, low quality, distorted, text, watermark, frame, border, visible seam";
const FOLDER = "panorama";

const createdSchema = z.object({ prompt_id: nonEmpty });
/** The second item of an entry is the prompt id. */
const entry = z.tuple([z.unknown(), z.string()], z.unknown());
const queueSchema = z.object({ queue_running: z.array(entry), queue_pending: z.array(entry) });
const imageSchema = z.object({ filename: nonEmpty, subfolder: z.string().default(""), type: z.string() });
const endedSchema = z.object({
  outputs: z.record(z.string(), z.object({ images: z.array(imageSchema).catch([]).optional() })),
  status: z.object({ status_str: z.string(), messages: z.array(z.unknown()).catch([]) }),
});
const historySchema = z.record(z.string(), endedSchema);
const uploadedSchema = z.object({ name: nonEmpty, subfolder: z.string().default("") });
const inputsOfClass = z.record(z.string(), z.array(z.unknown())).default({});
const classesSchema = z.record(
  z.string(),
  z.object({ input: z.object({ required: inputsOfClass, optional: inputsOfClass }).partial() }),
);

export type ComfyuiSettings = {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** Of Comfy Cloud; `undefined` for a server of the operator's own. */
  readonly apiKey: string | undefined;
  readonly workflow: Workflow;
};

/**
 * One ComfyUI server with a workflow. A prompt has an id that is derived from our task's, so a lost creation is looked
 * up and never sent again. The server keeps its history in memory: after its restart it does not know our prompts.
 */
export const comfyui = ({ baseUrl, apiKey, workflow: { nodes, imagesMax } }: ComfyuiSettings): Dialect => {
  const authorization: Readonly<Record<string, string>> = apiKey === undefined ? {} : { "x-api-key": apiKey };
  return {
    name: serverName(baseUrl),
    baseUrl,
    authorization,
    resultHeaders: authorization,
    // A server runs one prompt at a time.
    defaults: { callsPerSecond: 20, pauseSeconds: 10, concurrencyMax: 1 },

    canMake: ({ imageUrls }) => imageCountWithin(imageUrls.length, Math.min(1, imagesMax), imagesMax),

    /** Asks the server for the workflow's nodes, and for the files that they name. */
    async check(read) {
      for (const name of new Set(Object.values(nodes).map(({ class_type }) => class_type))) {
        const checked = await checkClass(name, { baseUrl, nodes, read });
        if (checked.isErr()) return checked;
      }
      return ok(undefined);
    },

    creation: ({ taskId, request }, context) => ({
      path: "/prompt",
      async body() {
        const images: string[] = [];
        for (const url of request.imageUrls) {
          const uploaded = await uploadReference(url, context);
          if (uploaded.isErr()) return err(uploaded.error);
          images.push(uploaded.value);
        }
        const { widthPixels: width, heightPixels: height } =
          request.resolution === "1k" ? RESOLUTIONS[request.resolution] : LARGEST;
        const [image1 = "", image2 = image1, image3 = image2] = images;
        const prompt = filled(nodes, {
          prompt: request.prompt ?? NEUTRAL_PROMPT,
          negative_prompt: NEGATIVE_PROMPT,
          seed: request.seed ?? correlationSeed(taskId),
          width,
          height,
          image1,
          image2,
          image3,
        });
        return ok({ prompt, prompt_id: promptIdOf(taskId) });
      },
    }),

    upstreamTaskIdOf(body) {
      const { data } = createdSchema.safeParse(body);
      return data === undefined ? err({ kind: "unknown", reason: "the answer has no prompt id" }) : ok(data.prompt_id);
    },

    pollPath: historyPath,

    async reportOf(body, promptId, read): Promise<Result<Report, ProviderUnavailable>> {
      const history = parseBody(historySchema, "a history", body);
      if (history.isErr()) return err(history.error);
      const ended = history.value[promptId];
      if (ended !== undefined) return ok(reportOfEnded(ended, baseUrl));
      const queue = await queueOf(read);
      if (queue.isErr()) return err(queue.error);
      if (queue.value.includes(promptId)) return ok({ state: "running" });
      const reason = "the server does not know the prompt; it has been restarted, or its history was cleared";
      return ok({ state: "uncertain", reason, duringGracePeriod: "running" });
    },

    /** Takes a waiting prompt out of the queue. A running one is interrupted on a server of one's own, which bills nothing. */
    async cancel(promptId, { read, confirm, change }) {
      const before = await placeOf(promptId, read);
      if (before.isErr()) return err(before.error);
      const waits = before.value === "pending";
      if (!waits && (before.value !== "running" || apiKey !== undefined)) return ok("too_late");
      const answer = await (waits
        ? change("POST", "/queue", { delete: [promptId] })
        : change("POST", "/interrupt", { prompt_id: promptId }));
      if (answer.isErr()) return err(answer.error);
      if (answer.value.status >= 300) return err(unavailable(meaningOf(answer.value)));

      // It may have started or ended before the server got this. An interrupted one runs until its node ends.
      const after = await confirm(
        () => placeOf(promptId, read),
        (place) => place === before.value,
      );
      const stopped = waits ? ["unknown"] : ["unknown", "failed"];
      return after.map((place) => (stopped.includes(place) ? "canceled" : "too_late"));
    },

    /** The queue comes first: a prompt that leaves it meanwhile is in the history afterwards. */
    async find(taskId, read) {
      const promptId = promptIdOf(taskId);
      const queue = await queueOf(read);
      if (queue.isErr()) return err(queue.error);
      if (queue.value.includes(promptId)) return ok(promptId);
      return (await read(historyPath(promptId)))
        .andThen(jsonOf)
        .andThen((body) => parseBody(historySchema, "a history", body))
        .map((history) => (history[promptId] === undefined ? undefined : promptId));
    },
  };
};

type Place = "pending" | "running" | "failed" | "ended" | "unknown";

/** Where the prompt is; `unknown` if it is neither in the queue nor in the history. */
const placeOf = async (promptId: string, read: Read): Promise<Result<Place, ProviderUnavailable>> => {
  const queue = await queueIn(read);
  if (queue.isErr()) return err(queue.error);
  const { queue_pending, queue_running } = queue.value;
  if (queue_pending.some(([, id]) => id === promptId)) return ok("pending");
  if (queue_running.some(([, id]) => id === promptId)) return ok("running");
  const history = (await read(historyPath(promptId)))
    .andThen(jsonOf)
    .andThen((body) => parseBody(historySchema, "a history", body));
  return history.map((prompts) => {
    const ended = prompts[promptId];
    if (ended === undefined) return "unknown";
    return ended.status.status_str === "error" ? "failed" : "ended";
  });
};

/** Host and path of the server: what tells it from the other servers. */
const serverName = (baseUrl: string): string => {
  const { host, pathname } = new URL(baseUrl);
  return pathname === "/" ? host : host + pathname;
};

const historyPath = (promptId: string): string => `/history/${encodeURIComponent(promptId)}`;

/** The ids of the prompts that wait or run. */
export const queueOf = async (read: Read): Promise<Result<string[], ProviderUnavailable>> =>
  (await queueIn(read)).map(({ queue_running, queue_pending }) =>
    [...queue_running, ...queue_pending].map(([, id]) => id),
  );

const queueIn = async (read: Read) =>
  (await read("/queue")).andThen(jsonOf).andThen((body) => parseBody(queueSchema, "a queue", body));

/** A UUID (version 8), because a prompt id is one; our task ids are not. */
export const promptIdOf = (taskId: TaskId): string => {
  const bytes = createHash("sha256").update(taskId).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
};

const reportOfEnded = ({ outputs, status }: z.infer<typeof endedSchema>, baseUrl: string): Report => {
  const { status_str, messages } = status;
  if (status_str === "error") return failedReport(messages);
  if (status_str !== "success") return { state: "unknown", status: status_str };
  return resultOf(
    Object.values(outputs).flatMap(({ images = [] }) => images),
    baseUrl,
  );
};

/** A saved image rather than a preview, which is of type `temp`. */
const resultOf = (images: readonly z.infer<typeof imageSchema>[], baseUrl: string): Progress => {
  const image = images.find(({ type }) => type === "output") ?? images[0];
  return image === undefined
    ? { state: "failed", reason: "the workflow has ended without an image" }
    : succeededWith(`${baseUrl}/view?${new URLSearchParams(image)}`);
};

const messageSchema = z.tuple([z.string(), z.object({ exception_message: z.string().optional() })]);

const failedReport = (messages: readonly unknown[]): Progress => {
  const told = messages.flatMap((message) => messageSchema.safeParse(message).data ?? []);
  const interrupted = told.includes("execution_interrupted");
  // The other fields of a message repeat the inputs, and so the prompt.
  const texts = told.flatMap((part) => (typeof part === "string" ? [] : (part.exception_message ?? [])));
  return failedAs(interrupted ? "interrupted" : "error", texts);
};

/** The value of a `LoadImage` node. The same image has the same name, so it is stored once. */
const uploadReference = async (
  url: string,
  { storage, publicFetch, upload }: CreationContext,
): Promise<Result<string, string>> => {
  const read = await referenceBytes(storage, publicFetch, url);
  if (read.isErr()) return err(read.error);
  const bytes = read.value;
  const type = imageTypeOf(bytes);
  if (type === undefined) return err("a reference image is not a JPEG, PNG or WebP");
  const fileName = `${createHash("sha256").update(bytes).digest("hex")}.${type.slice("image/".length)}`;
  const answer = await upload("/upload/image", {
    fields: { subfolder: FOLDER, overwrite: "true" },
    file: { field: "image", name: fileName, type, bytes },
  });
  return answer
    .andThen(jsonOf)
    .andThen((body) => parseBody(uploadedSchema, "an uploaded image", body))
    .map(({ name, subfolder }) => (subfolder === "" ? name : `${subfolder}/${name}`))
    .mapErr(({ reason }) => `the upload of a reference image: ${reason}`);
};

const checkClass = async (
  name: string,
  { baseUrl, nodes, read }: Pick<Dialect, "baseUrl"> & Pick<Workflow, "nodes"> & { readonly read: Read },
): Promise<Result<void, CheckFailure>> => {
  const json = checkedJson(await read(`/object_info/${encodeURIComponent(name)}`), "COMFYUI_API_KEY");
  if (json.isErr()) return err(json.error);
  const classes = parseBody(classesSchema, "a list of nodes", json.value);
  if (classes.isErr()) return err(unchecked(classes.error.reason));
  const known = classes.value[name];
  if (known === undefined) return err(misconfigured(`COMFYUI_WORKFLOW: ${baseUrl} has no node ${name}; install it`));
  const allowed = { ...known.input.required, ...known.input.optional };
  for (const { inputs } of Object.values(nodes).filter(({ class_type }) => class_type === name)) {
    for (const [input, value] of Object.entries(inputs)) {
      const options = optionsOf(allowed[input]);
      if (isConstant(value) && options !== undefined && !options.includes(value)) {
        const what = `${input} ${JSON.stringify(value)} for the node ${name}`;
        return err(misconfigured(`COMFYUI_WORKFLOW: ${baseUrl} has no ${what}; install the file, or change the input`));
      }
    }
  }
  return ok(undefined);
};

/** The allowed values of an input: an older form has them first, a newer one after "COMBO". */
const optionsOf = ([first, second]: readonly unknown[] = []): readonly unknown[] | undefined => {
  if (Array.isArray(first)) return first;
  return z.object({ options: z.array(z.unknown()) }).safeParse(second).data?.options;
};
