import type { Db } from '../../db/db.ts'
import { statement } from '../../db/statement.ts'
import type { Kind } from './sources.sql.ts'

/** Held by a transaction that changes the words, so that words of a content that is removed meanwhile are not added after it. */
const lock = 7_215_403

export const holdWords = (tx: Db): Promise<unknown> => tx.rows('select pg_advisory_xact_lock($1::bigint)', [lock])

/** How far the objects of a kind have been added. */
export interface Progress {
  newestId: string
  checkedId: string
  /** Null if all older ones have been. */
  oldestId: string | null
  beganAt: Date
}

/** Of all kinds that have been begun. */
export const allProgress = (db: Db): Promise<(Progress & { kind: Kind })[]> =>
  db.rows(
    `select kind, newest_id as "newestId", checked_id as "checkedId", oldest_id as "oldestId", began_at as "beganAt"
     from search_progress`,
  )

export const saveProgress = (
  db: Db,
  kind: Kind,
  { newestId, checkedId, oldestId, beganAt }: Progress,
): Promise<number> =>
  db.change(
    `insert into search_progress (kind, newest_id, checked_id, oldest_id, began_at) values ($1, $2, $3, $4, $5)
     on conflict (kind) do update set newest_id = excluded.newest_id, checked_id = excluded.checked_id,
       oldest_id = excluded.oldest_id, began_at = excluded.began_at`,
    [kind, newestId, checkedId, oldestId, beganAt],
  )

export interface OpenBlock {
  workspaceId: string
  /** The number of the block that objects are added to, and how many it has. Null if there is none. */
  block: number | null
  objects: number | null
  /** The highest number of a block; 0 if there is none. */
  lastBlock: number
}

/** The blocks with the newest or the oldest objects of these workspaces. */
export const endBlocks = (
  db: Db,
  kind: Kind,
  workspaceIds: readonly string[],
  end: 'newest' | 'oldest',
): Promise<OpenBlock[]> =>
  db.rows(
    `select w.id as "workspaceId", b.block, b.objects,
       (select coalesce(max(block), 0) from search_blocks where workspace_id = w.id) as "lastBlock"
     from unnest($2::uuid[]) as w(id) left join lateral (
       select block, objects from search_blocks where workspace_id = w.id and kind = $1
       order by last_key ${end === 'newest' ? 'desc' : 'asc'} limit 1) as b on true`,
    [kind, workspaceIds],
  )

/** The keys in a range that these workspaces have already. */
export const storedKeys = async (
  db: Db,
  kind: Kind,
  workspaceIds: readonly string[],
  first: string,
  last: string,
): Promise<Set<string>> =>
  new Set(
    (
      await db.rows<{ stored: string }>(
        `select distinct b.workspace_id || ' ' || o.key as stored
         from search_blocks b join search_words w on w.workspace_id = b.workspace_id and w.block = b.block
         cross join lateral unnest(w.objects) as o(key)
         where b.workspace_id = any($2::uuid[]) and b.kind = $1 and b.first_key <= $4::bigint and b.last_key >= $3::bigint
           and o.key >= $3::bigint and o.key <= $4::bigint`,
        [kind, workspaceIds, first, last],
      )
    ).map(({ stored }) => stored),
  )

const upsertBlocks = statement(
  { kind: 'text', added: { workspaceId: 'uuid', block: 'int', key: 'text' } },
  ({ kind, added }) =>
    `insert into search_blocks as b (workspace_id, block, kind, objects, first_key, last_key)
     select workspace_id, block, ${kind}, count(*), min(key::bigint), max(key::bigint) from ${added} group by 1, 2 order by 1, 2
     on conflict (workspace_id, block) do update set objects = b.objects + excluded.objects,
       first_key = least(b.first_key, excluded.first_key), last_key = greatest(b.last_key, excluded.last_key)`,
)

const upsertWords = statement(
  { added: { workspaceId: 'uuid', block: 'int', word: 'text', key: 'text' } },
  ({ added }) =>
    `insert into search_words as w (workspace_id, block, word, objects)
     select workspace_id, block, word, array_agg(key::bigint) from ${added} group by 1, 2, 3 order by 1, 2, 3
     on conflict (workspace_id, block, word) do update set objects = w.objects || excluded.objects`,
)

export interface AddedObject {
  workspaceId: string
  block: number
  key: string
  words: readonly string[]
}

/** Adds objects to their blocks. */
export async function addObjects(db: Db, kind: Kind, added: readonly AddedObject[]): Promise<void> {
  await upsertBlocks.change(db, { kind, added })
  const words = added.flatMap(({ workspaceId, block, key, words }) =>
    words.map((word) => ({ workspaceId, block, word, key })),
  )
  await upsertWords.change(db, { added: words })
}

const insertNumbers = statement(
  { numbers: { workspaceId: 'uuid', number: 'text' } },
  ({ numbers }) =>
    `insert into search_numbers (workspace_id, number, reversed)
     select distinct workspace_id, number, reverse(number) from ${numbers} order by 1, 2
     on conflict (workspace_id, number) do nothing`,
)

export const addNumbers = (db: Db, numbers: readonly { workspaceId: string; number: string }[]): Promise<number> =>
  insertNumbers.change(db, { numbers })

export interface Removal {
  workspaceId: string
  kind: Kind
  id: string
  /** Of a person who was erased. */
  number: string | null
}

/** Takes removals from the queue. */
export const takeRemovals = (db: Db, take: number): Promise<Removal[]> =>
  db.rows(
    `delete from search_removals where ctid = any(array(select ctid from search_removals limit $1))
     returning workspace_id as "workspaceId", kind, object_id as id, number`,
    [take],
  )

/** The blocks of a kind that have keys between two. */
export const blocksBetween = (
  db: Db,
  workspaceId: string,
  kind: Kind,
  first: string,
  last: string,
): Promise<{ block: number; firstKey: string; lastKey: string }[]> =>
  db.rows(
    `select block, first_key::text as "firstKey", last_key::text as "lastKey" from search_blocks
     where workspace_id = $1 and kind = $2 and last_key >= $3::bigint and first_key <= $4::bigint`,
    [workspaceId, kind, first, last],
  )

/** Removes objects from a block, and words that no other object of the block has. */
export async function removeKeys(db: Db, workspaceId: string, block: number, keys: readonly string[]): Promise<void> {
  await db.change(
    `with kept as materialized (
       select word, array_agg(key) filter (where not is_removed) as objects
       from (
         select w.word, o.key, o.key in (select unnest($3::bigint[])) as is_removed
         from search_words w cross join lateral unnest(w.objects) as o(key)
         where w.workspace_id = $1 and w.block = $2
       ) as each
       group by word having bool_or(is_removed)
     ), emptied as (
       delete from search_words where workspace_id = $1 and block = $2
         and word = any(array(select word from kept where objects is null))
     )
     update search_words w set objects = kept.objects from kept
     where w.workspace_id = $1 and w.block = $2 and w.word = kept.word and kept.objects is not null`,
    [workspaceId, block, keys],
  )
  await db.change(
    `delete from search_blocks where workspace_id = $1 and block = $2
       and not exists (select from search_words w where w.workspace_id = $1 and w.block = $2)`,
    [workspaceId, block],
  )
}

export const removeNumbers = (db: Db, workspaceId: string, numbers: readonly string[]): Promise<number> =>
  db.change('delete from search_numbers where workspace_id = $1 and number = any($2::text[])', [workspaceId, numbers])
