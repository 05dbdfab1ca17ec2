import { useNavigate, useRouter, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'

/** The query string as flat names and values, so that links are readable and can be typed. */
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

/** All search parameters, and a function that changes some of them: '' or null removes one. */
export function useSearchParams(): [
  Search,
  (change: Record<string, string | null>, how?: { push?: boolean; opens?: string }) => void,
] {
  const search = useSearch({ strict: false }) as Search
  const navigate = useNavigate()
  const change = useCallback(
    (changes: Record<string, string | null>, { push = false, opens }: { push?: boolean; opens?: string } = {}) => {
      void navigate({
        to: '.',
        search: ((before: Search) => withoutEmpty({ ...before, ...changes })) as never,
        replace: !push,
        resetScroll: false,
        ...(opens ? { state: { opens } as never } : {}),
      })
    },
    [navigate],
  )
  return [search, change]
}

/**
 * One parameter as state. A filter replaces the history entry. With `push`, for the open row of a list: the first row adds
 * an entry, another row replaces it, and closing goes back to the entry before. So Back closes it, however many were opened.
 */
export function useSearchParam(
  name: string,
  options: { push?: boolean } = {},
): [string | null, (value: string | null) => void] {
  const { push = false } = options
  const { history } = useRouter()
  const [search, change] = useSearchParams()
  const set = useCallback(
    (value: string | null) => {
      if (!push) return change({ [name]: value })
      const { state, search: text } = history.location
      const isOpen = parseSearch(text)[name] !== undefined
      // A link or a changed filter has replaced the entry: going back would lead elsewhere.
      const wasPushed = (state as { opens?: string }).opens === name
      if (value === null && isOpen && wasPushed) return history.back()
      const isOurs = value !== null && (!isOpen || wasPushed)
      change({ [name]: value }, { push: value !== null && !isOpen, ...(isOurs ? { opens: name } : {}) })
    },
    [name, change, push, history],
  )
  return [search[name] ?? null, set]
}

/** A parameter with a fixed set of values. An unknown value counts as the first one. */
export function useChoice<const Value extends string>(
  name: string,
  values: readonly [Value, ...Value[]],
): [Value, (value: Value) => void] {
  const [param, set] = useSearchParam(name)
  const value = values.find((each) => each === param) ?? values[0]
  return [value, useCallback((next: Value) => set(next === values[0] ? null : next), [set, values])]
}

/** The named parameters that are set, as the query of a list. */
export function useFilters<const Name extends string>(...names: readonly Name[]): Partial<Record<Name, string>> {
  const [search] = useSearchParams()
  const key = names.map((name) => `${name}=${search[name] ?? ''}`).join('&')
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key holds the names and their values
  return useMemo(() => withoutEmpty(Object.fromEntries(names.map((name) => [name, search[name]]))) as never, [key])
}

function withoutEmpty(search: Record<string, string | null | undefined>): Search {
  return Object.fromEntries(Object.entries(search).filter((entry): entry is [string, string] => Boolean(entry[1])))
}
