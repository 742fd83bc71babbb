import type { InvalidRequest } from "../../domain/invalid-request.js";
import { parameterName } from "./parameter-name.js";
import { rulePredicate } from "./rule-predicate.js";

/** What is wrong, with the field in front: "image_urls[2]: must be an https URL, …". */
export const invalidRequestSentence = (refusal: InvalidRequest): string =>
  `${parameterName(refusal) ?? "request"}: ${rulePredicate(refusal.rule)}`;
