import { err, ok } from "neverthrow";
import { ScriptedProvider } from "../../adapters/memory/scripted-provider.js";
import type { UpstreamCall } from "../../adapters/provider/remote/calls/upstream-call.js";
import type { UpstreamHttp } from "../../adapters/provider/remote/calls/upstream-http.js";
import type { RemoteDialect } from "../../adapters/provider/remote/dialect.js";
import { ProviderApi } from "../../adapters/provider/remote/provider-api.js";
import type { ProviderSettings } from "../../adapters/provider/remote/settings.js";
import { GENERATION_DEADLINE_MILLISECONDS } from "../support/application.js";

/** A provider to which creations are sent as to every remote one. It looks at no deadline itself. */
export class CalledProvider extends ScriptedProvider {
  override submit: ScriptedProvider["submit"] = async (order, submissionDeadline) => {
    let answer: Awaited<ReturnType<ScriptedProvider["submit"]>> | undefined;
    const call = async ({ mayBeSent }: UpstreamCall) => {
      if (mayBeSent?.() === false) return err({ kind: "too_late", reason: "too late" });
      answer = await ScriptedProvider.prototype.submit.call(this, order);
      return ok({ status: 200, body: {} });
    };
    const api = new ProviderApi({
      http: { call } as unknown as UpstreamHttp,
      clock: { now: () => this.clock.now(), sleep: () => Promise.resolve() },
      settings: {
        submitTimeoutMilliseconds: 30_000,
        generationDeadlineMilliseconds: GENERATION_DEADLINE_MILLISECONDS,
      } as ProviderSettings,
      dialect: { name: this.name, baseUrl: "", authorization: {}, defaults: {} } as RemoteDialect,
      onCircuitChange: () => {},
      warn: () => {},
    });
    const sent = await api.create({ path: "/", body: async () => ok({}) }, submissionDeadline);
    return answer ?? sent.map(() => "");
  };
}
