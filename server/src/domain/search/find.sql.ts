import type { Db } from '../../db/db.ts'
import type { Kind } from './sources.sql.ts'

export interface Block {
  block: number
  firstKey: string
  lastKey: string
}

/** The blocks of a kind, newest first. */
export const newestBlocks = (db: Db, workspaceId: string, kind: Kind, take: number): Promise<Block[]> =>
  db.rows(
    `select block, first_key::text as "firstKey", last_key::text as "lastKey" from search_blocks
     where workspace_id = $1 and kind = $2 order by last_key desc limit $3::int`,
    [workspaceId, kind, take],
  )

/** The end of the range of words that begin with a text: no character is higher. */
const end = '\u{10ffff}'

/** The newest objects of some blocks that have, for each of the texts, a word that begins with it. Newest first. */
export const keysWithWords = async (
  db: Db,
  workspaceId: string,
  blocks: readonly number[],
  beginnings: readonly string[],
  take: number,
): Promise<string[]> => {
  const words = beginnings.map(
    (_, index) => `from search_words where workspace_id = $1 and block = b.block
       and word >= $${4 + 2 * index}::text and word < $${5 + 2 * index}::text`,
  )
  // A block without one of the words is skipped before the objects of the others are read.
  const having = words.slice(1).map((each) => `and exists (select ${each})`)
  const rows = await db.rows<{ key: string }>(
    `select found.key::text as key from (
       select b.block from unnest($2::int[]) as b(block) where exists (select ${words[0]}) ${having.join(' ')} offset 0
     ) as b cross join lateral (${words.map((each) => `select unnest(objects) as key ${each}`).join(' intersect ')}) as found
     order by found.key desc limit $3::int`,
    [workspaceId, blocks, take, ...beginnings.flatMap((beginning) => [beginning, `${beginning}${end}`])],
  )
  return [...new Set(rows.map(({ key }) => key))]
}

/** Numbers that begin with these digits, or end with them. */
export const numbersWith = async (db: Db, workspaceId: string, digits: string, take: number): Promise<string[]> => {
  const range = (column: string, at: number) =>
    `(select number from search_numbers where workspace_id = $1 and ${column} >= $${at}::text and ${column} < $${at + 1}::text
      order by ${column} limit $2::int)`
  const reversed = [...digits].reverse().join('')
  const rows = await db.rows<{ number: string }>(
    `select distinct number from (${range('reversed', 3)} union all ${range('number', 5)}) as found limit $2::int`,
    [workspaceId, take, reversed, `${reversed}${end}`, digits, `${digits}${end}`],
  )
  return rows.map(({ number }) => number)
}
