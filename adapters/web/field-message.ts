import type { InvalidRequest } from "../../domain/invalid-request.js";

/** The same rule, in words for a form: "Password must have …" instead of "password: must have …". */
export const fieldMessage = ({ message }: InvalidRequest): string => {
  const text = message
    .replace(/^request body: /, "A panorama ")
    .replace(/^([\w[\].]+): /, "$1 ")
    .replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
};
