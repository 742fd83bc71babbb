import type { Dialect } from "../../sql/database.js";

/**
 * What differs between the databases: triggers, unlogged and full-text tables; and the row of the queue. Part of the
 * baseline (migration-steps.ts). After a release, a change needs a step.
 */
export const FOR_ONE_DATABASE: Readonly<Record<Dialect, readonly string[]>> = {
  sqlite: [
    "insert into task_queue (id, round) values (1, 1)",
    // Make the ledger append-only for every writer.
    `create trigger ledger_entry_no_update before update on ledger_entry
      begin select raise(abort, 'the ledger is append-only'); end`,
    `create trigger ledger_entry_no_delete before delete on ledger_entry
      begin select raise(abort, 'the ledger is append-only'); end`,
    `create trigger ledger_entry_granted after insert on ledger_entry when new.kind not in ('reservation', 'refund')
      begin update account set granted = granted + new.credits where id = new.account_id; end`,
    // The application fills the tables of searches (search-rows.ts).
    "create table task_search (number integer not null primary key, task_id text not null)",
    "create unique index task_search_task_unique on task_search (task_id)",
    // A list for each prefix of a word: a search merges no lists, so its time does not depend on their length.
    `create virtual table task_words using fts5(words, content = '', contentless_delete = 1, detail = 'none',
      tokenize = 'ascii', prefix = '1 2 3 4 5 6 7 8 9 10 11 12')`,
  ],
  postgresql: [
    "insert into task_queue (id, round) values (1, 1)",
    `create function refuse_ledger_change() returns trigger language plpgsql
      as $$ begin raise exception 'the ledger is append-only'; end $$`,
    `create trigger ledger_entry_no_change before update or delete or truncate on ledger_entry
      for each statement execute function refuse_ledger_change()`,
    `create function count_grant() returns trigger language plpgsql
      as $$ begin update account set granted = granted + new.credits where id = new.account_id; return null; end $$`,
    `create trigger ledger_entry_granted after insert on ledger_entry for each row
      when (new.kind not in ('reservation', 'refund')) execute function count_grant()`,
    `create table task_search (
      task_id varchar(40) not null, words tsvector not null, constraint task_search_pkey primary key (task_id)
    )`,
    // Without the list of pending entries, which every search would read.
    "create index task_search_words_index on task_search using gin (words) with (fastupdate = off)",
    // Unlogged: it is written with every request and expires after a minute. Half-filled pages allow in-place updates.
    `create unlogged table rate_limit (
      api_key_id varchar(40) not null, kind varchar(32) not null, admissions bigint[] not null,
      admitted boolean not null, constraint rate_limit_pkey primary key (api_key_id, kind)
    ) with (fillfactor = 50)`,
  ],
};
