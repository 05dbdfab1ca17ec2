import { Type } from 'typebox'

export const uuidPattern = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'

/** A public ID: a prefix for the kind of object, and a UUID. */
const prefixed = (prefix: string) => idLike(`${prefix}_`)

const idLike = (prefix: string) => {
  const example = `${prefix}0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d`
  return Type.String({
    pattern: `^${prefix}${uuidPattern}$`,
    examples: [example],
    errorMessage: `Enter an ID such as ${example}.`,
  })
}

export const Uuid = idLike('')
export const MessageId = prefixed('msg')
export const SenderId = prefixed('snd')
export const TemplateId = prefixed('tpl')
export const WebhookId = prefixed('whk')
export const ReplayId = prefixed('rpl')
export const FlowResponseId = prefixed('frs')
export const OrderId = prefixed('ord')
export const MediaId = prefixed('med')
export const UpdateId = prefixed('upd')

export const Timestamp = Type.String({
  description: 'A time in ISO 8601 format, in UTC with milliseconds.',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
  examples: ['2026-11-15T09:30:00.000Z'],
})

/** The same string schema, with a description of the field. */
export const described = (schema: Type.TString, description: string) => Type.String({ ...schema, description })

export const nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(
  schema: Schema,
  description?: string,
) => Type.Union([schema, Type.Null()], description === undefined ? {} : { description })
