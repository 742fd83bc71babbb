import type { UseCases } from "../../../application/create-application.js";
import type { Clock } from "../../../application/ports/clock.js";
import { type Slug, viewerPath } from "../../../domain/tasks/slug.js";
import type { SucceededTask } from "../../../domain/tasks/task.js";
import { copyPath, type Images, titleOf } from "../panoramas/panorama-card.js";
import type { StaticFiles } from "../static-files.js";

/** The panorama at the top of the landing page. */
export type HeroPicture = {
  readonly title: string;
  /** The path of its viewer. Absent for the bundled picture. */
  readonly viewer: string | undefined;
  readonly thumbnail: string;
  readonly picture: string;
};

type Parts = {
  readonly panoramas: Pick<UseCases["panoramas"], "findPublic">;
  readonly images: Images;
  readonly files: StaticFiles;
  readonly clock: Pick<Clock, "now">;
  /** The operator's choice. */
  readonly heroPanoramas: readonly Slug[];
};

const MILLISECONDS_PER_HOUR = 3_600_000;

/**
 * The operator's choice, another one each hour; without a choice the newest of `latest` in 2k, because 1k is too coarse
 * for a whole window and 4k too much for a first page; without one the bundled picture. A panorama of the choice that
 * is no longer public is passed over.
 */
export const heroPicture = async (parts: Parts, latest: readonly SucceededTask[]): Promise<HeroPicture> => {
  const { heroPanoramas, clock, files } = parts;
  const hour = Math.floor(clock.now().getTime() / MILLISECONDS_PER_HOUR);
  for (let index = 0; index < heroPanoramas.length; index++) {
    const slug = heroPanoramas[(hour + index) % heroPanoramas.length];
    const task = slug && (await parts.panoramas.findPublic(slug));
    const picture = task && pictureOf(task, parts);
    if (picture !== undefined) return picture;
  }
  for (const task of heroPanoramas.length === 0 ? latest : []) {
    const picture = task.request.resolution === "2k" ? pictureOf(task, parts) : undefined;
    if (picture !== undefined) return picture;
  }
  return {
    title: "Neon city in a thunderstorm",
    viewer: undefined,
    thumbnail: files.urlOf("hero-small.webp"),
    picture: files.urlOf("hero.jpg"),
  };
};

/** `undefined` if its image or its thumbnail is not stored. */
const pictureOf = (task: SucceededTask, { images }: Parts): HeroPicture | undefined => {
  const { image, slug, request } = task;
  if (image.status !== "saved") return undefined;
  return {
    title: titleOf(task),
    viewer: viewerPath(slug, request.visibility),
    thumbnail: copyPath(slug, 512),
    picture: images.urlOf(image.imageName),
  };
};
