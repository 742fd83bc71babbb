/** Reference images. In the words of `step.ts`; never edit it after a release. */
export const REFERENCES = `
-- An uploaded image. After its object is deleted, the row is deleted too.
create table reference_image (
  -- The name of the object.
  name text(128) not null,
  -- SHA-256 and type.
  content text(80) not null,
  bytes integer not null,
  -- When the next attempt to delete the object is due; null while anything may refer to it.
  delete_at time null,
  constraint reference_image_pkey primary key (name)
);
-- Equal contents share one object, until it is to be deleted.
create unique index reference_image_content_unique on reference_image (content) where delete_at is null;
create index reference_image_deletable_index on reference_image (delete_at) where delete_at is not null;

-- An account has uploaded the image, and no task of it has used it since.
create table reference_upload (
  account_id text(40) not null,
  name text(128) not null,
  uploaded_at time not null,
  constraint reference_upload_pkey primary key (account_id, name),
  constraint reference_upload_account_id_foreign foreign key (account_id)
    references account (id) on update restrict on delete restrict,
  constraint reference_upload_name_foreign foreign key (name)
    references reference_image (name) on update restrict on delete restrict
);
create index reference_upload_age_index on reference_upload (uploaded_at);
create index reference_upload_name_index on reference_upload (name);
`;
