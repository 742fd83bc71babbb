import { err, ok, type Result } from "neverthrow";
import * as z from "zod";
import type {
  Cancellation,
  GenerationOrder,
  Progress,
  ProviderUnavailable,
  SubmissionFailure,
} from "../../../../application/ports/generation-provider.js";
import type { TaskId } from "../../../../domain/ids.js";
import { unavailable } from "../../sound-reference.js";
import {
  bodyIn,
  createdIn,
  failedAs,
  isKeyRejected,
  meaningOf,
  nonEmpty,
  parseBody,
  succeededWith,
} from "../answers/read-answer.js";
import {
  type CancelCalls,
  type CreationContext,
  type Read,
  type RemoteDialect,
  type Report,
  unchecked,
  uuidOf,
  wrongSetting,
} from "../dialect.js";
import { ofImage, type ReferenceFailure, referenceFile } from "../images/reference-input.js";
import type { CheckFailure } from "../remote-options.js";
import type { NamedWorkflow } from "../workflows/bundled-workflows.js";
import { abilitiesIn, filled, isConstant, type Nodes, optionalLinks, workflowText } from "../workflows/workflow.js";

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
  readonly workflow: NamedWorkflow;
};

/**
 * One ComfyUI server of the operator's own with a workflow. A prompt has an id that is derived from our task's, so a
 * lost creation is looked up and never sent again. The server keeps its history in memory: after its restart it does
 * not know our prompts.
 */
export const comfyui = ({ baseUrl, workflow }: ComfyuiSettings): RemoteDialect => {
  const { nodes, name: model } = workflow;
  return {
    name: serverName(baseUrl),
    model,
    baseUrl,
    // ComfyUI has no login.
    authorization: {},
    // A server runs one prompt at a time.
    defaults: { callsPerSecond: 20, pauseSeconds: 10, concurrencyMax: 1 },

    abilities: () => abilitiesIn(workflow),

    /** Asks the server for the workflow's nodes, and for the files that they name. */
    async check(read) {
      for (const name of new Set(Object.values(nodes).map(({ class_type }) => class_type))) {
        const checked = await checkClass(name, { baseUrl, nodes, read });
        if (checked.isErr()) return checked;
      }
      return ok(undefined);
    },

    creation: (order, context) => ({ path: "/prompt", body: () => inputOf(nodes, order, context) }),

    upstreamTaskIdOf: (body) => createdIn(createdSchema, "prompt id", body).map(({ prompt_id }) => prompt_id),

    pollPath: historyPath,

    async reportOf(body, promptId, read) {
      const history = parseBody(historySchema, "a history", body);
      if (history.isErr()) return err(history.error);
      const ended = history.value[promptId];
      return ended === undefined ? reportOfNotEnded(promptId, read) : ok(reportOfEnded(ended, baseUrl));
    },

    cancel,

    find,
  };
};

const inputOf = async (
  nodes: Nodes,
  order: GenerationOrder,
  context: CreationContext,
): Promise<Result<unknown, string | SubmissionFailure>> => {
  const images: string[] = [];
  for (const [index, url] of order.request.imageUrls.entries()) {
    const uploaded = (await uploadReference(url, context)).mapErr(ofImage(index));
    if (uploaded.isErr()) return err(uploaded.error);
    images.push(uploaded.value);
  }
  const prompt = filled(nodes, { text: workflowText(order, context), images });
  return ok({ prompt, prompt_id: promptIdOf(order.taskId) });
};

const reportOfNotEnded = async (promptId: string, read: Read): Promise<Result<Report, ProviderUnavailable>> =>
  (await queueOf(read)).map((queue) =>
    queue.includes(promptId)
      ? { state: "running" }
      : {
          state: "uncertain",
          reason: "the server does not know the prompt; it has been restarted, or its history was cleared",
          duringGracePeriod: "running",
        },
  );

/** Removes a waiting prompt from the queue, and interrupts a running one: the operator's own server bills nothing. */
const cancel = async (
  promptId: string,
  { read, confirm, change }: CancelCalls,
): Promise<Result<Cancellation, ProviderUnavailable>> => {
  const before = await placeOf(promptId, read);
  if (before.isErr()) return err(before.error);
  const waits = before.value === "pending";
  if (!waits && before.value !== "running") return ok("too_late");
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
};

/** The queue comes first: a prompt that leaves it meanwhile is in the history afterwards. */
const find = async (taskId: TaskId, read: Read): Promise<Result<string | undefined, ProviderUnavailable>> => {
  const promptId = promptIdOf(taskId);
  const queue = await queueOf(read);
  if (queue.isErr()) return err(queue.error);
  if (queue.value.includes(promptId)) return ok(promptId);
  return (await historyOf(promptId, read)).map((prompts) => (prompts[promptId] === undefined ? undefined : promptId));
};

