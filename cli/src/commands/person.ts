import { createInterface } from 'node:readline/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Erasure } from '@parley/contract/console/erasures'
import { openObjects } from '@parley/server/domain/files/store'
import { beginErasure, takeErasureStep } from '@parley/server/domain/privacy/erase'
import { requireErasure } from '@parley/server/domain/privacy/erasures'
import { exportPerson } from '@parley/server/domain/privacy/export'
import { silentLogger } from '@parley/server/telemetry/silent-logger'
import { isUserId } from '@parley/server/whatsapp/incoming/user-id'
import { change, commandLine } from '../audit.ts'
import { type Call, type Command, UsageError } from '../command.ts'
import { plural } from '../format.ts'
import { writeJson } from '../print.ts'
import { readWorkspace, workspaceOption } from '../workspace-option.ts'

const personOptions = {
  workspace: workspaceOption('Workspace that exchanged messages with the contact'),
  number: { value: 'NUMBER', help: 'Phone number of the contact, with country code' },
  'user-id': { value: 'ID', help: "Instead of --number: WhatsApp's ID of the contact" },
}

export const commands: readonly Command[] = [
  {
    name: 'person export',
    details:
      'Prints one JSON document, with or without --json: messages with their contents and events, forms with their files in base64, orders, preferences. If the exit status is not 0, it is incomplete.',
    options: personOptions,
    examples: ['person export --workspace ID --number 491701234567 > person.json'],
    async run(call) {
      const person = readPerson(call)
      const workspace = await readWorkspace(call)
      // Whose data it was is not recorded.
      await change(call, (_tx, audit) => audit({ action: 'contact.export', workspaceId: workspace.id }))
      const db = await call.db()
      const objects = await openObjects(db, call.config.objectStore, silentLogger)
      try {
        for await (const piece of exportPerson(db, call.clock, workspace.id, person)) await writeJson(piece)
      } finally {
        objects?.close()
      }
      return undefined
    },
  },
  {
    name: 'person erase',
    details:
      'Removes contents, names, numbers and user IDs, files, and the events that have them; statuses, credits and counts stay. Fails while a message to the contact is still queued. Backups and the receivers of webhooks keep their copies.',
    options: { ...personOptions, yes: { help: 'Do not ask for confirmation' } },
    examples: [
      'person erase --workspace ID --number 491701234567',
      'person erase --user-id US.13491200000000000001 --yes',
    ],
    async run(call) {
      const person = readPerson(call)
      const workspace = await readWorkspace(call)
      const name = 'number' in person ? person.number : person.userId
      if (!call.flag('yes') && !call.flag('json')) await confirm(name, workspace.name)
      const id = await change(call, async (tx, audit) => {
        const workspaceId = workspace.id
        const begun = await beginErasure(tx, call.clock, { workspaceId, person, askedBy: commandLine.name })
        await audit({ action: 'contact.erase', workspaceId, target: begun })
        return begun
      })
      const erasure = await finish(call, id)
      return { lines: linesOf(erasure, workspace.name), json: { account_id: workspace.id, ...erasure } }
    },
  },
]

function readPerson({ option }: Call): { number: string } | { userId: string } {
  const [number, userId] = [option('number'), option('user-id')]
  if ((number === undefined) === (userId === undefined)) throw new UsageError('Pass either --number or --user-id.')
  if (number === undefined) {
    if (isUserId(userId ?? '')) return { userId: userId ?? '' }
    throw new UsageError(`Invalid --user-id "${userId}". Enter an ID of WhatsApp such as US.13491200000000000001.`)
  }
  const digits = number.replaceAll(/^\+|[\s().-]/g, '')
  if (/^[1-9]\d{4,19}$/.test(digits)) return { number: digits }
  throw new UsageError(
    `Invalid --number "${number}". Enter a phone number with its country code, such as 491701234567.`,
  )
}

/** Without a terminal, the line is read from standard input. */
async function confirm(name: string, workspace: string): Promise<void> {
  const input = createInterface({ input: process.stdin, output: process.stderr })
  const question = `Everything that ${workspace} has about ${name} is removed. This cannot be undone.\nType ${name} to confirm: `
  try {
    const typed = await Promise.race([
      input.question(question),
      new Promise<string>((resolve) => input.once('close', () => resolve(''))),
    ])
    if (typed.trim().replace(/^\+/, '') === name) return
  } finally {
    input.close()
  }
  throw new UsageError('Nothing was erased: it was not confirmed. Type the number or user ID, or pass --yes.')
}

/**
 * An event that is being delivered at this moment delays a step, and a message that is queued under another number or user ID of
 * the person delays the end.
 */
const waitMs = 1_000
const waitsMax = 30

/** Takes the steps of the erasure. The service takes them too, if it is running. */
async function finish({ db, clock }: Call, id: string): Promise<Erasure> {
  const log = silentLogger
  for (let waits = 0; waits < waitsMax; ) {
    const step = await takeErasureStep(await db(), clock, log, id)
    if (step === null || step === 'ended') break
    if (step !== 'waits') continue
    waits++
    await sleep(waitMs)
  }
  return requireErasure(await db(), id)
}

const nouns: Readonly<Record<string, string>> = {
  messages: 'sent message',
  inbound_messages: 'received message',
  flow_responses: 'form submission',
  files: 'file',
  orders: 'order',
  events: 'event',
  request_bodies: 'stored API request',
  deliveries: 'undelivered event',
  preferences: 'marketing preference',
  parked_updates: 'parked update',
  network_updates: 'network update',
}

function linesOf({ ended_at, removed }: Erasure, workspace: string): string[] {
  const counts = Object.entries(nouns).flatMap(([kind, noun]) => (removed[kind] ? [plural(removed[kind], noun)] : []))
  if (ended_at === null) {
    return [
      `Erased so far: ${counts.join(', ') || 'nothing'}.`,
      'The rest waits until a queued message to this contact is sent and events about them are delivered. The service continues by itself.',
    ]
  }
  return [counts.length === 0 ? `${workspace} had nothing about this contact.` : `Erased: ${counts.join(', ')}.`]
}
