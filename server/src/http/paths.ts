import type { Route } from './route.ts'

export interface KnownPath {
  /** For example `/v1/templates/:id`. */
  pattern: string
  isPublic: boolean
  /** The value of the Allow header. */
  methods: string
}

/** Finds the path of a request that no route matches, because its method is another one. */
export function newPathFinder(routes: readonly Route[]): (url: string) => KnownPath | undefined {
  const known = [...Map.groupBy(routes, ({ path }) => path)].map(([pattern, of]) => ({
    pattern,
    isPublic: of.some(({ scope }) => scope === 'public'),
    methods: [...of.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS'].join(', '),
    parts: pattern.split('/'),
  }))
  return (url) => {
    const given = (url.split('?', 1)[0] as string).split('/')
    return known.find(
      ({ parts }) =>
        parts.length === given.length &&
        parts.every((part, index) => (part.startsWith(':') ? given[index] !== '' : part === given[index])),
    )
  }
}
