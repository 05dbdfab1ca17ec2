import { Uuid } from '@parley/contract/ids'
import { Type } from 'typebox'

/** An object with these fields and no others. */
export const Strict = <Fields extends Parameters<typeof Type.Object>[0]>(fields: Fields) =>
  Type.Object(fields, { additionalProperties: false })

/** The parameters of a path that ends in an id. */
export const ById = Strict({ id: Uuid })

/** The answer of a route that has nothing to say. */
export const Nothing = Type.Null()
