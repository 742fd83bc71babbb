import { createHash } from "node:crypto";
import { err } from "neverthrow";
import type { Visitor } from "../../../application/accounts/sessions/find-session.js";
import type { UseCases } from "../../../application/create-application.js";
import type { NotFound } from "../../../application/errors.js";
import type { SetHotspotsError } from "../../../application/panoramas/set-hotspots.js";
import type { InvalidRequest } from "../../../domain/invalid-request.js";
import {
  HOTSPOT_NOTE_CHARACTERS_MAX,
  HOTSPOTS_MAX,
  type Hotspot,
  parseHotspots,
} from "../../../domain/tasks/hotspots.js";
import { parseSlug, viewerPath } from "../../../domain/tasks/slug.js";
import type { Page, PageReply, PageRequest } from "../../web-page/page.js";
import { rulePredicate } from "../../wording/rule-predicate.js";
import { errorBox } from "../error-box.js";
import { type Html, html, said, type Text, type Words, words } from "../html.js";
import { icon } from "../icon.js";
import { hiddenToken, type Layout } from "../layout.js";
import { redirect } from "../redirect.js";
import { type SessionGuard, STALE_FORM } from "../session-guard.js";
import type { StaticFiles } from "../static-files.js";
import { hasStoredImage, type KeptTask, titleOf } from "./panorama-card.js";
import { refuseSuspended } from "./refuse-suspended.js";

type Parts = {
  readonly panoramas: Pick<UseCases["panoramas"], "findOwn" | "list" | "findLinked" | "setHotspots">;
  readonly guard: SessionGuard;
  readonly layout: Layout;
  readonly files: StaticFiles;
};

const PATH = "/works/:slug/hotspots";

/** How many of the owner's newest panoramas a hotspot can lead to without an address. */
const CHOICES_MAX = 30;
/** The choice of a panorama by its address. */
const BY_ADDRESS = "address";

/** A hotspot as the form has it. */
type Row = Readonly<Record<(typeof FIELDS)[number], string>>;
const FIELDS = ["yaw", "pitch", "note", "to", "address"] as const;
const NEW: Row = { yaw: "0", pitch: "0", note: "", to: "", address: "" };

/**
 * `/works/{slug}/hotspots`: the owner edits the hotspots of a panorama, all in one form. The viewer shows the form over
 * the sphere (client/viewer/hotspot-editor.ts); without scripts it is a page with angles.
 */
export const hotspotPages = (parts: Parts): readonly Page[] => {
  const { panoramas, guard, layout } = parts;
  const findOwn = async ({ params }: PageRequest, { account }: Visitor): Promise<KeptTask | undefined> => {
    const slug = parseSlug(params.slug ?? "");
    const task = slug && (await panoramas.findOwn(slug, account.id));
    return task && hasStoredImage(task) ? task : undefined;
  };
  return [
    {
      method: "GET",
      path: PATH,
      body: "none",
      cost: "page",
      handle: guard.member(async (request, visitor) => {
        const task = await findOwn(request, visitor);
        return task ? editorPage(parts, task, visitor) : layout.notFound(visitor);
      }),
    },
    {
      method: "POST",
      path: PATH,
      body: "fields",
      handle: guard.memberForm(
        async (request, visitor) => {
          const task = await findOwn(request, visitor);
          if (task === undefined) return layout.notFound(visitor);
          const typed = typedIn(request.form);
          const parsed = parseHotspots(typed.rows.map(givenOf));
          const now = versionOf(task.hotspots);
          const saved = await parsed.match(
            async (hotspots) =>
              [undefined, now].includes(typed.version) || versionOf(hotspots) === now
                ? panoramas.setHotspots(task.id, visitor.account.id, hotspots)
                : err(CHANGED),
            async (broken) => err(broken),
          );
          return saved.match(
            ({ needsReview }) => redirect(viewerPath(task.slug, needsReview ? "private" : task.request.visibility)),
            (refusal) =>
              refusal.kind === "not_found"
                ? layout.notFound(visitor)
                : editorPage(parts, task, visitor, { ...typed, ...shownOf(refusal, now) }),
          );
        },
        {
          // Everybody reads the notes in a public panorama.
          request: async (visitor) => refuseSuspended(layout, visitor),
          stale: async (request, visitor) => {
            const task = await findOwn(request, visitor);
            if (task === undefined) return layout.notFound(visitor);
            return editorPage(parts, task, visitor, { ...typedIn(request.form), error: STALE_FORM });
          },
        },
      ),
    },
  ];
};

/** Changes with each of them: a form has that of the hotspots that it was made from. */
const versionOf = (hotspots: readonly Hotspot[] = []): string =>
  createHash("sha256")
    .update(JSON.stringify(hotspots.map(({ yaw, pitch, note, to }) => [yaw, pitch, note, to ?? ""])))
    .digest("base64url");

/** The owner has saved others since the form was opened, in another tab or on another device. */
const CHANGED = { kind: "changed" } as const;

/** What a form has. That of an instance of an earlier version has no `version`. */
const typedIn = (form: URLSearchParams) => ({ rows: rowsOf(form), version: form.get("version") ?? undefined });

/** The hotspots of a form: those with a note. One more than allowed is read, so that it can be refused. */
const rowsOf = (form: URLSearchParams): Row[] => {
  const all = FIELDS.map((name) => form.getAll(name));
  return (all[2] ?? [])
    .map((_, index) => Object.fromEntries(FIELDS.map((name, n) => [name, all[n]?.[index] ?? ""])) as Row)
    .filter(({ note }) => note.trim() !== "")
    .slice(0, HOTSPOTS_MAX + 1);
};

