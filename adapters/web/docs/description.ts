/** Members of an OpenAPI 3.1 description that the page shows. */
export type Description = {
  readonly info: { readonly version: string };
  readonly servers: readonly [{ readonly url: string }];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly webhooks: Readonly<Record<string, PathItem>>;
  readonly "x-panorama": { readonly uploads: { readonly unused_hours?: number | undefined } };
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

type PathItem = Readonly<Record<string, Operation>>;

export type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: MediaTypes };
  readonly responses: Readonly<Record<string, DescribedAnswer>>;
};

export type Parameter = {
  readonly in: "path" | "query" | "header";
  readonly name: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
};

export type DescribedAnswer = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly schema: Schema }>>;
  readonly content?: MediaTypes;
};

export type MediaTypes = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;

export type Schema = Readonly<Partial<Record<Limit, number>>> & {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string | undefined;
  readonly format?: string;
  readonly pattern?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly example?: unknown;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly required?: readonly string[];
};

type Limit = "minimum" | "maximum" | "minLength" | "maxLength" | "minItems" | "maxItems" | "maxProperties";

/** An operation with its method in upper case and its path below the base URL. Of a webhook, the path is its name. */
export type Route = { readonly method: string; readonly path: string; readonly operation: Operation };

export const routesOf = (items: Readonly<Record<string, PathItem>>): readonly Route[] =>
  Object.entries(items).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

/** The name of the component to which a schema refers. */
export const referenceOf = ({ $ref }: Schema): string | undefined => $ref?.split("/").at(-1);
