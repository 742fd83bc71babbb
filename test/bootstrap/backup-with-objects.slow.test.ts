import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { aCreationRequest } from "../../adapters/contracts/support/builders.js";
import { openSqliteDatabase } from "../../adapters/persistence/database/sqlite/open-sqlite-database.js";
import { backupWithObjects } from "../../bootstrap/backup-with-objects.js";
import type { AccountId, TaskId } from "../../domain/ids.js";
import { type ObjectName, referenceImageName, thumbnailNameOf } from "../../domain/images/object-name.js";
import type { SucceededTask } from "../../domain/tasks/task.js";
import { scratchFolder } from "../support/scratch-folder.js";
import { sqlStores } from "../support/sql-stores.js";
import { sqliteStores } from "../support/sqlite-stores.js";
import { anOwner, aWorld, type World } from "../support/world.js";

/** test/bootstrap/backup.slow.test.ts takes and restores backups of the running service. */
describe("backupWithObjects, while panoramas are deleted", () => {
  let world: World;
  let owner: AccountId;
  let folder: string;
  let source: { readonly file: string; readonly objects: string };
  let target: string;

  beforeEach(async () => {
    const stores = await sqliteStores();
    onTestFinished(() => stores.close());
    folder = await scratchFolder();
    source = { file: stores.file, objects: join(folder, "objects") };
    target = join(folder, "backup");
    world = aWorld(stores);
    owner = await anOwner(world, 100);
  });

  /** A finished panorama whose objects are files. */
  const finished = async () => {
    const { id } = (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap().task;
    await world.clock.advance(world.provider.nextPollMilliseconds());
    await world.settle();
    const { image } = (await world.tasks.find(id, owner)) as SucceededTask;
    for (const name of [image.imageName, thumbnailNameOf(image.imageName)]) await store(name);
    return { id, name: image.imageName };
  };
  const store = async (name: ObjectName) => {
    await mkdir(dirname(join(source.objects, name)), { recursive: true });
    await writeFile(join(source.objects, name), `bytes of ${name}`);
  };
  const deleteObjects = async (name: ObjectName) => {
    for (const object of [name, thumbnailNameOf(name)]) await rm(join(source.objects, object));
  };
  const copied = async () =>
    (await Promise.all(["panoramas", "references"].map((kind) => readdir(join(target, "objects", kind))))).flat();
  const tasksInCopy = async (): Promise<TaskId[]> => {
    const database = await openSqliteDatabase(join(target, "panorama.sqlite"));
    const tasks = await sqlStores(database).tasks.list(owner, 9, undefined);
    await database.close();
    return tasks.map(({ id }) => id);
  };

  it("copies every image that the database names, and all uploads", async () => {
    const { name } = await finished();
    const upload = referenceImageName("upload-that-nothing-names", "image/png");
    await store(upload);
    await store("panoramas/stored-by-a-worker-whose-row-is-not-written.jpg" as ObjectName);
    expect((await backupWithObjects(source, target))._unsafeUnwrap()).toEqual({ objects: 3, missing: [] });
    for (const object of [name, thumbnailNameOf(name), upload]) {
      expect(await readFile(join(target, "objects", object), "utf8")).toBe(`bytes of ${object}`);
    }
    expect(await copied()).toHaveLength(3);
    expect((await readdir(target)).sort()).toEqual(["objects", "panorama.sqlite"]);
    expect(await readdir(folder)).not.toContain("backup.temporary");
  });

  it("copies the database again if an object is deleted first", async () => {
    const [kept, deleted, later] = [await finished(), await finished(), await finished()];
    await deleteObjects(deleted.name); // as deletePanorama does, before its row
    const backup = await backupWithObjects(source, target, async () => {
      await world.tasks.delete(deleted.id, owner, world.clock.now());
      // This one is in the first copy, and is deleted before the second one.
      await deleteObjects(later.name);
      await world.tasks.delete(later.id, owner, world.clock.now());
    });
    expect(backup._unsafeUnwrap()).toEqual({ objects: 2, missing: [] });
    expect(await tasksInCopy()).toEqual([kept.id]);
    expect(await copied()).toHaveLength(2);
  });

  it("names the objects that the storage itself lacks", async () => {
    const { name } = await finished();
    await finished();
    await deleteObjects(name);
    const { objects, missing } = (await backupWithObjects(source, target, async () => {}))._unsafeUnwrap();
    expect({ objects, missing }).toEqual({ objects: 2, missing: [name, thumbnailNameOf(name)] });
  });

  it("leaves nothing behind when it fails, and replaces nothing", async () => {
    expect((await backupWithObjects({ ...source, file: join(folder, "none") }, target))._unsafeUnwrapErr()).toBe(
      `There is no database ${join(folder, "none")}.`,
    );
    expect(await readdir(folder)).toEqual([]);
    const missing = join(folder, "missing", "backup");
    expect((await backupWithObjects(source, missing))._unsafeUnwrapErr()).toMatch(`${missing} could not be written: `);
    await writeFile(target, "kept");
    expect((await backupWithObjects(source, target))._unsafeUnwrapErr()).toBe(
      `${target} exists already. Choose another name, or delete it first.`,
    );
    expect(await readFile(target, "utf8")).toBe("kept");
  });
});
