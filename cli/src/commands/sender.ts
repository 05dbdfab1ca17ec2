import { type BusinessProfile, type ConsoleSender, messagesPerSecond, peopleOf } from '@parley/contract/console/senders'
import type { Database } from '@parley/server/db/db'
import { recordAuditEntry } from '@parley/server/domain/audit/audit'
import { changeNumber, type NumberChange, readBusinessProfile } from '@parley/server/domain/connections/numbers'
import { listForConsole } from '@parley/server/domain/senders/console'
import { locate } from '@parley/server/domain/why/locate'
import { listWorkspaces, type Workspace } from '@parley/server/domain/workspaces/workspaces'
import { StartupError } from '@parley/server/lib/refuse'
import { commandLine } from '../audit.ts'
import type { Call, Command, OptionRule } from '../command.ts'
import { findSender } from '../find-sender.ts'
import { readSecret } from '../read-secret.ts'
import { jsonList, table } from '../table.ts'
import { withNetwork } from '../with-network.ts'
import { readWorkspace, readWorkspaceFilter, workspaceFilter, workspaceOption } from '../workspace-option.ts'

const workspace = { ...workspaceFilter, help: 'Workspace of the number, by ID or name; needed only if several have it' }
const pin = { value: 'PIN', variable: 'PARLEY_PIN', help: 'Two-step PIN of the number: six digits' }
const code = { value: 'CODE', variable: 'PARLEY_CODE', help: 'Code that WhatsApp sent to the number' }

/** The texts of a business profile. */
const profileTexts = {
  about: { value: 'TEXT', help: 'Line below the name, at most 139 characters' },
  address: { value: 'TEXT', help: 'Address, at most 256 characters' },
  description: { value: 'TEXT', help: 'Description, at most 512 characters' },
  email: { value: 'ADDRESS', help: 'Email address' },
  category: { value: 'NAME', help: 'Category such as HEALTH, RESTAURANT or RETAIL' },
} satisfies Record<string, OptionRule>

export const commands: readonly Command[] = [
  {
    name: 'sender list',
    details:
      'Shows what the last sync read. The limit is how many people the business may write to first within 24 hours.',
    options: { workspace: workspaceOption('Workspace of the numbers') },
    examples: ['sender list', 'sender list --workspace "Acme"'],
    async run(call) {
      const { id } = await readWorkspace(call)
      const senders = await listForConsole(await call.db(), id)
      const headings = [
        'ID',
        'NUMBER',
        'NAME',
        'STATUS',
        'QUALITY',
        'THROUGHPUT',
        'LIMIT',
        'NAME STATUS',
        'VERIFIED',
        'PIN',
      ]
      const empty = 'No senders yet. Connect an account with: ./parley connection create --app ID --waba-id ID'
      return { lines: table(headings, senders.map(cellsOf), empty), json: jsonList(senders) }
    },
  },
  {
    name: 'sender register',
    details:
      'If the number has a two-step PIN, enter it. Otherwise choose a PIN, which the number then has. Parley does not store it. WhatsApp allows ten registrations within 72 hours.',
    args: ['SENDER'],
    options: { workspace, pin },
    examples: ['sender register 15550780001 --pin -'],
    run: async (call) =>
      changed(call, { action: 'register', pin: await readSecret(call, 'pin', pin) }, ({ phone_number, status }) => [
        `Registered ${phone_number}. Its status is ${status}.`,
      ]),
  },
  {
    name: 'sender deregister',
    details: 'The number sends and receives nothing until it is registered again, five minutes later at the earliest.',
    args: ['SENDER'],
    options: { workspace, yes: { help: 'Confirm it' } },
    examples: ['sender deregister 15550780001 --yes'],
    async run(call) {
      if (!call.flag('yes'))
        throw new StartupError(
          `${call.args[0]} would send and receive nothing until it is registered again. To deregister it, add --yes.`,
        )
      return changed(call, { action: 'deregister' }, ({ phone_number, status }) => [
        `Deregistered ${phone_number}. Its status is ${status}.`,
      ])
    },
  },
  {
    name: 'sender pin',
    details: 'Replaces the PIN, even if you have forgotten it. Parley does not store it.',
    args: ['SENDER'],
    options: { workspace, pin },
    examples: ['sender pin 15550780001 --pin -'],
    run: async (call) =>
      changed(call, { action: 'pin', pin: await readSecret(call, 'pin', pin) }, ({ phone_number }) => [
        `Set the two-step PIN of ${phone_number}.`,
      ]),
  },
  {
    name: 'sender request-code',
    args: ['SENDER'],
    options: {
      workspace,
      method: { value: 'METHOD', help: 'SMS or VOICE (default: SMS)' },
      language: { value: 'CODE', help: 'Language of the text or call (default: en)' },
    },
    examples: ['sender request-code 15550780001', 'sender request-code 15550780001 --method VOICE --language pt_BR'],
    run(call) {
      const [method, language] = [call.option('method')?.toUpperCase() ?? 'SMS', call.option('language') ?? 'en']
      return changed(call, { action: 'request_code', method, language }, ({ phone_number }) => [
        `WhatsApp ${method === 'SMS' ? 'sends a code by SMS to' : 'calls'} ${phone_number}.`,
        `Enter the code with: ./parley sender verify-code ${phone_number} --code -`,
      ])
    },
  },
  {
    name: 'sender verify-code',
    args: ['SENDER'],
    options: { workspace, code },
    examples: ['sender verify-code 15550780001 --code -'],
    run: async (call) =>
      changed(call, { action: 'verify_code', code: await readSecret(call, 'code', code) }, (sender) => [
        `Verified ${sender.phone_number}.`,
        ...(sender.status === 'CONNECTED'
          ? []
          : [`Register it with: ./parley sender register ${sender.phone_number} --pin -`]),
      ]),
  },
  {
    name: 'sender profile',
    details:
      'Without options it shows the profile. Options replace the fields that they name; an empty text removes one.',
    args: ['SENDER'],
    options: {
      workspace,
      ...profileTexts,
      website: { value: 'URL', repeated: true, help: 'Website; up to two replace all websites' },
    },
    examples: [
      'sender profile 15550780001',
      'sender profile 15550780001 --about "Open 9 to 5" --website https://clinic.example',
    ],
    async run(call) {
      const given = readProfile(call)
      const { workspaceId, sender } = await readSender(call)
      return withNetwork(call, async (network) => {
        const number = { workspaceId, senderId: sender.id }
        const isChange = Object.keys(given).length > 0
        if (isChange) await changeNumber(network, number, { action: 'profile', profile: given }, audit(call))
        const profile = await readBusinessProfile(network, number)
        const lines = isChange ? [`Changed the business profile of ${sender.phone_number}.`] : []
        return { lines: [...lines, ...linesOf(profile)], json: { sender_id: sender.id, ...profile } }
      })
    },
  },
  {
    name: 'sender name',
    details: 'WhatsApp reviews the name. "./parley sender list" shows the current name and the name that is in review.',
    args: ['SENDER'],
    options: { workspace, name: { value: 'NAME', required: true, help: 'Display name that people see' } },
    examples: ['sender name 15550780001 --name "Harbour Clinic"'],
    run: (call) =>
      changed(call, { action: 'name', name: call.option('name') ?? '' }, (sender) => [
        `Requested the display name "${sender.requested_name}" for ${sender.phone_number}. Its status is ${sender.requested_name_status}.`,
      ]),
  },
]

