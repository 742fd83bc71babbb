import { type Failure, InvalidAnswer } from "./retries.js";

/** Errors that a retry can fix although their status is not 5xx: of the request as it arrived, or of this moment. */
const TEMPORARY = new Set([
  "BadDigest", // `Content-MD5`: the bytes were damaged in transit
  "ConditionalRequestConflict",
  "OperationAborted",
  "RequestTimeout",
  "SlowDown",
  "XAmzContentSHA256Mismatch",
]);

/** The part of the AWS client's errors that counts. */
type S3Error = {
  readonly name?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly clockSkewCorrected?: boolean };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
};

/** The status of an answer that is an error; `undefined` if there was no answer. */
export const statusOf = (error: unknown): number | undefined => (error as S3Error).$metadata?.httpStatusCode;

/** The code of S3's answer, such as `NoSuchKey`, or the client's name of the error. */
export const codeOf = (error: unknown): string | undefined => (error as S3Error).name;

/** Whether a service does not know `If-None-Match`. Most of them answer with this code, all with this status. */
export const isNotImplemented = (error: unknown): boolean =>
  statusOf(error) === 501 || codeOf(error) === "NotImplemented";

/** The reason never quotes the message of the service or of the client: it can contain a URL or an access key. */
export const s3FailureOf = (error: unknown): Failure => {
  const status = statusOf(error);
  const name = codeOf(error);
  const { code, $metadata, $response } = error as S3Error;
  if (name === "CredentialsProviderError") {
    return { reason: "there are no credentials for S3, or they cannot be refreshed", isTemporary: true };
  }
  if (status === undefined) return { reason: `S3 cannot be used (${code ?? name ?? "unknown"})`, isTemporary: true };
  const region = $response?.headers?.["x-amz-bucket-region"];
  if ((status === 301 || status === 307 || status === 400) && region !== undefined && /^[a-z0-9-]+$/.test(region)) {
    return { reason: `S3 answered ${status}: the bucket is in the region ${region}`, isTemporary: false };
  }
  const isCode = name !== undefined && /^[A-Z][A-Za-z0-9]+$/.test(name) && !/^(Unknown|UnknownError|Error)$/.test(name);
  return {
    reason: `S3 answered ${status}${isCode ? ` (${name})` : ""}`,
    isTemporary:
      status < 300 || // not an answer of S3, or the beginning of one
      status === 408 ||
      status === 429 ||
      (status >= 500 && status !== 501) ||
      TEMPORARY.has(name ?? "") ||
      $metadata?.clockSkewCorrected === true, // the client signs with the service's time from now on
  };
};

export const notFromS3 = () => new InvalidAnswer("the answer is not from S3", true);

/** Throws if the answer has no ETag, as a proxy's page with status 200: every answer of S3 about an object has one. */
export const fromS3 = <T extends { readonly ETag?: string | undefined }>(answer: T): T & { readonly ETag: string } => {
  const { ETag } = answer;
  if (ETag === undefined) throw notFromS3();
  return { ...answer, ETag };
};
