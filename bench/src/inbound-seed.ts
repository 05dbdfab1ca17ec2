import { countBlocks } from '@parley/server/domain/messages/reading/inbound-blocks'
import { type MoveLimits, moveLimits } from '@parley/server/domain/messages/receiving/older-messages'
import { systemClock } from '@parley/server/lib/clock'
import { newLogger } from '@parley/server/lib/logger'
import { addOlderTables, dropIndexes, fillDatabase, inboundTableOf, inParallel } from './lib/fill.ts'
import type { Scope } from './lib/scope.ts'
import { formatNumber } from './lib/table.ts'
import { idAt } from './pages-scale.ts'

const days = 30
const dayMs = 86_400_000
/** Longer than maintenance waits before it counts messages, so that it has nothing to do during the measurement. */
const quietMs = 3_600_000

/** One in so many messages has this type: rare, and still a full page among 100,000. */
export const rareType = { name: 'location', interval: 4_000 }
/** How many messages each person has written. */
const messagesOfPerson = 20
export const firstPerson = 52_155_000_000

export interface InboundPlace {
  workspaceId: string
  senders: readonly string[]
}

/**
 * Stores inbound messages as if thirty days had passed and the last hour was quiet: the older ones moved and all of them counted,
 * as maintenance does it. The time of each depends on its number only.
 */
export async function seedInbound(
  scope: Scope,
  dataDir: string,
  place: InboundPlace,
  messages: number,
  limits: MoveLimits = moveLimits,
): Promise<void> {
  const began = performance.now()
  const startMs = Math.floor((Date.now() - quietMs - days * dayMs) / 1000) * 1000
  await fillDatabase(scope, dataDir, async (part, sessions) => {
    const [first] = sessions
    const older = await addOlderTables(first, { messages, days, limits })
    const tables = ['inbound_messages', ...older]
    const indexes = await dropIndexes(first, tables)
    const slices = Array.from({ length: days }, (_, day) => {
      const [from, until] = [day, day + 1].map((each) => Math.floor((messages * each) / days)) as [number, number]
      return [insertion(inboundTableOf(older, day, days), place, { from, until, startMs, messages })]
    })
    await inParallel(sessions, slices)
    part.say(`creating ${indexes.length} indexes`)
    await inParallel(sessions, [...indexes])
    await inParallel(
      sessions,
      tables.map((table) => [`vacuum (analyze) ${table}`]),
    )
  })
  const blocks = await scope.part(async (part) => {
    const { db } = await part.openStore(dataDir)
    const counted = await countBlocks(db, systemClock, newLogger('silent'))
    await db.script('vacuum (analyze) inbound_blocks')
    return counted
  })
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  scope.say(`stored ${formatNumber(messages)} messages in ${formatNumber(blocks)} blocks in ${seconds} s`)
}

const insertion = (
  table: string,
  { workspaceId, senders }: InboundPlace,
  slice: { from: number; until: number; startMs: number; messages: number },
): string => {
  const { from, until, startMs, messages } = slice
  const stepMs = (days * dayMs) / messages
  const people = Math.max(1, Math.floor(messages / messagesOfPerson))
  return `insert into ${table} (id, workspace_id, sender_id, wa_message_id, sent_by, type, received_at, recorded_at,
       profile_name, content)
     select ${idAt('at', `'i' || n`)}, '${workspaceId}', (array['${senders.join("','")}']::uuid[])[1 + n % ${senders.length}],
       'wamid.i' || n, (${firstPerson}::bigint + n % ${people})::text,
       case when n % ${rareType.interval} = 0 then '${rareType.name}' when n % 20 = 1 then 'image' when n % 20 = 2 then 'order'
         else 'text' end,
       at, at, 'Ana', json_build_object('text', 'When does number ' || n || ' arrive?')
     from (select n, to_timestamp((${startMs}::float8 + floor(n * ${stepMs}::float8)) / 1000) as at
       from generate_series(${from}::bigint, ${until - 1}) as n) as made`
}
