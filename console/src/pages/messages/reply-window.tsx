import { useNow } from '../../lib/clock.ts'
import { Moment } from '../../ui/time.tsx'

/** When the 24-hour window of a conversation ends. It is information only: WhatsApp decides what it accepts. */
export function ReplyWindow({ expiresAt }: { expiresAt: string | null }) {
  const isOpen = useIsOpen(expiresAt)
  if (expiresAt === null) return <>Closed. The person has not written to this sender.</>
  return (
    <>
      {isOpen ? 'Open until' : 'Closed since'} <Moment at={expiresAt} short />
    </>
  )
}

export function useIsOpen(expiresAt: string | null): boolean {
  const now = useNow()
  return expiresAt !== null && Date.parse(expiresAt) > now
}
