import type { OpenApi } from './api-markdown.ts'
import type { SearchEntry } from './search.ts'

/** The endpoints of the API for the search. Their addresses are those that Scalar gives operations. */
export const apiEntries = ({ paths }: OpenApi): SearchEntry[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { tags = [], summary = '', description = '', parameters = [] }]) => ({
      href: `/docs/api#tag/${(tags[0] ?? '').toLowerCase().replaceAll(' ', '-')}/${method.toUpperCase()}${path}`,
      title: 'API reference',
      heading: `${method.toUpperCase()} ${path}`,
      text: [`${summary}.`, description, ...parameters.map(({ name }) => name)].join(' ').trim(),
    })),
  )
