import { setTimeout as sleep } from 'node:timers/promises'
import { asArray, asObject, draftOf, type TemplateDraft } from '@parley/contract/console/template-draft'
import { rejectionOf } from '@parley/contract/console/template-review'
import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { recordAuditEntry } from '@parley/server/domain/audit/audit'
import { createTemplate, deleteTemplate, editTemplate } from '@parley/server/domain/connections/change-templates'
import type { Network } from '@parley/server/domain/connections/network'
import { syncConnection } from '@parley/server/domain/connections/sync'
import { requireTemplate, templates, toConsoleTemplate } from '@parley/server/domain/templates/console'
import { StartupError } from '@parley/server/lib/refuse'
import { commandLine } from '../audit.ts'
import { type Call, type Command, type CommandResult, UsageError } from '../command.ts'
import { newProgress } from '../progress.ts'
import { jsonList, table } from '../table.ts'
import { draftOptions, readDraft, requireValid } from '../template-draft.ts'
import { withNetwork } from '../with-network.ts'
import { readWorkspace, workspaceOption } from '../workspace-option.ts'

const workspace = workspaceOption('Workspace of the template')
const wait = { help: 'Wait until the review is over, and print the verdict' }
const named = 'TEMPLATE is its name, NAME:LANGUAGE or its ID.'

export const commands: readonly Command[] = [
  {
    name: 'template list',
    details: 'Shows what the last sync or notice of WhatsApp said.',
    options: {
      workspace: workspaceOption('Workspace of the templates'),
      status: { value: 'STATUS', help: 'Only those with this status, such as REJECTED' },
    },
    examples: ['template list', 'template list --status REJECTED'],
    async run(call) {
      const status = call.option('status')?.toUpperCase()
      const found = (await readTemplates(call)).filter((each) => status === undefined || each.status === status)
      const rows = found.map((each) => [
        each.id,
        each.name,
        each.language,
        each.category,
        each.status,
        each.quality ?? '',
        rejectionOf(each)?.reason ?? each.status_info?.reason ?? '',
      ])
      const headings = ['ID', 'NAME', 'LANGUAGE', 'CATEGORY', 'STATUS', 'QUALITY', 'REASON']
      const empty =
        'No templates. Create one with: ./parley template create --name NAME --language en --category UTILITY --body TEXT'
      return { lines: table(headings, rows, empty), json: jsonList(found) }
    },
  },
  {
    name: 'template show',
    details: `${named} With --json it is a file that "template edit --file" accepts, unless it is an authentication template, whose text is WhatsApp's own.`,
    args: ['TEMPLATE'],
    options: { workspace },
    examples: ['template show order_ready', 'template show order_ready:es --json'],
    run: async (call) => shown(await findTemplate(call)),
  },
  {
    name: 'template create',
    details:
      'Submits it to WhatsApp for review. WhatsApp’s rules are checked first, and every problem is listed with its path. Buttons and media headers come from a file. Options replace what the file has.',
    options: {
      workspace: workspaceOption('Workspace that gets the template'),
      account: { value: 'ID', help: 'WhatsApp account (WABA ID), if the workspace has more than one' },
      name: { value: 'NAME', help: 'Name: lower-case letters, digits and underscores' },
      language: { value: 'CODE', help: 'Language such as en_US or es' },
      ...draftOptions,
      wait,
    },
    examples: [
      'template create --name order_ready --language en --category UTILITY --body "Hi {{1}}, your order is ready." --example 1=Ana --wait',
      'template create --file order_ready.json',
    ],
    async run(call) {
      const draft = requireValid(await readDraft(call, { name: '', language: '', category: 'UTILITY', components: [] }))
      const { id: workspaceId } = await readWorkspace(call)
      const account = call.option('account')
      const input = { ...draft, ...(account !== undefined && { account }) }
      return submitted(call, workspaceId, (network) => createTemplate(network, workspaceId, input, audit(call)))
    },
  },
  {
    name: 'template edit',
    details: `${named} Only what the options name changes; an empty --header or --footer removes it. WhatsApp accepts edits of approved, rejected and paused templates, and reviews them again. The category of an approved one stays, and it can be edited once within 24 hours and ten times within 30 days.`,
    args: ['TEMPLATE'],
    options: { workspace, ...draftOptions, wait },
    examples: [
      'template edit order_ready --body "Dear {{1}}, your order is ready." --wait',
      'template edit order_ready --file order_ready.json',
    ],
    async run(call) {
      if (Object.keys(draftOptions).every((name) => call.options(name).length === 0))
        throw new UsageError('Nothing to change. Pass --file, --body or another option.')
      const template = await findTemplate(call)
      const { name, language } = template
      const draft: TemplateDraft = { ...(await readDraft(call, draftOf(template))), name, language }
      const { category, components } = requireValid(draft)
      const { id: workspaceId } = await readWorkspace(call)
      const place = { workspaceId, templateId: template.id }
      return submitted(call, workspaceId, (network) =>
        editTemplate(network, place, { category, components }, audit(call)),
      )
    },
  },
  {
    name: 'template delete',
    details: `${named} Other languages of the name stay. WhatsApp keeps the name of a deleted approved template for 30 days.`,
    args: ['TEMPLATE'],
    options: { workspace, yes: { help: 'Confirm it' } },
    examples: ['template delete order_ready --yes'],
    async run(call) {
      const template = await findTemplate(call)
      const { id, name, language } = template
      if (!call.flag('yes'))
        throw new StartupError(`${name} (${language}) could not be sent any more. To delete it, add --yes.`)
      const { id: workspaceId } = await readWorkspace(call)
      await withNetwork(call, (network) => deleteTemplate(network, { workspaceId, templateId: id }, audit(call)))
      return { lines: [`Deleted the template ${name} (${language}).`], json: { id, deleted: true } }
    },
  },
]

