import { send } from "./exchange.js";
import { PICTURES } from "./fields.js";
import { make } from "./make.js";

/** A field for files, which are uploaded when they are chosen. `add` gets their URLs. */
export const uploadField = (path: string, key: () => string, add: (urls: readonly string[]) => void): HTMLElement => {
  const files = make("input", { type: "file", multiple: true, accept: PICTURES });
  const told = make("p", { className: "hint" });
  told.role = "status";
  files.addEventListener("change", async () => {
    const body = [...(files.files ?? [])];
    if (body.length === 0) return;
    told.textContent = "Uploading …";
    told.textContent = await upload(path, key(), body, add).catch(() => "No answer: nothing was uploaded.");
    files.value = "";
  });
  return make("div", {}, make("label", {}, "Or upload files, which costs nothing", files), told);
};

const upload = async (
  path: string,
  key: string,
  body: readonly File[],
  add: (urls: readonly string[]) => void,
): Promise<string> => {
  const answer = await send({ method: "POST", path, headers: [], body }, key);
  const { image_urls: urls = [], error } = (await answer.json()) as {
    readonly image_urls?: readonly string[];
    readonly error?: { readonly code: string; readonly message: string };
  };
  add(urls);
  return error === undefined ? "Uploaded: see image_urls." : `${answer.status} ${error.code}: ${error.message}`;
};
