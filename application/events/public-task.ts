import type { Resolution } from "../../domain/images/resolution.js";
import type { StorageStatus } from "../../domain/images/storage-status.js";
import type { PublicReason, TASK_STATUSES } from "../../domain/tasks/public-reason.js";
import type { Visibility } from "../../domain/tasks/visibility.js";

/**
 * A task as clients see it: in REST, events, webhooks, and the client (specification, Panorama task). Times are RFC
 * 3339, in UTC.
 */
export type PublicTask = {
  id: string;
  status: (typeof TASK_STATUSES)[number];
  credits_charged: number;
  created_at: string;
  resolution: Resolution;
  visibility: Visibility;
  prompt?: string | undefined;
  image_urls: string[];
  seed?: number | undefined;
  metadata: Record<string, string>;
  hidden_reason?: string | undefined;
  queue_position?: number | undefined;
  estimated_seconds?: number | undefined;
  finished_at?: string | undefined;
  output?:
    | {
        image_url: string;
        slug: string;
        viewer_url?: string | undefined;
        storage_status: StorageStatus;
        ai_generated?: boolean | undefined;
        native_width?: number | undefined;
        native_height?: number | undefined;
        thumbnail_url?: string | undefined;
      }
    | undefined;
  error?:
    | {
        code: "generation_failed";
        message: string;
        reason?: PublicReason | undefined;
        param?: string | undefined;
      }
    | undefined;
};
