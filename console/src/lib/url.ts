import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'

/** What the address bar holds besides the path: flat words, so that a link reads well and can be written by hand. */
export type Search = Readonly<Record<string, string>>

export function parseSearch(text: string): Search {
  return Object.fromEntries(new URLSearchParams(text))
}

export function stringifySearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(search)) {
    if (value !== undefined && value !== null && value !== '') params.set(name, String(value))
  }
  const text = params.toString().replaceAll('%2C', ',').replaceAll('%3A', ':')
  return text && `?${text}`
}

/** All search parameters, and how to change some: '' or null takes one away. */
export function useSearchParams(): [Search, (change: Record<string, string | null>, how?: { push?: boolean }) => void] {
  const search = useSearch({ strict: false }) as Search
  const navigate = useNavigate()
  const change = useCallback(
    (changes: Record<string, string | null>, { push = false } = {}) => {
      void navigate({
        to: '.',
        search: ((before: Search) => keepFilled({ ...before, ...changes })) as never,
        replace: !push,
        resetScroll: false,
      })
    },
    [navigate],
  )
  return [search, change]
}

/** One parameter as state. Opening a row pushes (Back closes it); a filter replaces. */
export function useSearchParam(
  name: string,
  options: { push?: boolean } = {},
): [string | null, (value: string | null) => void] {
  const { push = false } = options
  const [search, change] = useSearchParams()
  const set = useCallback((value: string | null) => change({ [name]: value }, { push }), [name, change, push])
  return [search[name] ?? null, set]
}

/** One parameter out of a few words; anything else in the address counts as the first. */
export function useChoice<const Word extends string>(
  name: string,
  words: readonly [Word, ...Word[]],
): [Word, (word: Word) => void] {
  const [value, set] = useSearchParam(name)
  const word = words.find((each) => each === value) ?? words[0]
  return [word, useCallback((next: Word) => set(next === words[0] ? null : next), [set, words])]
}

/** Only the named parameters, as the query of a list: what a page's filters say. */
export function useFilters<const Name extends string>(...names: readonly Name[]): Partial<Record<Name, string>> {
  const [search] = useSearchParams()
  const key = names.map((name) => `${name}=${search[name] ?? ''}`).join('&')
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key holds the names and what the search says of them
  return useMemo(() => keepFilled(Object.fromEntries(names.map((name) => [name, search[name]]))) as never, [key])
}

function keepFilled(search: Record<string, string | null | undefined>): Search {
  return Object.fromEntries(Object.entries(search).filter((entry): entry is [string, string] => Boolean(entry[1])))
}
