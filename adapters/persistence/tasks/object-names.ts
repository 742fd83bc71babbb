import { type ObjectName, thumbnailNameOf } from "../../../domain/images/object-name.js";
import { branded, type Row } from "../database/sql/columns.js";
import type { Sql } from "../database/sql/database.js";

/** Finished images in the storage. */
const KEPT_IMAGE = "state = 'succeeded' and storage_status in ('saved', 'saved-no-thumb') and deleted_at is null";

const PAGE = 500;

/**
 * The names of all objects that must be in the storage, in pages: finished images with their thumbnails, and the
 * uploaded images that tasks use. Uploads that no task uses are left out: such an upload may still be in progress,
 * without its object.
 */
export async function* objectNames(sql: Sql): AsyncGenerator<readonly ObjectName[]> {
  const images = `select id, image_name, storage_status from task where ${KEPT_IMAGE} and id > ? order by id limit ?`;
  for await (const rows of pages(sql, images)) {
    yield rows.flatMap((row) => {
      const name = branded<ObjectName>(row, "image_name");
      const thumbnail = row.storage_status === "saved" ? [thumbnailNameOf(name)] : [];
      return [name, ...thumbnail];
    });
  }
  const used = "select distinct name as id from task_reference where name > ? order by name limit ?";
  for await (const rows of pages(sql, used)) yield rows.map((row) => branded<ObjectName>(row, "id"));
}

async function* pages(sql: Sql, select: string): AsyncGenerator<readonly Row[]> {
  for (let last: unknown = ""; last !== undefined; ) {
    const rows: readonly Row[] = await sql(select, [last, PAGE]);
    yield rows;
    last = rows.at(-1)?.id;
  }
}
