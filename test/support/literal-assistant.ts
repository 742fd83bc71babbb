import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { McpSession } from "./mcp-session.js";

type Arguments = Record<string, unknown>;
type Step = { readonly tool: string; readonly args: Arguments };

/** `panorama`: one is finished. Otherwise the sentence for the person at which the assistant stops. */
export type Outcome = { readonly ended: "panorama" | string; readonly calls: number };

/** What the assistant knows besides the answers: a file of the person, which it may upload. */
type World = {
  readonly session: McpSession;
  readonly wait: (seconds: number) => Promise<void>;
  readonly file?: string;
};

const CALLS_MAX = 5;

/**
 * An assistant without a model: it does literally what `what_to_do` says, and understands nothing else. It shows that
 * the sentences are enough.
 */
export const followLiterally = async (start: Step, world: World): Promise<Outcome> => {
  const { session, wait } = world;
  let step = start;
  /** The creation to which it returns after an upload. */
  let creation: Step = start;
  const done = new Set<string>();
  for (let calls = 1; calls <= CALLS_MAX; calls++) {
    if (step.tool.startsWith("generate_")) creation = step;
    const result = await session.call(step.tool, step.args);
    if (!result.isError) {
      const next = afterSuccess(step, creation, result);
      if (next === "panorama") return { ended: next, calls };
      if (next !== undefined) {
        step = next;
        continue;
      }
    }
    const sentence = whatToDo(result);
    const again = /^(?:Wait|The panorama may have been accepted)/.test(sentence);
    if (again && done.has(sentence)) return { ended: sentence, calls }; // "If it fails again, tell the person."
    done.add(sentence);
    const seconds = /^Wait (\d+) seconds/.exec(sentence)?.[1];
    if (seconds !== undefined) await wait(Number(seconds));
    const next = follow(sentence, /create the panorama/.test(sentence) ? creation : step, world);
    if (next === undefined) return { ended: sentence, calls };
    step = next;
  }
  return { ended: "It has called too often.", calls: CALLS_MAX + 1 };
};

const whatToDo = (result: CallToolResult): string => {
  const content = JSON.parse((result.content[0] as { text: string }).text);
  return String(content.error?.what_to_do);
};

const afterSuccess = ({ tool }: Step, creation: Step, result: CallToolResult): Step | "panorama" | undefined => {
  const { id, status, image_urls } = result.structuredContent as { id: string; status: string; image_urls: string[] };
  if (tool === "upload_reference_images") {
    const { prompt = undefined, ...args } = { resolution: "1k", ...creation.args } as Arguments;
    const kept = { resolution: args.resolution, image_urls, ...(prompt === undefined ? {} : { prompt }) };
    return { tool: "generate_panorama_from_images", args: kept };
  }
  if (status === "succeeded") return "panorama";
  if (status === "failed") return undefined;
  return { tool: "get_panorama_task", args: { id, wait_seconds: 30 } };
};

/** The next call; `undefined` if the person is asked, or told. */
const follow = (sentence: string, { tool, args }: Step, { file }: World): Step | undefined => {
  const same = (differences: Arguments): Step => ({ tool, args: { ...args, ...differences } });
  const without = (name: string): Arguments => Object.fromEntries(Object.entries(args).filter(([key]) => key !== name));
  const rules: readonly [RegExp, (...found: string[]) => Step | undefined][] = [
    [/^(?:Ask|Tell) the person/, () => undefined],
    [/^Wait \d+ seconds/, () => same({})],
    [/call this tool again with exactly the same arguments/, () => same({})],
    [/^Call the tool again with (\w+) "([^"]+)"/, (name = "", value) => same({ [name]: value })],
    [/^Call the tool again with (\w+) from \d+ to (\d+)/, (name = "", most) => same({ [name]: Number(most) })],
    [/^Call the tool again with a prompt of at least/, () => same({ prompt: "a quiet harbour in the fog" })],
    [/^Call the tool again with (\w+) as one string/, (name = "") => same({ [name]: `${args[name]}, in the fog` })],
    [/^Call the tool again with raw base64 in images/, () => same({ images: [String(args.images).split(",")[1]] })],
    [/^Call the tool again without "(\w+)"/, (name = "") => ({ tool, args: without(name) })],
    [
      /^Call the tool again with at most (\d+) items? in (\w+)/,
      (most, name = "") => same({ [name]: (args[name] as unknown[]).slice(0, Number(most)) }),
    ],
    [
      /^Call (generate_panorama_from_text) instead, without (\w+)/,
      (other = "", name = "") => ({ tool: other, args: without(name) }),
    ],
    [
      /^Shorten (\w+) to at most (\d+) characters/,
      (name = "", most) => same({ [name]: String(args[name]).slice(0, Number(most)) }),
    ],
    [
      /call upload_reference_images with its path/,
      () => (file === undefined ? undefined : { tool: "upload_reference_images", args: { paths: [file] } }),
    ],
    [
      /^Upload the image (?:of (\w+)\[(\d)\] )?with upload_reference_images/,
      (_, index = "0") => ({
        tool: "upload_reference_images",
        args: { urls: [(args.image_urls as string[])[Number(index)]] },
      }),
    ],
  ];
  for (const [pattern, act] of rules) {
    const found = pattern.exec(sentence);
    if (found !== null) return act(...found.slice(1));
  }
  return undefined;
};
