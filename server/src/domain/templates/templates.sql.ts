import type { TemplateFlow, TemplateVariable } from '@parley/contract/template'
import type { Db } from '../../db/db.ts'
import { pagedStatement, statement } from '../../db/statement.ts'

export interface TemplateRow {
  id: string
  name: string
  language: string
  category: string
  sub_category: string | null
  status: string
  variables: TemplateVariable[]
  flow: TemplateFlow | null
  components: unknown[]
  created_at: Date
  updated_at: Date
}

export const templateColumns =
  'id, name, language, category, sub_category, status, variables, flow, components, created_at, updated_at'

export const templateList = pagedStatement(
  { workspaceId: 'uuid', name: 'text', language: 'text', status: 'text', category: 'text' },
  ({ workspaceId, name, language, status, category }) => `select ${templateColumns} from templates
     where workspace_id = ${workspaceId} and removed_at is null and (${name} is null or name = ${name})
       and (${language} is null or language = ${language}) and (${status} is null or status = ${status})
       and (${category} is null or category = ${category})`,
)

export const templateById = (db: Db, workspaceId: string, id: string): Promise<TemplateRow | undefined> =>
  db.first(`select ${templateColumns} from templates where workspace_id = $1 and id = $2 and removed_at is null`, [
    workspaceId,
    id,
  ])

export type UsedTemplate = Pick<TemplateRow, 'id' | 'name' | 'language' | 'category' | 'status' | 'components'>

/** Includes removed templates, because messages refer to them. */
export const templatesById = (db: Db, workspaceId: string, ids: readonly string[]): Promise<UsedTemplate[]> =>
  db.rows(
    'select id, name, language, category, status, components from templates where workspace_id = $1 and id = any($2::uuid[])',
    [workspaceId, ids],
  )

/** Templates that WhatsApp has paused or disabled, at most 100. */
export const stoppedTemplates = (db: Db) =>
  db.rows<{ workspaceId: string; name: string; language: string; status: string }>(
    `select workspace_id as "workspaceId", name, language, status from templates
     where status in ('PAUSED', 'DISABLED') and removed_at is null order by workspace_id, name, language limit 100`,
  )

export interface SendableTemplate {
  id: string
  connectionId: string
  name: string
  language: string
  category: string
  subCategory: string | null
  status: string
  components: unknown[]
}

/**
 * For each row of `wanted`, by its index: the templates with this id, or with this name and language. Several accounts of a
 * workspace may have a template with the same name.
 */
export const templatesToSend = statement(
  { wanted: { index: 'int', workspaceId: 'uuid', templateId: 'uuid', name: 'text', language: 'text' } },
  ({ wanted }) => `select wanted.index, t.id, t.connection_id as "connectionId", t.name, t.language, t.category,
       t.sub_category as "subCategory", t.status, t.components
     from ${wanted} cross join lateral (
       select * from templates t where t.workspace_id = wanted.workspace_id and t.removed_at is null
         and (t.id = wanted.template_id
           or wanted.template_id is null and t.name = wanted.name and t.language = wanted.language) offset 0) as t
     order by wanted.index, t.created_at, t.id`,
).rows<SendableTemplate & { index: number }>

export interface WantedTemplate {
  workspaceId: string
  templateId: string | null
  name: string | null
  language: string | null
}

/** The languages of the templates with this name, of one account or of all. */
export const languagesOf = (db: Db, workspaceId: string, name: string, connectionId: string | null) =>
  db.rows<{ language: string }>(
    `select distinct language from templates where workspace_id = $1 and name = $2 and removed_at is null
       and ($3::uuid is null or connection_id = $3) order by language`,
    [workspaceId, name, connectionId],
  )

export interface TemplateOwner {
  workspaceId: string
  connectionId: string
}

/** A changed template. Its status may be the previous one. */
export interface ChangedTemplate {
  id: string
  name: string
  language: string
  status: string
  previousStatus: string
  reason: string | null
}

/** The status in the API: a template that WhatsApp does not list is deleted. */
const shownStatus = `case when t.removed_at is null then t.status else 'DELETED' end`

/**
 * Inserts new templates and updates changed ones. Returns both; the previous status of a new template is PENDING.
 * `updated_at` changes only if category, status or content do. The caller has locked the connection, so nothing changes
 * after `before` was read.
 */
