import { useEffect } from 'react'
import { lazyPart } from '../ui/lazy.tsx'
import { EarlyText } from './early-text.ts'

// The dialogs of every page. With what only dialogs need, they are a tenth of the scripts, and no page needs them to be shown.

export const Palette = lazyPart(async () => ({ default: (await import('./palette.tsx')).Palette }), <EarlyText />)
export const Help = lazyPart(async () => ({ default: (await import('./help.tsx')).Help }), null)
export const StepUpDialog = lazyPart(
  async () => ({ default: (await import('./step-up-dialog.tsx')).StepUpDialog }),
  null,
)
export const DiscardDialog = lazyPart(
  async () => ({ default: (await import('./discard-dialog.tsx')).DiscardDialog }),
  null,
)
export const PhoneMenu = lazyPart(async () => ({ default: (await import('./phone-menu.tsx')).PhoneMenu }), null)

const inputs = ['pointermove', 'pointerdown', 'keydown'] as const

/** Loads the dialogs at the first input, so that they open immediately, even if the service cannot be reached by then. */
export function useDialogsAfterInput(): void {
  useEffect(() => {
    const stop = new AbortController()
    const load = () => {
      stop.abort()
      for (const dialog of [Palette, Help, StepUpDialog, DiscardDialog, PhoneMenu]) void dialog.preload()
    }
    for (const input of inputs) addEventListener(input, load, { capture: true, passive: true, signal: stop.signal })
    return () => stop.abort()
  }, [])
}