const audit =
  ({ clock }: Call): Parameters<typeof createTemplate>[3] =>
  (entry, tx) =>
    recordAuditEntry(tx, clock, commandLine, entry)

/** More templates than WhatsApp allows for an account. */
const all = { take: 10_000, after: null, order: 'asc' } as const

async function readTemplates(call: Call): Promise<ConsoleTemplate[]> {
  const { id } = await readWorkspace(call)
  return (await templates.rows(await call.db(), id, {}, all)).map(templates.toItem)
}

async function findTemplate(call: Call): Promise<ConsoleTemplate> {
  const text = call.args[0] ?? ''
  const [name, language] = text.split(':', 2)
  const known = await readTemplates(call)
  const found = known.filter(
    (each) => each.id === text || (each.name === name && (language === undefined || each.language === language)),
  )
  const [first, second] = found
  if (!first) throw new UsageError(`Template "${text}" not found. Run "./parley template list" to see all templates.`)
  if (!second) return first
  const choices = found.map((each) => `${each.name}:${each.language} (${each.id})`).join(', ')
  throw new UsageError(`"${text}" is the name of several templates. Choose one of ${choices}.`)
}

async function submitted(
  call: Call,
  workspaceId: string,
  submit: (network: Network) => Promise<ConsoleTemplate>,
): Promise<CommandResult> {
  return withNetwork(call, async (network) => {
    const template = await submit(network)
    const done = `Submitted the template ${template.name} (${template.language}) for review.`
    if (!call.flag('wait')) {
      const hint = `See the verdict with: ./parley template show ${template.name}:${template.language}`
      return { lines: [done, `ID: ${template.id}`, `Status: ${template.status}.`, hint], json: template }
    }
    const reviewed = await waitForReview(call, network, workspaceId, template)
    const { lines, json } = shown(reviewed)
    return { lines: [done, ...lines], json, failed: reviewed.status !== 'APPROVED' }
  })
}

/** The longest time between two syncs. The notices of WhatsApp arrive earlier, if the service is running. */
const longestWaitMs = 60_000

async function waitForReview(
  call: Call,
  network: Network,
  workspaceId: string,
  { id, status }: ConsoleTemplate,
): Promise<ConsoleTemplate> {
  const progress = newProgress()
  if (status === 'PENDING') progress.say('Waiting for the review of WhatsApp, which can take a day')
  try {
    for (let waitMs = 1000, syncIn = waitMs; ; await sleep(1000, undefined, { signal: call.stopped })) {
      const row = await requireTemplate(network.db, workspaceId, id)
      if (row.status !== 'PENDING') return toConsoleTemplate(row)
      syncIn -= 1000
      if (syncIn > 0) continue
      await syncConnection(network, row.connection_id)
      waitMs = Math.min(longestWaitMs, waitMs * 2)
      syncIn = waitMs
    }
  } finally {
    progress.end()
  }
}

/** The template, and why it was rejected. */
function shown(template: ConsoleTemplate): CommandResult {
  const { id, name, language, category, status, components, account, quality, status_info } = template
  const rejection = rejectionOf(template)
  const lines = [
    `${name} (${language}), ${category}`,
    `ID: ${id}`,
    `Account: ${account}`,
    `Status: ${status}${quality ? `, quality ${quality}` : ''}.`,
    ...(rejection
      ? [
          `Reason: ${rejection.reason}${template.rejected_reason ? ` (${template.rejected_reason})` : ''}`,
          `Part: ${rejection.part ?? 'unknown; WhatsApp does not say which'}`,
          ...(rejection.remedy ? [`What to do: ${rejection.remedy}`] : []),
          ...rejection.problems.map(({ path, message }) => `${path}: ${message}`),
        ]
      : status_info?.reason
        ? [`Reason: ${status_info.reason}`]
        : []),
    '',
    ...components.flatMap(linesOf),
  ]
  return { lines, json: rejection ? { ...template, rejection } : template }
}

function linesOf(component: unknown): string[] {
  const part = asObject(component)
  const text = typeof part?.text === 'string' ? part.text : (part?.format ?? '')
  const buttons = asArray(part?.buttons).map((each) => `  [${asObject(each)?.text ?? asObject(each)?.type}]`)
  return buttons.length > 0 ? buttons : `${text}`.split('\n').map((line) => `  ${line}`)
}
