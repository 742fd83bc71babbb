import { type InvalidRequest, WHOLE_BODY } from "../../domain/invalid-request.js";
import { rulePredicate } from "./rule-predicate.js";

/** What is wrong, with the field in front: "image_urls[2]: must be an https URL, …". */
export const invalidRequestSentence = (refusal: InvalidRequest): string =>
  `${parameterName(refusal) ?? "request"}: ${rulePredicate(refusal.rule)}`;

/** The parameter at fault, such as `image_urls[2]`; `undefined` if the request body as a whole is wrong. */
export const parameterName = ({ field, index }: Omit<InvalidRequest, "rule">): string | undefined => {
  if (field === WHOLE_BODY) return undefined;
  return index === undefined ? field : `${field}[${index}]`;
};