type Place = "pending" | "running" | "failed" | "ended" | "unknown";

/** State of the prompt. `unknown` if it is neither in the queue nor in the history. */
const placeOf = async (promptId: string, read: Read): Promise<Result<Place, ProviderUnavailable>> => {
  const queue = await queueIn(read);
  if (queue.isErr()) return err(queue.error);
  const { queue_pending, queue_running } = queue.value;
  if (queue_pending.some(([, id]) => id === promptId)) return ok("pending");
  if (queue_running.some(([, id]) => id === promptId)) return ok("running");
  return (await historyOf(promptId, read)).map((prompts) => {
    const ended = prompts[promptId];
    if (ended === undefined) return "unknown";
    return ended.status.status_str === "error" ? "failed" : "ended";
  });
};

/** Host and path of the server, which distinguish it from the other servers. */
const serverName = (baseUrl: string): string => {
  const { host, pathname } = new URL(baseUrl);
  return pathname === "/" ? host : host + pathname;
};

const historyPath = (promptId: string): string => `/history/${encodeURIComponent(promptId)}`;

const historyOf = async (promptId: string, read: Read) =>
  bodyIn(await read(historyPath(promptId)), historySchema, "a history");

/** The ids of the prompts that wait or run. */
export const queueOf = async (read: Read): Promise<Result<string[], ProviderUnavailable>> =>
  (await queueIn(read)).map(({ queue_running, queue_pending }) =>
    [...queue_running, ...queue_pending].map(([, id]) => id),
  );

const queueIn = async (read: Read) => bodyIn(await read("/queue"), queueSchema, "a queue");

/** A prompt id is a UUID; our task ids are none. */
export const promptIdOf = (taskId: TaskId): string => uuidOf(taskId);

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
    ? { state: "failed", reason: "the workflow has ended without an image", cause: "unusable_result" }
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

/** The value of a `LoadImage` node. */
const uploadReference = async (url: string, context: CreationContext): Promise<Result<string, ReferenceFailure>> => {
  const file = await referenceFile(url, context);
  if (file.isErr()) return err(file.error);
  const answer = await context.upload("/upload/image", {
    fields: { subfolder: FOLDER, overwrite: "true" },
    file: { field: "image", ...file.value },
  });
  return answer.andThen((body) =>
    parseBody(uploadedSchema, "an uploaded image", body)
      .map(({ name, subfolder }) => (subfolder === "" ? name : `${subfolder}/${name}`))
      .mapErr(({ reason }): ReferenceFailure => `the upload of a reference image: ${reason}`),
  );
};

const checkClass = async (
  name: string,
  { baseUrl, nodes, read }: Pick<RemoteDialect, "baseUrl"> & { readonly nodes: Nodes; readonly read: Read },
): Promise<Result<void, CheckFailure>> => {
  const answer = await read(`/object_info/${encodeURIComponent(name)}`);
  if (answer.isOk() && isKeyRejected(answer.value)) {
    const asks = `${baseUrl} asks for a login (status ${answer.value.status}), and ComfyUI has none`;
    return err(wrongSetting(`COMFYUI_BASE_URL: ${asks}; for Comfy Cloud set PROVIDER=comfy and COMFY_API_KEY`));
  }
  const classes = bodyIn(answer, classesSchema, "a list of nodes");
  if (classes.isErr()) return err(unchecked(classes.error.reason));
  const known = classes.value[name];
  if (known === undefined) return err(wrongSetting(`COMFYUI_WORKFLOW: ${baseUrl} has no node ${name}; install it`));
  const { required = {}, optional } = known.input;
  const link = optionalLinks(nodes).find(({ class_type, input }) => class_type === name && input in required);
  if (link !== undefined) {
    const what = `the input ${link.input} of the node ${name} is required, so no optional image may be linked to it`;
    return err(wrongSetting(`COMFYUI_WORKFLOW: ${what}; write {image1} instead of {image1?}`));
  }
  const allowed = { ...required, ...optional };
  for (const { inputs } of Object.values(nodes).filter(({ class_type }) => class_type === name)) {
    for (const [input, value] of Object.entries(inputs)) {
      const options = optionsOf(allowed[input]);
      if (isConstant(value) && options !== undefined && !options.includes(value)) {
        const what = `${input} ${JSON.stringify(value)} for the node ${name}`;
        return err(wrongSetting(`COMFYUI_WORKFLOW: ${baseUrl} has no ${what}; install the file, or change the input`));
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
