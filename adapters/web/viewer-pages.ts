import type { Visitor } from "../../application/accounts/find-session.js";
import type { FindOwnPanorama } from "../../application/panoramas/find-own-panorama.js";
import type { FindPublicPanorama } from "../../application/panoramas/find-public-panorama.js";
import type { ListPublicPanoramas } from "../../application/panoramas/list-public-panoramas.js";
import type { ListTasks } from "../../application/panoramas/list-tasks.js";
import type { Clock } from "../../application/ports/clock.js";
import { parseSlug, viewerPath } from "../../domain/slug.js";
import { isKept } from "../../domain/storage-status.js";
import type { Task } from "../../domain/task.js";
import type { Page, PageReply, PageRequest } from "../web-page/page.js";
import { html } from "./html.js";
import type { Content, Layout } from "./layout.js";
import { type Images, thumbnailUrl, titleOf } from "./panorama-card.js";
import type { SessionGuard } from "./session-guard.js";
import { type KeptTask, linkPreview, viewerScene } from "./viewer-scene.js";
import { progressOf, unfinishedView } from "./waiting-view.js";

type Parts = {
  readonly findPublicPanorama: FindPublicPanorama;
  readonly findOwnPanorama: FindOwnPanorama;
  readonly listPublicPanoramas: ListPublicPanoramas;
  readonly listTasks: ListTasks;
  readonly clock: Pick<Clock, "now">;
  readonly images: Images;
  readonly guard: SessionGuard;
  readonly layout: Layout;
  readonly publicUrl: string;
};

/**
 * `GET /p/{slug}` and `GET /works/{slug}`: the viewer. With `?embed=1` it has no header, for frames in other pages.
 * While the panorama is in progress, a script of the page reads `…/status`.
 */
export const viewerPages = (parts: Parts): readonly Page[] => {
  const { findPublicPanorama, findOwnPanorama, guard, layout, clock } = parts;
  const findPublic = async ({ params }: PageRequest) => {
    const slug = parseSlug(params.slug ?? "");
    return slug && findPublicPanorama(slug);
  };
  const findOwn = async ({ params }: PageRequest, { account }: Visitor) => {
    const slug = parseSlug(params.slug ?? "");
    return slug && findOwnPanorama(slug, account.id);
  };
  const status = (task: Task | undefined): PageReply => ({
    status: task === undefined ? 404 : 200,
    headers: { "content-type": "application/json", "cache-control": "no-store", "x-content-type-options": "nosniff" },
    body: JSON.stringify(task === undefined ? {} : progressOf(task, clock.now())),
  });
  return [
    {
      method: "GET",
      path: "/p/:slug",
      body: "none",
      handle: async (request) => {
        const [visitor, task] = await Promise.all([guard.visitor(request), findPublic(request)]);
        return task ? viewer(parts, task, "/p", visitor, request.query) : layout.notFound(visitor);
      },
    },
    {
      method: "GET",
      path: "/p/:slug/status",
      body: "none",
      handle: async (request) => status(await findPublic(request)),
    },
    {
      method: "GET",
      path: "/works/:slug",
      body: "none",
      handle: guard.member(async (request, visitor) => {
        const task = await findOwn(request, visitor);
        return task ? viewer(parts, task, "/works", visitor, request.query) : layout.notFound(visitor);
      }),
    },
    {
      method: "GET",
      path: "/works/:slug/status",
      body: "none",
      handle: guard.member(async (request, visitor) => status(await findOwn(request, visitor))),
    },
  ];
};

const viewer = async (
  parts: Parts,
  task: Task,
  folder: "/p" | "/works",
  visitor: Visitor | undefined,
  query: URLSearchParams,
): Promise<PageReply> => {
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
  };
  const isOwner = visitor !== undefined && visitor.account.id === task.accountId;
  if (!isSaved(task)) {
    const statusPath = `${folder}/${task.slug}/status`;
    const view = unfinishedView(task, parts.clock.now(), isOwner ? visitor : undefined, statusPath);
    return layout.reply(200, { ...content, ...view });
  }

  const scene = {
    url: images.urlOf(task.image.imageName),
    thumbnail: thumbnailUrl(task.image, images),
    link: publicUrl + viewerPath(task.slug, task.request.visibility),
  };
  const next = isEmbedded ? undefined : await neighbour(parts, task, folder);
  const main = viewerScene(task, scene, {
    isEmbedded,
    owner: isOwner ? visitor : undefined,
    next: next && { path: `${folder}/${next.slug}`, title: titleOf(next) },
  });
  const head = isPublic ? linkPreview(task, scene.link, publicUrl) : html`<meta name="robots" content="noindex">`;
  return layout.reply(200, { ...content, main, head });
};

const isSaved = (task: Task): task is KeptTask => task.state === "succeeded" && isKept(task.image);

/** Tasks that are read to find one with an image. */
const NEIGHBOURS_READ = 3;

/** The next older panorama: of the gallery, or of the member's own. */
const neighbour = async (
  { listPublicPanoramas, listTasks }: Parts,
  { id, accountId }: Task,
  folder: "/p" | "/works",
): Promise<Task | undefined> => {
  if (folder === "/p") return (await listPublicPanoramas(1, id)).panoramas[0];
  const { tasks } = await listTasks(accountId, NEIGHBOURS_READ, id, { status: "succeeded" });
  return tasks.find(isSaved);
};