export const upsertTemplates = statement(
  {
    workspaceId: 'uuid',
    connectionId: 'uuid',
    now: 'timestamptz',
    listed: {
      id: 'uuid',
      networkTemplateId: 'text',
      name: 'text',
      language: 'text',
      category: 'text',
      subCategory: 'text',
      status: 'text',
      rejectedReason: 'text',
      quality: 'text',
      components: 'json',
      contentDigest: 'text',
      variables: 'json',
      flow: 'json',
    },
  },
  ({ workspaceId, connectionId, now, listed }) =>
    `with before as materialized (
       select t.id, ${shownStatus} as status from templates t where t.connection_id = ${connectionId}
     ), c as (
     insert into templates as t (${listed.columns}, workspace_id, connection_id, created_at, updated_at)
     select listed.*, ${workspaceId}, ${connectionId}, ${now}, ${now} from ${listed}
     order by listed.name, listed.language
     on conflict (connection_id, name, language) do update set
       network_template_id = excluded.network_template_id, category = excluded.category,
       sub_category = excluded.sub_category, status = excluded.status, rejected_reason = excluded.rejected_reason, quality = excluded.quality, components = excluded.components,
       content_digest = excluded.content_digest, variables = excluded.variables, flow = excluded.flow, removed_at = null,
       status_info = case when t.status = excluded.status then t.status_info end,
       updated_at = case
         when (t.category, t.sub_category, t.status, t.content_digest, t.removed_at) is distinct from
           (excluded.category, excluded.sub_category, excluded.status, excluded.content_digest, null::timestamptz)
         then excluded.updated_at else t.updated_at end
     where (t.network_template_id, t.category, t.sub_category, t.status, t.rejected_reason, t.quality, t.components::text,
         t.variables::text, t.flow::text, t.removed_at) is distinct from
       (excluded.network_template_id, excluded.category, excluded.sub_category, excluded.status, excluded.rejected_reason, excluded.quality,
         excluded.components::text, excluded.variables::text, excluded.flow::text, null::timestamptz)
     returning t.id, t.name, t.language, t.status, t.rejected_reason
     )
     select c.id, c.name, c.language, c.status, coalesce(before.status, 'PENDING') as "previousStatus",
       c.rejected_reason as reason
     from c left join before on before.id = c.id order by c.id`,
).rows<ChangedTemplate>

/** Returns the removed templates. */
export const removeTemplates = (
  db: Db,
  { workspaceId, connectionId }: TemplateOwner,
  listed: readonly { name: string; language: string }[],
  now: Date,
): Promise<ChangedTemplate[]> =>
  db.rows(
    `with removed as (
       update templates set removed_at = $5, updated_at = $5
       where workspace_id = $1 and connection_id = $2 and removed_at is null
         and (name, language) not in (select * from unnest($3::text[], $4::text[]))
       returning id, name, language, status
     )
     select id, name, language, 'DELETED' as status, status as "previousStatus", null as reason
     from removed order by id`,
    [workspaceId, connectionId, listed.map(({ name }) => name), listed.map(({ language }) => language), now],
  )

/**
 * Null keeps the current value. Finds the template by name and language or, if they are missing, by the network's id.
 * Returns the templates that it found.
 */
export const changeTemplates = statement(
  {
    workspaceId: 'uuid',
    connectionId: 'uuid',
    name: 'text',
    language: 'text',
    networkTemplateId: 'text',
    status: 'text',
    category: 'text',
    quality: 'text',
    rejectedReason: 'text',
    statusInfo: 'json',
    now: 'timestamptz',
  },
  (values) => `with before as materialized (
       select t.id, t.status from templates t
       where t.workspace_id = ${values.workspaceId} and t.connection_id = ${values.connectionId} and t.removed_at is null
         and (t.name = ${values.name} and t.language = ${values.language}
           or (${values.name} is null or ${values.language} is null)
             and t.network_template_id = ${values.networkTemplateId})
       order by t.id for update
     ), c as (
     update templates t set status = coalesce(${values.status}, t.status), category = coalesce(${values.category}, t.category),
       quality = coalesce(${values.quality}, t.quality),
       rejected_reason = case when ${values.status} is null then t.rejected_reason else ${values.rejectedReason} end,
       status_info = case when ${values.status} is null then t.status_info else ${values.statusInfo} end,
       updated_at = case
         when (t.status, t.category) is distinct from
           (coalesce(${values.status}, t.status), coalesce(${values.category}, t.category))
         then ${values.now} else t.updated_at end
     from before where t.id = before.id
     returning t.id, t.name, t.language, t.status, t.rejected_reason
     )
     select c.id, c.name, c.language, c.status, before.status as "previousStatus", c.rejected_reason as reason
     from c join before on before.id = c.id order by c.id`,
).rows<ChangedTemplate>
