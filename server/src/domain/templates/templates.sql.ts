import type { TemplateFilters, TemplateFlow, TemplateVariable } from '@parley/contract/template'
import type { Db } from '../../db/db.ts'
import { type KeySet, keySetClause, keySetValues } from '../../lib/key-set.ts'

export interface TemplateRow {
  id: string
  name: string
  language: string
  category: string
  status: string
  variables: TemplateVariable[]
  flow: TemplateFlow | null
  components: unknown[]
  created_at: Date
  updated_at: Date
}

const columns = 'id, name, language, category, status, variables, flow, components, created_at, updated_at'

const shown = `workspace_id = $1 and removed_at is null and ($2::text is null or name = $2)
  and ($3::text is null or language = $3) and ($4::text is null or status = $4) and ($5::text is null or category = $5)`

const shownValues = (workspaceId: string, { name, language, status, category }: TemplateFilters) => [
  workspaceId,
  name ?? null,
  language ?? null,
  status ?? null,
  category ?? null,
]

export const templatesOf = (
  db: Db,
  workspaceId: string,
  filters: TemplateFilters,
  page: KeySet,
): Promise<TemplateRow[]> =>
  db.rows(`select ${columns} from templates where ${shown} ${keySetClause(page, 6)}`, [
    ...shownValues(workspaceId, filters),
    ...keySetValues(page),
  ])

export async function countTemplates(db: Db, workspaceId: string, filters: TemplateFilters): Promise<number> {
  const row = await db.first<{ total: number }>(
    `select count(*) as total from templates where ${shown}`,
    shownValues(workspaceId, filters),
  )
  return row?.total ?? 0
}

export const templateById = (db: Db, workspaceId: string, id: string): Promise<TemplateRow | undefined> =>
  db.first(`select ${columns} from templates where workspace_id = $1 and id = $2 and removed_at is null`, [
    workspaceId,
    id,
  ])

export interface SendableTemplate {
  id: string
  connectionId: string
  name: string
  language: string
  category: string
  status: string
  components: unknown[]
}

/** By id, or by name and language; accounts of one workspace may each have a template of that name. */
export const templatesToSend = (
  db: Db,
  workspaceId: string,
  { id, name, language }: { id: string | null; name: string | null; language: string | null },
): Promise<SendableTemplate[]> =>
  db.rows(
    `select id, connection_id as "connectionId", name, language, category, status, components from templates
     where workspace_id = $1 and removed_at is null and (id = $2 or $2::uuid is null and name = $3 and language = $4)
     order by created_at, id`,
    [workspaceId, id, name, language],
  )

export interface TemplateOwner {
  workspaceId: string
  connectionId: string
}

export interface NewTemplate {
  id: string
  networkTemplateId: string
  name: string
  language: string
  category: string
  status: string
  rejectedReason: string | null
  quality: string | null
  /** As JSON text, as are `variables` and `flow`. */
  components: string
  contentDigest: string
  variables: string
  flow: string | null
}

/** Stores what is new and changes what differs; `updated_at` moves when something that people see is another. */
export const upsertTemplates = (
  db: Db,
  { workspaceId, connectionId }: TemplateOwner,
  templates: readonly NewTemplate[],
  now: Date,
): Promise<number> =>
  db.change(
    `insert into templates as t (id, workspace_id, connection_id, network_template_id, name, language, category, status,
       rejected_reason, quality, components, content_digest, variables, flow, created_at, updated_at)
     select n.id, $1, $2, n.network_template_id, n.name, n.language, n.category, n.status, n.rejected_reason, n.quality,
       n.components::json, n.content_digest, n.variables::json, n.flow::json, $3, $3
     from unnest($4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[],
       $12::text[], $13::text[], $14::text[], $15::text[]) as n(id, network_template_id, name, language, category, status,
       rejected_reason, quality, components, content_digest, variables, flow)
     order by n.name, n.language
     on conflict (connection_id, name, language) do update set
       network_template_id = excluded.network_template_id, category = excluded.category, status = excluded.status,
       rejected_reason = excluded.rejected_reason, quality = excluded.quality, components = excluded.components,
       content_digest = excluded.content_digest, variables = excluded.variables, flow = excluded.flow, removed_at = null,
       updated_at = case
         when (t.category, t.status, t.content_digest, t.removed_at) is distinct from
           (excluded.category, excluded.status, excluded.content_digest, null::timestamptz)
         then excluded.updated_at else t.updated_at end
     where (t.network_template_id, t.category, t.status, t.rejected_reason, t.quality, t.components::text,
         t.variables::text, t.flow::text, t.removed_at) is distinct from
       (excluded.network_template_id, excluded.category, excluded.status, excluded.rejected_reason, excluded.quality,
         excluded.components::text, excluded.variables::text, excluded.flow::text, null::timestamptz)`,
    [
      workspaceId,
      connectionId,
      now,
      templates.map((template) => template.id),
      templates.map((template) => template.networkTemplateId),
      templates.map((template) => template.name),
      templates.map((template) => template.language),
      templates.map((template) => template.category),
      templates.map((template) => template.status),
      templates.map((template) => template.rejectedReason),
      templates.map((template) => template.quality),
      templates.map((template) => template.components),
      templates.map((template) => template.contentDigest),
      templates.map((template) => template.variables),
      templates.map((template) => template.flow),
    ],
  )

export const removeTemplates = (
  db: Db,
  { workspaceId, connectionId }: TemplateOwner,
  listed: readonly { name: string; language: string }[],
  now: Date,
): Promise<number> =>
  db.change(
    `update templates set removed_at = $5, updated_at = $5
     where workspace_id = $1 and connection_id = $2 and removed_at is null
       and (name, language) not in (select * from unnest($3::text[], $4::text[]))`,
    [workspaceId, connectionId, listed.map(({ name }) => name), listed.map(({ language }) => language), now],
  )

/** What is null stays as it is. A template is found by its name and language, or by the network's id for want of them. */
export const changeTemplates = (
  db: Db,
  { workspaceId, connectionId }: TemplateOwner,
  which: { name: string | null; language: string | null; networkTemplateId: string | null },
  change: { status: string | null; category: string | null; quality: string | null; rejectedReason: string | null },
  now: Date,
): Promise<number> =>
  db.change(
    `update templates set status = coalesce($6, status), category = coalesce($7, category),
       quality = coalesce($8, quality), rejected_reason = case when $6::text is null then rejected_reason else $9 end,
       updated_at = case when (status, category) is distinct from (coalesce($6, status), coalesce($7, category))
         then $10 else updated_at end
     where workspace_id = $1 and connection_id = $2 and removed_at is null
       and (name = $3 and language = $4 or ($3 is null or $4 is null) and network_template_id = $5)`,
    [
      workspaceId,
      connectionId,
      which.name,
      which.language,
      which.networkTemplateId,
      change.status,
      change.category,
      change.quality,
      change.rejectedReason,
      now,
    ],
  )
