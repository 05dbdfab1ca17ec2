import { scopes } from '@parley/contract/scopes'
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { routes } from '../api.ts'
import { type Route, route } from './route.ts'

const row = { method: 'GET', path: '/v1/x', summary: '', tag: '', reply: Type.Object({}), handle: () => ({}) } as const

test('a route without a valid scope throws when it is defined', () => {
  for (const scope of [undefined, '', 'messages:everything', '__proto__', 'Public']) {
    expect(() => route({ ...row, scope: scope as Route['scope'] })).toThrow('the route GET /v1/x must have a scope')
  }
  for (const scope of ['none', 'public', ...scopes] as const) expect(route({ ...row, scope }).scope).toBe(scope)
})

test('every route has a scope, and each method of a path is defined once', () => {
  for (const { scope, path } of routes) expect(['none', 'public', ...scopes], path).toContain(scope)
  const names = routes.map(({ method, path }) => `${method} ${path}`)
  expect(new Set(names).size).toBe(names.length)
  for (const { path } of routes) expect(path).toMatch(/^\/v1\//)
})

test('no route except the OpenAPI document is public', () => {
  expect(routes.filter(({ scope }) => scope === 'public').map(({ path }) => path)).toEqual([])
})

test('every object in a request schema sets additionalProperties', () => {
  const open: string[] = []
  const visit = (schema: unknown, at: string) => {
    if (schema === null || typeof schema !== 'object') return
    const { type, properties, additionalProperties } = schema as Record<string, unknown>
    if (type === 'object' && properties && additionalProperties === undefined) open.push(at)
    for (const [name, part] of Object.entries(schema)) visit(part, `${at}.${name}`)
  }
  for (const { path, body, query } of routes) {
    visit(body, `${path} body`)
    visit(query, `${path} query`)
  }
  expect(open).toEqual([])
})
