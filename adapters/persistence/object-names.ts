import { type ObjectName, thumbnailNameOf } from "../../domain/object-name.js";
import { branded } from "./columns.js";
import type { Sql } from "./database.js";
import { KEPT_IMAGE } from "./kept-image.js";

const PAGE = 500;

/**
 * The names of all objects that must be in the storage, in pages: finished images with their thumbnails, and the uploaded
 * images that tasks use. An upload that no task uses may not be answered yet, so its object may still be missing.
 */
export async function* objectNames(sql: Sql): AsyncGenerator<readonly ObjectName[]> {
  for (let last: unknown = ""; last !== undefined; ) {
    const rows = await sql(
      `select id, image_name, storage_status from task where ${KEPT_IMAGE} and id > ? order by id limit ?`,
      [last, PAGE],
    );
    yield rows.flatMap((row) => {
      const name = branded<ObjectName>(row, "image_name");
      return row.storage_status === "saved" ? [name, thumbnailNameOf(name)] : [name];
    });
    last = rows.at(-1)?.id;
  }
  for (let last: unknown = ""; last !== undefined; ) {
    const rows = await sql("select distinct name from task_reference where name > ? order by name limit ?", [
      last,
      PAGE,
    ]);
    yield rows.map((row) => branded<ObjectName>(row, "name"));
    last = rows.at(-1)?.name;
  }
}
