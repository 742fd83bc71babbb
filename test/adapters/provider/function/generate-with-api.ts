import { type Generate, GenerationError } from "../../../../adapters/provider/function/function-options.js";

type Answer = {
  readonly data?: readonly { readonly b64_json?: string; readonly url?: string }[];
  readonly error?: { readonly code: string; readonly message: string };
};

/** One call of an images API, as `EMBEDDING.md` shows it. */
export const generateWith =
  (origin: string): Generate =>
  async ({ prompt = "" }, { signal }) => {
    const response = await fetch(`${origin}/v1/images/generations`, {
      method: "POST",
      headers: { authorization: "Bearer sk-test", "content-type": "application/json" },
      body: JSON.stringify({ model: "gpt-image-1", prompt }),
      signal,
    });
    const { data, error } = (await response.json()) as Answer;
    if (error?.code === "moderation_blocked") throw new GenerationError(error.message, "content_refused");
    if (error !== undefined) throw new Error(error.message);
    return data?.[0]?.url ?? Buffer.from(data?.[0]?.b64_json ?? "", "base64");
  };
