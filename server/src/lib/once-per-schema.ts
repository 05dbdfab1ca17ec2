import type { TSchema } from 'typebox'

/**
 * A compiler that runs once for each schema object, when it is first used. Compiling all schemas would slow down the start.
 */
export function oncePerSchema<T extends object>(compile: (schema: TSchema) => T): (schema: TSchema) => T {
  const compiled = new WeakMap<TSchema, T>()
  return (schema) => {
    let result = compiled.get(schema)
    if (!result) {
      result = compile(schema)
      compiled.set(schema, result)
    }
    return result
  }
}
