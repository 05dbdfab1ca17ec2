import type { TemplateStatusData } from '@parley/contract/service-events'
import type { Template, TemplateFilters } from '@parley/contract/template'
import type { Db } from '../../db/db.ts'
import { sha256 } from '../../lib/hash.ts'
import { newUuid, withoutPrefix, withPrefix } from '../../lib/ids.ts'
import type { KeySet } from '../../lib/key-set.ts'
import { refuse } from '../../lib/refuse.ts'
import type { ListedTemplate } from '../../whatsapp/graph/listings.ts'
import type { TemplateChange } from '../../whatsapp/incoming/change.ts'
import { notSendableReason } from '../../whatsapp/outgoing/sendable.ts'
import { templateFlow, templateVariables } from '../../whatsapp/outgoing/variables.ts'
import { publish } from '../deliveries/engine/publish/publish.ts'
import {
  type ChangedTemplate,
  changeTemplates,
  removeTemplates,
  type SendableTemplate,
  type TemplateOwner,
  type TemplateRow,
  templateById,
  templateList,
  templatesById,
  templatesToSend,
  type UsedTemplate,
  upsertTemplates,
  type WantedTemplate,
} from './templates.sql.ts'

export const listTemplates = (
  db: Db,
  workspaceId: string,
  { name, language, status, category }: TemplateFilters,
  page: KeySet,
) => templateList.page<TemplateRow>(db, { workspaceId, name, language, status, category }, page)

export async function getTemplate(db: Db, workspaceId: string, id: string): Promise<Template> {
  const uuid = withoutPrefix('tpl', id)
  const row = uuid && (await templateById(db, workspaceId, uuid))
  return row ? toTemplate(row) : refuse('not_found')
}

export { languagesOf, stoppedTemplates } from './templates.sql.ts'
export type { SendableTemplate, WantedTemplate }

/** Templates that messages were sent with, by id, including removed ones. */
export async function findUsedTemplates(
  db: Db,
  workspaceId: string,
  ids: readonly string[],
): Promise<Map<string, UsedTemplate>> {
  const rows = ids.length === 0 ? [] : await templatesById(db, workspaceId, ids)
  return new Map(rows.map((row) => [row.id, row]))
}

/** The templates that several requests may refer to, in the order of the requests; none for null. */
export async function findTemplatesToSend(
  db: Db,
  wanted: readonly (WantedTemplate | null)[],
): Promise<SendableTemplate[][]> {
  const found = wanted.map((): SendableTemplate[] => [])
  const rows = wanted.flatMap((each, index) => (each ? { index, ...each } : []))
  for (const { index, ...template } of rows.length === 0 ? [] : await templatesToSend(db, { wanted: rows })) {
    found[index]?.push(template)
  }
  return found
}

/**
 * Updates the templates of a connection to WhatsApp's list. A template that is not listed is marked as removed, because
 * messages refer to it. If it is listed again, it keeps its id. Run it in a transaction that has locked the connection.
 * A new template was PENDING before the network decided about it; what the first sync finds is no change.
 */
export async function saveTemplates(
  db: Db,
  owner: TemplateOwner,
  listed: readonly ListedTemplate[],
  now: Date,
  isFirst: boolean,
): Promise<void> {
  const templates = onePerName(listed)
  const rows = templates.map((template) => toNew(template, now))
  const saved = rows.length > 0 ? await upsertTemplates(db, { ...owner, now, listed: rows }) : []
  const removed = await removeTemplates(db, owner, templates, now)
  await publishChanges(db, owner, now, isFirst ? removed : [...saved, ...removed])
  if (saved.length + removed.length > 0) db.notify(owner.workspaceId, 'templates')
}

/** Applies a change reported by the network. False if the template is not known yet. Run it in a transaction. */
export async function changeTemplate(
  db: Db,
  owner: TemplateOwner,
  { statusInfo, rejectedReason, ...change }: TemplateChange,
  now: Date,
): Promise<boolean> {
  const [status, category] = [change.status?.toUpperCase(), change.category?.toUpperCase()]
  const found = await changeTemplates(db, { ...change, ...owner, status, category, rejectedReason, statusInfo, now })
  const reason = statusInfo?.reason ?? rejectedReason
  const changed = found.map((each) => ({ ...each, reason }))
  await publishChanges(db, owner, now, changed)
  if (found.length > 0) db.notify(owner.workspaceId, 'templates')
  return found.length > 0
}

function publishChanges(db: Db, { workspaceId }: TemplateOwner, now: Date, changed: readonly ChangedTemplate[]) {
  const type = 'template.status_changed' as const
  const withNewStatus = changed.filter(({ status, previousStatus }) => status !== previousStatus)
  const events = withNewStatus.map((each) => ({ workspaceId, type, data: toData(each) }))
  return publish(db, now, events)
}

const toData = ({ id, name, language, status, previousStatus, reason }: ChangedTemplate): TemplateStatusData => ({
  template_id: withPrefix('tpl', id),
  name,
  language,
  status,
  previous_status: previousStatus,
  reason,
})

export function toTemplate(row: TemplateRow): Template {
  const reason = notSendableReason({ components: row.components, subCategory: row.sub_category })
  return {
    id: withPrefix('tpl', row.id),
    object: 'template',
    name: row.name,
    language: row.language,
    category: row.category,
    status: row.status,
    sendable: reason === null,
    not_sendable_reason: reason,
    variables: row.variables,
    flow: row.flow,
    components: row.components,
    updated_at: row.updated_at.toISOString(),
  }
}

/** One template for each name and language. While one is being deleted there may be two: the approved one is used. */
function onePerName(listed: readonly ListedTemplate[]): ListedTemplate[] {
  const byName = new Map<string, ListedTemplate>()
  for (const template of listed) {
    const key = `${template.name} ${template.language}`
    if (!byName.has(key) || template.status === 'APPROVED') byName.set(key, template)
  }
  return [...byName.values()]
}

function toNew(template: ListedTemplate, now: Date) {
  // Links to media samples are signed anew for each listing, so they do not count as a change.
  const stableContent = JSON.stringify(template.components, (key, value) =>
    key === 'header_handle' ? undefined : value,
  )
  return {
    ...template,
    id: newUuid(now.getTime()),
    contentDigest: sha256(stableContent).toString('base64'),
    variables: templateVariables(template),
    flow: templateFlow(template),
  }
}
