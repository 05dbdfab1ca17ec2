import type { Db } from '../../../db/db.ts'
import { orElse } from '../../../db/or-else.ts'
import { statement } from '../../../db/statement.ts'

/** The row of a block that counts the messages of all senders and of all types. */
export const allSenders = '00000000-0000-0000-0000-000000000000'
export const allTypes = ''

/** Messages that were recorded at `firstAt` or later, and before `endAt`. */
export interface Block {
  workspaceId: string
  firstAt: Date
  endAt: Date
}

const next = statement(
  { workspaceIds: 'uuid[]', before: 'timestamptz', size: 'int' },
  ({ workspaceIds, before, size }) => `select w.id as "workspaceId", first.at as "firstAt", following.at as "endAt"
     from unnest(${workspaceIds}) as w(id)
     left join lateral (
       select b.end_at as at from inbound_blocks b
       where b.workspace_id = w.id and b.sender_id = '${allSenders}' and b.type = '${allTypes}'
       order by b.first_at desc limit 1
     ) as counted on true
     cross join lateral (
       select date_trunc('milliseconds', m.recorded_at) as at from inbound_messages m
       where m.workspace_id = w.id and m.recorded_at >= ${orElse('counted.at', "'-infinity'")} and m.recorded_at < ${before}
       order by m.recorded_at, m.id limit 1
     ) as earliest
     cross join lateral (select ${orElse('counted.at', 'earliest.at')} as at) as first
     cross join lateral (
       select m.recorded_at as at from inbound_messages m
       where m.workspace_id = w.id and m.recorded_at >= first.at and m.recorded_at < ${before}
       order by m.recorded_at, m.id offset ${size} - 1 limit 1
     ) as last
     cross join lateral (
       select date_trunc('milliseconds', m.recorded_at) as at from inbound_messages m
       where m.workspace_id = w.id and m.recorded_at >= date_trunc('milliseconds', last.at) + interval '1 millisecond'
         and m.recorded_at < ${before}
       order by m.recorded_at, m.id limit 1
     ) as following`,
)

/**
 * The next block of each of these workspaces that has at least `size` messages recorded before a time. A block ends with the
 * first message of the next one, so messages that were recorded together are in the same block. Its times are whole milliseconds,
 * as those of JavaScript.
 */
export const nextBlocks = (db: Db, workspaceIds: readonly string[], before: Date, size: number): Promise<Block[]> =>
  next.rows(db, { workspaceIds, before, size })

const insertion = statement(
  { blocks: { workspaceId: 'uuid', firstAt: 'timestamptz', endAt: 'timestamptz' } },
  ({ blocks }) => `insert into inbound_blocks (workspace_id, first_at, end_at, sender_id, type, messages,
       first_received_at, last_received_at, confirmed)
     select blocks.*, counts.* from ${blocks} cross join lateral (
       select coalesce(m.sender_id, '${allSenders}'), coalesce(m.type, '${allTypes}'), count(*), min(m.received_at),
         max(m.received_at), grouping(m.sender_id, m.type) <> 3
       from inbound_messages m
       where m.workspace_id = blocks.workspace_id and m.recorded_at >= blocks.first_at and m.recorded_at < blocks.end_at
       group by grouping sets ((), (m.sender_id), (m.type), (m.sender_id, m.type))
     ) as counts`,
)

/** Counts the messages of these blocks. */
export const insertBlocks = (db: Db, blocks: readonly Block[]): Promise<number> => insertion.change(db, { blocks })

const confirmation = statement(
  { before: 'timestamptz', take: 'int' },
  ({ before, take }) => `with due as materialized (
       select b.workspace_id, b.first_at, b.end_at, b.messages from inbound_blocks b
       where not b.confirmed and b.end_at < ${before} order by b.end_at limit ${take}
     ), counted as materialized (
       select due.*, (
         select count(*) from inbound_messages m
         where m.workspace_id = due.workspace_id and m.recorded_at >= due.first_at and m.recorded_at < due.end_at) as found
       from due
     ), confirmed as (
       update inbound_blocks b set confirmed = true from counted c
       where c.found = c.messages and b.workspace_id = c.workspace_id and b.sender_id = '${allSenders}'
         and b.type = '${allTypes}' and b.first_at = c.first_at
     )
     select workspace_id as "workspaceId", first_at as "firstAt", end_at as "endAt", found = messages as "isRight"
     from counted`,
)

/** Confirms the counts of up to `take` blocks that ended before a time. Returns them, with those that are wrong. */
export const confirmBlocks = (db: Db, before: Date, take: number): Promise<(Block & { isRight: boolean })[]> =>
  confirmation.rows(db, { before, take })

const deletion = statement(
  { blocks: { workspaceId: 'uuid', firstAt: 'timestamptz' } },
  ({ blocks }) => `delete from inbound_blocks b using ${blocks}
     where b.workspace_id = blocks.workspace_id and b.first_at = blocks.first_at`,
)

export const deleteBlocks = (db: Db, blocks: readonly Block[]): Promise<number> => deletion.change(db, { blocks })

/** The end of the last block. Messages from then on are not counted. Null if there is no block. */
export const countedUntil = async (db: Db, workspaceId: string): Promise<Date | null> =>
  (
    await db.first<{ at: Date }>(
      `select end_at as at from inbound_blocks where workspace_id = $1 and sender_id = $2 and type = $3
       order by first_at desc limit 1`,
      [workspaceId, allSenders, allTypes],
    )
  )?.at ?? null
