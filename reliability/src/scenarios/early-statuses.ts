// The cost of each step of the maintenance with a million statuses of messages that other tools sent, and a million
// entries in the ledger. The statements of before are run on the same rows.
import { randomBytes } from 'node:crypto'
import { type Database, openDatabase } from '@parley/server/db/db'
import { openEmbedded } from '@parley/server/db/embedded/embedded'
import { migrate } from '@parley/server/db/migrate/migrate'
import { verifyLedger } from '@parley/server/domain/credits/verify-ledger'
import { systemClock } from '@parley/server/lib/clock'
import { maintenanceSteps } from '@parley/server/work'
import { newFolder, removeFolder } from '../../../server/testing/data-dir.ts'
import { newRuntime } from '../../../server/testing/runtime.ts'

const counts = { earlyStatuses: 1_000_000, messages: 100_000, entries: 1_000_000, connections: 10_000, files: 2_000 }
const workspaces = 100
const wantedMs = 200

const before = {
  'early statuses': `delete from early_statuses e using (
       select e.sender_id, e.wa_message_id, e.status from early_statuses e
       join messages m on m.sender_id = e.sender_id and m.wa_message_id = e.wa_message_id
       limit 1000 for update of e skip locked) as matched
     where (e.sender_id, e.wa_message_id, e.status) = (matched.sender_id, matched.wa_message_id, matched.status)`,
  'verify the ledger': `select coalesce(b.workspace_id, e.workspace_id) as workspace_id from credit_balances b
     full join (select workspace_id, sum(amount) as entered from credit_entries group by 1) e
       on e.workspace_id = b.workspace_id
     where coalesce(b.balance, 0) <> coalesce(e.entered, 0)`,
}

/** An ID from a word and a number, the same in every statement. */
const id = (word: string, number: string): string => `md5('${word} ' || (${number}))::uuid`

const seeds = (): string[] => [
  `insert into workspaces (id, name, created_at)
     select ${id('workspace', 'n')}, 'W' || n, now() from generate_series(0, ${workspaces - 1}) as n`,
  `insert into apps (id, name, graph_url, app_secret_sealed, verify_token_sealed, created_at)
     values (${id('app', '0')}, 'App', 'http://127.0.0.1:9', 'k:s', 'k:v', now())`,
  `insert into connections (id, workspace_id, app_id, waba_id, access_token_sealed, created_at, sync_due_at)
     select ${id('connection', 'n')}, ${id('workspace', `n % ${workspaces}`)}, ${id('app', '0')}, 'waba ' || n, 'k:t', now(),
       now() + interval '6 hours' from generate_series(0, ${counts.connections - 1}) as n`,
  `insert into senders (id, workspace_id, connection_id, app_id, phone_number_id, phone_number, status, quality_rating,
       created_at, updated_at)
     select ${id('sender', 'n')}, ${id('workspace', `n % ${workspaces}`)}, ${id('connection', 'n')}, ${id('app', '0')},
       'number ' || n, '1555' || n, 'CONNECTED', 'GREEN', now(), now()
     from generate_series(0, ${counts.connections - 1}) as n`,
  `insert into api_keys (id, workspace_id, name, digest, hint, scopes, budget, created_by, created_at)
     select ${id('key', 'n')}, ${id('workspace', 'n')}, 'Key', decode(md5(n::text), 'hex'), 'h', '{}', 60, 'seed', now()
     from generate_series(0, ${workspaces - 1}) as n`,
  `insert into messages (id, workspace_id, key_id, sender_id, recipient, status, wa_message_id, created_at, type, credits, content)
     select gen_random_uuid(), ${id('workspace', `n % ${workspaces}`)}, ${id('key', `n % ${workspaces}`)},
       ${id('sender', `n % ${counts.connections}`)}, '16505550123', 'delivered', 'wamid.ours.' || n, now() - n * interval '1 second', 'text', 1, '{}'
     from generate_series(1, ${counts.messages}) as n`,
  `insert into early_statuses (sender_id, workspace_id, wa_message_id, status, occurred_at, recorded_at)
     select ${id('sender', `n % ${counts.connections}`)}, ${id('workspace', `n % ${workspaces}`)}, 'wamid.theirs.' || n,
       'delivered', now(), now() - n * interval '0.5 seconds' from generate_series(1, ${counts.earlyStatuses}) as n`,
  `insert into credit_entries (id, workspace_id, kind, amount, balance_after, note, created_at)
     select gen_random_uuid(), ${id('workspace', `n % ${workspaces}`)}, 'grant', 1, n, 'seed',
       now() - interval '1 hour' - n * interval '1 second' from generate_series(1, ${counts.entries}) as n`,
  `insert into credit_balances (workspace_id, balance)
     select ${id('workspace', 'n')}, ${counts.entries / workspaces} from generate_series(0, ${workspaces - 1}) as n`,
  `insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, type, received_at, recorded_at, content)
     select ${id('inbound', 'n')}, ${id('workspace', `n % ${workspaces}`)}, ${id('sender', `n % ${counts.connections}`)},
       'wamid.in.' || n, 'text', now(), now(), '{}' from generate_series(1, ${counts.files}) as n`,
  `insert into flow_responses (id, workspace_id, message_id, sender_id, response, received_at, created_at)
     select ${id('response', 'n')}, ${id('workspace', `n % ${workspaces}`)}, ${id('inbound', 'n')},
       ${id('sender', `n % ${counts.connections}`)}, '{}', now(), now() from generate_series(1, ${counts.files}) as n`,
  `insert into flow_files (id, workspace_id, response_id, index, sender_id, field, file_name, mime_type, due_at, try_until,
       created_at, state, content, size, chunk_bytes, content_type, fetched_at)
     select gen_random_uuid(), ${id('workspace', `n % ${workspaces}`)}, ${id('response', 'n')}, 0,
       ${id('sender', `n % ${counts.connections}`)}, 'photo', 'a.jpg', 'image/jpeg', now(), now(), now(), 'fetched',
       gen_random_uuid(), 1, 1, 'image/jpeg', now() from generate_series(1, ${counts.files}) as n`,
]

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return Math.round(performance.now() - began)
}

