import type { Marks } from "../../adapters/imaging/provenance/marks.js";

/** For tests of pictures that are about something else. */
export const UNMARKED: Marks = { sign: async (picture) => picture, record: async () => {} };
