import { useRef } from 'react'

/** The value, or the last value that was not null: a dialog shows it while it fades out. */
export function useLast<Value>(value: Value | null | undefined): Value | null {
  const last = useRef<Value | null>(null)
  if (value !== null && value !== undefined) last.current = value
  return value ?? last.current
}
