import type { UseCases } from "../../../application/create-application.js";
import type { Clock } from "../../../application/ports/clock.js";
import { thumbnailNameOf } from "../../../domain/images/object-name.js";
import { type Slug, viewerPath } from "../../../domain/tasks/slug.js";
import type { SucceededTask } from "../../../domain/tasks/task.js";
import { copyPath, type Images, titleOf } from "../panoramas/panorama-card.js";
import type { PicturesOnDemand } from "../panoramas/share-pages.js";
import type { StaticFiles } from "../static-files.js";

/** Darkening of the picture behind text, so that the text is readable (client/styles/landing.css). */
type Scrim = "dim" | "light" | "bright";

/** The panorama at the top of the landing page. */
export type HeroPicture = {
  readonly title: string;
  /** The path of its viewer. Absent for the bundled picture. */
  readonly viewer: string | undefined;
  readonly thumbnail: string;
  readonly picture: string;
  readonly scrim: Scrim;
};

type Parts = {
  readonly panoramas: UseCases["panoramas"];
  readonly images: Images;
  readonly pictures: Pick<PicturesOnDemand, "brightestGrey">;
  readonly files: StaticFiles;
  readonly clock: Pick<Clock, "now">;
  /** The operator's choice by `HERO_PANORAMAS`. */
  readonly heroPanoramas: readonly Slug[];
};

const MILLISECONDS_PER_HOUR = 3_600_000;

/**
 * The operator's choice, another one each hour. One that is no longer public is passed over. Without a choice the
 * bundled picture: what others publish never changes the front page.
 */
export async function heroPicture(parts: Parts): Promise<HeroPicture> {
  const { heroPanoramas, clock, files } = parts;
  const hour = Math.floor(clock.now().getTime() / MILLISECONDS_PER_HOUR);
  for (let index = 0; index < heroPanoramas.length; index++) {
    const slug = heroPanoramas[(hour + index) % heroPanoramas.length];
    const task = slug && (await parts.panoramas.findPublic(slug));
    const picture = task && pictureOf(task, parts);
    if (picture !== undefined) return picture;
  }
  return {
    title: "Neon city in a thunderstorm",
    viewer: undefined,
    thumbnail: files.urlOf("hero-small.webp"),
    picture: files.urlOf("hero.jpg"),
    scrim: "dim",
  };
}

/** `undefined` if its image or its thumbnail is not stored. */
function pictureOf(task: SucceededTask, { images, pictures }: Parts): HeroPicture | undefined {
  const { image, slug, request } = task;
  if (image.status !== "saved") return undefined;
  return {
    title: titleOf(task),
    viewer: viewerPath(slug, request.visibility),
    thumbnail: copyPath(slug),
    picture: images.urlOf(image.imageName),
    scrim: scrimFor(pictures.brightestGrey(thumbnailNameOf(image.imageName))),
  };
}

/**
 * Up to these greys, the scrim of this name darkens a picture to a grey of 105 or less, on which the text of the page
 * has a contrast of at least 4.5 (WCAG 1.4.3). The strongest one does it for white, and where the grey is not known.
 */
const GREY_MAX: readonly (readonly [Scrim, number])[] = [
  ["dim", 155],
  ["light", 200],
];

const scrimFor = (grey: number | undefined): Scrim =>
  GREY_MAX.find(([, max]) => grey !== undefined && grey <= max)?.[0] ?? "bright";
