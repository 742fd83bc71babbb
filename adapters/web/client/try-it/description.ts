/** What the forms need of the OpenAPI description. */
export type Description = {
  readonly servers: readonly [{ readonly url: string }];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly "x-panorama": { readonly prices: Readonly<Record<string, number>> };
};

export type Operation = {
  readonly operationId: string;
  readonly summary: string;
  /** Empty: without a key. */
  readonly security?: readonly unknown[];
  readonly parameters?: readonly {
    readonly in: "path" | "query" | "header";
    readonly name: string;
    readonly required?: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Schema; example?: Example }>> };
};

export type Example = Readonly<Record<string, unknown>>;

export type Schema = {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly example?: unknown;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
};

/** An operation, and where it is called on this site. */
export type Call = {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  readonly description: Description;
};

/** The same for every panel of the page. The service may be asked again after a failure. */
export const readDescription = (): Promise<Description> => {
  read ??= fetch("/api/v1/openapi.json")
    .then((answer) => (answer.ok ? (answer.json() as Promise<Description>) : Promise.reject(new Error())))
    .catch((error: unknown) => {
      read = undefined;
      throw error;
    });
  return read;
};
let read: Promise<Description> | undefined;

export const callOf = (description: Description, operationId: string): Call => {
  for (const [path, operations] of Object.entries(description.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      if (operation.operationId !== operationId) continue;
      const base = new URL(description.servers[0].url).pathname;
      return { method: method.toUpperCase(), path: base + path, operation, description };
    }
  }
  throw new Error(`the description has no operation ${operationId}`);
};

/** The schema of the body, and the media type in which it is sent. */
export const bodyOf = ({ operation: { requestBody }, description }: Call) => {
  const [[type = "", { schema = {}, example = {} } = {}] = []] = Object.entries(requestBody?.content ?? {});
  const named = schema.$ref?.split("/").at(-1);
  return { type, example, schema: (named === undefined ? schema : description.components.schemas[named]) ?? {} };
};
