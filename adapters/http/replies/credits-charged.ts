import { z } from "zod";
import { PRICE_MAX } from "../../../domain/panorama-policy.js";

/** `credits_charged` of a task: up to the highest price that an operator may set. Later prices do not change it. */
export const creditsChargedSchema = z.int().min(0).max(PRICE_MAX);
