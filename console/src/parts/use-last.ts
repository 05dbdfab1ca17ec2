import { useRef } from 'react'

/** The last value there was: what a drawer shows while it closes, and gives the focus back. */
export function useLast<Value>(value: Value | null | undefined): Value | null {
  const last = useRef<Value | null>(null)
  if (value !== null && value !== undefined) last.current = value
  return last.current
}
