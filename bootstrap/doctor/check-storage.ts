import { existsSync } from "node:fs";
import { join } from "node:path";
import { filesystemObjectStorage } from "../../adapters/storage/filesystem-object-storage.js";
import type { NotFound } from "../../application/errors.js";
import type { Ids } from "../../application/ports/ids.js";
import type { ObjectStorage, StorageUnavailable } from "../../application/ports/object-storage.js";
import { panoramaName } from "../../domain/images/object-name.js";
import type { Config } from "../config.js";
import { bucketProblem, openBucket } from "../open-bucket.js";
import { broken, type Finding, fine, notChecked, reasonOf, warning } from "./finding.js";

/** For each of up to four calls, so that the object is deleted before the command gives up. */
const CALL_MILLISECONDS = 1_800;
const RETRY_TIMES = {
  attemptMilliseconds: CALL_MILLISECONDS,
  totalMilliseconds: CALL_MILLISECONDS,
  firstPauseMilliseconds: 100,
};

const BYTES = new TextEncoder().encode("panorama doctor writes this object and deletes it\n");

type Settings = Pick<Config, "storage" | "dataDir" | "publicUrl">;

/** Stores an object, reads it here and at its public URL as a web page would, and deletes it. */
export const checkStorage = async (config: Settings, ids: Pick<Ids, "unguessable">): Promise<readonly Finding[]> => {
  const opened = await open(config);
  if ("status" in opened) return [opened, ...AFTER_STORAGE];
  const name = panoramaName(ids.unguessable());
  const written = await opened.put(name, BYTES, "image/jpeg");
  if (written.isErr()) {
    await opened.delete(name); // an upload without an answer may have arrived
    return [unusable(config, written.error.reason), ...AFTER_STORAGE];
  }
  const [read, served] = await Promise.all([opened.read(name), fetchAsPage(opened.urlOf(name), config.publicUrl)]);
  const deleted = await opened.delete(name);
  const [problem] = [read, deleted].flatMap((result) => (result.isErr() ? [reasonIn(result.error)] : []));
  const storage =
    problem === undefined
      ? fine("storage", `${nameOf(config)} takes, returns and deletes an object.`)
      : unusable(config, problem);
  return [storage, checkImageUrl(served, config), checkCors(served, config)];
};

const reasonIn = (error: NotFound | StorageUnavailable): string =>
  error.kind === "not_found" ? "an object that was written is not there" : error.reason;

const AFTER_STORAGE = ["image URL", "CORS"].map((name) => notChecked(name, "The storage must be usable first."));

/** Opens the storage, or says why it is not checked or not usable. */
const open = async (config: Settings): Promise<ObjectStorage | Finding> => {
  const { storage, dataDir } = config;
  if (storage.kind === "filesystem") {
    const folder = join(dataDir, "objects");
    // Opening the storage makes the folders, and this command makes none.
    return existsSync(join(folder, "panoramas"))
      ? filesystemObjectStorage({ folder, assetUrl: storage.assetUrl, referenceUrl: storage.referenceUrl })
      : notChecked("storage", `There is no folder ${folder} yet. panorama serve makes it.`);
  }
  const bucket = await openBucket(storage, RETRY_TIMES);
  const checked = await bucket.check();
  return checked.isOk() ? bucket : unusable(config, checked.error.reason);
};

const nameOf = ({ storage, dataDir }: Settings): string =>
  storage.kind === "filesystem" ? `The folder ${join(dataDir, "objects")}` : `The bucket ${storage.bucket}`;

const unusable = (config: Settings, reason: string): Finding => {
  const { storage } = config;
  if (storage.kind === "filesystem") {
    return broken(
      "storage",
      "failed",
      `${nameOf(config)} is not usable: ${reason}. Check its rights and the free space.`,
    );
  }
  const { kind, message } = bucketProblem(storage.bucket, reason);
  return broken("storage", kind, message);
};

type Served =
  | { readonly url: string; readonly status: number; readonly isObject: boolean; readonly allowedOrigin: string | null }
  | { readonly url: string; readonly failure: string };

const fetchAsPage = async (url: string, publicUrl: string): Promise<Served> => {
  try {
    const answer = await fetch(url, {
      headers: { origin: new URL(publicUrl).origin },
      signal: AbortSignal.timeout(CALL_MILLISECONDS),
    });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const allowedOrigin = answer.headers.get("access-control-allow-origin");
    return { url, status: answer.status, isObject: Buffer.compare(bytes, BYTES) === 0, allowedOrigin };
  } catch (error) {
    return { url, failure: reasonOf((error as Error).cause ?? error) };
  }
};

/** The variable that says where images are. */
const variableOf = ({ storage }: Settings): string =>
  storage.kind === "filesystem" ? "ASSET_URL" : storage.kind === "gcs" ? "GCS_PUBLIC_URL" : "S3_PUBLIC_URL";

/** Checks if `panorama serve` itself answers there. It may not be running. */
const isOwn = ({ storage, publicUrl }: Settings): boolean =>
  storage.kind === "filesystem" && storage.assetUrl.startsWith(publicUrl);

const checkImageUrl = (served: Served, config: Settings): Finding => {
  const name = "image URL";
  const { url } = served;
  if ("failure" in served) {
    return isOwn(config)
      ? notChecked(
          name,
          `panorama serve does not answer at ${url} (${served.failure}). Start it, and run this command again.`,
        )
      : broken(name, "unreachable", `${url} cannot be reached: ${served.failure}. Check ${variableOf(config)}.`);
  }
  if (served.status === 200 && served.isObject) return fine(name, `Clients can read images below ${parentOf(url)}.`);
  const answered =
    served.status === 200 ? "answered with something else than the stored object" : `answered ${served.status}`;
  const advice = isOwn(config)
    ? "Check PUBLIC_URL and the proxy"
    : `Check ${variableOf(config)}, and that everybody may read objects by name`;
  return broken(name, "configuration", `${url} ${answered}, so clients cannot read images. ${advice}.`);
};

const parentOf = (url: string): string => url.slice(0, url.lastIndexOf("/"));

const checkCors = (served: Served, config: Settings): Finding => {
  const name = "CORS";
  const origin = new URL(config.publicUrl).origin;
  if (new URL(served.url).origin === origin) return fine(name, "Pages and images have the same origin.");
  if ("failure" in served || served.status !== 200) return notChecked(name, "The image URL must be right first.");
  const { allowedOrigin } = served;
  if (allowedOrigin === "*") return fine(name, "Every page may read images.");
  if (allowedOrigin === origin) {
    return fine(
      name,
      `Pages of ${origin} may read images. In a sandboxed frame of another site the viewer shows the flat image only: its origin is null, which needs *.`,
    );
  }
  const answer =
    allowedOrigin === null ? "no Access-Control-Allow-Origin" : `Access-Control-Allow-Origin: ${allowedOrigin}`;
  return warning(
    name,
    `${parentOf(served.url)} answers a page of ${origin} with ${answer}, so the viewer shows the flat image only. Allow GET and HEAD from every origin (*) in the CORS settings of the bucket or CDN.`,
  );
};
