/**
 * An assignment to the row of a task that its owner deletes; its parameter is the present time. What a succeeded task
 * has left is erased, but not while a worker has leased it: the worker may still store an object.
 */
export const DUE_WHEN_DELETED = "due_at = case when state = 'succeeded' then cast(? as timestamptz) else null end";

/**
 * Sets when a succeeded task is due. One that was deleted while it was leased, or whose image got a next name, stays
 * due since then, also if the lease had expired by that time: nothing else gives a leased task another due time.
 */
export const DUE_UNLESS_DELETED = `due_at = case
  when (deleted_at is not null or next_image_name is not null) and due_at <> leased_until then due_at
  else cast(? as timestamptz) end`;
