import { useCan } from '../lib/session.ts'
import { Button } from '../ui/button.tsx'
import { useSync } from './network.queries.ts'

/** For those who may: fetches senders and templates from the network now. */
export function SyncButton() {
  const sync = useSync()
  if (!useCan('network:sync')) return null
  return (
    <Button icon="retry" busy={sync.isPending} onClick={() => sync.run()}>
      Sync now
    </Button>
  )
}