const givenOf = ({ yaw, pitch, note, to, address }: Row) => ({
  yaw: numberOf(yaw),
  pitch: numberOf(pitch),
  note,
  ...(to !== "" && { to: to === BY_ADDRESS ? slugIn(address) : to }),
});

const numberOf = (text: string): number => (text.trim() === "" ? Number.NaN : Number(text));

/** Of an address of the viewer, or the slug alone. Other text stays, for the refusal. */
const slugIn = (address: string): string => {
  // Cut first: one expression for both would take the square of the length, and a form has half a megabyte.
  const [path = ""] = address.trim().split(/[?#]/, 1);
  return /[a-z0-9]{16}$/.exec(path)?.[0] ?? address;
};

const LABELS: Readonly<Record<string, Text>> = {
  yaw: words`angle to the right`,
  pitch: words`angle upwards`,
  note: words`note`,
  to: words`link`,
};

/** `version`: if the form is sent again, it replaces these. */
type Shown = { readonly status?: number; readonly error: Text; readonly version?: string | undefined };

const shownOf = (refusal: Exclude<SetHotspotsError, NotFound> | typeof CHANGED, now: string): Shown => {
  if (refusal.kind === "changed") {
    const error = words`Other hotspots were saved in another tab since you opened these. Save again to replace them with these, or open the panorama again to see them.`;
    return { status: 409, error, version: now };
  }
  return refusal.kind === "upstream_error"
    ? { status: 502, error: words`The notes could not be checked, and were not saved. Please try again.` }
    : { error: sentenceOf(refusal) };
};

const sentenceOf = ({ field, index, rule }: InvalidRequest): Words => {
  if (index === undefined) return words`A panorama has at most ${HOTSPOTS_MAX} hotspots. Delete some of these.`;
  if (rule.name === "content_refused")
    return words`Hotspot ${index + 1}: the note is not allowed by the content rules of this service; change it.`;
  return words`Hotspot ${index + 1}: the ${LABELS[field]} ${said(rulePredicate(rule))}`;
};

const editorPage = async (
  { panoramas, layout, files }: Parts,
  task: KeptTask,
  visitor: Visitor,
  refused?: Shown & { readonly rows: readonly Row[] },
): Promise<PageReply> => {
  const owner = visitor.account.id;
  const [{ tasks }, linked] = await Promise.all([
    panoramas.list(owner, CHOICES_MAX, { filter: { status: "succeeded" } }),
    panoramas.findLinked(task, owner),
  ]);
  const newest = tasks.filter((own) => hasStoredImage(own) && own.id !== task.id);
  const choices = [...newest, ...linked.filter(({ id }) => !newest.some((own) => own.id === id))].map((own) => ({
    slug: own.slug,
    title: titleOf(own),
  }));
  const rows =
    refused?.rows ??
    (task.hotspots ?? []).map(
      ({ yaw, pitch, note, to = "" }): Row => ({ yaw: String(yaw), pitch: String(pitch), note, to, address: "" }),
    );
  const version = refused?.version ?? versionOf(task.hotspots);
  const main = html`<div class="narrow"><h1>Hotspots</h1>
<p class="lead" dir="auto"><a href="/works/${task.slug}">${titleOf(task)}</a></p>
<form method="post" action="/works/${task.slug}/hotspots" class="hotspot-editor" id="hotspot-editor" aria-labelledby="hotspot-title" data-max="${HOTSPOTS_MAX}">${hiddenToken(visitor.formToken)}<input type="hidden" name="version" value="${version}">
<link rel="stylesheet" href="${files.urlOf("hotspots.css")}">
<div class="row"><h2 id="hotspot-title">Notes and links</h2><button type="button" class="round in-scene" data-act="close" aria-label="Close" title="Close">${icon("M6 6l12 12M18 6L6 18")}</button></div>
${errorBox(refused?.error)}
<p class="hint in-scene">Turn the picture until the cross is on a place, and add a hotspot there.</p>
<p class="hint on-page">A hotspot without a note is deleted.</p>
${[...rows, NEW].map((row, index) => fields(row, index + 1, choices))}
<p class="actions"><button type="button" class="button quiet small in-scene" data-act="add">Add a hotspot here</button> <button class="button small">Save</button></p>
</form></div>`;
  const status = refused === undefined ? 200 : (refused.status ?? 400);
  return layout.reply(status, { title: words`Hotspots`, main, visitor, place: "/works" });
};

/** The last ones are for a new hotspot; the script makes copies of them. */
const fields = (
  { yaw, pitch, note, to, address }: Row,
  number: number,
  choices: readonly { readonly slug: string; readonly title: Text }[],
): Html => html`<fieldset><legend>Hotspot <span class="number">${number}</span></legend>
<div class="inline on-page"><label>Degrees to the right<input type="number" name="yaw" value="${yaw}" min="-180" max="180" step="0.1" required></label>
<label>Degrees upwards<input type="number" name="pitch" value="${pitch}" min="-90" max="90" step="0.1" required></label></div>
<label>Note<textarea name="note" rows="2" maxlength="${HOTSPOT_NOTE_CHARACTERS_MAX}" dir="auto">${note}</textarea></label>
<label>Leads to<select name="to"><option value="">Nowhere</option>
${choices.map(({ slug, title }) => html`<option value="${slug}"${slug === to && html` selected`}>${title}</option>`)}
<option value="${BY_ADDRESS}"${to === BY_ADDRESS && html` selected`}>Another one of mine, by its address</option></select></label>
<label class="by-address">Address of its page<input name="address" value="${address}" placeholder="/p/… or /works/…" dir="ltr"></label>
<p class="actions in-scene"><button type="button" class="button quiet small" data-act="move">Move here</button> <button type="button" class="button quiet small" data-act="delete">Delete</button></p></fieldset>`;
