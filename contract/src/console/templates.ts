import { type Static, Type } from 'typebox'
import { Moment } from '../formats.ts'
import { nullable, TemplateId } from '../ids.ts'
import { Template, templateCategories, templateStatuses } from '../template.ts'
import { consolePageQuery, severalIds, severalLike, severalOf } from './list.ts'

/** A template as the console shows it, with WhatsApp's review and quality rating. */
export const ConsoleTemplate = Type.Object({
  ...Template.properties,
  /** WhatsApp's code, such as `INVALID_FORMAT`. */
  rejected_reason: nullable(Type.String()),
  /** WhatsApp's words about its status: why it was rejected or paused, and what to do. `rejectionOf` reads both. */
  status_info: nullable(Type.Object({ reason: nullable(Type.String()), recommendation: nullable(Type.String()) })),
  quality: nullable(Type.String()),
  /** The WhatsApp account that it belongs to. */
  account: Type.String(),
})

const filters = {
  /** Part of the name. */
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  status: severalOf(templateStatuses),
  category: severalOf(templateCategories),
  language: Type.Optional(severalLike('[A-Za-z_-]{2,35}', 'languages such as en_US')),
  /** When it was last changed. */
  from: Type.Optional(Moment),
  to: Type.Optional(Moment),
}

export const TemplateQuery = Type.Object({ ...consolePageQuery, ...filters }, { additionalProperties: false })
export const TemplateFilters = Type.Object(filters, { additionalProperties: false })

/** The period that messages of a template are counted in. */
export const templateCountDays = 30

/** What became of the messages of some templates. */
export const TemplateCountsQuery = Type.Object(
  { ids: severalIds('tpl_', 'templates') },
  { additionalProperties: false },
)
export const TemplateCounts = Type.Object({
  data: Type.Array(
    Type.Object({
      id: TemplateId,
      sent: Type.Integer(),
      /** Including those that were read. */
      delivered: Type.Integer(),
      read: Type.Integer(),
      failed: Type.Integer(),
      /** False if there are more messages: only the newest are counted. */
      is_exact: Type.Boolean(),
    }),
  ),
})

export type TemplateCounts = Static<typeof TemplateCounts>
export type ConsoleTemplate = Static<typeof ConsoleTemplate>
export type TemplateFilters = Static<typeof TemplateFilters>
export type TemplateQuery = Static<typeof TemplateQuery>
