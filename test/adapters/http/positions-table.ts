import { expect } from "vitest";
import { openApiDocument } from "../../../adapters/http/openapi/openapi-document.js";
import { PANORAMA_POLICY } from "../../../domain/panorama-policy.js";
import { ALL_ABILITIES } from "../../../domain/tasks/abilities.js";

/** Where a client can put text into a request, besides the parameters of its path. */
export type Positions = {
  readonly query?: readonly string[];
  readonly headers?: readonly string[];
  /** Of the JSON body. The values are those of a valid request, and each is replaced in turn. */
  readonly json?: Readonly<Record<string, unknown>>;
  /** Of the form, which is a `multipart` one if it has files. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly multipart?: boolean;
};

/** A creation with every field. */
const CREATION: Readonly<Record<string, unknown>> = {
  prompt: "a lake",
  image_urls: ["https://images.example/a"],
  resolution: "1k",
  visibility: "private",
  seed: 1,
  metadata: { order: "1" },
  max_credits: 10,
  webhook_url: "https://hooks.example/a",
};

type Operation = {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: { readonly $ref?: string } }>>;
  };
};

const DESCRIPTION = openApiDocument("https://panoramas.example", PANORAMA_POLICY, ALL_ABILITIES) as never as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, { readonly properties: object }>> };
};

/** Everything that the OpenAPI description lets a client send. */
const describedRoutes = (): Record<string, Positions> =>
  Object.fromEntries(
    Object.entries(DESCRIPTION.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { parameters = [], requestBody }]): [string, Positions] => {
        const named = (place: string) =>
          parameters.flatMap((one) => (one.in === place ? [one.name.toLowerCase()] : []));
        const schema = requestBody?.content["application/json"]?.schema.$ref?.split("/").at(-1) ?? "";
        const fields = Object.keys(DESCRIPTION.components.schemas[schema]?.properties ?? {});
        const json = Object.fromEntries(fields.map((name) => [name, CREATION[name] ?? expect.fail(name)]));
        const headers = named("header").filter((name) => name !== "x-request-id");
        const positions = { query: named("query"), headers, ...(fields.length > 0 && { json }) };
        return [`${method} /api/v1${path.replace(/\{(\w+)\}/g, ":$1")}`, positions];
      }),
    ),
  );

const DESCRIBED = describedRoutes();
const LIST = "get /api/v1/panoramas";

/**
 * Everything that clients can send to a route besides the parameters of its path. A new form field or query parameter
 * belongs here, too.
 */
export const POSITIONS: Readonly<Record<string, Positions>> = {
  ...DESCRIBED,
  [LIST]: { ...DESCRIBED[LIST], query: [...(DESCRIBED[LIST]?.query ?? []), "metadata.order"] },
  "post /api/v1/images": { fields: { name: "a" }, multipart: true },
  "post /payments/stripe": { headers: ["stripe-signature"], json: { id: "evt" } },
  "post /hooks/:provider": { query: ["task", "token"], json: { id: "evt" } },
  "get /gallery": { query: ["q", "sort", "before", "after"] },
  "get /p/:slug": { query: ["embed"] },
  "get /oembed": { query: ["url", "format", "maxwidth", "maxheight"] },
  "get /works/:slug": { query: ["embed"] },
  "get /login": { query: ["next", "new", "ended", "deleted", "prompt", "resolution", "visibility"] },
  "post /login": { fields: { email: "nobody@example.com", password: "wrong words here", next: "/works" } },
  "get /signup": { query: ["sent", "next", "prompt", "resolution", "visibility"] },
  "post /signup": { fields: { email: "nobody@example.com", password: "right words here" } },
  "post /logout": { fields: {} },
  "get /password/forgot": { query: ["sent", "next", "prompt", "resolution", "visibility"] },
  "post /password/forgot": { fields: { email: "nobody@example.com" } },
  "get /password/reset": { query: ["token"] },
  "post /password/reset": { fields: { token: "t", password: "right words here" } },
  "get /works": { query: ["before", "after", "prompt", "from", "q", "status", "visibility", "resolution"] },
  "post /works": {
    multipart: true,
    fields: {
      prompt: "a lake",
      resolution: "1k",
      visibility: "private",
      seed: "1",
      image_url: "",
      uploaded_url: "",
      idempotency_key: "mine",
    },
  },
  "post /works/selected": { fields: { id: "none", act: "publish" } },
  "post /works/:id/visibility": { fields: { visibility: "public" } },
  "post /works/:id/cancel": { fields: {} },
  "post /works/:id/delete": { fields: {} },
  "get /account": { query: ["order", "orders", "ledger", "month"] },
  "get /account/entries.csv": { query: ["ledger"] },
  "post /account/orders": { fields: { credits: "100" } },
  "post /account/orders/:id/cancel": { fields: {} },
  "post /account/keys": {
    fields: { name: "k", limits: "1", scope: "read", expires_at: "", credits_per_day: "", credits_per_month: "" },
  },
  "post /account/low-balance": { fields: { credits: "10" } },
  "post /account/keys/:id/revoke": { fields: {} },
  "get /account/webhooks": { query: ["before"] },
  "post /account/webhooks": { fields: { url: "https://hooks.example/new" } },
  "post /account/webhooks/:id/delete": { fields: {} },
  "post /account/webhooks/:id/rotate": { fields: {} },
  "post /account/webhooks/:id/enable": { fields: {} },
  "post /account/webhooks/:id/test": { fields: {} },
  "post /account/deliveries/:id/resend": { fields: {} },
  "get /account/settings": { query: ["done"] },
  "post /account/password": { fields: { current: "wrong words here", password: "right words here" } },
  "post /account/access/end": { fields: {} },
  "get /account/email": { query: ["token"] },
  "post /account/email": { fields: { current: "wrong words here", email: "nobody@example.com" } },
  "post /account/email/confirm": { fields: { token: "t" } },
  "post /account/delete": { fields: { current: "wrong words here" } },
};
