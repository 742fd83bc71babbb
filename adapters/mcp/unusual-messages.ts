import type { JSONRPCMessage } from "@modelcontextprotocol/server";

/**
 * The message in the form that the SDK takes, with the same meaning: without members that the protocol does not know,
 * and without `null` for what is absent. An empty list in the place of an object is one: some languages have one value
 * for both.
 */
export function usualMessage(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const { jsonrpc, id, method, params, result, error } = value as Record<string, unknown>;
  // A notification with an id would be a request.
  const isNotification = id === null && String(method).startsWith("notifications/");
  const given = { jsonrpc, ...(!isNotification && "id" in value && { id }) };
  if (method === undefined) return withoutNulls({ ...given, result, error });
  return { ...given, method, ...(params != null && { params: tidied(params, true) }) };
}

const withoutNulls = (value: object): object =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member != null));

/** @param isObject an empty list stands for an empty object */
function tidied(value: unknown, isObject: boolean, isDeep = false): unknown {
  if (Array.isArray(value)) {
    return isObject && value.length === 0 ? {} : value.map((item) => tidied(item, false));
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(withoutNulls(value)).map(([name, member]) => {
      const deep = isDeep || /capabilities$/i.test(name);
      return [name, tidied(member, deep || /^(arguments|_meta|clientInfo)$/.test(name), deep)];
    }),
  );
}

type Issue = { readonly path?: readonly PropertyKey[]; readonly expected?: string; readonly message?: string };

/** The same answer. The error of a validator is a sentence about the first wrong member, with the code for it. */
export function withSentence(answer: JSONRPCMessage): JSONRPCMessage {
  if (!("error" in answer)) return answer;
  const { message } = answer.error;
  const issues = issuesIn(message);
  if (issues === undefined) {
    const sentence = message.replace(
      /: Invalid input: expected (\w+), received (\w+)/g,
      " must be of type $1, but is $2",
    );
    return { ...answer, error: { ...answer.error, message: sentence } };
  }
  const [{ path = [], expected, message: rule } = {} as Issue] = issues;
  const sentence = `${path.join(".")}: ${expected === undefined ? rule : `must be ${KINDS[expected] ?? expected}.`}`;
  return { ...answer, error: { code: INVALID_PARAMS, message: sentence } };
}

const INVALID_PARAMS = -32602;

const KINDS: Readonly<Record<string, string>> = {
  object: "an object",
  record: "an object",
  array: "a list",
  string: "a string",
  number: "a number",
};

function issuesIn(message: string): readonly Issue[] | undefined {
  const start = message.indexOf("[\n");
  if (start === -1) return undefined;
  try {
    const parsed: unknown = JSON.parse(message.slice(start));
    return Array.isArray(parsed) && parsed.length > 0 ? parsed : undefined;
  } catch {
    return undefined;
  }
}
