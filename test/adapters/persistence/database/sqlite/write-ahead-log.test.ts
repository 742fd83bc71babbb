import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqliteFile, sqliteFile } from "../../../../../adapters/persistence/database/sqlite/open-sqlite-file.js";
import { WriteAheadLog } from "../../../../../adapters/persistence/database/sqlite/write-ahead-log.js";

describe("WriteAheadLog", () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "panorama-test-"));
    file = join(folder, "a.sqlite");
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("is moved into the file each time it is shortened, while another connection reads", async () => {
    const [writer, reader, log] = [sqliteFile(file).openWriter(), openSqliteFile(file), new WriteAheadLog(file)];
    writer.execute("create table one (n integer)");
    for (const n of [1, 2]) {
      writer.all("insert into one values (?)", [n]);
      reader.execute("begin");
      expect(reader.all("select count(*) as rows from one", [])).toEqual([{ rows: n }]);
      await log.shorten();
      reader.execute("commit");
      await copyFile(file, join(folder, "copy.sqlite"));
      const copy = openSqliteFile(join(folder, "copy.sqlite"));
      expect(copy.all("select count(*) as rows from one", [])).toEqual([{ rows: n }]);
      copy.close();
      await rm(join(folder, "copy.sqlite"));
    }
    await log.close();
    reader.close();
    writer.close();
  });
});
