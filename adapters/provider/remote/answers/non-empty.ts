import { z } from "zod";

/** Not `min(1)`: zod compares the `length` of any object, and throws if that is an object without a number. */
export const nonEmpty = z.string().refine((text) => text !== "");
