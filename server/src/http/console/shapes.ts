import { Uuid } from '@parley/contract/ids'
import { Type } from 'typebox'

/** An object with these fields and no others. */
export const Strict = <Fields extends Parameters<typeof Type.Object>[0]>(fields: Fields) =>
  Type.Object(fields, { additionalProperties: false })

export const ById = Strict({ id: Uuid })
