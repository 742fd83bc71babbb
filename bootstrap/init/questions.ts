import type { Config } from "../config.js";
import type { Variables } from "./environment-file.js";

/** What the operator is asked: the value of one environment variable. */
export type Question = {
  readonly variable: string;
  readonly text: string;
  /** Must be answered; otherwise an empty answer leaves the variable out. */
  readonly isRequired?: true;
  readonly isSecret?: true;
  readonly example?: string;
};

/** Questions whose answers are checked together. */
export type Topic = { readonly name: string; questions(answers: Variables): readonly Question[] };

const s3: readonly Question[] = [
  { variable: "S3_BUCKET", text: "Name of the bucket", isRequired: true },
  { variable: "S3_ENDPOINT", text: "URL of the S3 service; empty: AWS", example: "http://127.0.0.1:9000" },
  { variable: "S3_REGION", text: "Region; needed for AWS", example: "eu-central-1" },
  {
    variable: "S3_PUBLIC_URL",
    text: "https URL below which clients read images; needed with a service of your own",
    example: "https://panorama.example/panorama",
  },
  { variable: "AWS_ACCESS_KEY_ID", text: "Access key; empty: the role of this machine" },
  { variable: "AWS_SECRET_ACCESS_KEY", text: "Its secret", isSecret: true },
];

const gcs: readonly Question[] = [
  { variable: "GCS_BUCKET", text: "Name of the bucket", isRequired: true },
  { variable: "GCS_PUBLIC_URL", text: "Origin of the CDN in front of it; empty: the bucket's own URL" },
];

/** The variable with the key, or the address, of each provider. */
const PROVIDER_KEYS: Readonly<Record<string, string>> = {
  skybox: "SKYBOX_API_KEY",
  replicate: "REPLICATE_API_KEY",
  fal: "FAL_API_KEY",
  worldlabs: "WORLDLABS_API_KEY",
  comfy: "COMFY_API_KEY",
  comfyui: "COMFYUI_BASE_URL",
  http: "HTTP_PROVIDER_URL",
};

const providerKeys = ({ PROVIDER = "" }: Variables): readonly Question[] =>
  PROVIDER.split(",").flatMap((name) => {
    const variable = PROVIDER_KEYS[name.trim().split(":")[0] ?? ""];
    return variable === undefined
      ? []
      : [{ variable, text: `For ${name.trim()}`, isRequired: true, ...(/KEY/.test(variable) && { isSecret: true }) }];
  });

/** All questions, in the order in which they are asked. Later ones depend on the answers to earlier ones. */
export const TOPICS: readonly Topic[] = [
  {
    name: "name",
    questions: () => [
      { variable: "PUBLIC_URL", text: "https URL of the pages", isRequired: true, example: "https://panorama.example" },
    ],
  },
  {
    name: "database",
    questions: () => [
      {
        variable: "DATABASE_URL",
        text: "PostgreSQL; empty: a SQLite file, for one instance",
        isSecret: true,
        example: "postgresql://panorama:SECRET@localhost/panorama",
      },
    ],
  },
  {
    name: "storage",
    questions: ({ STORAGE }) => [
      { variable: "STORAGE", text: "Where images are: s3, gcs, or filesystem", isRequired: true },
      ...(STORAGE === "s3" ? s3 : STORAGE === "gcs" ? gcs : []),
    ],
  },
  {
    name: "provider",
    questions: (answers) => [
      { variable: "PROVIDER", text: "Who generates (PROVIDERS.md)", isRequired: true, example: "fal:seedream-4.5" },
      ...providerKeys(answers),
    ],
  },
  {
    name: "mail",
    questions: ({ SMTP_URL = "" }) => [
      {
        variable: "SMTP_URL",
        text: "Mail server; empty: links go to the log",
        isSecret: true,
        example: "smtps://USER:PASSWORD@HOST:465",
      },
      ...(SMTP_URL === ""
        ? []
        : [{ variable: "MAIL_FROM", text: "Sender", isRequired: true, example: "no-reply@panorama.example" } as const]),
    ],
  },
  {
    name: "payments",
    questions: ({ STRIPE_SECRET_KEY = "" }) => [
      { variable: "STRIPE_SECRET_KEY", text: "Stripe; empty: you take the money yourself", isSecret: true },
      ...(STRIPE_SECRET_KEY === ""
        ? []
        : [
            {
              variable: "STRIPE_WEBHOOK_SECRET",
              text: "Its webhook secret",
              isRequired: true,
              isSecret: true,
            } as const,
          ]),
    ],
  },
  {
    name: "legal pages",
    questions: () => [
      { variable: "LEGAL_PAGES_DIR", text: "Folder with terms.md, privacy.md and contact.md; empty: none" },
    ],
  },
];

/** The first required question without an answer. */
export const unanswered = (answers: Variables): Question | undefined =>
  TOPICS.flatMap((topic) => topic.questions(answers)).find(
    ({ variable, isRequired }) => isRequired === true && (answers[variable] ?? "") === "",
  );

/** A URL that stands in the site of nginx as it is: nothing in it may end the line there, or be a variable. */
const PLAIN_URL = /^https?:\/\/([\w.-]+|\[[\da-f:.]+\])(:\d+)?(\/[\w.~%/-]*)?$/i;

/** What only an installation for customers needs, beyond valid settings. */
export const productionProblem = (config: Config, ports: readonly number[]): string | undefined => {
  const { publicUrl, storage } = config;
  const inSite = {
    PUBLIC_URL: publicUrl,
    ...(storage.kind === "s3" && { S3_ENDPOINT: storage.endpoint, S3_PUBLIC_URL: storage.publicUrl }),
  };
  for (const [variable, url] of Object.entries(inSite)) {
    if (url !== undefined && !PLAIN_URL.test(url)) {
      return `${variable} ${JSON.stringify(url)} must be a URL of letters, digits and . _ ~ % - / only, without a query. Write a host with other letters as xn--….`;
    }
  }
  if (!publicUrl.startsWith("https://")) return `PUBLIC_URL ${publicUrl} must start with https://.`;
  if (config.databaseUrl === undefined && ports.length > 1)
    return "Without DATABASE_URL only one instance can run. Give one port.";
  return undefined;
};
