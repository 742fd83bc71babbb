import { bodyOf, type Call, type Schema } from "./description.js";
import { make } from "./make.js";

export type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** A field of a form, and where its value goes. */
export type Field = {
  readonly name: string;
  readonly place: "path" | "query" | "header" | "body";
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly control: Control;
};

/** From this length on, a text has several lines. */
const LONG_TEXT_CHARACTERS = 300;

/** A field for each parameter and each member of the body, except for pictures where none are taken. */
export const fieldsOf = (call: Call): readonly Field[] => {
  const { parameters = [] } = call.operation;
  const { schema: body, example } = bodyOf(call);
  return [
    ...parameters.map(({ in: place, name, required = false, schema }) => {
      const control = controlFor(call, name, schema, required);
      if (place === "header" && schema.example !== undefined) control.value = String(schema.example);
      if (place === "path") Object.assign(control, { required, placeholder: String(schema.example) });
      return { name, place, schema, isRequired: required, control };
    }),
    ...Object.entries(body.properties ?? {}).flatMap(([name, schema]) => {
      if (schema.maxItems === 0) return [];
      const isRequired = body.required?.includes(name) === true;
      const control = controlFor(call, name, schema, isRequired);
      if (name === "prompt") control.value = String(example[name] ?? "");
      return [{ name, place: "body" as const, schema, isRequired, control }];
    }),
  ];
};

const isFiles = ({ items }: Schema): boolean => items?.format === "binary";

const controlFor = (call: Call, name: string, schema: Schema, isRequired: boolean): Control =>
  Object.assign(unnamed(call, name, schema, isRequired), { name });

const unnamed = ({ description }: Call, name: string, schema: Schema, isRequired: boolean): Control => {
  const { type, enum: values, maxLength = 0 } = schema;
  if (values !== undefined) {
    const { prices } = description["x-panorama"];
    const options = values.map((value) => {
      const price = name === "resolution" ? prices[value] : undefined;
      return make("option", { value }, price === undefined ? value : `${value}: ${price} credits`);
    });
    return make("select", {}, ...(isRequired ? [] : [make("option", { value: "" }, "not sent")]), ...options);
  }
  if (isFiles(schema)) return make("input", { type: "file", multiple: true, accept: PICTURES });
  if (type === "array") return make("textarea", { rows: 2, placeholder: "https://…, one per line" });
  if (type === "object") return make("textarea", { rows: 2, placeholder: "name=value, one per line" });
  if (maxLength > LONG_TEXT_CHARACTERS && schema.format === undefined) return make("textarea", { rows: 2 });
  return make("input", {
    autocomplete: "off",
    spellcheck: false,
    inputMode: type === "integer" ? "numeric" : "text",
    placeholder: schema.format === "date-time" ? "2026-01-31T12:00:00Z" : "",
  });
};

export const PICTURES = "image/jpeg,image/png,image/webp";

/** What the field sends; `undefined` if it is empty. What is no number is sent as it is, and the service says so. */
export const sentValue = ({ schema: { type }, control }: Field): unknown => {
  const text = control.value.trim();
  if (text === "") return undefined;
  if (type === "integer") return /^-?\d+$/.test(text) ? Number(text) : text;
  if (type === "array") return lines(text);
  if (type !== "object") return text;
  return Object.fromEntries(
    lines(text).map((line) => {
      const [name = "", ...value] = line.split("=");
      return [name.trim(), value.join("=").trim()];
    }),
  );
};

const lines = (text: string): readonly string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** The files that the field sends; `undefined` if it takes none. */
export const filesOf = ({ schema, control }: Field): readonly File[] | undefined =>
  isFiles(schema) && control instanceof HTMLInputElement ? [...(control.files ?? [])] : undefined;
