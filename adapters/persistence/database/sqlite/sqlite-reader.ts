import type { Row } from "../sql/columns.js";
import type { SqliteConnection } from "./sqlite-connection.js";

/**
 * The connection for reads, which never writes. What requests read first, key and task, shares a transaction for one
 * turn of the event loop: taking and releasing the lock of the file takes as long as half of a read by primary key.
 * Servers call back for requests in one phase of a turn, and the transaction ends right behind it, so it is no older
 * than the requests. Other reads begin none: one of a timer would be older than the requests of its turn.
 */
export class SqliteReader {
  private readonly connection: SqliteConnection;
  private isOpen = false;
  private isHeld = false;

  constructor(connection: SqliteConnection) {
    this.connection = connection;
    connection.execute("pragma query_only = on");
  }

  all(select: string, parameters: readonly unknown[]): Row[] {
    return this.connection.all(select, parameters);
  }

  /** Shares the transaction of its turn. */
  first(select: string, parameters: readonly unknown[]): Row | undefined {
    this.open();
    return this.connection.first(select, parameters);
  }

  /** Until `release`, reads see the commits until now, and no later ones. */
  hold(): void {
    this.isHeld = true;
    this.first("select 1 from sqlite_master", []); // a transaction begins to see with its first read
  }

  release(): void {
    this.isHeld = false;
    this.end();
  }

  close(): void {
    this.end();
    this.connection.close();
  }

  private open(): void {
    if (this.isOpen) return;
    this.connection.execute("begin");
    this.isOpen = true;
    if (!this.isHeld) setImmediate(this.endTurn);
  }

  private readonly endTurn = (): void => {
    if (!this.isHeld) this.end();
  };

  private end(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    // A failed read may have ended it.
    if (this.connection.isTransaction) this.connection.execute("commit");
  }
}