async function readSender(call: Call): Promise<{ workspaceId: string; sender: ConsoleSender }> {
  const name = call.args[0] ?? ''
  const { id: workspaceId } =
    (await readWorkspaceFilter(call)) ?? (await onlyWorkspaceWith(await call.db(), name)) ?? (await readWorkspace(call))
  const db = await call.db()
  const sender = await findSender({ senders: () => listForConsole(db, workspaceId) }, name)
  return { workspaceId, sender }
}

/** The commands that `why` and `doctor` print name a number and no workspace. */
async function onlyWorkspaceWith(db: Database, name: string): Promise<Workspace | undefined> {
  const found: Workspace[] = []
  for (const each of await listWorkspaces(db)) {
    const isHere = (await locate(db.within(each.id), each.id, name))?.kind === 'sender'
    if (isHere) found.push(each)
  }
  return found.length === 1 ? found[0] : undefined
}

const audit =
  ({ clock }: Call): Parameters<typeof changeNumber>[3] =>
  (entry, tx) =>
    recordAuditEntry(tx, clock, commandLine, entry)

/** Changes the number, and describes its sender after that. */
async function changed(call: Call, change: NumberChange, linesOf: (sender: ConsoleSender) => string[]) {
  const { workspaceId, sender } = await readSender(call)
  await withNetwork(call, (network) => changeNumber(network, { workspaceId, senderId: sender.id }, change, audit(call)))
  const { sender: after } = await readSender(call)
  return { lines: linesOf(after), json: after }
}

function readProfile({ option, options }: Call): Partial<BusinessProfile> {
  const texts = Object.keys(profileTexts).flatMap((name) => {
    const text = option(name)
    return text === undefined ? [] : [[name, name === 'category' ? text.toUpperCase() : text]]
  })
  const websites = options('website').filter((url) => url !== '')
  return { ...Object.fromEntries(texts), ...(options('website').length > 0 && { websites }) }
}

const linesOf = ({ about, address, description, email, category, websites }: BusinessProfile): string[] =>
  [
    ['About', about],
    ['Address', address],
    ['Description', description],
    ['Email', email],
    ['Category', category],
    ...(websites.length > 0 ? websites : ['']).map((url) => ['Website', url]),
  ].map(([name = '', text]) => `${name.padEnd(13)}${text || 'not set'}`)

function cellsOf(sender: ConsoleSender): string[] {
  const perSecond = messagesPerSecond[sender.throughput ?? '']
  const people = peopleOf(sender.messaging_limit)
  const { requested_name: requested, requested_name_status: requestedStatus } = sender
  const isOpen = requested !== null && requested !== sender.display_name
  return [
    sender.id,
    sender.phone_number,
    sender.display_name ?? '',
    sender.status,
    sender.quality_rating,
    perSecond === undefined ? (sender.throughput ?? '') : `${perSecond} a second`,
    people === null ? (sender.messaging_limit ?? '') : `${people === Number.POSITIVE_INFINITY ? 'unlimited' : people}`,
    `${sender.name_status ?? ''}${isOpen ? ` ("${requested}": ${requestedStatus})` : ''}`,
    sender.verification_status ?? '',
    sender.has_pin === null ? '' : sender.has_pin ? 'yes' : 'no',
  ]
}
