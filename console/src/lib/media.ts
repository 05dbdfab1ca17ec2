import { useSyncExternalStore } from 'react'

/** Whether the screen matches a media query, even after it changed. */
export const useMedia = (query: string): boolean =>
  useSyncExternalStore(
    (onChange) => {
      const list = matchMedia(query)
      list.addEventListener('change', onChange)
      return () => list.removeEventListener('change', onChange)
    },
    () => matchMedia(query).matches,
  )

/** The width below which style sheets use their rules for phones. */
export const useIsPhone = () => useMedia('(max-width: 47.99em)')
