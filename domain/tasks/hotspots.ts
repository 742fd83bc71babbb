import { err, ok, type Result } from "neverthrow";
import type { Brand } from "../brand.js";
import { type BrokenRule, type InvalidRequest, invalidRequest } from "../invalid-request.js";
import { isStorable } from "../storable-text.js";
import { parseSlug, type Slug } from "./slug.js";

/**
 * A note at a place of a panorama, which may lead to another panorama of the same owner. Degrees as those of a start
 * view (start-view.ts). The note is plain text in one line.
 */
export type Hotspot = {
  readonly yaw: number;
  readonly pitch: number;
  readonly note: string;
  readonly to?: Slug | undefined;
};

/** All hotspots of a panorama, in the order of their owner. Whether their links exist is the use case's question. */
export type Hotspots = Brand<readonly Hotspot[], "Hotspots">;

/** The most hotspots of a panorama. */
export const HOTSPOTS_MAX = 20;
/** The longest note, in characters. */
export const HOTSPOT_NOTE_CHARACTERS_MAX = 200;

/** A hotspot that nobody has checked. */
export type GivenHotspot = Omit<Hotspot, "to"> & { readonly to?: string | undefined };

/**
 * Places are rounded to a tenth of a degree. White space and control characters of a note become single spaces. A
 * refusal names the field, and the hotspot, counted from 0.
 */
export const parseHotspots = (given: readonly GivenHotspot[]): Result<Hotspots, InvalidRequest> => {
  if (given.length > HOTSPOTS_MAX) {
    return err(invalidRequest("hotspots", { name: "items_max", max: HOTSPOTS_MAX, actual: given.length }));
  }
  const hotspots: Hotspot[] = [];
  for (const [index, { yaw, pitch, note: written, to: link }] of given.entries()) {
    const note = written.replace(/[\s\p{Cc}]+/gu, " ").trim();
    const to = link === undefined ? undefined : parseSlug(link);
    const broken =
      brokenDegrees("yaw", yaw, 180) ??
      brokenDegrees("pitch", pitch, 90) ??
      brokenNote(note) ??
      (link !== undefined && to === undefined && (["to", notOwn(link)] as const));
    if (broken) return err(invalidRequest(broken[0], broken[1], index));
    hotspots.push({ yaw: tenth(yaw), pitch: tenth(pitch), note, ...(to !== undefined && { to }) });
  }
  return ok(hotspots as readonly Hotspot[] as Hotspots);
};

/** What a link breaks that leads to no other finished panorama of the owner. */
export const notOwn = (actual: string): BrokenRule => ({ name: "own_panorama", actual });

/** The panoramas to which hotspots lead, each once. */
export const linksOf = (hotspots: readonly Hotspot[] = []): Slug[] => [
  ...new Set(hotspots.flatMap(({ to }) => (to === undefined ? [] : [to]))),
];

const brokenDegrees = (field: "yaw" | "pitch", actual: number, max: number) =>
  Math.abs(actual) <= max ? undefined : ([field, { name: "degrees", max, actual }] as const);

const brokenNote = (note: string) => {
  const actual = [...note].length;
  if (!isStorable(note)) return ["note", { name: "storable_text" }] as const;
  return actual >= 1 && actual <= HOTSPOT_NOTE_CHARACTERS_MAX
    ? undefined
    : (["note", { name: "characters", min: 1, max: HOTSPOT_NOTE_CHARACTERS_MAX, actual }] as const);
};

/** Never the negative zero, which JSON does not keep. */
const tenth = (degrees: number): number => Number(degrees.toFixed(1)) + 0;
