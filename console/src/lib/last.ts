import { useRef } from 'react'

/** The value, or the last one that was not null: what a dialog shows while it fades out. */
export function useLast<Value>(value: Value | null | undefined): Value | null {
  const last = useRef<Value | null>(null)
  if (value !== null && value !== undefined) last.current = value
  return value ?? last.current
}
