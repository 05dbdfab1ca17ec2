import type { Fault } from '@parley/contract/errors'
import type { TLocalizedValidationError } from 'typebox/error'

/** A schema's errors as faults of a request, each under the path of the field it speaks of. */
export function schemaFaults(errors: readonly TLocalizedValidationError[], prefix = ''): Fault[] {
  const wrongType = new Set(errors.filter((error) => error.keyword === 'type').map((error) => error.instancePath))
  return errors.flatMap((error): Fault[] => {
    const path = [prefix, ...error.instancePath.split('/').map(unescaped)].filter((step) => step !== '').join('.')
    const inside = (name: string) => (path === '' ? name : `${path}.${name}`)
    switch (error.keyword) {
      case 'required':
        return error.params.requiredProperties.map((name) => fault(inside(name), 'required', 'is required'))
      case 'additionalProperties':
        return error.params.additionalProperties.map((name) => fault(inside(name), 'unknown', 'is not a known field'))
      // Said already, and better, by another error about the same place.
      case 'boolean':
      case 'anyOf':
        return []
      case 'enum':
        return [fault(path, 'invalid', `must be one of ${error.params.allowedValues.join(', ')}`)]
      case 'const':
        return wrongType.has(error.instancePath)
          ? []
          : [fault(path, 'invalid', `must be "${error.params.allowedValue}"`)]
      case 'pattern':
        return [fault(path, 'invalid', 'does not have the form it must have')]
      case 'type':
        return [fault(path, 'wrong_type', error.message)]
      default:
        return wrongType.has(error.instancePath) ? [] : [fault(path, codes[error.keyword] ?? 'invalid', error.message)]
    }
  })
}

const codes: Partial<Record<string, string>> = {
  maxLength: 'too_long',
  minLength: 'too_short',
  maxItems: 'too_many',
  minItems: 'too_few',
  minimum: 'out_of_range',
  maximum: 'out_of_range',
}

function fault(param: string, code: string, claim: string): Fault {
  return { param, code, message: `"${param}" ${claim}.` }
}

function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}
