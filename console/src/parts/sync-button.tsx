import { useCan } from '../lib/session.ts'
import { Button } from '../ui/button.tsx'
import { useSync } from './network.queries.ts'

/** Syncs senders and templates from WhatsApp now; hidden without the permission. */
export function SyncButton() {
  const sync = useSync()
  if (!useCan('network:sync')) return null
  return (
    <Button icon="retry" busy={sync.isPending} onClick={() => sync.run()}>
      Sync now
    </Button>
  )
}
