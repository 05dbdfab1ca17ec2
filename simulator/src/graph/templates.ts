import { newObjectId } from '../ids.ts'
import { type Json, textIn, toText } from '../json.ts'
import { refuse, refuseParameter } from '../network/errors.ts'
import { notifyTemplateComponents, notifyTemplateStatus, scheduleReview } from '../network/templates.ts'
import type { Template, Waba } from '../world.ts'
import { type Call, edge } from './call.ts'
import { pageOf, pick, requestedFields } from './listing.ts'
import { readCategory, readComponents, readNewTemplate } from './template-new.ts'
import { refuseTemplate } from './template-refusals.ts'

export const templateEdges = [
  edge('GET', 'waba', 'message_templates', listTemplates),
  edge('POST', 'waba', 'message_templates', createTemplate),
  edge('DELETE', 'waba', 'message_templates', deleteTemplates),
  edge('POST', 'template', null, editTemplate),
  edge('GET', 'template', null, (call, template) =>
    pick(templateNode(template), requestedFields(call) ?? defaultFields),
  ),
]

const defaultFields = [
  'name',
  'parameter_format',
  'components',
  'language',
  'status',
  'category',
  'sub_category',
  'previous_category',
]

function listTemplates(call: Call, waba: Waba): unknown {
  const fields = requestedFields(call) ?? defaultFields
  const all = [...call.network.world.templates.values()].filter((template) => template.wabaId === waba.id)
  const rows = all.filter((template) => matches(call, template)).map((template) => pick(templateNode(template), fields))
  const page = pageOf(call, `${waba.id}/message_templates`, rows)
  if (call.query.summary === undefined) return page
  return {
    ...page,
    summary: { total_count: rows.length, message_template_count: all.length, message_template_limit: 6000 },
  }
}

/** `name` and `content` match a part of the text; the other filters take a comma-separated or JSON list. */
function matches({ query }: Call, template: Template): boolean {
  const body = JSON.stringify(template.components.map((component) => component.text ?? ''))
  const contains = (filter: string | undefined, text: string) => filter === undefined || text.includes(filter)
  const oneOf = (filter: string | undefined, value: string) =>
    filter === undefined ||
    filter
      .replaceAll(/[[\]"\s]/g, '')
      .split(',')
      .includes(value)
  return (
    contains(query.name, template.name) &&
    contains(query.content, body) &&
    contains(query.name_or_content, `${template.name} ${body}`) &&
    oneOf(query.status, template.status) &&
    oneOf(query.category, template.category) &&
    oneOf(query.language, template.language) &&
    oneOf(query.quality_score, template.qualityScore)
  )
}

function templateNode(template: Template): Json {
  return {
    id: template.id,
    name: template.name,
    parameter_format: template.parameterFormat,
    components: template.components,
    language: template.language,
    status: template.status,
    category: template.category,
    sub_category: template.subCategory ?? undefined,
    previous_category: undefined,
    quality_score: { score: template.qualityScore, date: Math.floor(new Date(template.createdAt).getTime() / 1000) },
    rejected_reason: template.rejectedReason,
    message_send_ttl_seconds: undefined,
    correct_category: undefined,
    cta_url_link_tracking_opted_out: undefined,
    library_template_name: undefined,
    last_updated_time: template.createdAt,
  }
}

/** A new template is PENDING until the simulated review. */
function createTemplate(call: Call, waba: Waba): unknown {
  const { network } = call
  const input = readNewTemplate(network.world, waba.id, call.body)
  const template: Template = {
    ...input,
    id: newObjectId(7),
    wabaId: waba.id,
    status: 'PENDING',
    rejectedReason: 'NONE',
    qualityScore: 'UNKNOWN',
    createdAt: network.timers.now().toISOString(),
  }
  network.world.templates.set(template.id, template)
  network.changed()
  scheduleReview(network, template)
  return { id: template.id, status: template.status, category: template.category }
}

const dayMs = 24 * 3_600_000

/**
 * Replaces the category or all components, and reviews the template again. An approved template can be edited once within 24
 * hours and 10 times within 30 days; a rejected or paused one as often as wanted.
 */
function editTemplate(call: Call, template: Template): unknown {
  const { network, body } = call
  const wasApproved = template.status === 'APPROVED'
  if (!wasApproved && template.status !== 'REJECTED' && template.status !== 'PAUSED') refuseTemplate('status')
  const category =
    body.category === undefined ? template.category : readCategory(textIn(body, 'category')?.toUpperCase())
  if (wasApproved && category !== template.category) refuseTemplate('category')
  const now = network.timers.now().getTime()
  const edits = (template.edits ?? []).filter((at) => now - Date.parse(at) < 30 * dayMs)
  if (wasApproved && (edits.length >= 10 || edits.some((at) => now - Date.parse(at) < dayMs))) refuseTemplate('edits')
  const content = body.components === undefined ? {} : readComponents(body, category)
  Object.assign(template, content, { category, status: 'PENDING', rejectedReason: 'NONE' })
  template.edits = wasApproved ? [...edits, new Date(now).toISOString()] : edits
  if (body.components !== undefined) notifyTemplateComponents(network, template)
  network.changed()
  scheduleReview(network, template)
  return { success: true }
}

/** Deletes all languages of a name, or with `hsm_id` only the template with that ID. */
function deleteTemplates(call: Call, waba: Waba): unknown {
  const { name, hsm_id: id } = { ...call.query, ...call.body } as Record<string, unknown>
  if (typeof name !== 'string' || name === '') return refuseParameter('The parameter name is required.')
  const { templates } = call.network.world
  const deleted = [...templates.values()].filter(
    (template) =>
      template.wabaId === waba.id && template.name === name && (id === undefined || template.id === toText(id)),
  )
  if (deleted.length === 0) refuse(100, `Message template "${name}" was not found.`)
  for (const template of deleted) {
    templates.delete(template.id)
    template.status = 'DELETED'
    notifyTemplateStatus(call.network, template, { status: 'PENDING_DELETION', reason: 'NONE' })
  }
  call.network.changed()
  return { success: true }
}
