import type { Visitor } from "../../../application/accounts/sessions.js";
import type { UseCases } from "../../../application/create-application.js";
import type { Clock } from "../../../application/ports/clock.js";
import type { ObjectStorage } from "../../../application/ports/object-storage.js";
import type { Email } from "../../../domain/accounts/account.js";
import { thumbnailNameOf } from "../../../domain/images/object-name.js";
import { parseSlug, viewerPath } from "../../../domain/tasks/slug.js";
import { isInProgress, type Task } from "../../../domain/tasks/task.js";
import { FOR_ANY_ORIGIN } from "../../web-page/any-origin.js";
import type { Page, PageReply, PageRequest } from "../../web-page/page.js";
import { html } from "../html.js";
import type { Content, Layout } from "../layout.js";
import { entryPath } from "../paths.js";
import type { SessionGuard } from "../session-guard.js";
import { demoNote, type ReadWords } from "./demo-note.js";
import { hasPermanentImage, type Images, imageUrl, thumbnailUrl, titleOf } from "./panorama-card.js";
import { linkPreview, viewerScene } from "./viewer-scene.js";
import { endedView, progressOf, type WaitingProgress, waitingView } from "./waiting-view.js";

type Parts = {
  readonly panoramas: UseCases["panoramas"];
  readonly clock: Pick<Clock, "now">;
  readonly images: Images & Pick<ObjectStorage, "read">;
  readonly guard: SessionGuard;
  readonly layout: Layout;
  readonly publicUrl: string;
  /** Gets the reports of visitors, if there is one. */
  readonly operatorEmail: Email | undefined;
  readonly readWords: ReadWords | undefined;
};

/**
 * `GET /p/{slug}` and `GET /works/{slug}`: the viewer. With `?embed=1` it has no header, for frames in other pages.
 * While the panorama is in progress, a script of the page reads `…/status`.
 */
export function viewerPages(parts: Parts): readonly Page[] {
  const { panoramas, guard, layout } = parts;
  const findPublic = async ({ params }: PageRequest) => {
    const slug = parseSlug(params.slug ?? "");
    return slug && panoramas.findPublic(slug);
  };
  const findOwn = async ({ params }: PageRequest, { account }: Visitor) => {
    const slug = parseSlug(params.slug ?? "");
    return slug && panoramas.findOwn(slug, account.id);
  };
  const status = async (task: Task | undefined, more: PageReply["headers"] = {}): Promise<PageReply> => {
    const told = task && (await progress(parts, task));
    return {
      status: task === undefined ? 404 : 200,
      headers: {
        "content-type": "application/json",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        ...more,
      },
      body: JSON.stringify(told ?? {}),
    };
  };
  return [
    {
      method: "GET",
      path: "/p/:slug",
      body: "none",
      cost: "page",
      handle: async (request) => {
        const [visitor, task] = await Promise.all([guard.visitor(request), findPublic(request)]);
        return task ? viewer(parts, task, "/p", { visitor, query: request.query }) : layout.notFound(visitor);
      },
    },
    {
      method: "GET",
      path: "/p/:slug/status",
      body: "none",
      handle: async (request) => status(await findPublic(request), FOR_ANY_ORIGIN),
    },
    {
      method: "GET",
      path: "/works/:slug",
      body: "none",
      handle: guard.member(async (request, visitor) => {
        const task = await findOwn(request, visitor);
        return task ? viewer(parts, task, "/works", { visitor, query: request.query }) : layout.notFound(visitor);
      }),
    },
    {
      method: "GET",
      path: "/works/:slug/status",
      body: "none",
      handle: guard.member(async (request, visitor) => status(await findOwn(request, visitor))),
    },
    ...OWN_FILES.map(
      ([file, contentType]): Page => ({
        method: "GET",
        path: `/works/:slug/${file}`,
        body: "none",
        cost: "picture",
        handle: guard.member(async (request, visitor) => {
          const task = await findOwn(request, visitor);
          return (task && (await ownFile(parts, task, contentType))) ?? layout.notFound(visitor);
        }),
      }),
    ),
  ];
}

/** The files of a panorama whose URLs nobody may open, because an operator has hidden it. Its owner still sees it. */
const OWN_FILES = [
  ["picture.jpg", "image/jpeg"],
  ["thumbnail.webp", "image/webp"],
] as const;

async function ownFile(
  { images }: Parts,
  task: Task,
  contentType: (typeof OWN_FILES)[number][1],
): Promise<PageReply | undefined> {
  if (!hasPermanentImage(task)) return undefined;
  const { imageName } = task.image;
  const read = await images.read(contentType === "image/jpeg" ? imageName : thumbnailNameOf(imageName));
  if (read.isErr()) return undefined;
  const headers = {
    "content-type": contentType,
    "cache-control": "private, no-store",
    "x-content-type-options": "nosniff",
  };
  return { status: 200, headers, body: read.value };
}

async function progress({ panoramas, clock }: Parts, task: Task): Promise<WaitingProgress> {
  const forecast = await panoramas.forecast(task);
  const now = clock.now();
  return progressOf(task, now, forecast, panoramas.isLate(task, now));
}

async function viewer(
  parts: Parts,
  task: Task,
  folder: "/p" | "/works",
  { visitor, query }: { readonly visitor: Visitor | undefined; readonly query: URLSearchParams },
): Promise<PageReply> {
  const { images, layout, publicUrl } = parts;
  const isPublic = task.request.visibility === "public";
  const isEmbedded = query.get("embed") === "1";
  const content: Omit<Content, "main"> = {
    title: titleOf(task),
    visitor,
    styles: ["viewer.css"],
    scripts: ["viewer.js"],
    frame: isEmbedded ? "bare" : "stage",
    embeddable: isEmbedded && isPublic,
    linkable: isPublic && visitor === undefined,
  };
  const isOwner = visitor !== undefined && visitor.account.id === task.accountId;
  if (!hasPermanentImage(task)) {
    const owner = isOwner ? visitor : undefined;
    const view = isInProgress(task)
      ? {
          scripts: ["viewer.js", "waiting.js"],
          ...waitingView(
            task,
            await progress(parts, task),
            owner && { ...owner, hint: demoNote(task, parts.readWords) },
            `${folder}/${task.slug}/status`,
          ),
        }
      : { main: endedView(task, owner) };
    return layout.reply(200, { ...content, ...view });
  }

  const scene = {
    url: imageUrl(task, images),
    thumbnail: thumbnailUrl(task, images),
    link: publicUrl + viewerPath(task.slug, task.request.visibility),
  };
  const hasImages = !isEmbedded && task.request.imageUrls.length > 0;
  const source = hasImages ? await parts.panoramas.findSource(task, visitor?.account.id) : undefined;
  const main = viewerScene(task, scene, {
    isEmbedded,
    source,
    mayChange: !isEmbedded && task.hiddenReason === undefined && parts.panoramas.readAbilities().imagesMax > 0,
    owner: isOwner ? visitor : undefined,
    hasGallery: layout.hasGallery,
    reportTo: parts.operatorEmail,
    demo: demoNote(task, parts.readWords),
    enter: (path) => entryPath(path, visitor !== undefined, layout.hasSignUp),
  });
  const head = isPublic
    ? linkPreview(task, scene.link, publicUrl, layout.site.name)
    : html`<meta name="robots" content="noindex">`;
  return layout.reply(200, { ...content, main, head, modules: ["sphere.js"] });
}
