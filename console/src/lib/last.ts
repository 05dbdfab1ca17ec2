import { useRef } from 'react'

/** The value, or the last there was: what a dialog shows while it fades. */
export function useLast<Value>(value: Value | null | undefined): Value | null {
  const last = useRef<Value | null>(null)
  if (value !== null && value !== undefined) last.current = value
  return value ?? last.current
}
