import type { TSchema } from 'typebox'
import { characterErrors, newValidator, type Source, type Validator } from '../lib/field-errors.ts'
import { refuse, refuseInvalid } from '../lib/refuse.ts'

export type Check = (value: unknown) => void

/**
 * A check against a schema that refuses with every fault named. A path that cannot be an id is simply unknown. The schema is
 * compiled when the check is first used: all of them would take a good part of the start.
 */
export function checkFor(source: Source, schema: TSchema): Check {
  let validate: Validator | undefined
  return (value) => {
    validate ??= newValidator(schema, source)
    const wrong = validate(value)
    const faults = wrong.length > 0 ? wrong : characterErrors(value)
    if (faults.length === 0) return
    if (source === 'params') refuse('not_found')
    refuseInvalid(faults)
  }
}
