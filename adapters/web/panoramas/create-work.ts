import { err, ok, type Result } from "neverthrow";
import type { Visitor } from "../../../application/accounts/sessions.js";
import { parseIdempotencyKey } from "../../../domain/credits/idempotency.js";
import { admitAbilities } from "../../../domain/tasks/abilities.js";
import type { CreationRequest } from "../../../domain/tasks/creation-request.js";
import { viewerPath } from "../../../domain/tasks/slug.js";
import { uploadSlots } from "../../system/semaphore.js";
import type { Page, PageBody, PageReply, PageRequest } from "../../web-page/page.js";
import type { InvalidMessage } from "../../wording/rule-predicate.js";
import { redirect } from "../paths.js";
import { STALE_FORM } from "../session-guard.js";
import { type CreationRefusal, REFUSAL_STATUS, refusalSentence, type TooManyImages } from "./creation-refusal.js";
import { refuseSuspended } from "./selected-works.js";
import { creationOfFields, pictureUrls } from "./works-form.js";
import { type FormRequest, type WorksParts, worksListPage } from "./works-list-page.js";

/** `POST /works`: creates a panorama, with uploaded pictures. */
export const createRoute = (parts: WorksParts): Page => ({
  method: "POST",
  path: "/works",
  body: "files",
  handle: parts.guard.memberForm((request, visitor) => create(parts, request, visitor), {
    beforeBody: async (visitor) => refuseSuspended(parts.layout, visitor) ?? parts.guard.admit(visitor, "write"),
    beforeFiles: (request, form, visitor) => admitFiles(parts, { ...request, form }, visitor),
    onStaleToken: (request, visitor) => worksListPage(parts, { status: 403, error: STALE_FORM }, request, visitor),
    pathAfterLogin: pathWithPrompt,
  }),
});

/** Path to open after login, with the prompt of the form and the panorama to be changed. Files are lost. */
function pathWithPrompt(form: URLSearchParams): string {
  const [prompt, change] = [form.get("prompt")?.trim(), form.get("change")];
  const kept = new URLSearchParams({ ...(change && { change }), ...(prompt && { prompt }) });
  return kept.size === 0 ? "/works" : `/works?${kept}`;
}

/** Placeholder URL for each file that is not uploaded yet. */
const PLACEHOLDER_URL = "https://uploaded.invalid/";

/** Parses the form as a creation with `files` more images. Rejects a creation that no model can make. */
function parseCreationForm(
  { panoramas }: WorksParts,
  form: URLSearchParams,
  files: number,
): Result<CreationRequest, InvalidMessage | TooManyImages> {
  const abilities = panoramas.readAbilities();
  const urls = [...pictureUrls(form), ...Array.from({ length: files }, () => PLACEHOLDER_URL)];
  if (urls.length > abilities.imagesMax) return err({ kind: "too_many_images", max: abilities.imagesMax });
  return creationOfFields(form, urls).andThen((request) => admitAbilities(abilities, request).map(() => request));
}

/** Checks fields, balance and upload limits before the files are received. Returns the refusal page, or `undefined`. */
async function admitFiles(parts: WorksParts, request: FormRequest, visitor: Visitor): Promise<PageReply | undefined> {
  const creation = parseCreationForm(parts, request.form, 1); // at least one file follows
  if (creation.isErr()) return refuse(parts, request, visitor, creation.error);
  const balance = await parts.credits.readBalance(visitor.account.id);
  const cost = parts.policy.prices[creation.value.resolution];
  if (balance < cost) {
    const { debt } = await parts.credits.readTotals(visitor.account.id);
    return refuse(parts, request, visitor, { kind: "insufficient_credits", balance, cost, debt });
  }
  const allowed = await parts.panoramas.checkUpload(visitor.account.id);
  return allowed.isErr() ? refuse(parts, request, visitor, allowed.error) : undefined;
}

/** Uploads the files and creates the panorama, with the rules and prices of `POST /panoramas`. */
async function create(parts: WorksParts, request: PageRequest & PageBody, visitor: Visitor): Promise<PageReply> {
  const refused = (refusal: CreationRefusal) => refuse(parts, request, visitor, refusal);
  const { form, files, bodyError } = request;
  if (bodyError !== undefined) return refused(bodyError);

  const checked = parseCreationForm(parts, form, files.length);
  if (checked.isErr()) return refused(checked.error);
  const { account, admittedBy } = visitor;
  const { id } = account;
  const uploaded =
    files.length === 0
      ? ok({ urls: [] })
      : await uploadSlots.run(() => parts.panoramas.uploadImages(id, files, admittedBy), id);
  if (uploaded.isErr()) return refused(uploaded.error);
  const withUploads = new URLSearchParams(form);
  for (const url of uploaded.value.urls) withUploads.append("uploaded_url", url);
  const creation = creationOfFields(withUploads, pictureUrls(withUploads));
  const refusedLater = (refusal: CreationRefusal) => refuse(parts, { ...request, form: withUploads }, visitor, refusal);
  if (creation.isErr()) return refusedLater(creation.error);
  const key = parseIdempotencyKey(form.get("idempotency_key") ?? "").unwrapOr(undefined);
  const created = await parts.panoramas.create(id, creation.value, key, { admittedBy });
  return created.match(({ task }) => redirect(viewerPath(task.slug, "private")), refusedLater);
}

async function refuse(
  parts: WorksParts,
  request: FormRequest,
  visitor: Visitor,
  refusal: CreationRefusal,
): Promise<PageReply> {
  if (refusal.kind === "access_ended") return parts.guard.login(pathWithPrompt(request.form));
  const shown = { status: REFUSAL_STATUS[refusal.kind], error: refusalSentence(refusal) };
  return worksListPage(parts, shown, request, visitor);
}
