import type { TSchema } from 'typebox'
import { characterFaults, newValidator, type Source } from '../lib/field-errors.ts'
import { refuse, refuseFaults } from '../lib/refuse.ts'

export type Check = (value: unknown) => void

/** Compiles a schema into a check that refuses with every fault named. A path that cannot be an id is simply unknown. */
export function checkFor(source: Source, schema: TSchema): Check {
  const validate = newValidator(schema, source)
  return (value) => {
    const wrong = validate(value)
    const faults = wrong.length > 0 ? wrong : characterFaults(value)
    if (faults.length === 0) return
    if (source === 'params') refuse('not_found')
    refuseFaults(faults)
  }
}
