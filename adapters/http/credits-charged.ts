import { z } from "zod";
import { RESOLUTIONS } from "../../domain/resolution.js";

const MOST_EXPENSIVE = Math.max(...Object.values(RESOLUTIONS).map(({ credits }) => credits));

/** `credits_charged` of a task: from nothing to the price of the most expensive resolution. */
export const creditsChargedSchema = z.int().min(0).max(MOST_EXPENSIVE);
