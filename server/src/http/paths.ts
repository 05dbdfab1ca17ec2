import { editDistance } from '../lib/edit-distance.ts'
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
    const given = pathOf(url).split('/')
    return known.find(
      ({ parts }) =>
        parts.length === given.length &&
        parts.every((part, index) => (part.startsWith(':') ? given[index] !== '' : part === given[index])),
    )
  }
}

/** The path that an unknown one is closest to, if it has at most two other letters. IDs are not compared. */
export function newPathGuesser(routes: readonly Route[]): (url: string) => string | undefined {
  const patterns = [...new Set(routes.map(({ path }) => path))]
  return (url) => {
    const given = pathOf(url).replace(/\/$/, '').split('/')
    const guesses = patterns.flatMap((pattern) => {
      const parts = pattern.split('/')
      const words = (of: string[]) => of.filter((_, index) => !parts[index]?.startsWith(':')).join('/')
      return parts.length === given.length ? [{ pattern, distance: editDistance(words(given), words(parts), 2) }] : []
    })
    const [best] = guesses.sort((left, right) => left.distance - right.distance)
    return best && best.distance <= 2 ? best.pattern.replaceAll(/:([a-z_]+)/g, '{$1}') : undefined
  }
}

/** As the router reads it: without the origin of an absolute URL, and decoded except for reserved characters such as %2F. */
const pathOf = (url: string): string => decodeURI(url.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1)[0] as string)
