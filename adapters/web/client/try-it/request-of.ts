import { bodyOf, type Call } from "./description.js";
import type { Request } from "./exchange.js";
import { type Field, filesOf, sentValue } from "./fields.js";

/** The request that the fields say. */
export const requestOf = (call: Call, fields: readonly Field[]): Request => {
  const values = (place: Field["place"]) =>
    fields.flatMap((field) => {
      const value = field.place === place ? sentValue(field) : undefined;
      return value === undefined ? [] : [[field.name, value] as const];
    });
  const path = values("path").reduce(
    (all, [name, value]) => all.replace(`{${name}}`, encodeURIComponent(String(value))),
    call.path,
  );
  const query = String(new URLSearchParams(values("query").map(([name, value]) => [name, String(value)])));
  return {
    method: call.method,
    path: query === "" ? path : `${path}?${query}`,
    headers: values("header").map(([name, value]) => [name, String(value)] as const),
    body: contentOf(call, fields, Object.fromEntries(values("body"))),
  };
};

const contentOf = (call: Call, fields: readonly Field[], values: object): Request["body"] => {
  const { type } = bodyOf(call);
  if (type === "") return undefined;
  return type === "application/json"
    ? JSON.stringify(values, null, 2)
    : fields.flatMap((field) => filesOf(field) ?? []);
};
