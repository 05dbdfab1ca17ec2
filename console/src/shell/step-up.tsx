import { useEffect, useRef, useState } from 'react'
import { confirmWith } from '../lib/api.ts'
import { StepUpDialog } from './dialogs.tsx'

/** Asks for a confirmation when a request needs a recent one. lib/api then repeats the request. */
export function StepUp() {
  const [isOpen, setOpen] = useState(false)
  const resolvePrompt = useRef<(confirmed: boolean) => void>(() => {})
  const finish = (confirmed: boolean) => {
    resolvePrompt.current(confirmed)
    setOpen(false)
  }
  useEffect(() => {
    confirmWith(
      () =>
        new Promise<boolean>((resolve) => {
          resolvePrompt.current = resolve
          setOpen(true)
        }),
    )
    return () => {
      confirmWith(async () => false)
      // The prompt disappears with the page, so a request that waits for it must fail.
      resolvePrompt.current(false)
    }
  }, [])

  return <StepUpDialog open={isOpen} onFinish={finish} />
}
