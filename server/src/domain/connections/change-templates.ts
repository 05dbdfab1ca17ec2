/** What people do to the templates of an account: create, edit and delete them. WhatsApp reviews what is new. */
import {
  asArray,
  asObject,
  type ComponentDraft,
  editableStatuses,
  isNumber,
  type NewTemplate,
  partOf,
  type TemplateDraft,
  type TemplateEdit,
  variablesIn,
} from '@parley/contract/console/template-draft'
import { checkTemplate } from '@parley/contract/console/template-rules'
import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { refuse, refuseIfAny, refuseParam } from '../../lib/refuse.ts'
import type { CallFailure, CallOutcome } from '../../whatsapp/graph/call.ts'
import type { GraphAccess } from '../../whatsapp/graph/client.ts'
import { hideToken } from '../../whatsapp/graph/hide-token.ts'
import { templateErrorFields } from '../../whatsapp/graph/template-errors.ts'
import { requireTemplate, templateNamed, toConsoleTemplate } from '../templates/console.ts'
import { type Connection, listConnections, scheduleSyncOf } from './connections.ts'
import { describeFailure } from './describe-failure.ts'
import type { Network } from './network.ts'
import type { Audit } from './numbers.ts'
import { syncConnection } from './sync.ts'

interface TemplateOfWorkspace {
  workspaceId: string
  /** With its prefix. */
  templateId: string
}

/** Creates a template and submits it for review. No transaction may be open; this is so for all three. */
export async function createTemplate(
  network: Network,
  workspaceId: string,
  { account, ...draft }: NewTemplate,
  audit: Audit,
): Promise<ConsoleTemplate> {
  refuseProblems(draft)
  const { id: connectionId, wabaId } = await chooseConnection(network, workspaceId, account)
  const { name, language, category, components } = draft
  const access = await accessOf(network, connectionId)
  const body = { name, language, category, ...contentOf(components) }
  const isConfirmed = confirmed(await network.client.createTemplate(access, wabaId, body), access)
  const template = await afterSync(network, connectionId, draft)
  const after = { account: wabaId, category, ...textsOf(components), ...isConfirmed.note }
  const target = template?.id ?? null
  const entry = { action: 'template.create', workspaceId, target, targetName: nameOf(draft), after }
  await network.db.transaction((tx) => audit(entry, tx))
  return found(network, connectionId, template, isConfirmed)
}

/** Replaces the components, and the category if it is given, and submits the template for review. */
export async function editTemplate(
  network: Network,
  { workspaceId, templateId }: TemplateOfWorkspace,
  { category, components }: TemplateEdit,
  audit: Audit,
): Promise<ConsoleTemplate> {
  const row = await requireTemplate(network.db, workspaceId, templateId)
  if (!editableStatuses.includes(row.status))
    refuse('conflict', {
      message: `WhatsApp accepts edits of templates that are approved, rejected or paused. This one is ${row.status}.`,
    })
  const isNewCategory = category !== undefined && category !== row.category
  if (isNewCategory && row.status === 'APPROVED')
    refuseParam('category', 'invalid', 'WhatsApp does not change the category of an approved template.')
  refuseProblems({ name: row.name, language: row.language, category: category ?? row.category, components })
  const access = await accessOf(network, row.connection_id)
  const body = { ...(isNewCategory && { category }), ...contentOf(components) }
  const isConfirmed = confirmed(await network.client.editTemplate(access, row.network_template_id, body), access)
  const template = await afterSync(network, row.connection_id, row)
  const before = { ...(isNewCategory && { category: row.category }), ...textsOf(row.components) }
  const after = { ...(isNewCategory && { category }), ...textsOf(components), ...isConfirmed.note }
  const entry = { action: 'template.edit', workspaceId, target: templateId, targetName: nameOf(row), before, after }
  await network.db.transaction((tx) => audit(entry, tx))
  return found(network, row.connection_id, template, isConfirmed)
}

/** Deletes one language of a template. */
export async function deleteTemplate(
  network: Network,
  { workspaceId, templateId }: TemplateOfWorkspace,
  audit: Audit,
): Promise<void> {
  const row = await requireTemplate(network.db, workspaceId, templateId)
  const access = await accessOf(network, row.connection_id)
  const which = { name: row.name, templateId: row.network_template_id }
  const isConfirmed = confirmed(await network.client.deleteTemplate(access, row.account, which), access)
  const entry = { action: 'template.delete', workspaceId, target: templateId, targetName: nameOf(row) }
  await network.db.transaction((tx) => audit({ ...entry, after: isConfirmed.note ?? null }, tx))
  await afterSync(network, row.connection_id, row)
  if (isConfirmed.failure) refuseUnknown(isConfirmed.failure)
}

