import type { TSchema } from 'typebox'
import type { Route } from './route.ts'
import { toJsonFor } from './to-json.ts'
import { type Check, checkFor, noFields } from './validate.ts'

export interface CompiledRoute extends Route {
  checks: { params: Check | undefined; query: Check; body: Check | undefined }
  toJson(response: unknown): string
}

export const compileRoute = (route: Route): CompiledRoute => ({
  ...route,
  checks: {
    params: route.params && checkFor('params', route.params),
    query: checkFor('query', route.query ?? noFields),
    body: route.checksBody ? undefined : route.body && checkOfBody(route.body, route.isBodyOptional),
  },
  // The handler of the route returns what its own function takes.
  toJson: (route.toJson as CompiledRoute['toJson'] | undefined) ?? toJsonFor(route.reply),
})

function checkOfBody(schema: TSchema, isOptional = false): Check {
  const check = checkFor('body', schema)
  return isOptional ? (value) => value === undefined || check(value) : check
}
