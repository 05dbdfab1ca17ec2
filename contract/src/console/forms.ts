import { type Static, Type } from 'typebox'
import { type FileState, FlowResponse, fileLosses } from '../flow-response.ts'
import { Moment, Phone } from '../formats.ts'
import { nullable, Timestamp } from '../ids.ts'
import { consolePageQuery } from './list.ts'

/** The download state of a file. */
export const StoredState = Type.Unsafe<FileState>(
  Type.Object({
    kind: Type.Enum(['waiting', 'fetched', 'gone']),
    next_try_at: Type.Optional(Timestamp),
    attempts: Type.Optional(Type.Integer()),
    last_error: Type.Optional(nullable(Type.String())),
    size: Type.Optional(Type.Integer()),
    content_type: Type.Optional(Type.String()),
    fetched_at: Type.Optional(Timestamp),
    why: Type.Optional(Type.Enum([...fileLosses])),
  }),
)

/** A submitted form with the download state of each of its files. */
export const ConsoleForm = Type.Object({
  ...FlowResponse.properties,
  contact_name: nullable(Type.String()),
  files: Type.Array(
    Type.Object({
      field: Type.String(),
      index: Type.Integer(),
      file_name: Type.String(),
      mime_type: Type.String(),
      state: StoredState,
    }),
  ),
})

const filters = {
  phone: Type.Optional(Phone),
  flow: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  from: Type.Optional(Moment),
  to: Type.Optional(Moment),
}

export const FormQuery = Type.Object({ ...consolePageQuery, ...filters }, { additionalProperties: false })
export const FormFilters = Type.Object(filters, { additionalProperties: false })

export type ConsoleForm = Static<typeof ConsoleForm>
export type FormFilters = Static<typeof FormFilters>
export type FormQuery = Static<typeof FormQuery>
