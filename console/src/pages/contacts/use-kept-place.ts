import { type RefObject, useLayoutEffect, useRef } from 'react'

/**
 * Keeps the place of a reader and the focus while rows move to the top of a list. Rows are moved in the document, so browsers
 * lose both. Returns the handler for scrolling.
 */
export function useKeptPlace(list: RefObject<HTMLElement | null>, rows: readonly unknown[] | undefined): () => void {
  const seen = useRef<{ id: string; top: number }[]>([])
  const focused = useRef<string | null>(null)
  const links = () => [...(list.current?.querySelectorAll<HTMLElement>('a[data-contact]') ?? [])]
  const remember = () => {
    const { top = 0 } = list.current?.getBoundingClientRect() ?? {}
    seen.current = links().flatMap((link) => {
      const place = link.getBoundingClientRect()
      return place.bottom > top ? [{ id: link.dataset.contact ?? '', top: place.top }] : []
    })
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: other rows are the reason to look
  useLayoutEffect(() => {
    const element = list.current
    if (!element) return
    const all = links()
    const lost = all.find(({ dataset }) => dataset.contact === focused.current)
    if (lost && document.activeElement === document.body) lost.focus({ preventScroll: true })
    if (element.scrollTop > 0) {
      // The first row that did not move to the top itself.
      const anchor = seen.current.find(({ id }) => all.findIndex(({ dataset }) => dataset.contact === id) > 0)
      const now = all.find(({ dataset }) => dataset.contact === anchor?.id)
      if (anchor && now) element.scrollTop += now.getBoundingClientRect().top - anchor.top
    }
    remember()
    const onFocus = ({ target }: FocusEvent) => {
      focused.current = (target as HTMLElement).dataset.contact ?? null
    }
    // Not when the row itself is moved: that is noticed above, in the same task.
    const onBlur = () =>
      setTimeout(() => {
        if (!element.contains(document.activeElement)) focused.current = null
      })
    element.addEventListener('focusin', onFocus)
    element.addEventListener('focusout', onBlur)
    return () => {
      element.removeEventListener('focusin', onFocus)
      element.removeEventListener('focusout', onBlur)
    }
  }, [rows])
  return remember
}
