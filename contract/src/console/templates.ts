import { type Static, Type } from 'typebox'
import { nullable } from '../ids.ts'
import { Template, templateCategories, templateStatuses } from '../template.ts'
import { consolePageQuery } from './list.ts'

/** A template as the console shows it, with WhatsApp's review and quality rating. */
export const ConsoleTemplate = Type.Object({
  ...Template.properties,
  rejected_reason: nullable(Type.String()),
  quality: nullable(Type.String()),
  /** The WhatsApp account that it belongs to. */
  account: Type.String(),
})

export const TemplateQuery = Type.Object(
  {
    ...consolePageQuery,
    /** Part of the name. */
    q: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    status: Type.Optional(Type.Enum([...templateStatuses])),
    category: Type.Optional(Type.Enum([...templateCategories])),
    language: Type.Optional(Type.String({ minLength: 1, maxLength: 35 })),
  },
  { additionalProperties: false },
)

export type ConsoleTemplate = Static<typeof ConsoleTemplate>
export type TemplateQuery = Static<typeof TemplateQuery>