const nameOf = ({ name, language }: { name: string; language: string }): string => `${name} (${language})`

function refuseProblems(draft: { name: string; language: string; category: string; components: ComponentDraft[] }) {
  refuseIfAny(checkTemplate(draft).map(({ path, message }) => ({ param: path, code: 'invalid', message })))
}

/** WhatsApp has to know whether the variables have names. */
function contentOf(components: TemplateDraft['components']) {
  const texts = [partOf(components, 'HEADER')?.text, partOf(components, 'BODY')?.text]
  const names = texts.flatMap(variablesIn)
  const isNamed = names.some((name) => !isNumber(name))
  return { components, ...(names.length > 0 && { parameter_format: isNamed ? 'NAMED' : 'POSITIONAL' }) }
}

/** The texts of a template, for the audit log. */
function textsOf(components: readonly unknown[]): Record<string, unknown> {
  const buttons = asArray(asObject(partOf(components, 'BUTTONS'))?.buttons).map((each) => asObject(each)?.text)
  const texts = {
    header: partOf(components, 'HEADER')?.text,
    body: partOf(components, 'BODY')?.text,
    footer: partOf(components, 'FOOTER')?.text,
    buttons: buttons.length > 0 ? buttons : undefined,
  }
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined))
}

/** The account of the workspace. It can be left out if there is only one. */
async function chooseConnection({ db }: Network, workspaceId: string, account?: string): Promise<Connection> {
  const connections = await listConnections(db, workspaceId)
  const accounts = [...new Set(connections.map(({ wabaId }) => wabaId))]
  const [chosen] = connections.filter(({ wabaId }) => account === undefined || wabaId === account)
  if (chosen === undefined && account !== undefined)
    return refuseParam('account', 'not_found', `Account ${account.slice(0, 60)} is not connected to this workspace.`)
  if (chosen === undefined)
    return refuseParam('account', 'missing', 'Connect a WhatsApp account first. This workspace has none.')
  if (account === undefined && accounts.length > 1)
    return refuseParam('account', 'missing', `Choose the account: ${accounts.join(', ')}.`)
  return chosen
}

async function accessOf({ vault }: Network, connectionId: string): Promise<GraphAccess> {
  return (await vault.accessFor(connectionId)) ?? refuse('not_found')
}

/** Syncs the account, so that the stored templates are current, and returns the one with this name and language. */
async function afterSync(
  network: Network,
  connectionId: string,
  named: { name: string; language: string },
): Promise<ConsoleTemplate | null> {
  await syncConnection(network, connectionId)
  const row = await templateNamed(network.db, connectionId, named)
  return row ? toConsoleTemplate(row) : null
}

interface Confirmation {
  /** Why it is not known whether WhatsApp did it. */
  failure: string | null
  /** What the audit log says about that. */
  note?: { confirmed: false }
}

/** Refuses what WhatsApp refused, at the field that it is about. */
function confirmed(outcome: CallOutcome<true>, access: GraphAccess): Confirmation {
  if (outcome.kind === 'ok') return { failure: null }
  if (outcome.kind === 'unknown') return { failure: describeFailure(outcome, access), note: { confirmed: false } }
  if (outcome.kind === 'unreachable') refuse('service_unavailable', { message: describeFailure(outcome, access) })
  const { param, words } = readRefusal(outcome)
  return refuseParam(param, 'refused', `WhatsApp rejected it: ${hideToken(words, access.accessToken)}`)
}

function readRefusal({ error, subcode }: Extract<CallFailure, { kind: 'refused' }>): { param: string; words: string } {
  const { code, title, message, details } = error
  const isForPeople = details !== null && title !== message && code === 100
  const words = isForPeople ? `${title}. ${details}` : `${details ?? message} (WhatsApp error ${code})`
  return { param: templateErrorFields.get(subcode ?? 0) ?? 'template', words }
}

/** The template after the sync. If WhatsApp did not respond, or does not list it, people have to look again. */
async function found(
  { db, clock }: Network,
  connectionId: string,
  template: ConsoleTemplate | null,
  { failure }: Confirmation,
): Promise<ConsoleTemplate> {
  if (failure !== null) refuseUnknown(failure)
  if (template !== null) return template
  await scheduleSyncOf(db, clock.now(), connectionId)
  return refuse('service_unavailable', {
    message: 'WhatsApp accepted the template, but does not list it yet. It appears after the next sync, in a minute.',
  })
}

function refuseUnknown(failure: string): never {
  return refuse('service_unavailable', { message: `${failure} Look at the list of templates before you try again.` })
}
