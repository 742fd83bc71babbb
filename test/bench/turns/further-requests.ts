import { createHash } from "node:crypto";
import { type MakeRequest, ORIGIN } from "../growth/requests.js";
import type { Member } from "../growth/seed.js";

const bearer = ({ apiKey }: Member) => ({ authorization: `Bearer ${apiKey}` });
const cookie = ({ session }: Member) => ({ cookie: `session=${session}` });
const formToken = ({ session }: Member): string => createHash("sha256").update(`form ${session}`).digest("hex");

const page =
  (path: string): MakeRequest =>
  (who) => ({ path, status: 200, headers: cookie(who) });
const list =
  (query: (who: Member) => string): MakeRequest =>
  (who) => ({ path: `/api/v1/panoramas?limit=3&${query(who)}`, status: 200, headers: bearer(who) });
const form =
  (path: string, fields: (run: number) => Readonly<Record<string, string>>, isMember = true): MakeRequest =>
  (who, run) => ({
    path,
    status: 303,
    headers: {
      ...(isMember && cookie(who)),
      "content-type": "application/x-www-form-urlencoded",
      origin: ORIGIN,
    },
    body: new URLSearchParams({ ...fields(run), ...(isMember && { form_token: formToken(who) }) }).toString(),
  });

const time = (milliseconds: number) => new Date(milliseconds).toISOString();

/** What `growth` does not measure, because its time depends on no account, or on all that an account has. */
export const FURTHER: Readonly<Record<string, Readonly<Record<string, MakeRequest>>>> = {
  "GET /api/v1/panoramas": {
    "the largest page": (who) => ({ path: "/api/v1/panoramas?limit=100", status: 200, headers: bearer(who) }),
    "created before now": list(() => `created_before=${time(Date.now())}`),
    "created after the first": list(({ createdAt }) => `created_after=${time(createdAt(1).getTime() - 86_400_000)}`),
    "created before now, failed": list(() => `status=failed&created_before=${time(Date.now())}`),
    "created before now, metadata": list(() => `metadata[project]=north&created_before=${time(Date.now())}`),
    "created in one hour": list(({ createdAt, tasks }) => {
      const middle = createdAt(tasks / 2).getTime();
      return `created_after=${time(middle)}&created_before=${time(middle + 3_600_000)}`;
    }),
    "created in one hour, failed": list(({ createdAt, tasks }) => {
      const middle = createdAt(tasks - 100).getTime();
      return `status=failed&created_after=${time(middle)}&created_before=${time(middle + 3_600_000)}`;
    }),
  },
  "GET /account/data.jsonl": { "": page("/account/data.jsonl") },
  "GET /account/entries.csv": { "": page("/account/entries.csv") },
  "GET /works": { "a search": page("/works?q=zebra") },
  "POST /password/forgot": {
    "an address of nobody": form("/password/forgot", (run) => ({ email: `nobody${run}@growth.example` }), false),
    "a customer's address": form("/password/forgot", (run) => ({ email: `${run + 1}@crowd.example` }), false),
  },
  "POST /signup": {
    "": form("/signup", (run) => ({ email: `new${run}@growth.example`, password: "a long password" }), false),
  },
  "POST /login": {
    wrong: form("/login", (run) => ({ email: `${run + 1}@crowd.example`, password: "a long password" }), false),
  },
  "POST /account/keys": { "": form("/account/keys", (run) => ({ name: `key ${run}` })) },
  "POST /account/email": {
    "": form("/account/email", (run) => ({ email: `new${run}@growth.example`, current: "a long password" })),
  },
};
