import type { Template, TemplateFilters } from '@parley/contract/template'
import type { Db } from '../../db/db.ts'
import { sha256 } from '../../lib/hash.ts'
import { newUuid, withoutPrefix, withPrefix } from '../../lib/ids.ts'
import type { KeySet } from '../../lib/key-set.ts'
import { refuse } from '../../lib/refuse.ts'
import type { TemplateChange } from '../../whatsapp/incoming-change.ts'
import type { ListedTemplate } from '../../whatsapp/listings.ts'
import { templateFlow, templateVariables } from '../../whatsapp/variables.ts'
import {
  changeTemplates,
  countTemplates,
  type NewTemplate,
  removeTemplates,
  type SendableTemplate,
  type TemplateOwner,
  type TemplateRow,
  templateById,
  templatesById,
  templatesOf,
  templatesToSend,
  type UsedTemplate,
  upsertTemplates,
} from './templates.sql.ts'

export async function listTemplates(
  db: Db,
  workspaceId: string,
  filters: TemplateFilters,
  page: KeySet,
): Promise<{ rows: TemplateRow[]; total: number }> {
  const [rows, total] = await Promise.all([
    templatesOf(db, workspaceId, filters, page),
    countTemplates(db, workspaceId, filters),
  ])
  return { rows, total }
}

export async function getTemplate(db: Db, workspaceId: string, id: string): Promise<Template> {
  const uuid = withoutPrefix('tpl', id)
  const row = uuid && (await templateById(db, workspaceId, uuid))
  return row ? toTemplate(row) : refuse('not_found')
}

export type { SendableTemplate }

/** The templates that messages were made of, by id; also those that are gone. */
export async function findUsedTemplates(
  db: Db,
  workspaceId: string,
  ids: readonly string[],
): Promise<Map<string, UsedTemplate>> {
  const rows = ids.length === 0 ? [] : await templatesById(db, workspaceId, ids)
  return new Map(rows.map((row) => [row.id, row]))
}

/** What a message may mean by a template's id, or by its name and language. */
export const findTemplateToSend = (
  db: Db,
  workspaceId: string,
  { id, name, language }: { id?: string; name?: string; language?: string },
): Promise<SendableTemplate[]> =>
  templatesToSend(db, workspaceId, {
    id: (id !== undefined && withoutPrefix('tpl', id)) || null,
    name: name ?? null,
    language: language ?? null,
  })

/**
 * Makes the templates of a connection those that the network lists. One it lists no more is kept out of sight, for the
 * messages that name it; should it come back, it comes back under its id.
 */
export async function saveTemplates(
  db: Db,
  owner: TemplateOwner,
  listed: readonly ListedTemplate[],
  now: Date,
): Promise<void> {
  const templates = onePerName(listed)
  if (templates.length > 0) {
    await upsertTemplates(
      db,
      owner,
      templates.map((template) => toNew(template, now)),
      now,
    )
  }
  await removeTemplates(db, owner, templates, now)
}

/** Takes over what the network says has changed. False: there is no such template here yet. */
export async function changeTemplate(
  db: Db,
  owner: TemplateOwner,
  { name, language, networkTemplateId, status, category, quality, reason }: TemplateChange,
  now: Date,
): Promise<boolean> {
  const which = { name, language, networkTemplateId }
  const change = {
    status: status?.toUpperCase() ?? null,
    category: category?.toUpperCase() ?? null,
    quality,
    rejectedReason: reason,
  }
  return (await changeTemplates(db, owner, which, change, now)) > 0
}

export const markOf = (row: TemplateRow) => ({ at: row.created_at, id: row.id })

export const toTemplate = (row: TemplateRow): Template => ({
  id: withPrefix('tpl', row.id),
  object: 'template',
  name: row.name,
  language: row.language,
  category: row.category,
  status: row.status,
  variables: row.variables,
  flow: row.flow,
  components: row.components,
  updated_at: row.updated_at.toISOString(),
})

/** A name and language stand for one template; of two, which may be while one is being deleted, the one that can be sent. */
function onePerName(listed: readonly ListedTemplate[]): ListedTemplate[] {
  const byName = new Map<string, ListedTemplate>()
  for (const template of listed) {
    const key = `${template.name} ${template.language}`
    if (!byName.has(key) || template.status === 'APPROVED') byName.set(key, template)
  }
  return [...byName.values()]
}

function toNew(template: ListedTemplate, now: Date): NewTemplate {
  const flow = templateFlow(template)
  const lasting = JSON.stringify(template.components, (key, value) => (key === 'header_handle' ? undefined : value))
  return {
    id: newUuid(now.getTime()),
    networkTemplateId: template.networkTemplateId,
    name: template.name,
    language: template.language,
    category: template.category,
    status: template.status,
    rejectedReason: template.rejectedReason,
    quality: template.quality,
    components: template.components,
    contentDigest: sha256(lasting).toString('base64'),
    variables: templateVariables(template),
    flow,
  }
}
