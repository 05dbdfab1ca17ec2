import type { Query } from '../lib/api.ts'
import { download } from '../lib/download.ts'
import { useHere } from '../lib/session.ts'
import { useAction } from '../lib/use-action.ts'
import { Button } from '../ui/button.tsx'

/** Downloads the filtered list as CSV. */
export function ExportButton({ file, query }: { file: `${string}.csv`; query: Query }) {
  const here = useHere()
  const save = useAction(() => download(here.api(file), file, query), { done: 'File downloaded' })
  return (
    <Button icon="download" busy={save.isPending} onClick={() => save.run()}>
      Export CSV
    </Button>
  )
}
