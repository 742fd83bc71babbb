import type { Result } from "neverthrow";
import type { GenerationProvider } from "../../application/ports/generation-provider.js";
import type { Imaging } from "../../application/ports/imaging.js";
import type { ObjectStorage } from "../../application/ports/object-storage.js";
import type { WebhookSender } from "../../application/ports/webhook-sender.js";
import type { Tracing } from "./tracing.js";

/** Any method: it has arguments, but nobody here knows which. */
type Method = (...args: never[]) => unknown;

/*
 * Traces wrap the ports, and only if they are wanted: adapters do not know them, and without them no method has a
 * wrapper.
 */

/** The same object with the methods in `replaced`. */
const replacing = <T extends object>(target: T, replaced: Readonly<Record<string, Method>>): T =>
  new Proxy(target, {
    get: (_, name) => {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (typeof name === "string" ? replaced[name] : undefined) ?? value.bind(target);
    },
  });

/** Spans for these methods, if the object has them. */
const spans = <T extends object>(
  tracing: Tracing,
  { prefix, kind }: { readonly prefix: string; readonly kind: "client" | "internal" },
  target: T,
  names: readonly (keyof T & string)[],
) =>
  Object.fromEntries(
    names.flatMap((name): [string, Method][] => {
      const method = target[name];
      if (typeof method !== "function") return [];
      return [[name, (...args) => tracing.span(`${prefix} ${name}`, { kind }, () => method.apply(target, args))]];
    }),
  );

/** A span for each call that goes to the provider. The order carries the trace context of its span. */
export const tracedProvider = (provider: GenerationProvider, tracing: Tracing): GenerationProvider => {
  const attributes = { "panorama.provider": provider.name };
  const submit: GenerationProvider["submit"] = (order, deadline) =>
    tracing.span("provider submit", { kind: "client", attributes }, () =>
      provider.submit({ ...order, traceparent: tracing.traceparent() ?? order.traceparent }, deadline),
    );
  const others = spans(tracing, { prefix: "provider", kind: "client" }, provider, [
    "poll",
    "search",
    "download",
    "cancel",
    "discard",
  ]);
  return replacing(provider, { ...others, submit });
};

/** A span for each webhook, which carries the trace context of its span. */
export const tracedSender = (sender: WebhookSender, tracing: Tracing): WebhookSender => ({
  send: (webhook) =>
    tracing.span("webhook send", { kind: "client", attributes: { "panorama.event.id": webhook.id } }, () =>
      sender.send({ ...webhook, traceparent: tracing.traceparent() ?? webhook.traceparent }),
    ),
});

/** A span for each image that is read or made. */
export const tracedImaging = (imaging: Imaging, tracing: Tracing): Imaging =>
  replacing(
    imaging,
    spans(tracing, { prefix: "image", kind: "internal" }, imaging, ["inspect", "panorama", "thumbnail"]),
  );

/** A span for each call to the storage. */
export const tracedStorage = (storage: ObjectStorage, tracing: Tracing): ObjectStorage =>
  replacing(
    storage,
    spans(tracing, { prefix: "storage", kind: "client" }, storage, ["put", "read", "has", "delete", "list"]),
  );

/** As in persistence/database/sql/database.ts. */
type Sql = (statement: string, parameters?: readonly unknown[]) => Promise<Readonly<Record<string, unknown>>[]>;
type Database = {
  readonly dialect: string;
  readonly sql: Sql;
  transaction<T, E>(work: (sql: Sql) => Promise<Result<T, E>>): Promise<Result<T, E>>;
  /** Only on SQLite. */
  first?(select: string, parameters: readonly unknown[]): unknown;
};

/** A span for each statement, with its text. The text has no values: those are parameters. */
export const tracedDatabase = <D extends Database>(database: D, tracing: Tracing): D => {
  const span = <T>(statement: string, run: () => T, parent = tracing.current()): T => {
    const text = statement.replace(/\s+/g, " ").trim();
    const attributes = { "db.system.name": database.dialect, "db.query.text": text };
    return tracing.span(`sql ${text.slice(0, text.indexOf(" "))}`, { kind: "client", attributes, parent }, run);
  };
  return replacing(database, {
    sql: (statement: string, parameters?: readonly unknown[]) =>
      span(statement, () => database.sql(statement, parameters)),
    // On SQLite transactions share a commit, so their work runs in the context of the first one.
    transaction: (work: (sql: Sql) => Promise<Result<unknown, unknown>>) => {
      const parent = tracing.current();
      if (parent === undefined) return database.transaction(work);
      return database.transaction((sql) =>
        work((statement, parameters) => span(statement, () => sql(statement, parameters), parent)),
      );
    },
    first: (select: string, parameters: readonly unknown[]) => span(select, () => database.first?.(select, parameters)),
  });
};