async function measure(db: Database, say: (line: string) => void) {
  say('inserting rows')
  for (const seed of seeds()) await db.change(seed)
  for (const table of ['messages', 'early_statuses', 'credit_entries', 'flow_files'])
    await db.script(`analyze ${table}`)
  const old: Record<string, number> = {}
  for (const [step, text] of Object.entries(before)) {
    const runs = [await timed(() => db.rows(text)), await timed(() => db.rows(text))]
    old[step] = Math.min(...runs)
    say(`before: ${step} ${runs.join(' and ')} ms, in every process`)
  }
  const runtime = newRuntime({ db, clock: systemClock, secretKeys: new Map([['k', randomBytes(32)]]) })
  let slowest = 0
  for (const { name, run } of maintenanceSteps(runtime)) {
    const first = await timed(() => run(db))
    const second = await timed(() => run(db))
    slowest = Math.max(slowest, second)
    say(`now: ${name} ${first} ms the first time, ${second} ms from then on, in one process`)
    if (old[name] !== undefined) old[name] = Math.round(old[name] / Math.max(1, second))
  }
  say(`doctor --ledger, all entries: ${await timed(() => verifyLedger(db))} ms`)
  return { slowest, old }
}

export const scenario = {
  name: 'early-statuses',
  wanted: `each step of the maintenance takes less than ${wantedMs} ms with a million early statuses and a million ledger entries`,
  async run(say: (line: string) => void): Promise<{ figure: string; ok: boolean }> {
    const dataDir = newFolder('parley-early-statuses-')
    const embedded = await openEmbedded({ dataDir, purpose: 'visitor' })
    try {
      await migrate(embedded.connection)
      const db = openDatabase(embedded.connection, () => {}, 3)
      const { slowest, old } = await measure(db, say)
      await db.close()
      const times = Object.entries(old).map(([step, ratio]) => `${step} ${ratio} times faster`)
      return { figure: `slowest step ${slowest} ms; ${times.join(', ')}`, ok: slowest < wantedMs }
    } finally {
      await embedded.close()
      removeFolder(dataDir)
    }
  },
}
