/**
 * Packages with native parts, and those that are loaded on demand by `import()`: in a bundle, a dynamic import of a
 * CommonJS package has no named exports.
 */
export const NOT_BUNDLED = [
  "@aws-sdk/client-s3",
  "@google-cloud/storage",
  "@mikro-orm/core",
  "@mikro-orm/knex",
  "@mikro-orm/migrations",
  "@mikro-orm/postgresql",
  "@opentelemetry/api",
  "@opentelemetry/exporter-trace-otlp-http",
  "@opentelemetry/resources",
  "@opentelemetry/sdk-trace-base",
  "@peculiar/x509",
  "@photostructure/sqlite",
  "@trustnxt/c2pa-ts",
  "nodemailer",
  "pg",
  "selfsigned",
  "sharp",
  "stripe",
  "uWebSockets.js",
  "undici",
];
